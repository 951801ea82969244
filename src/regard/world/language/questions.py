"""Questions about a scene with their answers, and episodes in which new words are explained and then used."""

from typing import NamedTuple

from regard.chance import Chance
from regard.world.language.lexicon.english import NOUNS, NUMBERS
from regard.world.language.meaning import Clause, Entity, Sentence
from regard.world.language.realise import grammar, words
from regard.world.language.scenes import known, related
from regard.world.scene import COLOURS, KINDS, RELATIONS, Scene, relations

YES = {"en": ("no", "yes"), "de": ("nein", "ja"), "it": ("no", "sì"), "cs": ("ne", "ano")}
TOPICS = ("existence", "relation", "comparison", "count", "colour")
_OPPOSITES = dict(zip(RELATIONS, (RELATIONS[i ^ 1] for i in range(len(RELATIONS))), strict=True))  # they come in twos
_SPATIAL = tuple(name for name in RELATIONS if name not in ("contains", "bigger than", "smaller than"))


class Question(NamedTuple):
    """A question, its answer, and what it is about."""

    words: tuple[str, ...]
    answer: str
    topic: str


def ask(scene: Scene, chance: Chance, language: str = "en") -> Question:
    """A question about a scene. Existence, relation and comparison are asked in four languages, the rest in English."""
    say, yes = grammar(language), YES[language]
    topics = TOPICS if language == "en" else TOPICS[:3]
    while True:
        topic = chance.choose(topics)
        if topic == "count":
            return _count(scene, chance)
        if topic == "colour":
            asked = _colour(scene, chance)
            if asked is not None:
                return asked
            continue
        found = _existence(scene, chance) if topic == "existence" else _relation(scene, chance, topic)
        if found is not None:
            clause, truth = found
            return Question(words(say(Sentence(clause, True))), yes[truth], topic)


def _colour(scene: Scene, chance: Chance) -> Question | None:
    """What colour is the big star? Asked of a thing that can be told from others without its colour."""
    index = chance.below(len(scene.things))
    entity, colour = known(scene, index), scene.things[index].colour
    if entity is None or colour in entity.adjectives:
        return None
    return Question(("what", "colour", "is", "the", *entity.adjectives, NOUNS[entity.noun][0], "?"), colour, "colour")


def _relation(scene: Scene, chance: Chance, topic: str) -> tuple[Clause, bool] | None:
    """Is the star above the ring? A "no" is only given where the opposite is so: a close call has no answer."""
    if len(scene.things) < 2:
        return None
    i, j = chance.sample(range(len(scene.things)), 2)
    one, two = known(scene, i), known(scene, j)
    if one is None or two is None:
        return None
    found = relations(scene, i, j)
    options = _SPATIAL if topic == "relation" else ("bigger than", "smaller than")
    true, false = (
        [name for name in options if name in found],
        [name for name in options if _OPPOSITES[name] in found and name not in found],
    )
    if not true and not false:
        return None
    truth = chance.happens(0.5) if true and false else bool(true)
    return related(one, chance.choose(true if truth else false), two), truth


def _existence(scene: Scene, chance: Chance) -> tuple[Clause, bool]:
    """Is there a red star? Half of the time there is; otherwise one half of it is there."""
    thing = chance.choose(scene.things)
    kind, colour = thing.kind, thing.colour
    if chance.happens(0.5):
        if chance.happens(0.5):
            kind = chance.choose(KINDS)
        else:
            colour = chance.choose(COLOURS)
    truth = any(t.kind == kind and t.colour == colour for t in scene.things)
    return Clause("there", Entity(kind, definite=False, adjectives=(colour,))), truth


def _count(scene: Scene, chance: Chance) -> Question:
    thing = chance.choose(scene.things)
    shape = chance.below(3)
    asked: tuple[str, ...]
    if shape == 0:
        asked, count = (NOUNS[thing.kind][1],), sum(t.kind == thing.kind for t in scene.things)
    elif shape == 1:
        asked, count = (thing.colour, "things"), sum(t.colour == thing.colour for t in scene.things)
    else:
        other = chance.choose(KINDS)
        asked = (thing.colour, NOUNS[other][1])
        count = sum(t.colour == thing.colour and t.kind == other for t in scene.things)
    answer = ("none", *NUMBERS[1:])[count] if count < len(NUMBERS) else str(count)
    return Question(("how", "many", *asked, "are", "there", "?"), answer, "count")


class Episode(NamedTuple):
    """New words explained one by one, then a question that needs one of them."""

    lessons: tuple[tuple[str, ...], ...]
    question: tuple[str, ...]
    answer: str


NEW: tuple[str, ...] = ("dax", "wug", "blick", "fep", "toma", "zup", "gorp", "lorp", "kiv", "mox", "tulver", "snar")
_MARKS = ("striped", "dotted", "plain", "big", "small", *COLOURS)


def episode(chance: Chance, held: bool) -> Episode:
    """Two to four new words for kinds with a mark; kinds and marks that meet in a test never do so in training."""
    count = 2 + chance.below(3)
    names = chance.sample(NEW, count)
    meant: list[tuple[str, str]] = []
    while len(meant) < count:
        i, j = chance.below(len(_MARKS)), chance.below(len(KINDS))
        new = (_MARKS[i], KINDS[j])
        if ((i + j) % 5 == 0) == held and new not in meant:
            meant.append(new)
    lessons = tuple(("a", name, "is", *_some(*what), ".") for name, what in zip(names, meant, strict=True))
    which, shape = chance.below(count), chance.below(3)
    what = _some(*meant[which])
    if shape == 0:
        return Episode(lessons, ("what", "is", *what, "called", "?"), names[which])
    if shape == 1:
        return Episode(lessons, ("which", "kind", "is", "a", names[which], "?"), meant[which][1])
    asked = chance.below(count)
    return Episode(lessons, ("is", *what, "a", names[asked], "?"), YES["en"][asked == which])


def _some(mark: str, kind: str) -> tuple[str, str, str]:
    return "an" if mark[0] in "aeiou" else "a", mark, kind
