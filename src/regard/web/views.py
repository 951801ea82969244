"""Reading what was looked at: thumbnails of everything, the weights of some heads, and why a word looked as it did."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel

from regard.analysis.view import Encoding
from regard.web import looks
from regard.web.looks import Merge
from regard.web.state import AppState

# A look never changes, so that a browser may keep what it has read of it.
KEPT = {"Cache-Control": "private, max-age=3600, immutable"}
BINARY: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}

Id = Annotated[str, Path(max_length=64)]
Name = Annotated[str, Query(max_length=200)]
# One head, the mean of all, or of some.
Head = Annotated[str, Query(max_length=600, pattern=r"^(mean|\d{1,4}(,\d{1,4})*)$")]
Part = Annotated[str | None, Query(pattern=r"^\d{1,5}:\d{1,5}$")]


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
    read = state.worker.read
    routes = APIRouter(prefix="/api/looks/{look}")

    @routes.get("/overview", response_class=Response, responses=BINARY)
    async def overview(look: Id, size: Annotated[int, Query(ge=4, le=64)] = 24) -> Response:
        """All heads of all attentions, small: a byte is a share of the largest mean in its thumbnail."""
        layout, data = await read(looks.overview, look, size)
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
        """A part of the weights of one head, or of the mean of some, row by row; its size is in X-Regard-Shape."""
        (height, width), data = await read(looks.weights, look, name, head, rows, columns, encoding, merge)
        return _binary(data, {"X-Regard-Shape": f"{height},{width}"})

    @routes.get("/neuron")
    async def neuron(
        look: Id, name: Name, head: Annotated[int, Query(ge=0)], row: Annotated[int, Query(ge=0)]
    ) -> Neuron:
        """How one query was compared with each key, dimension by dimension."""
        return Neuron(**await read(looks.neuron, look, name, head, row))

    @routes.get("/view")
    async def view(
        look: Id, name: Name, head: Head = "mean", encoding: Encoding = "f32", merge: Merge = "pieces"
    ) -> dict[str, Any]:
        """The same as a view, to keep in a file."""
        found: dict[str, Any] = await read(looks.view, look, name, head, encoding, merge)
        return found

    return routes


def _binary(data: bytes, headers: dict[str, str]) -> Response:
    return Response(data, media_type="application/octet-stream", headers=KEPT | headers)
