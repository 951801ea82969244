"""Recall over a distance: pairs of a key and a value, then noise, then one of the keys; what was its value?

    view = recalls(distance=100)
    view[7].ids, view[7].answer

The answer stands among the words, and nothing but the distance makes it hard to give. Any of the pairs may be asked
for, so its place alone gives nothing away: who forgets the keys can only guess among the values.
"""

from dataclasses import dataclass
from typing import NamedTuple

from regard.chance import Chance
from regard.world.view import View

SPLITS = ("train", "test")
NEAREST, FARTHEST = 1, 1000  # steps from the last pair to the question
PADDING = 0  # no word has this number


class Recall(NamedTuple):
    """Words with the question last, and the value that answers it."""

    ids: tuple[int, ...]
    answer: int
    place: int  # of the answer among the ids
    pairs: int

    @property
    def distance(self) -> int:
        """Steps from the last pair to the question; the pair that is asked for may lie farther."""
        return len(self.ids) - 2 * self.pairs

    @property
    def question(self) -> int:
        """The key whose value is wanted."""
        return self.ids[-1]

    @property
    def story(self) -> tuple[tuple[int, ...], ...]:
        """The words before the question as sentences, for a memory: each pair is one, and so is each noise word."""
        told = 2 * self.pairs
        return tuple(self.ids[i : i + 2] for i in range(0, told, 2)) + tuple((word,) for word in self.ids[told:-1])


def recalls(
    *,
    seed: int = 0,
    split: str = "train",
    distance: int | tuple[int, int] = 10,
    pairs: int = 4,
    keys: int = 16,
    values: int = 16,
    noise: int = 16,
    count: int | None = None,
) -> View[Recall]:
    """Recall at one distance, or at any of a range; `keys`, `values` and `noise` are how many words there are of each.

    Item 7 asks for the same key of the same pairs at every distance, so that scores compare item by item. Train and
    test are streams of their own; with a handful of words at a short distance, both may come upon the same item.
    """
    if split not in SPLITS:
        raise ValueError(f"no split is called {split!r}; choose {' or '.join(SPLITS)}")
    nearest, farthest = (distance, distance) if isinstance(distance, int) else distance
    if not NEAREST <= nearest <= farthest <= FARTHEST:
        raise ValueError(
            f"distance {distance} cannot be kept; give {NEAREST} to {FARTHEST} steps, or a range such as (1, 100)"
        )
    if not 1 <= pairs <= min(keys, values):
        raise ValueError(
            f"{pairs} pairs cannot be made of {keys} keys and {values} values without using one twice; "
            f"ask for 1 pair or more, with as many keys and values at least"
        )
    if noise < 1:
        raise ValueError(f"{noise} noise words leave nothing to say between pairs and question; give 1 or more")
    facts: dict[str, object] = {
        "seed": seed,
        "split": split,
        "split rule": "train and test are drawn from streams of their own",
        "distance": [nearest, farthest],
        "pairs": pairs,
        "keys": [1, keys],
        "values": [keys + 1, keys + values],
        "noise": [keys + values + 1, keys + values + noise],
        "vocabulary": vocabulary(keys, values, noise),
        "guessing among the values shown": 1 / pairs,
    }
    return View("recalls", _Recalls(seed, split, nearest, farthest, pairs, keys, values, noise), facts, count)


def vocabulary(keys: int, values: int, noise: int) -> int:
    """How many numbers the words take: keys from 1 on, then values, then noise; 0 is left for padding."""
    return 1 + keys + values + noise


@dataclass(frozen=True, slots=True)
class _Recalls:
    """A builder that can be sent to another process."""

    seed: int
    split: str
    nearest: int
    farthest: int
    pairs: int
    keys: int
    values: int
    noise: int

    def __call__(self, index: int) -> Recall:
        # The dial is no part of the stream's name, and noise is drawn last: that is why pairs do not depend on it.
        chance = Chance(self.seed, f"recall {self.split}", index)
        keys = chance.sample(range(1, self.keys + 1), self.pairs)
        values = chance.sample(range(self.keys + 1, self.keys + self.values + 1), self.pairs)
        asked = chance.below(self.pairs)
        distance = self.nearest + chance.below(self.farthest - self.nearest + 1)
        told = [word for pair in zip(keys, values, strict=True) for word in pair]
        first = self.keys + self.values + 1
        between = [first + chance.below(self.noise) for _ in range(distance - 1)]
        return Recall((*told, *between, keys[asked]), values[asked], 2 * asked + 1, self.pairs)
