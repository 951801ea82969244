"""Reading what was looked at: thumbnails of everything, the weights of one head, and why one word looked as it did."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel

from regard.analysis.reading import Reading
from regard.analysis.view import Encoding, pack, shrink
from regard.web.errors import RefusedError
from regard.web.readings import Readings
from regard.web.state import AppState

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


def router(state: AppState) -> APIRouter:
    """All that can be read of a look."""
    readings = state.readings
    routes = APIRouter(prefix="/api/looks/{look}")
    limiter = CapacityLimiter(2)  # readers at once: what each of them computes needs memory

    async def read(job: Callable[[], T]) -> T:
        return await run_sync(job, limiter=limiter)

    @routes.get("/overview", response_class=Response, responses=BINARY)
    async def overview(look: Id, size: Annotated[int, Query(ge=4, le=64)] = 24) -> Response:
        """All heads of all attentions, small: a byte is a share of the largest mean in its thumbnail."""
        maps = readings.find(look).maps
        layout = {"size": size, "attentions": [{"name": each.name, "heads": each.heads} for each in maps]}
        data = await read(lambda: b"".join(_thumbnails(readings.weights(look, each.name), size) for each in maps))
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
        found = await read(lambda: _weights(readings, look, name, head, merge))
        part = found[_slice(rows, found.shape[0], "rows"), _slice(columns, found.shape[1], "columns")]
        return _binary(pack(part, encoding), {"X-Regard-Shape": f"{part.shape[0]},{part.shape[1]}"})

    @routes.get("/neuron")
    async def neuron(
        look: Id, name: Name, head: Annotated[int, Query(ge=0)], row: Annotated[int, Query(ge=0)]
    ) -> Neuron:
        """How one query was compared with each key, dimension by dimension."""
        return await read(lambda: _neuron(readings.find(look), name, head, row))

    @routes.get("/view")
    async def view(
        look: Id, name: Name, head: Head = "mean", encoding: Encoding = "f32", merge: Merge = "pieces"
    ) -> dict[str, Any]:
        """The same as a view, to keep in a file."""
        which = None if head == "mean" else int(head)
        reading = readings.find(look)
        try:
            found = await read(lambda: reading.view(name, head=which, mean=which is None, words=merge == "words"))
        except KeyError as error:
            raise RefusedError(404, str(error.args[0])) from None
        except ValueError as error:
            raise RefusedError(409, str(error)) from None
        return found.to_json(encoding)

    return routes


def _binary(data: bytes, headers: dict[str, str]) -> Response:
    return Response(data, media_type="application/octet-stream", headers=KEPT | headers)


def _thumbnails(weights: np.ndarray, size: int) -> bytes:
    small = shrink(weights, size, size)
    largest = small.max(axis=(1, 2), keepdims=True)
    return pack(small / np.maximum(largest, 1e-12), "u8")


def _weights(readings: Readings, look: str, name: str, head: str, merge: Merge) -> np.ndarray:
    """One head, or the mean of all, between pieces or between words."""
    every = readings.weights(look, name)
    if head != "mean" and int(head) >= len(every):
        raise RefusedError(404, f"{name} has no head {head}; they are numbered 0 to {len(every) - 1}")
    found: np.ndarray = every.mean(axis=0) if head == "mean" else every[int(head)]
    return found if merge == "pieces" else readings.find(look).merge_words(name, found)


def _slice(part: str | None, count: int, what: str) -> slice:
    if part is None:
        return slice(None)
    first, _, last = part.partition(":")
    if not 0 <= int(first) < int(last) <= count:
        raise RefusedError(422, f"{what} {part} are not among the {count} there are; give 0:{count} or a part of it")
    return slice(int(first), int(last))


def _neuron(reading: Reading, name: str, head: int, row: int) -> Neuron:
    from regard.attention import Dot

    try:
        one, looks = reading.find(name), reading.trace[name]
    except KeyError as error:
        raise RefusedError(404, str(error.args[0])) from None
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
        q=_round(q),
        keys=[_round(key) for key in k],
        products=[_round(products) for products in q * k],
        scale=scale,
        scores=_round(scores),
        weights=_round(weights, 6),
    )


def _round(numbers: Any, digits: int = 4) -> list[float]:
    return [round(number, digits) for number in numbers.tolist()]
