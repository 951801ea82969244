"""Is a picture as it was asked for? Things found by a detector are held against the phrase that asked for them.

A detector says what is where, the pixels inside of a box say the colour, and the middles of two boxes how they stand.
None of this is certain, so whatever is measured of painted pictures is worth as much as the same judge says of true
ones, whose phrase is right, and of the same ones by phrases that were swapped, which is luck::

    seen = look(pictures, detect)
    as_asked(judge(phrases, seen))["kind and colour"].value
    as_asked(judge(swap(phrases), seen))["kind and colour"].value

Only the surest things count, as many as were asked for. A detector finds a dozen things in plain noise, and among so
many some would always be right.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from jaxtyping import Bool, Float, UInt8
from PIL import Image

from regard.analysis.scores import Score, accuracy, mean
from regard.analysis.seeing.faithful import covers, points_at
from regard.data.phrased import BACK, Named, Phrase
from regard.world.paper import PIGMENTS
from regard.world.scene import direction

SIDE = 96  # pixels that the world's detector is used to

_NAMES = tuple(PIGMENTS)
_PIGMENTS = np.array([PIGMENTS[name] for name in _NAMES], np.float32)


@dataclass(frozen=True, slots=True)
class Seen:
    """One thing in a picture: its kind, its colour, and its box as shares of the sides: left, top, right, bottom."""

    kind: str
    colour: str
    box: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of one picture: of each thing that was asked for, whether kind and colour are there."""

    kinds: tuple[bool, ...]
    colours: tuple[bool, ...]  # of the thing that was taken for the one asked for
    both: tuple[bool, ...]
    relation: bool | None  # None where none was asked for
    count: bool  # there are as many things as were asked for, and no more
    boxes: tuple[tuple[float, float, float, float] | None, ...]  # where the things asked for are

    @property
    def whole(self) -> bool:
        """Whether all is as it was asked for."""
        return all(self.both) and self.relation is not False and self.count


# Pictures of 96 pixels to what is in each, the surest first: its kind and its box in pixels.
Detector = Callable[[Sequence[Image.Image]], Sequence[Sequence[tuple[str, tuple[float, float, float, float]]]]]


def look(pictures: Sequence[UInt8[np.ndarray, "s s 3"]], detect: Detector) -> list[list[Seen]]:
    """What is in each picture, the surest first."""
    enlarged = [Image.fromarray(each).resize((SIDE, SIDE), Image.Resampling.BICUBIC) for each in pictures]
    return [see(np.asarray(picture), things) for picture, things in zip(enlarged, detect(enlarged), strict=True)]


def judge(phrases: Sequence[Phrase], seen: Sequence[Sequence[Seen]]) -> list[Verdict]:
    """Hold what is in each picture against its phrase."""
    return [hold_against(phrase, things) for phrase, things in zip(phrases, seen, strict=True)]


def swap(phrases: Sequence[Phrase]) -> list[Phrase]:
    """The phrases of other pictures, with as many things each: what a judge says by them is what luck is worth."""
    found = list(phrases)
    for count in {len(phrase.things) for phrase in phrases}:
        rows = [i for i, phrase in enumerate(phrases) if len(phrase.things) == count]
        for row, other in zip(rows, rows[1:] + rows[:1], strict=True):
            found[row] = phrases[other]
    return found


def see(
    pixels: UInt8[np.ndarray, "s s 3"], things: Sequence[tuple[str, tuple[float, float, float, float]]]
) -> list[Seen]:
    """Things of a detector with the colour that the pixels of their boxes have."""
    side = len(pixels)
    return [
        Seen(kind, colour_of(pixels, box), (box[0] / side, box[1] / side, box[2] / side, box[3] / side))
        for kind, box in things
    ]


def colour_of(pixels: UInt8[np.ndarray, "s s 3"], box: tuple[float, float, float, float]) -> str:
    """The colour that the strongest pixels of a box are nearest to; the backdrop is pale, and so is half of a fill."""
    left, top, right, bottom = (round(side) for side in box)
    inside = pixels[max(top, 0) : max(bottom, top + 1), max(left, 0) : max(right, left + 1)]
    inside = inside.reshape(-1, 3).astype(np.float32)
    if not len(inside):
        return _NAMES[0]
    strong = inside.max(axis=1) - inside.min(axis=1)
    chosen = inside[strong >= np.quantile(strong, 0.7)]
    middle = np.median(chosen, axis=0)
    return _NAMES[int(((_PIGMENTS - middle) ** 2).sum(axis=1).argmin())]


def hold_against(phrase: Phrase, seen: Sequence[Seen]) -> Verdict:
    """The verdict on what is seen, the surest first: as many things as were asked for are matched as they fit best."""
    places: list[Seen | None] = [*seen[: len(phrase.things)], *[None] * len(phrase.things)]
    taken = max(permutations(places, len(phrase.things)), key=lambda some: _fit(phrase.things, some))
    kinds = tuple(one is not None and one.kind == asked.kind for asked, one in zip(phrase.things, taken, strict=True))
    colours = tuple(
        one is not None and one.colour == asked.colour for asked, one in zip(phrase.things, taken, strict=True)
    )
    both = tuple(kind and colour for kind, colour in zip(kinds, colours, strict=True))
    relation = None
    if phrase.relation:
        stood = [_relation(*taken) if None not in taken else None]
        relation = all(both) and stood[0] == phrase.relation
    boxes = tuple(None if one is None else one.box for one in taken)
    return Verdict(kinds, colours, both, relation, len(seen) == len(phrase.things), boxes)


def as_asked(verdicts: Sequence[Verdict]) -> dict[str, Score]:
    """How often things are as they were asked for, with intervals; a relation counts if both things are right."""
    related = [each.relation for each in verdicts if each.relation is not None]
    found = {
        "kind and colour": accuracy([hit for each in verdicts for hit in each.both]),
        "kind": accuracy([hit for each in verdicts for hit in each.kinds]),
        "colour": accuracy([hit for each in verdicts for hit in each.colours]),
        "picture": accuracy([each.whole for each in verdicts]),
    }
    return found | ({"relation": accuracy(related)} if related else {})


def score_words(maps: Sequence[Float[np.ndarray, "i j"]], masks: Sequence[Bool[np.ndarray, "s s"]]) -> dict[str, Score]:
    """How well the maps of words find what they name: the pointing game, and IoU with as many places as it has."""
    real = [(each, mask) for each, mask in zip(maps, masks, strict=True) if mask.any()]
    if not real:
        return {}
    return {
        "words point": accuracy([points_at(each, mask) for each, mask in real]),
        "words cover": mean([covers(each, mask) for each, mask in real]),
        "words point/chance": mean([float(mask.mean()) for _, mask in real]),
    }


def _fit(asked: Sequence[Named], taken: Sequence[Seen | None]) -> int:
    """Both right counts before either alone, and a kind before a colour."""
    worth = 0
    for want, one in zip(asked, taken, strict=True):
        if one is not None:
            kind, colour = one.kind == want.kind, one.colour == want.colour
            worth += 8 * (kind and colour) + 2 * kind + colour
    return worth


def _relation(a: Seen | None, b: Seen | None) -> str | None:
    """How one thing stands to another, by the rule of the world, or the plainer way where it says nothing."""
    assert a is not None
    assert b is not None
    (ax, ay), (bx, by) = (((one.box[0] + one.box[2]) / 2, (one.box[1] + one.box[3]) / 2) for one in (a, b))
    dx, dy = bx - ax, by - ay
    plain = direction(dx, dy, 0.0)
    if plain is not None:
        return plain
    return ("left of" if dx > 0 else BACK["left of"]) if abs(dx) > abs(dy) else "above" if dy > 0 else BACK["above"]
