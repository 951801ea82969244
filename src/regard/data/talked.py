"""The little world as talk about pictures: pictures and texts by turns, and what is to be said behind a text.

A talk is of one kind: an `episode` calls pictures by new words, `questions` are asked about a scene, a `dialogue` goes
on from answer to answer, and a `caption` says what there is. Told without pictures, a description stands in the place
of each, so that a language model can learn to talk before it is shown anything.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from regard.chance import Chance
from regard.data.told import FAR, HELD, MANY
from regard.world import Scene, language, scenes
from regard.world.language.scenes import looks

NAMING = "This is a"  # and then the word
CAPTION = "What is there?"
SHOTS = (0, 1, 2, 4, 8)
THINGS = (1, 3)  # in a scene that is talked about
END = "."  # behind everything that is said
SHARES: Mapping[str, float] = {"episode": 0.4, "questions": 0.2, "dialogue": 0.2, "caption": 0.2}
_ASKED, _CAPTIONED = 3, 4  # questions about a scene, and pictures with a caption, in one talk


class Piece(NamedTuple):
    """A text, the picture before it, if one stands there, and what is to be said behind it."""

    text: str
    answer: str
    scene: Scene | None = None
    topic: str = ""  # what a question is about
    learnt: bool = True  # whether what came before can tell the answer


class Talk(NamedTuple):
    """Pieces one behind another."""

    kind: str
    pieces: tuple[Piece, ...]

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """The pictures, in their order."""
        return tuple(piece.scene for piece in self.pieces if piece.scene is not None)


def world_talk(split: str, number: int, kind: str = "", *, shots: int | None = None) -> Talk:
    """A talk by its number; its kind and shots are drawn by chance where they are not said."""
    if split not in ("train", "val", "test"):
        raise ValueError(f"no split is called {split!r}; choose train, val or test")
    chance = Chance(0, f"talk {split}", number)
    kind = kind or _drawn(chance)
    if kind not in SHARES:
        raise ValueError(f"no talk is of the kind {kind!r}; choose {', '.join(SHARES)}")
    fold, place = "test" if split == "test" else "train", number + (FAR if split == "val" else 0)
    if kind == "episode":
        return _episode(fold, place, chance.choose(SHOTS[1:]) if shots is None else shots)
    return _KINDS[kind](fold, place, chance)


def world_talks(split: str = "train", count: int = 0) -> list[str]:
    """Talks in which a description stands for each picture, each a text of one line, for a language model."""
    count = count or (MANY if split == "train" else HELD)
    return [told(world_talk(split, number)) for number in range(count)]


def told(talk: Talk) -> str:
    """A talk as a text, in which a description stands for each picture."""
    said = []
    for piece in talk.pieces:
        if piece.scene is not None:
            said.append(tell(piece.scene, talk.kind))
        said.append(f"{piece.text} {piece.answer}{END}")
    return " ".join(said)


def _drawn(chance: Chance) -> str:
    """A kind by its share."""
    left = chance.uniform(0.0, sum(SHARES.values()))
    for kind, share in SHARES.items():
        left -= share
        if left < 0:
            return kind
    return kind


def tell(scene: Scene, kind: str) -> str:
    """What a picture shows, as far as a talk of a kind needs it: how things stand where they are asked about.

    Of an episode it is told in as few words as will do. Each is one more between a word and what it means, and a
    Transformer finds out what belongs together where there is little between.
    """
    if kind == "episode":
        return " ".join(f"{thing.colour} {thing.kind}{END}" for thing in scene.things)
    styles = ("whole",) if kind == "caption" or len(scene.things) == 1 else ("whole", "relations")
    return " ".join(language.describe(scene, style=style).text for style in styles)


def _episode(fold: str, place: int, shots: int) -> Talk:
    found = language.picture_episodes(split=fold, shots=shots)[place]
    words = [shot.word for shot in found.shots]
    # Nobody can know a word that has not been said yet, and who guesses learns what it meant in other episodes.
    taught = (Piece(NAMING, shot.word, shot.scene, "", shot.word in words[:i]) for i, shot in enumerate(found.shots))
    return Talk("episode", (*taught, Piece(NAMING, found.answer, found.query, "name", found.answer in words)))


def _questions(fold: str, place: int, chance: Chance) -> Talk:
    """Several questions about one scene, each of them once."""
    scene = scenes(split=fold, things=THINGS)[place]
    asked: dict[str, Piece] = {}
    for _ in range(_ASKED):
        one = language.ask(scene, chance)
        text = language.text(one.words)
        asked.setdefault(text, Piece(text, one.answer, None if asked else scene, one.topic))
    return Talk("questions", tuple(asked.values()))


def _dialogue(fold: str, place: int, chance: Chance) -> Talk:  # noqa: ARG001
    found = language.dialogues(split=fold, things=THINGS)[place]
    pieces = (
        Piece(language.text(turn.words), turn.answer, found.scene if i == 0 else None, turn.topic)
        for i, turn in enumerate(found.turns)
    )
    return Talk("dialogue", tuple(pieces))


def _caption(fold: str, place: int, chance: Chance) -> Talk:
    """Some pictures, and of each what there is."""
    view = scenes(split=fold, things=THINGS)
    shown = [view[place], *(view[chance.below(FAR)] for _ in range(chance.below(_CAPTIONED)))]
    return Talk("caption", tuple(Piece(CAPTION, caption(scene), scene, "caption") for scene in shown))


def caption(scene: Scene) -> str:
    """What there is: a big red disc and a small blue star."""
    named = []
    for thing in scene.things:
        words = (*looks(thing), thing.kind)
        named.append(" ".join(("an" if words[0][0] in "aeiou" else "a", *words)))
    return f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]


_KINDS: Mapping[str, Callable[[str, int, Chance], Talk]] = {
    "questions": _questions,
    "dialogue": _dialogue,
    "caption": _caption,
}
