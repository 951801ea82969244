"""What one run of a model looked at: axes, the attention maps between them, and the trace they are computed from.

A pipeline's `attend` makes one. Everything that draws attention takes it: figures, notebooks, the explorer and its API.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from regard.analysis.merge import merge
from regard.analysis.view import Axis, Kind, Latents, View, Views
from regard.names import unknown
from regard.text.words import Words

if TYPE_CHECKING:
    from regard.attention import Trace


@dataclass(frozen=True, slots=True)
class Map:
    """One attention of a model, and which axes its rows and columns are."""

    name: str
    kind: Kind
    layer: int
    heads: int
    rows: str
    columns: str
    group: str = ""  # what a figure writes over the maps that belong together


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One input read by one model, once, with everything watched."""

    model: str
    axes: Mapping[str, Axis]
    maps: tuple[Map, ...]
    trace: "Trace"
    output: Any = None  # what the pipeline makes of the input
    caption: str = ""

    def find(self, name: str) -> Map:
        """The map of a name."""
        for each in self.maps:
            if each.name == name:
                return each
        raise KeyError(unknown("attention", name, [each.name for each in self.maps]))

    def weights(self, name: str, *, words: bool = False) -> Float[np.ndarray, "h r c"]:
        """How much each row takes from each column, for every head; between whole `words` where the axes have them."""
        self.find(name)
        found: np.ndarray = self.trace.map(name)[0].float().cpu().numpy()
        return self.merge_words(name, found) if words else found

    def merge_words(self, name: str, weights: Float[np.ndarray, "*h m n"]) -> Float[np.ndarray, "*h r c"]:
        """Weights of one attention between whole words, from those between pieces."""
        one = self.find(name)
        sides = (self.axes[one.rows], self.axes[one.columns])
        rows, columns = (_groups(axis) for axis in sides)
        return merge(weights, rows, columns)

    def view(self, name: str, *, head: int | None = None, mean: bool = False, words: bool = False) -> View:
        """One attention as a file or a page holds it: one `head`, the `mean` of all, or all of them."""
        one, weights = self.find(name), self.weights(name, words=words)
        if head is not None and not 0 <= head < one.heads:
            raise KeyError(f"{name} has no head {head}; they are numbered 0 to {one.heads - 1}")
        which = "the mean of all heads" if mean else "all heads" if head is None else f"head {head}"
        rows, columns = (_whole(self.axes[side]) if words else self.axes[side] for side in (one.rows, one.columns))
        return View(
            name=name,
            rows=rows,
            columns=columns,
            weights=weights.mean(axis=0) if mean else weights if head is None else weights[head],
            kind=one.kind,
            layer=one.layer,
            head=head,
            heads=one.heads,
            model=self.model,
            caption=", ".join(filter(None, (self.model, name, which))) + (f": {self.caption}" if self.caption else ""),
        )

    def views(self, title: str = "") -> Views:
        """Every attention, as a file holds them."""
        return Views(title or self.caption or self.model, tuple(self.view(each.name) for each in self.maps))


def read_layer(name: str) -> int:
    """The number of the layer that the name of an attention says, or 0."""
    number = re.search(r"\.(\d+)\.", f".{name}.")
    return int(number[1]) if number else 0


def find_kind(name: str, weights: Float[np.ndarray, "h r c"]) -> Kind:
    """What kind of attention it is, as its name and its weights tell."""
    rows, columns = weights.shape[1:]
    if rows != columns or re.search("cross|encoder_attn|EncDec", name, re.IGNORECASE):
        return "cross"
    return "causal" if rows > 1 and not np.triu(weights, 1).any() else "self"


def maps_of(
    trace: "Trace", known: Mapping[int, Axis], written: Mapping[int, Axis] = MappingProxyType({})
) -> tuple[dict[str, Axis], tuple[Map, ...]]:
    """The axes and maps of a model of which no more is known than the axes that went in, by their lengths.

    `written` are those of a decoder, which may be as long as what its encoder read.
    """
    axes: dict[str, Axis] = {}

    def name_axis(size: int, *, decoder: bool) -> str:
        side = written if decoder and written else known
        key = str(size) if not written or size not in side else "target" if decoder else "source"
        axes.setdefault(key, side.get(size) or Latents(size))
        return key

    maps = []
    for name in trace:
        weights: np.ndarray = trace.map(name)[0].float().cpu().numpy()
        kind, (heads, rows, columns) = find_kind(name, weights), weights.shape
        decoder = kind == "cross" or "decoder" in name
        sides = name_axis(rows, decoder=decoder), name_axis(columns, decoder=decoder and kind != "cross")
        maps.append(Map(name, kind, read_layer(name), heads, *sides, kind))
    return axes, tuple(maps)


def _groups(axis: Axis) -> list[list[int]]:
    if isinstance(axis, Words):
        return [list(range(first, last + 1)) for first, last in axis.spans]
    return [[place] for place in range(len(axis))]


def _whole(axis: Axis) -> Axis:
    return Words.whole(axis.labels) if isinstance(axis, Words) else axis
