"""Pictures that are called by new words, and one more picture to be called: only the shots can tell what a word means.

A word means a kind, a colour, or both at once. One shot of each word often leaves open which; further shots do not.
"""

from dataclasses import replace
from typing import NamedTuple

from regard.chance import Chance
from regard.world.build import HELD_OUT_PAIRS, scene
from regard.world.language.questions import NEW
from regard.world.scene import COLOURS, KINDS, SIZES, Scene, Thing

SHOTS, WAYS = 8, 4  # the most shots of an episode, and the most words
FOLDS = 5  # meetings of a word and a meaning, of which one in five is held out for the test
MEANINGS = tuple(
    (kind, colour)
    for kind in ("", *KINDS)
    for colour in ("", *COLOURS)
    if (kind or colour) and (colour, kind) not in HELD_OUT_PAIRS
)


class Meaning(NamedTuple):
    """What a word says of a thing; what it says nothing of is empty."""

    kind: str = ""
    colour: str = ""

    def fits(self, thing: Thing) -> bool:
        """Whether a thing may be called so."""
        return self.kind in ("", thing.kind) and self.colour in ("", thing.colour)


class Shot(NamedTuple):
    """A picture of one thing, and what it is called."""

    scene: Scene
    word: str


class PictureEpisode(NamedTuple):
    """Shots, a picture to be called by one of their words, and that word."""

    shots: tuple[Shot, ...]
    query: Scene
    answer: str
    words: tuple[str, ...]
    meanings: tuple[Meaning, ...]  # of each word


def picture_episode(chance: Chance, *, shots: int, ways: int, seed: int = 0, split: str = "train") -> PictureEpisode:
    """An episode of so many words, each of which is shown once before any is shown again; few shots begin as many do.

    Words and meanings that meet in a test never do so in training. Half of the time the query resembles the first shot
    of another word in what its own word says nothing of, so that one shot of each word does not settle what it means.
    """
    held = split == "test"
    words, meanings = _named(chance, ways, held)
    # Any order behind the first of each word: where words came by turns, the order alone would tell many of them.
    order = chance.sample(range(ways), ways) + [chance.below(ways) for _ in range(SHOTS - ways)]
    shown = [_lone(chance, meanings[i], seed, split) for i in order]
    asked = chance.below(ways)
    other = shown[order.index((asked + 1 + chance.below(ways - 1)) % ways)].things[0]
    query = _lone(chance, meanings[asked], seed, split, other if chance.happens(0.5) else None)
    taught = tuple(Shot(each, words[i]) for each, i in zip(shown, order, strict=True))
    return PictureEpisode(taught[:shots], query, words[asked], words, meanings)


def _named(chance: Chance, ways: int, held: bool) -> tuple[tuple[str, ...], tuple[Meaning, ...]]:
    """Words, and what they mean: all a kind, all a colour, or all both."""
    said = chance.below(3)
    options = [i for i, (kind, colour) in enumerate(MEANINGS) if (bool(kind), bool(colour)) == _SAID[said]]
    while True:
        words, chosen = chance.sample(range(len(NEW)), ways), list[int]()
        for word in words:
            free = [i for i in options if ((word + i) % FOLDS == 0) == held and i not in chosen]
            chosen += [chance.choose(free)] if free else []
        if len(chosen) == ways:
            return tuple(NEW[i] for i in words), tuple(Meaning(*MEANINGS[i]) for i in chosen)


_SAID = ((True, False), (False, True), (True, True))


def _lone(chance: Chance, meaning: Meaning, seed: int, split: str, like: Thing | None = None) -> Scene:
    """A picture of one thing that a meaning fits, and that is otherwise `like` another where the world has such."""
    drawn = scene(seed, chance.below(1 << 32), things=1, split=split)
    size = chance.uniform(*SIZES[chance.choose(("medium", "big"))])  # a small one is hard to name at 32 pixels
    x, y = (chance.uniform(1.02 * size, 1 - 1.02 * size) for _ in range(2))
    while True:
        kind = meaning.kind or (chance.choose(KINDS) if like is None else like.kind)
        colour = meaning.colour or (chance.choose(COLOURS) if like is None else like.colour)
        if (colour, kind) not in HELD_OUT_PAIRS:
            thing = replace(drawn.things[0], kind=kind, colour=colour, size=size, x=x, y=y)
            return replace(drawn, things=(thing,))
        like = None
