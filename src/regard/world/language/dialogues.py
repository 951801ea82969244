"""Short dialogues about a scene: what "it" is follows from the turns before."""

from collections.abc import Iterator
from typing import NamedTuple

from regard.chance import Chance
from regard.world.language.lexicon.english import NOUNS
from regard.world.language.questions import YES
from regard.world.language.scenes import known
from regard.world.scene import FILLS, Scene, relations

TURNS = 4  # that a dialogue has at most, where nobody says how many
DIRECTIONS = ("left of", "right of", "above", "below")
NOTHING = "nothing"
DIALOGUE_TOPICS = ("colour", "size", "fill", "place")


class Turn(NamedTuple):
    """A question, its answer, what it is about, and the things that are spoken of: at first, and then."""

    words: tuple[str, ...]
    answer: str
    topic: str
    about: int
    then: int  # another one where the answer is a thing, to which "it" now refers


def converse(scene: Scene, chance: Chance, turns: int = TURNS) -> tuple[Turn, ...]:
    """Questions and answers about a scene, of which the first names a thing and the others say `it`.

    None where no thing can be told from the others without its colour; few where there is no more to ask.
    """
    begin = [
        i
        for i, thing in enumerate(scene.things)
        if (entity := known(scene, i)) is not None and thing.colour not in entity.adjectives
    ]
    if not begin:
        return ()
    focus, asked, said = chance.choose(begin), set[tuple[int, str]](), list[Turn]()
    while len(said) < turns:
        options = [turn for turn in _questions(scene, focus, not said, chance) if _mark(turn) not in asked]
        if not options:
            break
        topic = chance.choose(sorted({turn.topic for turn in options}))
        some = [turn for turn in options if turn.topic == topic]
        moves = [turn for turn in some if turn.then != turn.about]  # else most answers of a small scene were "nothing"
        turn = chance.choose(moves if moves and chance.happens(0.75) else some)
        asked.add(_mark(turn))
        said.append(turn)
        focus = turn.then
    return tuple(said)


def _mark(turn: Turn) -> tuple[int, str]:
    """Whatever has been asked is not asked again; of a place, each direction is a question of its own."""
    return turn.about, " ".join(turn.words) if turn.topic == "place" else turn.topic


def _questions(scene: Scene, focus: int, first: bool, chance: Chance) -> Iterator[Turn]:
    """Everything that can be asked of a thing, by its name at first."""
    thing, entity = scene.things[focus], known(scene, focus)
    adjectives = entity.adjectives if first and entity is not None else ()
    it = ("the", *adjectives, NOUNS[thing.kind][0]) if first else ("it",)
    if thing.colour not in adjectives:
        yield Turn(("what", "colour", "is", *it, "?"), thing.colour, "colour", focus, focus)
    if thing.scale not in adjectives:
        yield Turn(("how", "big", "is", *it, "?"), thing.scale, "size", focus, focus)
    if thing.fill not in adjectives:
        others = [fill for fill in FILLS if fill != thing.fill]
        fill = thing.fill if chance.happens(0.5) else chance.choose(others)
        yield Turn(("is", *it, fill, "?"), YES["en"][fill == thing.fill], "fill", focus, focus)
    for name in DIRECTIONS:
        found = place(scene, focus, name)
        if found is not None:
            beside = scene.things[found].kind if found >= 0 else ""
            words = (*(() if first else ("and",)), "what", "is", name.removesuffix(" of"))
            words += (*(("of",) if name.endswith(" of") else ()), *it, "?")
            answer = NOUNS[beside][0] if beside else NOTHING
            yield Turn(words, answer, "place", focus, focus if found < 0 else found)


def place(scene: Scene, index: int, name: str) -> int | None:
    """The one thing that is so to another, -1 where there is clearly none, and None where nobody could say."""
    others = [i for i in range(len(scene.things)) if i != index]
    so = [i for i in others if name in relations(scene, i, index)]
    if len(so) == 1:
        return so[0]
    clear = all(relations(scene, i, index) & set(DIRECTIONS) for i in others)
    return -1 if not so and clear else None
