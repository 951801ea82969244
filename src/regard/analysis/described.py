"""How right a sentence about a scene of the world is: as a whole, thing by thing, and by where was looked for it."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import permutations
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from regard.world import COLOURS, FILLS, KINDS, SIZES, Scene, Thing
from regard.world.language import describe

ATTRIBUTES = ("kind", "colour", "size", "fill")
CONTENT = frozenset((*KINDS, *COLOURS, *FILLS, *SIZES))  # words that say what a thing is like


class Looks(NamedTuple):
    """What is said of a thing."""

    kind: str
    colour: str
    size: str
    fill: str


def looks(thing: Thing) -> Looks:
    """What is true of a thing."""
    return Looks(thing.kind, thing.colour, thing.scale, thing.fill)


def parse(text: str) -> list[Looks] | None:
    """The things that an English sentence tells of a scene; None where it is no such sentence."""
    found = re.fullmatch(r"There is (.+)\.", text.strip())
    if found is None:
        return None
    told = [_phrase(part.split()) for part in re.split(r", | and ", found[1])]
    return None if any(each is None for each in told) else [each for each in told if each is not None]


def is_exact(text: str, scene: Scene) -> bool:
    """Whether a sentence tells every thing of a scene rightly and nothing else, in whatever order."""
    told = parse(text)
    true = [looks(thing) for thing in scene.things]
    if told is None or sorted(told) != sorted(true):
        return False
    left, order = list(range(len(true))), list[int]()
    for each in told:
        i = next(i for i in left if true[i] == each)
        left.remove(i)
        order.append(i)
    return describe(Scene(tuple(scene.things[i] for i in order))).text == text.strip()


def attributes(text: str, scene: Scene) -> dict[str, list[bool]]:
    """Which of kind, colour, size and fill are said rightly of each thing; each told thing stands for one true one.

    A thing that is not told, and one that is not there, count as wrong in all four.
    """
    told, true = parse(text) or loose(text), [looks(thing) for thing in scene.things]
    most = max(len(told), len(true))
    right = {name: [False] * (most - min(len(told), len(true))) for name in ATTRIBUTES}
    for said, real in _pair(tuple(told), tuple(true)):
        for name, one, other in zip(ATTRIBUTES, said, real, strict=True):
            right[name].append(one == other)
    return right


def hits(text: str, scene: Scene) -> list[bool]:
    """The same, of all things and attributes in a row."""
    return [hit for some in attributes(text, scene).values() for hit in some]


def loose(text: str) -> list[Looks]:
    """The things of a sentence that is not quite one, as far as they can be told apart."""
    parts = re.split(r",| and |\.", text.removeprefix("There is "))
    told = []
    for part in parts:
        words = part.split()
        kind = next((word for word in words if word in KINDS), None)
        if kind is not None:
            colour = next((word for word in words if word in COLOURS), "")
            size = next((word for word in words if word in SIZES), "medium")
            told.append(Looks(kind, colour, size, next((word for word in words if word in FILLS), "plain")))
    return told[:12]


def points_into(weights: Float[np.ndarray, "i j"], thing: Bool[np.ndarray, "h w"]) -> bool:
    """Whether the cell that is looked at most has a part of the thing in it."""
    i, j = np.unravel_index(int(weights.argmax()), weights.shape)
    return bool(_cells(thing, *weights.shape)[i, j] > 0)


def mass_on(weights: Float[np.ndarray, "i j"], thing: Bool[np.ndarray, "h w"]) -> float:
    """The share of a look that falls into cells in which there is a part of the thing."""
    return float(weights[_cells(thing, *weights.shape) > 0].sum() / max(float(weights.sum()), 1e-12))


def by_chance(shape: tuple[int, int], thing: Bool[np.ndarray, "h w"]) -> float:
    """How often a look at any cell would fall on the thing."""
    return float((_cells(thing, *shape) > 0).mean())


def _cells(mask: Bool[np.ndarray, "h w"], rows: int, columns: int) -> Float[np.ndarray, "i j"]:
    """The share of each cell that a mask covers; the sides need not be multiples."""
    down, across = (np.arange(side) * cells // side for side, cells in zip(mask.shape, (rows, columns), strict=True))
    share = np.zeros((rows, columns))
    np.add.at(share, (down[:, None], across[None]), mask)
    return share / (mask.size / (rows * columns))


def _phrase(words: Sequence[str]) -> Looks | None:
    """`a big red striped disc`, in the order of English."""
    if len(words) < 3 or words[0] not in ("a", "an") or (words[0] == "an") != (words[1][0] in "aeiou"):
        return None
    size = words[1] if words[1] in ("small", "big") else "medium"
    rest = list(words[1:] if size == "medium" else words[2:])
    if not rest or rest[0] not in COLOURS or rest[-1] not in KINDS or len(rest) > 3:
        return None
    fill = rest[1] if len(rest) == 3 else "plain"
    if len(rest) == 3 and (fill not in FILLS or fill == "plain"):
        return None
    return Looks(rest[-1], rest[0], size, fill)


@cache
def _orders(most: int, least: int) -> tuple[tuple[int, ...], ...]:
    return tuple(permutations(range(most), least))


def _pair(told: tuple[Looks, ...], true: tuple[Looks, ...]) -> list[tuple[Looks, Looks]]:
    """Told and true things so that as much as possible is right."""
    if len(told) > len(true):
        return [(said, real) for real, said in _pair(true, told)]
    if len(true) > 7:  # beyond what can be tried out: in their order
        return list(zip(told, true, strict=False))
    agree = [[sum(a == b for a, b in zip(said, real, strict=True)) for real in true] for said in told]
    best = max(_orders(len(true), len(told)), key=lambda order: sum(agree[i][j] for i, j in enumerate(order)))
    return [(told[i], true[j]) for i, j in enumerate(best)]
