"""Scenes from a seed and a number, in one of the splits.

Compositional splits hold back pairs of colour and kind, and orders of two kinds, that never occur in training.
"""

from dataclasses import dataclass

from regard.chance import Chance
from regard.world.paper import SHEETS
from regard.world.place import placed
from regard.world.scene import (
    COLOURS,
    FILLS,
    KINDS,
    PALETTES,
    SIZES,
    USUAL,
    WALL,
    Backdrop,
    Light,
    Scene,
    Thing,
    direction,
)
from regard.world.view import View

SPLITS: dict[str, str] = {
    "train": "no held-out pair, no held-out order",
    "test": "as train, from a stream of its own",
    "novel": "one thing wears a held-out pair of colour and kind; otherwise as train",
    "rearranged": "two kinds stand in a held-out order; otherwise as train",
}

# Each kind lacks one colour and each colour one kind, so that both stay uniform in training; 3 has no factor with 8.
HELD_OUT_PAIRS: frozenset[tuple[str, str]] = frozenset((COLOURS[(3 * i + 1) % 8], kind) for i, kind in enumerate(KINDS))
# (a, b): in training, no a is ever left of a b.
HELD_OUT_ORDERS: frozenset[tuple[str, str]] = frozenset((kind, KINDS[(i + 3) % 8]) for i, kind in enumerate(KINDS))
# Far to near, each a whole pixel of disparity from the next at 64 pixels; no two things of a scene share one.
DEPTHS: tuple[float, ...] = tuple(WALL / pixels for pixels in range(4, 11))

_NAMES = tuple(SIZES)
_RIGHT = dict(HELD_OUT_ORDERS)
_SEEN = {kind: [c for c in COLOURS if (c, kind) not in HELD_OUT_PAIRS] for kind in KINDS}
_NOVEL = {kind: colour for colour, kind in HELD_OUT_PAIRS}


def scene(seed: int, index: int, *, things: int | tuple[int, int] = (1, 6), split: str = "train") -> Scene:
    """Scene number `index` of a seed: a count of things, or a range of counts, in one of the splits."""
    fewest, most = counts(things, split)
    if index < 0:
        raise IndexError(f"scene {index} does not exist; scenes are numbered from 0")
    chance = Chance(seed, f"scene {split} {fewest} {most}", index)
    dressed = _dressed(chance, fewest + chance.below(most - fewest + 1), split)
    hung = placed(chance, dressed, lambda things: _reordered(things) == (split == "rearranged"))
    return Scene(hung, _backdrop(chance), _light(chance))


def scenes(
    *, seed: int = 0, split: str = "train", things: int | tuple[int, int] = (1, 6), count: int | None = None
) -> View[Scene]:
    """All scenes of a seed and split, any of them by its number; without a count there is no last one."""
    facts: dict[str, object] = {
        "seed": seed,
        "split": split,
        "split rule": SPLITS.get(split, ""),
        "things": list(counts(things, split)),
        "kinds": list(KINDS),
        "colours": list(COLOURS),
        "fills": list(FILLS),
        "sizes": {name: list(bounds) for name, bounds in SIZES.items()},
        "palettes": list(PALETTES),
        "held-out pairs": sorted(f"{colour} {kind}" for colour, kind in HELD_OUT_PAIRS),
        "held-out orders": sorted(f"{a} left of {b}" for a, b in HELD_OUT_ORDERS),
    }
    return View("scenes", _Scenes(seed, things, split), facts, count)


@dataclass(frozen=True, slots=True)
class _Scenes:
    """A builder that can be sent to another process."""

    seed: int
    things: int | tuple[int, int]
    split: str

    def __call__(self, index: int) -> Scene:
        return scene(self.seed, index, things=self.things, split=self.split)


def counts(things: int | tuple[int, int], split: str) -> tuple[int, int]:
    """The fewest and the most things that were asked for, if a scene of the split can have them."""
    if split not in SPLITS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(SPLITS)}")
    fewest, most = (things, things) if isinstance(things, int) else things
    # Two kinds have to be there to stand in an order, so a range from 1 begins at 2.
    least = 2 if split == "rearranged" else 1
    if isinstance(things, tuple) and fewest == 1:
        fewest = least
    if not least <= fewest <= most <= USUAL:
        raise ValueError(f"{things} things do not make a {split} scene; ask for {least} to {USUAL}, or for a range")
    return fewest, most


def _dressed(chance: Chance, count: int, split: str) -> list[Thing]:
    """Things with every attribute but their place: drawn first, so that crowding cannot bend the statistics."""
    kinds = [chance.choose(KINDS) for _ in range(count)]
    if split == "rearranged":
        first = chance.below(len(KINDS))
        kinds[0], kinds[1] = KINDS[first], KINDS[(first + 3) % len(KINDS)]
    colours = [chance.choose(_SEEN[kind]) for kind in kinds]
    if split == "novel":
        odd = chance.below(count)
        colours[odd] = _NOVEL[kinds[odd]]
    away = chance.sample(DEPTHS, count)
    dressed = []
    for kind, colour, depth in zip(kinds, colours, away, strict=True):
        low, high = SIZES[chance.choose(_NAMES)]
        size, fill = chance.uniform(low, high), chance.choose(FILLS)
        dressed.append(Thing(kind, colour, size, fill, 0.5, 0.5, chance.uniform(-25.0, 25.0), depth))
    return dressed


def _reordered(things: list[Thing]) -> bool:
    """Whether two kinds stand in a held-out order."""
    return any(
        b.kind == _RIGHT[a.kind] and direction(b.x - a.x, b.y - a.y, a.size + b.size) == "left of"
        for a in things
        for b in things
    )


def _backdrop(chance: Chance) -> Backdrop:
    return Backdrop(
        palette=chance.choose(PALETTES),
        horizon=chance.uniform(0.55, 0.75),
        hills=chance.uniform(0.08, 0.2),
        phase=chance.uniform(),
        grain=chance.below(SHEETS),
    )


def _light(chance: Chance) -> Light:
    return Light(angle=chance.uniform(-145.0, -35.0), strength=chance.uniform(0.55, 0.9))
