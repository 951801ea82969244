"""One attention as a page draws it: who asks, who is looked at, and the weights between them.

A view knows no model. The explorer sends nothing else, and attention of any other program can be looked at once it is
written down as views, in a file that `schema` describes and `read` checks.
"""

import base64
import binascii
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Float

Kind = Literal["self", "causal", "cross"]
Encoding = Literal["u8", "f16", "f32"]

FORMAT = "regard-views-1"
LARGEST = 64 * 2**20  # bytes of a file
MANY = 4096  # views in a file, places on an axis, and letters of a text
NUMBERS = 2**24  # weights in a file


@dataclass(frozen=True, slots=True)
class Words:
    """Words or pieces of them, in a row; `words` says from which piece to which each whole word goes."""

    labels: tuple[str, ...]
    words: tuple[tuple[int, int], ...] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def to_json(self) -> dict[str, Any]:
        spans = {} if self.words is None else {"words": [list(span) for span in self.words]}
        return {"kind": "words", "labels": list(self.labels), **spans}


@dataclass(frozen=True, slots=True)
class Grid:
    """The patches of a picture, row by row."""

    height: int
    width: int
    image: str | None = None

    def __len__(self) -> int:
        return self.height * self.width

    def to_json(self) -> dict[str, Any]:
        picture = {} if self.image is None else {"image": self.image}
        return {"kind": "grid", "height": self.height, "width": self.width, **picture}


@dataclass(frozen=True, slots=True)
class Latents:
    """Learned queries, which have a number and no name."""

    count: int

    def __len__(self) -> int:
        return self.count

    def to_json(self) -> dict[str, Any]:
        return {"kind": "latents", "count": self.count}


@dataclass(frozen=True, slots=True)
class Boxes:
    """Places in a picture: left, top, width and height as shares of its sides."""

    boxes: tuple[tuple[float, float, float, float], ...]
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.boxes)

    def to_json(self) -> dict[str, Any]:
        return {"kind": "boxes", "boxes": [list(box) for box in self.boxes], "labels": list(self.labels)}


Axis = Words | Grid | Latents | Boxes


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
            "rows": self.rows.to_json(),
            "columns": self.columns.to_json(),
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


def shrunk(weights: Float[np.ndarray, "*b r c"], height: int, width: int) -> Float[np.ndarray, "*b {height} {width}"]:
    """The same picture in fewer cells, or more: each is the mean of what it covers."""
    down, right = _covering(height, weights.shape[-2]), _covering(width, weights.shape[-1])
    found: np.ndarray = (down @ weights.astype(np.float32, copy=False)) @ right.T
    return found


def read(data: bytes | str) -> Views:
    """Views from a file that anybody may have written: what does not fit is refused, with its place."""
    if len(data) > LARGEST:
        raise ValueError(f"{len(data):,} bytes are more than the {LARGEST:,} of a file of views; leave some views out")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is no JSON ({error}); a file of views is described in view.schema.json") from None
    _object(found, "the file")
    if found.get("format") != FORMAT:
        raise ValueError(f"the format is {_said(found.get('format'))}, and this regard reads {FORMAT!r}")
    views, room = _list(found.get("views"), "views"), [NUMBERS]
    return Views(
        _text(found.get("title", ""), "title"), tuple(_view(v, f"views[{i}]", room) for i, v in enumerate(views))
    )


def schema() -> dict[str, Any]:
    """The JSON schema of a file of views."""
    text, count = {"type": "string", "maxLength": MANY}, {"type": "integer", "minimum": 1, "maximum": MANY}
    labels = {"type": "array", "items": text, "maxItems": MANY}
    place = {"type": "integer", "minimum": 0}

    def record(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
        return {"type": "object", "properties": properties, "required": [n for n in properties if n not in optional]}

    words = {"kind": {"const": "words"}, "labels": {**labels, "minItems": 1}, "words": _rows(place, 2)}
    grid = {"kind": {"const": "grid"}, "height": count, "width": count, "image": text}
    boxes = {"kind": {"const": "boxes"}, "boxes": _rows({"type": "number"}, 4), "labels": labels}
    packed = {
        "shape": {"type": "array", "items": count, "minItems": 2, "maxItems": 3},
        "encoding": {"enum": list(get_args(Encoding))},
        "data": {"type": "string", "contentEncoding": "base64"},
    }
    row = {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": MANY}
    matrix = {"type": "array", "items": row, "minItems": 1, "maxItems": MANY}
    view = {
        "name": text,
        "kind": {"enum": list(get_args(Kind)), "default": "self"},
        "layer": {**place, "default": 0},
        "head": {"anyOf": [place, {"type": "null"}], "default": None},
        "heads": {**count, "default": 1},
        "rows": {"$ref": "#/$defs/axis"},
        "columns": {"$ref": "#/$defs/axis"},
        "weights": {"anyOf": [record(packed), matrix, {"type": "array", "items": matrix, "maxItems": MANY}]},
        "model": {**text, "default": ""},
        "caption": {**text, "default": ""},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Attention to look at, as regard's explorer and regard.analysis.view read it",
        "description": "Weights are row by row, nested lists or base64: u8 is a weight in 255ths, f16 and f32 are "
        "little-endian floats. With three axes the first one is the head.",
        **record(
            {
                "format": {"const": FORMAT},
                "title": {**text, "default": ""},
                "views": {"type": "array", "items": {"$ref": "#/$defs/view"}, "minItems": 1, "maxItems": MANY},
            },
            "title",
        ),
        "$defs": {
            "view": record(view, "kind", "layer", "head", "heads", "model", "caption"),
            "axis": {
                "oneOf": [
                    record(words, "words"),
                    record(grid, "image"),
                    record({"kind": {"const": "latents"}, "count": count}),
                    record(boxes),
                ]
            },
        },
    }


_DTYPES: dict[Encoding, np.dtype[Any]] = {"u8": np.dtype(np.uint8), "f16": np.dtype("<f2"), "f32": np.dtype("<f4")}


def _rows(item: Mapping[str, Any], count: int) -> dict[str, Any]:
    return {
        "type": "array",
        "items": {"type": "array", "items": dict(item), "minItems": count, "maxItems": count},
        "maxItems": MANY,
    }


def _covering(cells: int, places: int) -> Float[np.ndarray, "{cells} {places}"]:
    """How much of each place each of the evenly spaced cells covers, as a share of the cell."""
    edges = np.linspace(0, places, cells + 1)
    place = np.arange(places)
    low, high = np.maximum(edges[:-1, None], place), np.minimum(edges[1:, None], place + 1)
    covered: np.ndarray = np.clip(high - low, 0.0, None) * (cells / places)
    return covered.astype(np.float32)


def _view(found: Any, where: str, room: list[int]) -> View:
    _object(found, where)
    rows, columns = (_axis(found.get(side), f"{where}.{side}") for side in ("rows", "columns"))
    weights = _weights(found.get("weights"), f"{where}.weights", room)
    head = found.get("head")
    try:
        return View(
            name=_text(found.get("name"), f"{where}.name"),
            rows=rows,
            columns=columns,
            weights=weights,
            kind=_among(found.get("kind", "self"), get_args(Kind), f"{where}.kind"),
            layer=_number(found.get("layer", 0), f"{where}.layer", 0),
            head=None if head is None else _number(head, f"{where}.head", 0),
            heads=_number(found.get("heads", len(weights) if weights.ndim == 3 else 1), f"{where}.heads", 1),
            model=_text(found.get("model", ""), f"{where}.model"),
            caption=_text(found.get("caption", ""), f"{where}.caption"),
        )
    except ValueError as error:
        raise ValueError(str(error) if where in str(error) else f"{where}: {error}") from None


def _axis(found: Any, where: str) -> Axis:
    _object(found, where)
    kind = _among(found.get("kind"), tuple(_AXES), f"{where}.kind")
    return _AXES[kind](found, where)


def _words(found: Mapping[str, Any], where: str) -> Words:
    labels = _labels(found, where)
    if found.get("words") is None:
        return Words(labels)
    spans = []
    for i, span in enumerate(_list(found["words"], f"{where}.words")):
        pair = _list(span, f"{where}.words[{i}]")
        first, last = (_number(each, f"{where}.words[{i}]", 0) for each in (pair if len(pair) == 2 else (None, None)))
        if not first <= last < len(labels):
            raise ValueError(f"{where}.words[{i}] goes from {first} to {last} among {len(labels)} labels")
        spans.append((first, last))
    return Words(labels, tuple(spans))


def _grid(found: Mapping[str, Any], where: str) -> Grid:
    height, width = (_number(found.get(side), f"{where}.{side}", 1) for side in ("height", "width"))
    if height * width > MANY:
        raise ValueError(f"{where} has {height} × {width} places, and at most {MANY} are drawn")
    image = found.get("image")
    return Grid(height, width, None if image is None else _text(image, f"{where}.image"))


def _latents(found: Mapping[str, Any], where: str) -> Latents:
    return Latents(_number(found.get("count"), f"{where}.count", 1))


def _boxes(found: Mapping[str, Any], where: str) -> Boxes:
    labels, boxes = _labels(found, where), []
    for i, box in enumerate(_list(found.get("boxes"), f"{where}.boxes")):
        sides = _list(box, f"{where}.boxes[{i}]")
        if len(sides) != 4 or not all(_is_number(side) for side in sides):
            raise ValueError(f"{where}.boxes[{i}] is {_said(box)}, not four numbers: left, top, width, height")
        boxes.append((float(sides[0]), float(sides[1]), float(sides[2]), float(sides[3])))
    if len(boxes) != len(labels):
        raise ValueError(f"{where} has {len(boxes)} boxes and {len(labels)} labels; give one for each")
    return Boxes(tuple(boxes), labels)


_AXES: dict[str, Callable[[Mapping[str, Any], str], Axis]] = {
    "words": _words,
    "grid": _grid,
    "latents": _latents,
    "boxes": _boxes,
}


def _labels(found: Mapping[str, Any], where: str) -> tuple[str, ...]:
    labels = _list(found.get("labels"), f"{where}.labels")
    return tuple(_text(label, f"{where}.labels[{i}]") for i, label in enumerate(labels))


def _weights(found: Any, where: str, room: list[int]) -> Float[np.ndarray, "*h r c"]:
    """The numbers, wherever they are; `room` is how many the file may still hold."""
    if isinstance(found, dict) and "href" in found:
        raise ValueError(f"{where} are elsewhere, and nothing is fetched; write the numbers into the file")
    weights = _packed(found, where, room) if isinstance(found, dict) else _nested(found, where, room)
    if not np.isfinite(weights).all():
        raise ValueError(f"{where} are not all numbers; replace what is infinite or missing by 0")
    return weights


def _packed(found: Mapping[str, Any], where: str, room: list[int]) -> np.ndarray:
    shape = [_number(each, f"{where}.shape", 1) for each in _list(found.get("shape"), f"{where}.shape")]
    encoding: Encoding = _among(found.get("encoding"), get_args(Encoding), f"{where}.encoding")
    if len(shape) not in (2, 3):
        raise ValueError(f"{where} have the shape {shape}; give rows and columns, or heads, rows and columns")
    _take(math.prod(shape), where, room)
    data = found.get("data")
    if not isinstance(data, str):
        raise ValueError(f"{where}.data is {_said(data)}, not base64")
    try:
        return unpack(base64.b64decode(data, validate=True), shape, encoding)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"{where}.data cannot be read: {error}") from None


def _nested(found: Any, where: str, room: list[int]) -> np.ndarray:
    rows = _list(found, where)
    if isinstance(rows[0], list) and rows[0] and isinstance(rows[0][0], list):
        heads = [_nested(head, f"{where}[{i}]", room) for i, head in enumerate(rows)]
        if len({head.shape for head in heads}) > 1 or heads[0].ndim != 2:
            raise ValueError(f"{where} has heads of different shapes; give each the same rows and columns")
        return np.stack(heads)
    for i, row in enumerate(rows):
        numbers = _list(row, f"{where}[{i}]")
        if len(numbers) != len(rows[0]) or not all(map(_is_number, numbers)):
            raise ValueError(f"{where}[{i}] is not a row of {len(rows[0])} numbers, as the first one is")
    _take(len(rows) * len(rows[0]), where, room)
    return np.array(rows, dtype=np.float32)


def _take(count: int, where: str, room: list[int]) -> None:
    room[0] -= count
    if room[0] < 0:
        raise ValueError(f"{where} is one number too many: a file holds {NUMBERS:,}; leave some views out")


def _object(found: Any, where: str) -> None:
    if not isinstance(found, dict):
        raise ValueError(f"{where} is {_said(found)}, not an object")


def _list(found: Any, where: str) -> list[Any]:
    if not isinstance(found, list) or not 1 <= len(found) <= MANY:
        many = f"a list of {len(found)}" if isinstance(found, list) else _said(found)
        raise ValueError(f"{where} is {many}, not a list of 1 to {MANY}")
    return found


def _text(found: Any, where: str) -> str:
    if not isinstance(found, str) or len(found) > MANY:
        raise ValueError(f"{where} is {_said(found)}, not a text of at most {MANY} letters")
    return found


def _number(found: Any, where: str, least: int) -> int:
    if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= MANY:
        raise ValueError(f"{where} is {_said(found)}, not a whole number from {least} to {MANY}")
    return found


def _is_number(found: Any) -> bool:
    return isinstance(found, int | float) and not isinstance(found, bool) and abs(found) < 1e30


def _among(found: Any, known: tuple[str, ...], where: str) -> Any:
    if found not in known:
        raise ValueError(f"{where} is {_said(found)}; choose {', '.join(known)}")
    return found


def _said(found: Any) -> str:
    text = ascii(found) if isinstance(found, str | int | float | None) else f"a {type(found).__name__}"
    return text if len(text) <= 40 else f"{text[:39]}…"
