"""Reading what was looked at: thumbnails of everything, the weights of one head, and why one word looked as it did."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel

from regard.analysis.view import Encoding, View, Words, pack, shrunk
from regard.web.errors import RefusedError
from regard.web.looks import Cut, Looks, Seen

T = TypeVar("T")

# A look never changes, so that a browser may keep what it has read of it.
KEPT = {"Cache-Control": "private, max-age=3600, immutable"}
BINARY: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}

Id = Annotated[str, Path(max_length=64)]
Name = Annotated[str, Query(max_length=200)]
Head = Annotated[str, Query(pattern=r"^(mean|\d{1,4})$")]
Part = Annotated[str | None, Query(pattern=r"^\d{1,5}:\d{1,5}$")]
Merge = Literal["pieces", "words"]


class Neuron(BaseModel):
    """A query and the keys it was compared with; a score is the sum of its products times the scale, and its bias."""

    q: list[float]
    keys: list[list[float]]
    products: list[list[float]]
    scale: float
    scores: list[float]
    weights: list[float]


def router(looks: Looks) -> APIRouter:
    """All that can be read of a look."""
    routes = APIRouter(prefix="/api/looks/{look}")
    limiter = CapacityLimiter(2)  # readers at once: what each of them computes needs memory

    async def read(job: Callable[[], T]) -> T:
        return await run_sync(job, limiter=limiter)

    @routes.get("/overview", response_class=Response, responses=BINARY)
    async def overview(look: Id, size: Annotated[int, Query(ge=4, le=64)] = 24) -> Response:
        """All heads of all attentions, small: a byte is a share of the largest mean in its thumbnail."""
        seen = looks.find(look)
        layout = {"size": size, "attentions": [{"name": a.name, "heads": a.heads} for a in seen.attentions]}
        data = await read(lambda: b"".join(_thumbnails(looks.weights(look, a.name), size) for a in seen.attentions))
        return _binary(data, {"X-Regard-Layout": json.dumps(layout)})

    @routes.get("/weights", response_class=Response, responses=BINARY)
    async def weights(
        look: Id,
        name: Name,
        head: Head = "mean",
        rows: Part = None,
        columns: Part = None,
        encoding: Encoding = "u8",
        merge: Merge = "pieces",
    ) -> Response:
        """A part of the weights of one head, row by row; its size is in X-Regard-Shape."""
        found = await read(lambda: _weights(looks, look, name, head, merge))
        part = found[_slice(rows, found.shape[0], "rows"), _slice(columns, found.shape[1], "columns")]
        return _binary(pack(part, encoding), {"X-Regard-Shape": f"{part.shape[0]},{part.shape[1]}"})

    @routes.get("/neuron")
    async def neuron(
        look: Id, name: Name, head: Annotated[int, Query(ge=0)], row: Annotated[int, Query(ge=0)]
    ) -> Neuron:
        """How one query was compared with each key, dimension by dimension."""
        return await read(lambda: _neuron(looks.find(look), name, head, row))

    @routes.get("/view")
    async def view(
        look: Id, name: Name, head: Head = "mean", encoding: Encoding = "f32", merge: Merge = "pieces"
    ) -> dict[str, Any]:
        """The same as a view, to keep in a file."""
        return await read(lambda: _view(looks, look, name, head, merge).to_json(encoding))

    return routes


def _binary(data: bytes, headers: dict[str, str]) -> Response:
    return Response(data, media_type="application/octet-stream", headers=KEPT | headers)


def _thumbnails(weights: np.ndarray, size: int) -> bytes:
    small = shrunk(weights, size, size)
    largest = small.max(axis=(1, 2), keepdims=True)
    return pack(small / np.maximum(largest, 1e-12), "u8")


def _weights(looks: Looks, look: str, name: str, head: str, merge: Merge) -> np.ndarray:
    """One head, or the mean of all, between pieces or between words."""
    every, seen = looks.weights(look, name), looks.find(look)
    one = seen.attention(name)
    if head == "mean":
        found: np.ndarray = every.mean(axis=0)
    elif int(head) < len(every):
        found = every[int(head)]
    else:
        raise RefusedError(404, f"{name} has no head {head}; they are numbered 0 to {len(every) - 1}")
    if merge == "pieces":
        return found
    # A word looks as its pieces do on average, and gets the sum of what they get.
    return _summed(_summed(found, seen.axes[one.rows], 0, mean=True), seen.axes[one.columns], 1)


def _summed(weights: np.ndarray, axis: Cut, along: int, *, mean: bool = False) -> np.ndarray:
    """What the pieces of each word have together, or on average; words stand one behind the other without gaps."""
    found: np.ndarray = np.add.reduceat(weights, [first for first, _ in axis.words], axis=along)
    if mean:
        found /= np.array([[last - first + 1] for first, last in axis.words], np.float32)
    return found


def _slice(part: str | None, count: int, what: str) -> slice:
    if part is None:
        return slice(None)
    first, _, last = part.partition(":")
    if not 0 <= int(first) < int(last) <= count:
        raise RefusedError(422, f"{what} {part} are not among the {count} there are; give 0:{count} or a part of it")
    return slice(int(first), int(last))


def _view(looks: Looks, look: str, name: str, head: str, merge: Merge) -> View:
    seen, weights = looks.find(look), _weights(looks, look, name, head, merge)
    one = seen.attention(name)
    rows, columns = (seen.axes[side] for side in (one.rows, one.columns))
    which = "the mean of all heads" if head == "mean" else f"head {head}"
    return View(
        name=name,
        rows=Words(rows.labels) if merge == "words" else rows.axis,
        columns=Words(columns.labels) if merge == "words" else columns.axis,
        weights=weights,
        kind=one.kind,
        layer=one.layer,
        head=None if head == "mean" else int(head),
        heads=one.heads,
        model=seen.model,
        caption=f"{seen.model}, {name}, {which}: “{_said(seen.axes['source'])}” → “{_said(seen.axes['target'])}”",
    )


def _said(axis: Cut) -> str:
    return re.sub(r" (?=[.,;:!?])", "", " ".join(label for label in axis.labels if not re.fullmatch(r"<\w+>", label)))


def _neuron(seen: Seen, name: str, head: int, row: int) -> Neuron:
    from regard.attention import Dot

    one, looks = seen.attention(name), seen.trace[name]
    if head >= one.heads:
        raise RefusedError(404, f"{name} has no head {head}; they are numbered 0 to {one.heads - 1}")
    for look in looks:  # a recurrent decoder looks once for each word
        if row < look.q.shape[-2]:
            break
        row -= look.q.shape[-2]
    else:
        count = sum(each.q.shape[-2] for each in looks)
        raise RefusedError(404, f"{name} has no such row; they are numbered 0 to {count - 1}")
    if not isinstance(look.score, Dot):
        raise RefusedError(
            409, f"{name} scores by a small network and not by a product, so that no dimension has a share of its own"
        )
    q, k = look.q[0, head, row], look.k[0, head * look.k.shape[1] // look.q.shape[1]]
    scale = q.shape[-1] ** -0.5 if look.score.scale is None else look.score.scale
    # Weights as they were used, edits and all; scores before the mask.
    weights = look.weights()[0, head, row]
    plain = replace(look, edit=None)
    scores = (plain.score(plain.q, plain.k) + (0 if plain.bias is None else plain.bias))[0, head, row]
    return Neuron(
        q=_rounded(q),
        keys=[_rounded(key) for key in k],
        products=[_rounded(products) for products in q * k],
        scale=scale,
        scores=_rounded(scores),
        weights=_rounded(weights, 6),
    )


def _rounded(numbers: Any, digits: int = 4) -> list[float]:
    return [round(number, digits) for number in numbers.tolist()]
