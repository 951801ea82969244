"""What a scene looks like, in words, and which words name which thing."""

from typing import NamedTuple

from regard.world.language.meaning import (
    ARTICLE,
    ENTITY,
    NOUN,
    NUMBER,
    ROOT,
    SUBJECT,
    THAN,
    WHERE,
    Clause,
    Entity,
    Group,
    Place,
    Sentence,
)
from regard.world.language.realise import grammar, text
from regard.world.scene import RELATIONS, Scene, Thing, relations

STYLES = ("whole", "each", "relations", "counts")
_OF_NOUN = frozenset((ARTICLE, NOUN, NUMBER, *range(8, 16)))
_COMPARED = {"bigger than": "big", "smaller than": "small"}
_SAID = tuple(name for name in RELATIONS if name != "contains")

Named = tuple[Sentence, dict[int, tuple[int, ...]]]  # a meaning, and the things that the phrases at some paths name


class Description(NamedTuple):
    """Sentences about a scene. `names` says for every word which things it names."""

    words: tuple[str, ...]
    names: tuple[tuple[int, ...], ...]
    text: str

    @property
    def things(self) -> tuple[int, ...]:
        """The one thing that each word names, or -1 for none or several."""
        return tuple(which[0] if len(which) == 1 else -1 for which in self.names)


def describe(scene: Scene, language: str = "en", style: str = "whole") -> Description:
    """Say what a scene shows: the whole in one sentence, each thing, how pairs stand, or how many there are."""
    if style not in STYLES:
        raise ValueError(f"no style is called {style!r}; choose {', '.join(STYLES)}")
    build = {"whole": _whole, "each": _each, "relations": _relations, "counts": _counts}[style]
    say = grammar(language)
    words: list[str] = []
    names: list[tuple[int, ...]] = []
    texts: list[str] = []
    for meaning, where in build(scene):
        tokens = say(meaning)
        texts.append(text([token[0] for token in tokens]))
        for word, nodes, _ in tokens:
            words.append(word)
            told = [where[node // 16] for node in nodes if node % 16 in _OF_NOUN and node // 16 in where]
            names.append(told[0] if told else ())
    return Description(tuple(words), tuple(names), " ".join(texts))


def looks(thing: Thing) -> tuple[str, ...]:
    """Everything that can be said of a thing in words, in the order of English."""
    scale = () if thing.scale == "medium" else (thing.scale,)
    return (*scale, thing.colour, *(() if thing.fill == "plain" else (thing.fill,)))


def distinct(scene: Scene, index: int) -> tuple[str, ...] | None:
    """The fewest adjectives that tell a thing from the others of its kind; None if its looks do not."""
    thing = scene.things[index]
    others = [set(looks(t)) for i, t in enumerate(scene.things) if i != index and t.kind == thing.kind]
    full = looks(thing)
    tries = ((), (thing.colour,), *((word,) for word in full), (*full[:1], thing.colour), full)
    for chosen in tries:
        if not any(set(chosen) <= other for other in others):
            return tuple(dict.fromkeys(chosen))
    return None


def known(scene: Scene, index: int) -> Entity | None:
    """A thing as somebody refers to it who sees the scene: the red star."""
    adjectives = distinct(scene, index)
    return None if adjectives is None else Entity(scene.things[index].kind, adjectives=adjectives)


def related(a: Entity, relation: str, b: Entity) -> Clause:
    """a is to the left of b, a is bigger than b."""
    if relation in _COMPARED:
        return Clause("be", a, quality=_COMPARED[relation], than=b)
    return Clause("be", a, place=Place(relation, b))


def _new(thing: Thing) -> Entity:
    return Entity(thing.kind, definite=False, adjectives=looks(thing))


_FIRST = ROOT * 16 + SUBJECT
_OTHER = (ROOT * 16 + WHERE) * 16 + ENTITY


def _whole(scene: Scene) -> list[Named]:
    things = scene.things
    where: dict[int, tuple[int, ...]] = {_FIRST: (0,)}
    if len(things) == 1:
        return [(Sentence(Clause("there", _new(things[0]))), where)]
    members = tuple(_new(thing) for thing in things)
    where = {_FIRST * 16 + i: (i - 1,) for i in range(1, len(members) + 1)}
    return [(Sentence(Clause("there", Group(members))), where)]


def _each(scene: Scene) -> list[Named]:
    """Every thing, with its place beside another one if it has a plain one."""
    said: list[Named] = []
    for a, thing in enumerate(scene.things):
        place = None
        where: dict[int, tuple[int, ...]] = {_FIRST: (a,)}
        for b in range(len(scene.things)):
            around = relations(scene, a, b) & set(_SAID) - set(_COMPARED)
            other = known(scene, b)
            if around and other is not None:
                place = Place(min(around, key=_SAID.index), other)
                where[_OTHER] = (b,)
                break
        said.append((Sentence(Clause("there", _new(thing), place=place)), where))
    return said


def _relations(scene: Scene) -> list[Named]:
    """How things stand to each other, a sentence for a pair; a scene without a plain pair is told whole."""
    said: list[Named] = []
    for a in range(len(scene.things)):
        for b in range(a + 1, len(scene.things)):
            found = relations(scene, a, b)
            one, two = known(scene, a), known(scene, b)
            if not found or one is None or two is None:
                continue
            if "contains" in found:  # there is a word for being inside only
                said.append((Sentence(related(two, "inside", one)), {_FIRST: (b,), _OTHER: (a,)}))
                continue
            relation = min(found, key=_SAID.index)
            other = ROOT * 16 + THAN if relation in _COMPARED else _OTHER
            said.append((Sentence(related(one, relation, two)), {_FIRST: (a,), other: (b,)}))
    return said or _whole(scene)


def _counts(scene: Scene) -> list[Named]:
    """How many there are of each kind and colour."""
    alike: dict[tuple[str, str], list[int]] = {}
    for i, thing in enumerate(scene.things):
        alike.setdefault((thing.kind, thing.colour), []).append(i)
    said: list[Named] = []
    for (kind, colour), members in alike.items():
        count = len(members) if len(members) <= 7 else 0
        entity = Entity(kind, number=count, definite=False, adjectives=(colour,))
        said.append((Sentence(Clause("there", entity)), {_FIRST: tuple(members)}))
    return said
