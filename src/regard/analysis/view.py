"""One attention as a page draws it: who asks, who is looked at, and the weights between them.

A view knows no model. The explorer sends nothing else, and attention of any other program can be looked at once it is
written down as views (`regard.analysis.viewfile`).
"""

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from regard.text.words import Words

Kind = Literal["self", "causal", "cross"]
Encoding = Literal["u8", "f16", "f32"]

FORMAT = "regard-views-1"


@dataclass(frozen=True, slots=True)
class Grid:
    """The patches of a picture, row by row; the picture itself may come along as `data:image/png;base64,…`.

    The `leading` tokens, such as [CLS], stand before the patches and have no place on the picture.
    """

    height: int
    width: int
    image: str | None = None
    leading: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.leading) + self.height * self.width


@dataclass(frozen=True, slots=True)
class Latents:
    """Learned queries, which have a number and no name."""

    count: int

    def __len__(self) -> int:
        return self.count


@dataclass(frozen=True, slots=True)
class Boxes:
    """Places in a picture: left, top, width and height as shares of its sides.

    Of a cloud, `points` are x, y and z of each, from -1 to 1 and with z up, so that a page can turn it.
    """

    boxes: tuple[tuple[float, float, float, float], ...]
    labels: tuple[str, ...]
    points: tuple[tuple[float, float, float], ...] | None = None

    def __len__(self) -> int:
        return len(self.boxes)


Axis = Words | Grid | Latents | Boxes


def axis_json(axis: Axis) -> dict[str, Any]:
    """An axis as `schema` describes it."""
    match axis:
        case Words(pieces, spans):
            return {"kind": "words", "labels": list(pieces), "words": [list(span) for span in spans]}
        case Grid(height, width, image, leading):
            more = ({} if image is None else {"image": image}) | ({"leading": list(leading)} if leading else {})
            return {"kind": "grid", "height": height, "width": width, **more}
        case Latents(count):
            return {"kind": "latents", "count": count}
        case Boxes(boxes, labels, points):
            cloud = {} if points is None else {"points": [list(point) for point in points]}
            return {"kind": "boxes", "boxes": [list(box) for box in boxes], "labels": list(labels), **cloud}


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One attention: of one head, of the mean of all where `head` is None, or of each where there are three axes."""

    name: str
    rows: Axis
    columns: Axis
    weights: Float[np.ndarray, "*h r c"]
    kind: Kind = "self"
    layer: int = 0
    head: int | None = None
    heads: int = 1
    model: str = ""
    caption: str = ""

    def __post_init__(self) -> None:
        shape, right = self.weights.shape, (len(self.rows), len(self.columns))
        if shape not in (right, (self.heads, *right)):
            raise ValueError(
                f"weights of shape {shape} do not fit {right[0]} rows and {right[1]} columns of {self.name!r}"
            )

    def to_json(self, encoding: Encoding = "f32") -> dict[str, Any]:
        """The view as `schema` describes it, with packed weights."""
        return {
            "name": self.name,
            "kind": self.kind,
            "layer": self.layer,
            "head": self.head,
            "heads": self.heads,
            "rows": axis_json(self.rows),
            "columns": axis_json(self.columns),
            "weights": {
                "shape": list(self.weights.shape),
                "encoding": encoding,
                "data": base64.b64encode(pack(self.weights, encoding)).decode(),
            },
            "model": self.model,
            "caption": self.caption,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Views:
    """Views that belong together, as a file holds them."""

    title: str
    views: tuple[View, ...]

    def to_json(self, encoding: Encoding = "f32") -> dict[str, Any]:
        """What is written into the file."""
        return {"format": FORMAT, "title": self.title, "views": [view.to_json(encoding) for view in self.views]}


def pack(weights: Float[np.ndarray, "*n"], encoding: Encoding) -> bytes:
    """Weights in few bytes, row by row: a byte is a weight in 255ths, the others are little-endian floats."""
    if encoding == "u8":
        weights = np.rint(np.clip(weights, 0.0, 1.0) * 255)
    return np.ascontiguousarray(weights, dtype=_DTYPES[encoding]).tobytes()


def unpack(data: bytes, shape: Sequence[int], encoding: Encoding) -> Float[np.ndarray, "*n"]:
    """The weights that were packed."""
    dtype = _DTYPES[encoding]
    if len(data) != math.prod(shape) * dtype.itemsize:
        raise ValueError(
            f"{len(data)} bytes are not the {math.prod(shape) * dtype.itemsize} that {encoding} needs for "
            f"{' × '.join(map(str, shape))} weights"
        )
    found = np.frombuffer(data, dtype).reshape(tuple(shape)).astype(np.float32)
    return found / np.float32(255) if encoding == "u8" else found


def shrink(weights: Float[np.ndarray, "*b r c"], height: int, width: int) -> Float[np.ndarray, "*b {height} {width}"]:
    """The same picture in fewer cells, or more: each is the mean of what it covers."""
    return _thin(_thin(weights, height, -2), width, -1)


_DTYPES: dict[Encoding, np.dtype[Any]] = {"u8": np.dtype(np.uint8), "f16": np.dtype("<f2"), "f32": np.dtype("<f4")}


def _thin(weights: Float[np.ndarray, "*n"], cells: int, axis: int) -> Float[np.ndarray, "*m"]:
    """Means over evenly spaced cells. No matrix product, whose threads would fight with those of the model."""
    along = np.moveaxis(weights, axis, -1)
    places = along.shape[-1]
    # The sum up to an edge is known at each place, and straight in between; a cell is the difference at its edges.
    sums = np.zeros((*along.shape[:-1], places + 1), np.float32)
    np.cumsum(along, axis=-1, out=sums[..., 1:])
    edges = np.linspace(0, places, cells + 1)
    below = np.minimum(edges.astype(int), places - 1)
    share = (edges - below).astype(np.float32)
    at = sums[..., below] * (1 - share) + sums[..., below + 1] * share
    return np.moveaxis(np.diff(at) * np.float32(cells / places), -1, axis)
