"""What can be read of a look, in the process that keeps it: thumbnails, weights, and why one word looked as it did."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from regard.analysis.view import Encoding, pack, shrink
from regard.web.errors import RefusedError

if TYPE_CHECKING:
    from regard.analysis.reading import Reading
    from regard.web.inside import Inside

Merge = Literal["pieces", "words"]


def overview(inside: "Inside", look: str, size: int) -> tuple[dict[str, Any], bytes]:
    """All heads of all attentions, small, and how they lie one behind another."""
    maps = inside.readings.find(look).maps
    layout = {"size": size, "attentions": [{"name": each.name, "heads": each.heads} for each in maps]}
    return layout, b"".join(_thumbnails(inside.readings.weights(look, each.name), size) for each in maps)


def weights(
    inside: "Inside",
    look: str,
    name: str,
    head: str,
    rows: str | None,
    columns: str | None,
    encoding: Encoding,
    merge: Merge,
) -> tuple[tuple[int, int], bytes]:
    """A part of the weights of one head, or of the mean of some, row by row; and its size."""
    every = inside.readings.weights(look, name)
    chosen = _heads(name, head, len(every))
    found: np.ndarray = every[chosen[0]] if len(chosen) == 1 else every[chosen].mean(axis=0)
    if merge == "words":
        found = inside.readings.find(look).merge_words(name, found)
    part = found[_slice(rows, found.shape[0], "rows"), _slice(columns, found.shape[1], "columns")]
    return (part.shape[0], part.shape[1]), pack(part, encoding)


def view(inside: "Inside", look: str, name: str, head: str, encoding: Encoding, merge: Merge) -> dict[str, Any]:
    """One head, or the mean of some, as a view to keep in a file."""
    reading = inside.readings.find(look)
    every = inside.readings.weights(look, name)
    chosen = _heads(name, head, len(every))
    one, words = len(chosen) == 1, merge == "words"
    found = reading.view(name, head=chosen[0] if one else None, mean=not one, words=words)
    if not one and len(chosen) < len(every):
        some = every[chosen].mean(axis=0)
        told = f"the mean of heads {', '.join(map(str, chosen))}"
        found = replace(
            found,
            weights=reading.merge_words(name, some) if words else some,
            caption=found.caption.replace("the mean of all heads", told, 1),
        )
    return found.to_json(encoding)


def neuron(inside: "Inside", look: str, name: str, head: int, row: int) -> dict[str, Any]:
    """How one query was compared with each key, dimension by dimension."""
    from regard.attention import Dot

    looked, row = _find_row(inside.readings.find(look), name, head, row)
    if not isinstance(looked.score, Dot):
        raise RefusedError(
            409, f"{name} scores by a small network and not by a product, so that no dimension has a share of its own"
        )
    q, k = looked.q[0, head, row], looked.k[0, head * looked.k.shape[1] // looked.q.shape[1]]
    # Weights as they were used, edits and all; scores before the mask.
    plain = replace(looked, edit=None)
    scores = (plain.score(plain.q, plain.k) + (0 if plain.bias is None else plain.bias))[0, head, row]
    return {
        "q": _round(q),
        "keys": [_round(key) for key in k],
        "products": [_round(products) for products in q * k],
        "scale": q.shape[-1] ** -0.5 if looked.score.scale is None else looked.score.scale,
        "scores": _round(scores),
        "weights": _round(looked.weights()[0, head, row], 6),
    }


def _find_row(reading: "Reading", name: str, head: int, row: int) -> tuple[Any, int]:
    """The look in which a row of one head lies, and where: a recurrent decoder looks once for each word."""
    try:
        one, looks = reading.find(name), reading.trace[name]
    except KeyError as error:
        raise RefusedError(404, str(error.args[0])) from None
    _heads(name, str(head), one.heads)
    count = sum(each.q.shape[-2] for each in looks)
    for look in looks:
        if row < look.q.shape[-2]:
            return look, row
        row -= look.q.shape[-2]
    raise RefusedError(404, f"{name} has no such row; they are numbered 0 to {count - 1}")


def _heads(name: str, head: str, count: int) -> list[int]:
    """The heads that are meant: `mean` is all of them, `0,3,5` those."""
    chosen = list(range(count)) if head == "mean" else sorted({int(each) for each in head.split(",")})
    if chosen[-1] >= count:
        raise RefusedError(404, f"{name} has no head {chosen[-1]}; they are numbered 0 to {count - 1}")
    return chosen


def _thumbnails(weights: np.ndarray, size: int) -> bytes:
    small = shrink(weights, size, size)
    largest = small.max(axis=(1, 2), keepdims=True)
    return pack(small / np.maximum(largest, 1e-12), "u8")


def _slice(part: str | None, count: int, what: str) -> slice:
    if part is None:
        return slice(None)
    first, _, last = part.partition(":")
    if not 0 <= int(first) < int(last) <= count:
        raise RefusedError(422, f"{what} {part} are not among the {count} there are; give 0:{count} or a part of it")
    return slice(int(first), int(last))


def _round(numbers: Any, digits: int = 4) -> list[float]:
    return [round(number, digits) for number in numbers.tolist()]
