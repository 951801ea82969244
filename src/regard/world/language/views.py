"""Language without end: any item by its number, the same on every machine, in splits that never meet.

The dial `length` counts the words of the English sentence, so item 7 of a seed means the same in every language.
"""

from dataclasses import dataclass
from typing import NamedTuple

from regard.chance import Chance
from regard.world.build import scenes
from regard.world.language import english
from regard.world.language.dialogues import DIALOGUE_TOPICS, TURNS, Turn, converse
from regard.world.language.episodes import SHOTS, WAYS, PictureEpisode, picture_episode
from regard.world.language.invent import invent
from regard.world.language.meaning import Sentence, Token, inner_folds
from regard.world.language.motions import WAYS as WAYS_OF_MOTION
from regard.world.language.motions import Motion, narrate
from regard.world.language.questions import TOPICS, Episode, Question, ask, episode
from regard.world.language.realise import LANGUAGES, Pair, align, grammar, vocabulary, words
from regard.world.language.reports import Report, report
from regard.world.language.scenes import STYLES, Description, describe
from regard.world.language.senses import SENSES, Sense, ambiguous
from regard.world.language.stories import Story, tell
from regard.world.language.trees import Tree, tree
from regard.world.scene import Scene
from regard.world.video import Clip, clip
from regard.world.view import View

SPLITS = ("train", "test")
SHORTEST, LONGEST = 3, 120  # words of an English sentence
Length = int | tuple[int, int]
USUAL = (6, 12)


class Spoken(NamedTuple):
    """A sentence with the tag of each word: universal tags, English ones in the style of the Penn treebank."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    meaning: Sentence


class Next(NamedTuple):
    """The beginning of a story and a sentence, which may be what follows."""

    story: tuple[tuple[str, ...], ...]
    sentence: tuple[str, ...]
    follows: bool


class Parsed(NamedTuple):
    """An English sentence and its tree."""

    words: tuple[str, ...]
    tree: Tree
    meaning: Sentence


class Asked(NamedTuple):
    """A scene and a question about it."""

    scene: Scene
    question: Question


class Dialogue(NamedTuple):
    """A scene, and what is asked and answered about it turn by turn."""

    scene: Scene
    turns: tuple[Turn, ...]


class Filmed(NamedTuple):
    """A clip and what is said to happen in it."""

    clip: Clip
    motion: Motion


class Described(NamedTuple):
    """A scene and what is said about it."""

    scene: Scene
    description: Description


_RULE = (
    "a sentence is for the test when who does what to what in its first clause falls into one fold of ten; "
    "no clause of a training sentence does"
)


def pairs(
    source: str,
    target: str,
    *,
    seed: int = 0,
    split: str = "train",
    length: Length = USUAL,
    count: int | None = None,
) -> View[Pair]:
    """Sentences in two languages with the places of the words that mean the same."""
    grammar(source), grammar(target)
    if source == target:
        others = ", ".join(code for code in LANGUAGES if code != source)
        raise ValueError(f"a pair needs two languages, not {source!r} twice; the others are {others}")
    make = _Pairs(seed, _held(split), *_bounds(length), source, target)
    facts = {"source": source, "target": target, "vocabulary": [len(vocabulary(source)), len(vocabulary(target))]}
    return View(f"pairs {source}-{target}", make, _facts(seed, split, _RULE) | {"length": make.length} | facts, count)


def sentences(
    language: str, *, seed: int = 0, split: str = "train", length: Length = USUAL, count: int | None = None
) -> View[Spoken]:
    """Sentences of one language; those of another language with the same seed are their translations."""
    grammar(language)
    make = _Sentences(seed, _held(split), *_bounds(length), language)
    facts = {"length": make.length, "language": language, "vocabulary": len(vocabulary(language))}
    return View(f"sentences {language}", make, _facts(seed, split, _RULE) | facts, count)


def trees(*, seed: int = 0, split: str = "train", length: Length = USUAL, count: int | None = None) -> View[Parsed]:
    """English sentences with their constituents."""
    make = _Trees(seed, _held(split), *_bounds(length))
    facts = {"length": make.length, "vocabulary": len(vocabulary("en"))}
    return View("trees", make, _facts(seed, split, _RULE) | facts, count)


def stories(language: str = "en", *, seed: int = 0, split: str = "train", count: int | None = None) -> View[Story]:
    """Stories of three to six sentences with the antecedents of their pronouns."""
    grammar(language)
    rule = "a story is held out for the test when its plot and cast fall into one fold of ten"
    facts = {"language": language, "vocabulary": len(vocabulary(language))}
    return View(f"stories {language}", _Stories(seed, _held(split), language), _facts(seed, split, rule) | facts, count)


def nexts(language: str = "en", *, seed: int = 0, split: str = "train", count: int | None = None) -> View[Next]:
    """Beginnings of stories with a sentence that follows, or, half of the time, comes from another story."""
    told = stories(language, seed=seed, split=split)
    make = _Nexts(seed, _held(split), language)
    return View(f"next sentences {language}", make, told.facts, count)


def senses(*, seed: int = 0, split: str = "train", count: int | None = None) -> View[Sense]:
    """English sentences with a word of two meanings and the one it has."""
    rule = "one frame in four of each sense is held out for the test"
    facts: dict[str, object] = {"words": sorted(SENSES)}
    return View("senses", _Senses(seed, _held(split)), _facts(seed, split, rule) | facts, count)


def reports(*, seed: int = 0, split: str = "train", count: int | None = None) -> View[Report]:
    """English reports that are positive or negative."""
    rule = "one meeting in five of a word and a frame is held out for the test"
    facts: dict[str, object] = {"labels": ["negative", "positive"]}
    return View("reports", _Reports(seed, _held(split)), _facts(seed, split, rule) | facts, count)


def episodes(*, seed: int = 0, split: str = "train", count: int | None = None) -> View[Episode]:
    """Lessons about new words and a question that needs them."""
    rule = "one meeting in five of a mark and a kind is held out for the test"
    return View("episodes", _Episodes(seed, _held(split)), _facts(seed, split, rule), count)


def picture_episodes(
    *, seed: int = 0, split: str = "train", shots: int = SHOTS, ways: int = 2, count: int | None = None
) -> View[PictureEpisode]:
    """Pictures that are called by new words, and one more to be called; item 7 of few shots begins that of many."""
    _held(split)
    if not 0 <= shots <= SHOTS or not 2 <= ways <= WAYS:
        raise ValueError(
            f"{shots} shots of {ways} words make no episode; give 0 to {SHOTS} shots, and 2 to {WAYS} words"
        )
    rule = "one meeting in five of a word and a meaning is held out for the test"
    facts: dict[str, object] = {"shots": shots, "words": ways}
    make = _PictureEpisodes(seed, split, shots, ways)
    return View("picture episodes", make, _facts(seed, split, rule) | facts, count)


def dialogues(
    *,
    seed: int = 0,
    split: str = "train",
    things: int | tuple[int, int] = (1, 6),
    turns: int = TURNS,
    count: int | None = None,
) -> View[Dialogue]:
    """Scenes with a dialogue of some turns about each; the splits are those of scenes."""
    if turns < 1:
        raise ValueError(f"{turns} turns make no dialogue; give 1 or more")
    make = _Dialogues(scenes(seed=seed, split=split, things=things), seed, split, turns)
    facts: dict[str, object] = {"seed": seed, "split": split, "turns": turns, "topics": list(DIALOGUE_TOPICS)}
    return View("dialogues", make, facts | {"scenes": make.scenes.card()}, count)


def motions(
    *,
    seed: int = 0,
    split: str = "train",
    frames: int = 16,
    things: int | tuple[int, int] = (2, 5),
    count: int | None = None,
) -> View[Filmed]:
    """Clips with all that can be said to happen in each; the splits are those of scenes."""
    make = _Motions(seed, split, frames, things)
    facts = {
        "frames": frames,
        "ways": list(WAYS_OF_MOTION),
        "scenes": scenes(seed=seed, split=split, things=things).card(),
    }
    return View("motions", make, {"seed": seed, "split": split} | facts, count)


def descriptions(
    language: str = "en",
    *,
    style: str = "whole",
    seed: int = 0,
    split: str = "train",
    things: int | tuple[int, int] = (1, 6),
    count: int | None = None,
) -> View[Described]:
    """Scenes with their descriptions, in which every word knows the things it names; the splits are those of scenes."""
    grammar(language)
    if style not in STYLES:
        raise ValueError(f"no style is called {style!r}; choose {', '.join(STYLES)}")
    make = _Descriptions(scenes(seed=seed, split=split, things=things), language, style)
    facts: dict[str, object] = {
        "seed": seed,
        "split": split,
        "language": language,
        "style": style,
        "vocabulary": len(vocabulary(language)),
    }
    return View(f"descriptions {language}", make, facts | {"scenes": make.scenes.card()}, count)


def questions(
    language: str = "en",
    *,
    seed: int = 0,
    split: str = "train",
    things: int | tuple[int, int] = (1, 6),
    count: int | None = None,
) -> View[Asked]:
    """Scenes with a question about each, and its answer; the splits are those of scenes."""
    grammar(language)
    make = _Questions(scenes(seed=seed, split=split, things=things), language, seed, split)
    facts: dict[str, object] = {
        "seed": seed,
        "split": split,
        "language": language,
        "topics": list(TOPICS if language == "en" else TOPICS[:3]),
    }
    return View(f"questions {language}", make, facts | {"scenes": make.scenes.card()}, count)


# What makes the items of each view. They are values, so a view can be sent to another process.


@dataclass(frozen=True, slots=True)
class _Meanings:
    seed: int
    held: bool
    low: int
    high: int

    @property
    def length(self) -> list[int]:
        return [self.low, self.high]

    def meaning(self, index: int) -> tuple[Sentence, list[Token]]:
        """A meaning whose English has a length between the bounds, and that English."""
        chance = Chance(self.seed, "test sentence" if self.held else "sentence", index)
        low, wide = self.low, self.high - self.low + 1
        while True:
            meaning = invent(chance, low + chance.below(wide), self.held)
            if not self.held and 0 in inner_folds(meaning):
                continue  # what is held out for the test is not to be read in a training clause either
            tokens = english.realise(meaning)
            if 0 <= english.count(tokens) - low < wide:
                return meaning, tokens


@dataclass(frozen=True, slots=True)
class _Pairs(_Meanings):
    source: str
    target: str

    def __call__(self, index: int) -> Pair:
        meaning, spoken = self.meaning(index)
        left = spoken if self.source == "en" else grammar(self.source)(meaning)
        right = spoken if self.target == "en" else grammar(self.target)(meaning)
        return Pair(words(left), words(right), align(left, right), meaning)


@dataclass(frozen=True, slots=True)
class _Sentences(_Meanings):
    language: str

    def __call__(self, index: int) -> Spoken:
        meaning, tokens = self.meaning(index)
        if self.language != "en":
            tokens = grammar(self.language)(meaning)
        return Spoken(words(tokens), tuple([token[2] for token in tokens]), meaning)


@dataclass(frozen=True, slots=True)
class _Trees(_Meanings):
    def __call__(self, index: int) -> Parsed:
        meaning, tokens = self.meaning(index)
        return Parsed(words(tokens), tree(meaning), meaning)


@dataclass(frozen=True, slots=True)
class _Stories:
    seed: int
    held: bool
    language: str

    def __call__(self, index: int) -> Story:
        return tell(Chance(self.seed, "test story" if self.held else "story", index), self.language, self.held)


@dataclass(frozen=True, slots=True)
class _Nexts(_Stories):
    def __call__(self, index: int) -> Next:  # type: ignore[override]
        chance = Chance(self.seed, "next", index)
        told = _Stories(self.seed, self.held, self.language)
        story = told(index).sentences
        cut = 1 + chance.below(len(story) - 1)
        if chance.happens(0.5):
            return Next(story[:cut], story[cut], True)
        while True:
            other = chance.choose(told(chance.below(1 << 32)).sentences)
            if other not in story:
                return Next(story[:cut], other, False)


@dataclass(frozen=True, slots=True)
class _Senses:
    seed: int
    held: bool

    def __call__(self, index: int) -> Sense:
        return ambiguous(Chance(self.seed, "test sense" if self.held else "sense", index), self.held)


@dataclass(frozen=True, slots=True)
class _Reports:
    seed: int
    held: bool

    def __call__(self, index: int) -> Report:
        return report(Chance(self.seed, "test report" if self.held else "report", index), self.held)


@dataclass(frozen=True, slots=True)
class _Episodes:
    seed: int
    held: bool

    def __call__(self, index: int) -> Episode:
        return episode(Chance(self.seed, "test episode" if self.held else "episode", index), self.held)


@dataclass(frozen=True, slots=True)
class _PictureEpisodes:
    seed: int
    split: str
    shots: int
    ways: int

    def __call__(self, index: int) -> PictureEpisode:
        chance = Chance(self.seed, f"picture episode {self.split} {self.ways}", index)
        return picture_episode(chance, shots=self.shots, ways=self.ways, seed=self.seed, split=self.split)


@dataclass(frozen=True, slots=True)
class _Dialogues:
    scenes: View[Scene]
    seed: int
    split: str
    turns: int

    def __call__(self, index: int) -> Dialogue:
        chance = Chance(self.seed, f"dialogue {self.split}", index)
        while True:  # of some scenes nobody can speak: then it is about another one
            scene = self.scenes[index]
            if said := converse(scene, chance, self.turns):
                return Dialogue(scene, said)
            index = chance.below(1 << 32)


@dataclass(frozen=True, slots=True)
class _Motions:
    seed: int
    split: str
    frames: int
    things: int | tuple[int, int]

    def __call__(self, index: int) -> Filmed:
        chance = Chance(self.seed, f"motion {self.split}", index)
        while True:  # of some clips nothing can be said: then it is about another one
            shown = clip(self.seed, index, frames=self.frames, things=self.things, split=self.split)
            if (said := narrate(shown)).events:
                return Filmed(shown, said)
            index = chance.below(1 << 32)


@dataclass(frozen=True, slots=True)
class _Descriptions:
    scenes: View[Scene]
    language: str
    style: str

    def __call__(self, index: int) -> Described:
        scene = self.scenes[index]
        return Described(scene, describe(scene, self.language, self.style))


@dataclass(frozen=True, slots=True)
class _Questions:
    scenes: View[Scene]
    language: str
    seed: int
    split: str

    def __call__(self, index: int) -> Asked:
        scene = self.scenes[index]
        return Asked(scene, ask(scene, Chance(self.seed, f"question {self.split}", index), self.language))


def _held(split: str) -> bool:
    if split not in SPLITS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(SPLITS)}")
    return split == "test"


def _bounds(length: Length) -> tuple[int, int]:
    low, high = (length, length) if isinstance(length, int) else length
    if not SHORTEST <= low <= high <= LONGEST:
        raise ValueError(
            f"no sentences have {low} to {high} words; a sentence can have {SHORTEST} to {LONGEST}, say length=(6, 12)"
        )
    return low, high


def _facts(seed: int, split: str, rule: str) -> dict[str, object]:
    return {"seed": seed, "split": split, "split rule": rule}
