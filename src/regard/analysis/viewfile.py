"""A file of views: what may stand in it, and how one that anybody may have written is checked.

Attention of any program can be looked at on the explorer's page once it is such a file. Nothing in it is fetched.
"""

import base64
import binascii
import json
import math
from collections.abc import Callable, Mapping
from typing import Any, get_args

import numpy as np
from jaxtyping import Float

from regard.analysis.view import FORMAT, Axis, Boxes, Encoding, Grid, Kind, Latents, View, Views, unpack
from regard.text.words import Words

LARGEST = 64 * 2**20  # bytes of a file
MANY = 4096  # views in a file, places on an axis, and letters of a text
NUMBERS = 2**24  # weights in a file
PICTURE = 4 * 2**20  # letters of a picture
PICTURES = ("data:image/png;base64,", "data:image/jpeg;base64,", "data:image/webp;base64,")


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
        raise ValueError(f"the format is {_quote(found.get('format'))}, and this regard reads {FORMAT!r}")
    views, room = _list(found.get("views"), "views"), [NUMBERS]
    return Views(
        _text(found.get("title", ""), "title"), tuple(_view(v, f"views[{i}]", room) for i, v in enumerate(views))
    )


def schema() -> dict[str, Any]:
    """The JSON schema of a file of views."""
    text, count = {"type": "string", "maxLength": MANY}, {"type": "integer", "minimum": 1, "maximum": MANY}
    labels = {"type": "array", "items": text, "maxItems": MANY}
    place = {"type": "integer", "minimum": 0}
    image = {"type": "string", "maxLength": PICTURE, "pattern": "^data:image/(png|jpeg|webp);base64,"}

    def record(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
        return {"type": "object", "properties": properties, "required": [n for n in properties if n not in optional]}

    words = {"kind": {"const": "words"}, "labels": {**labels, "minItems": 1}, "words": _rows(place, 2)}
    grid = {
        "kind": {"const": "grid"},
        "height": count,
        "width": count,
        "image": image,
        "leading": {**labels, "minItems": 1},
    }
    boxes = {
        "kind": {"const": "boxes"},
        "boxes": _rows({"type": "number"}, 4),
        "labels": labels,
        "points": _rows({"type": "number"}, 3),
    }
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
        "title": "Attention to look at, as regard's explorer and regard.analysis.viewfile read it",
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
                    record(grid, "image", "leading"),
                    record({"kind": {"const": "latents"}, "count": count}),
                    record(boxes, "points"),
                ]
            },
        },
    }


def _rows(item: Mapping[str, Any], count: int) -> dict[str, Any]:
    return {
        "type": "array",
        "items": {"type": "array", "items": dict(item), "minItems": count, "maxItems": count},
        "maxItems": MANY,
    }


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
        return Words.whole(labels)
    spans = []
    for i, span in enumerate(_list(found["words"], f"{where}.words")):
        pair = _list(span, f"{where}.words[{i}]")
        first, last = (_number(each, f"{where}.words[{i}]", 0) for each in (pair if len(pair) == 2 else (None, None)))
        if not first <= last < len(labels):
            raise ValueError(f"{where}.words[{i}] goes from {first} to {last} among {len(labels)} labels")
        spans.append((first, last))
    return Words(labels, tuple(spans), tuple("".join(labels[first : last + 1]) for first, last in spans))


def _grid(found: Mapping[str, Any], where: str) -> Grid:
    height, width = (_number(found.get(side), f"{where}.{side}", 1) for side in ("height", "width"))
    given = _list(found["leading"], f"{where}.leading") if "leading" in found else []
    leading = tuple(_text(each, f"{where}.leading[{i}]") for i, each in enumerate(given))
    if len(leading) + height * width > MANY:
        raise ValueError(f"{where} has {height} × {width} places, and at most {MANY} are drawn")
    image = found.get("image")
    return Grid(height, width, None if image is None else _picture(image, f"{where}.image"), leading)


def _latents(found: Mapping[str, Any], where: str) -> Latents:
    return Latents(_number(found.get("count"), f"{where}.count", 1))


def _boxes(found: Mapping[str, Any], where: str) -> Boxes:
    labels, boxes = _labels(found, where), []
    for i, box in enumerate(_list(found.get("boxes"), f"{where}.boxes")):
        sides = _list(box, f"{where}.boxes[{i}]")
        if len(sides) != 4 or not all(_is_number(side) for side in sides):
            raise ValueError(f"{where}.boxes[{i}] is {_quote(box)}, not four numbers: left, top, width, height")
        boxes.append((float(sides[0]), float(sides[1]), float(sides[2]), float(sides[3])))
    if len(boxes) != len(labels):
        raise ValueError(f"{where} has {len(boxes)} boxes and {len(labels)} labels; give one for each")
    return Boxes(tuple(boxes), labels, _points(found["points"], where, len(boxes)) if "points" in found else None)


def _points(given: Any, where: str, count: int) -> tuple[tuple[float, float, float], ...]:
    points = []
    for i, point in enumerate(_list(given, f"{where}.points")):
        place = _list(point, f"{where}.points[{i}]")
        if len(place) != 3 or not all(_is_number(each) for each in place):
            raise ValueError(f"{where}.points[{i}] is {_quote(point)}, not three numbers: x, y and z")
        points.append((float(place[0]), float(place[1]), float(place[2])))
    if len(points) != count:
        raise ValueError(f"{where} has {len(points)} points and {count} boxes; give one for each")
    return tuple(points)


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
    weights = _read_packed(found, where, room) if isinstance(found, dict) else _read_nested(found, where, room)
    if not np.isfinite(weights).all():
        raise ValueError(f"{where} are not all numbers; replace what is infinite or missing by 0")
    return weights


def _read_packed(found: Mapping[str, Any], where: str, room: list[int]) -> np.ndarray:
    shape = [_number(each, f"{where}.shape", 1) for each in _list(found.get("shape"), f"{where}.shape")]
    encoding: Encoding = _among(found.get("encoding"), get_args(Encoding), f"{where}.encoding")
    if len(shape) not in (2, 3):
        raise ValueError(f"{where} have the shape {shape}; give rows and columns, or heads, rows and columns")
    _take(math.prod(shape), where, room)
    data = found.get("data")
    if not isinstance(data, str):
        raise ValueError(f"{where}.data is {_quote(data)}, not base64")
    try:
        return unpack(base64.b64decode(data, validate=True), shape, encoding)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"{where}.data cannot be read: {error}") from None


def _read_nested(found: Any, where: str, room: list[int]) -> np.ndarray:
    rows = _list(found, where)
    if isinstance(rows[0], list) and rows[0] and isinstance(rows[0][0], list):
        heads = [_read_nested(head, f"{where}[{i}]", room) for i, head in enumerate(rows)]
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
        raise ValueError(f"{where} is {_quote(found)}, not an object")


def _list(found: Any, where: str) -> list[Any]:
    if not isinstance(found, list) or not 1 <= len(found) <= MANY:
        many = f"a list of {len(found)}" if isinstance(found, list) else _quote(found)
        raise ValueError(f"{where} is {many}, not a list of 1 to {MANY}")
    return found


def _text(found: Any, where: str) -> str:
    if not isinstance(found, str) or len(found) > MANY:
        raise ValueError(f"{where} is {_quote(found)}, not a text of at most {MANY} letters")
    try:
        found.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{where} is {_quote(found)}, which has half a character; write it as UTF-8") from None
    return found


def _picture(found: Any, where: str) -> str:
    if not isinstance(found, str) or not found.startswith(PICTURES):
        raise ValueError(f"{where} is {_quote(found)}; a file carries its picture itself, as {PICTURES[0]}…")
    if len(found) > PICTURE:
        raise ValueError(f"{where} has {len(found):,} letters, and at most {PICTURE:,} are read; make it smaller")
    return found


def _number(found: Any, where: str, least: int) -> int:
    if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= MANY:
        raise ValueError(f"{where} is {_quote(found)}, not a whole number from {least} to {MANY}")
    return found


def _is_number(found: Any) -> bool:
    return isinstance(found, int | float) and not isinstance(found, bool) and abs(found) < 1e30


def _among(found: Any, known: tuple[str, ...], where: str) -> Any:
    if found not in known:
        raise ValueError(f"{where} is {_quote(found)}; choose {', '.join(known)}")
    return found


def _quote(found: Any) -> str:
    text = ascii(found) if isinstance(found, str | int | float | None) else f"a {type(found).__name__}"
    return text if len(text) <= 40 else f"{text[:39]}…"
