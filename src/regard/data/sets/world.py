"""Sentences of the embedded little world, made as they are asked for."""

from dataclasses import dataclass

from regard.data.dataset import Dataset
from regard.world.language import Pair, pairs, text
from regard.world.view import View

DATASET = Dataset(
    name="world",
    kind="pairs",
    about="sentences of the embedded little world, made as they are asked for",
    terms="as regard itself",
    home="regard.world.language",
    languages=("en", "de", "it", "cs"),
    splits={"train": None, "test": None},
)


def read(split: str, source: str, target: str) -> View[tuple[str, str]]:
    view = pairs(source, target, split=split)
    return View(view.name, _Written(view), view.facts)


@dataclass(frozen=True, slots=True)
class _Written:
    """The pairs of the world as people write them."""

    view: View[Pair]

    def __call__(self, index: int) -> tuple[str, str]:
        pair = self.view[index]
        return text(pair.source), text(pair.target)
