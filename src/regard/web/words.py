"""Words for the page: their vectors as they are stored, and maps of all of them. The browser calculates with them."""

import asyncio
import json
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query, Request, Response
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file

from regard.files import read_json
from regard.web.errors import RefusedError
from regard.web.files import read_object
from regard.web.models import Models
from regard.web.state import AppState
from regard.web.vectors import Given, read_given
from regard.zoo import default, zoo

TOLD = ("title", "knows", "takes", "gives", "examples", "data", "terms", "measured")
LARGEST = 2**23  # bytes of a list of words
MAPS = "maps.safetensors"  # made by docs/wordmaps.py
ROOM = Path(__file__).parents[1] / "claims/results/room.json"
BYTES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}
Model = Annotated[str | None, Query(max_length=200)]  # the bundled words where none is named


def router(state: AppState) -> APIRouter:
    """What is known of the words, the words, their vectors and their maps."""
    routes = APIRouter(prefix="/api/words")
    own = Own(state)

    @routes.get("")
    async def about(request: Request, model: Model = None) -> dict[str, Any]:
        """What the vectors are, how they are laid out, how far each map can be trusted, and what claim `room` found."""
        given = await own.find(model, request)
        told = describe() if given is None else describe_own(state.models, str(model), given)
        return told | {"sets": list_sets(state.models)}

    @routes.get("/list")
    async def words(request: Request, model: Model = None) -> list[str]:
        """Every word that is shown, the most frequent first."""
        given = await own.find(model, request)
        return read(_folder())[0] if given is None else given.words

    @routes.get("/vectors.bin", response_class=Response, responses=BYTES)
    async def vectors(request: Request, model: Model = None) -> Response:
        """Of the bundled words a scale of 32 bits for each, then their rows of whole numbers of 8 bits; else floats."""
        given = await own.find(model, request)
        if given is not None:
            # They do not get smaller by packing, which would only take seconds.
            return _answer(given.rows.tobytes(), {"Content-Encoding": "identity"})
        _, scales, rows = read(_folder())
        return _answer(scales.tobytes() + rows.tobytes())

    @routes.get("/map.bin", response_class=Response, responses=BYTES)
    async def places(
        request: Request,
        how: Literal["tsne"] = "tsne",
        dimensions: Annotated[int, Query(ge=2, le=3)] = 2,
        model: Model = None,
    ) -> Response:
        """Where all words lie on a map: whole numbers of 16 bits, the largest of them at the edge."""
        given, name = await own.find(model, request), f"{how}-{dimensions}"
        maps = read_maps(_folder())[0] if given is None else maps_of(state.models.folders[str(model)], given)[0]
        if name not in maps:
            raise RefusedError(404, f"no map {name} is stored beside {model}; let the page compute PCA")
        return _answer(maps[name].tobytes())

    return routes


class Own:
    """Vectors that the explorer was started with; those asked for last are kept, for a page asks three times."""

    def __init__(self, state: AppState) -> None:
        self.state = state
        self.kept: dict[str, Given] = {}
        self.turn = asyncio.Lock()

    async def find(self, name: str | None, request: Request) -> Given | None:
        """What is shown of some vectors; None where the bundled ones are meant."""
        if name is None:
            return None
        self.state.models.check(name, "words")
        if self.state.models.folders[name] == zoo().get(default("words") or ""):
            return None
        async with self.turn:
            if name not in self.kept:
                place = self.state.models.place(name, "words")
                given = await self.state.worker.run(read_given, place, gone=request.is_disconnected)
                self.kept = {name: given}
            return self.kept[name]


def pages() -> tuple[str, ...]:
    """All that a site without a server needs, by the address that it is asked for."""
    maps = (f"/api/words/map.bin?dimensions={dimensions}&how=tsne" for dimensions in (2, 3))
    return "/api/words", "/api/words/list", "/api/words/vectors.bin", *maps


def list_sets(models: Models) -> list[dict[str, Any]]:
    """All vectors that the page can show, the reader's own first; the bundled ones need not be named."""
    bundled = _folder()
    own = [name for name in models.of_task("words") if models.folders[name] != bundled]
    titles = [(name, str(models.card(name).get("title") or name), False) for name in own]
    here = [(bundled.name, str(read_object(bundled / "card.json").get("title")), True)]
    return [{"name": name, "title": title, "bundled": mine} for name, title, mine in titles + here]


def describe() -> dict[str, Any]:
    """What the page asks first."""
    folder = _folder()
    words, _, rows = read(folder)
    count, width = rows.shape
    layout = [
        {"name": "scale", "type": "float32", "shape": [count]},
        {"name": "rows", "type": "int8", "shape": [count, width]},
    ]
    shape = {"count": len(words), "total": len(words), "width": width, "layout": layout, "notes": []}
    card = read_object(folder / "card.json")
    return {"name": folder.name, **shape, "maps": read_maps(folder)[1], "room": read_room(), **_told(card)}


def describe_own(models: Models, name: str, given: Given) -> dict[str, Any]:
    """The same of vectors that the explorer was started with."""
    count, width = given.rows.shape
    layout = [{"name": "rows", "type": "float32", "shape": [count, width]}]
    shape = {"count": count, "total": given.total, "width": width, "layout": layout, "notes": list(given.notes)}
    facts = maps_of(models.folders[name], given)[1]
    return {"name": name, **shape, "maps": facts, "room": read_room(), **_told(models.card(name))}


def maps_of(folder: Path, given: Given) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The maps that are stored beside vectors, as far as their words are shown, and what was measured of them."""
    try:
        maps, facts = read_maps(folder)
    except (OSError, ValueError, KeyError, SafetensorError):  # there is none, or nobody can read it: PCA it is
        return {}, {}
    fit = {name: places[: len(given.words)] for name, places in maps.items() if len(places) == given.total}
    return fit, {name: facts.get(name, {}) for name in fit}


@cache
def read(folder: Path) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The words of a model, their scales and their rows; what stands for unknown words is none."""
    stored = load_file(folder / "model.safetensors")
    model = read_json(folder / "tokenizer.json", LARGEST)["model"]
    known = sorted((row, word) for word, row in model["vocab"].items() if word != model.get("unk_token"))
    kept = [row for row, _ in known]
    return [word for _, word in known], stored["embed.weight.scale"][kept].astype("<f4"), stored["embed.weight"][kept]


@cache
def read_maps(folder: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The maps of all words of a model, and what was measured of them."""
    with safe_open(folder / MAPS, "numpy") as file:
        maps = {name: file.get_tensor(name).astype("<i2") for name in file.keys()}  # noqa: SIM118 - it is no dict
        return maps, json.loads(file.metadata()["facts"])


@cache
def read_room() -> dict[str, Any]:
    """What claim `room` found: the smallest angle in degrees by dimensions and count, and angles of many vectors."""
    found = read_json(ROOM)["numbers"]
    angles: dict[tuple[int, int], list[float]] = {}
    for run in found["grown"]:
        angles.setdefault((run["dimensions"], run["dimensions"] * run["times"]), []).append(run["smallest"])
    n, count = found["dimensions"], found["count"]
    angles[n, count] = [run["optimised"]["smallest"] for run in found["large"]]
    shares = {
        way: [round(fmean(at), 4) for at in zip(*(run[way]["shares"] for run in found["large"]), strict=True)]
        for way in ("random", "optimised")
    }
    optimised = [[*key, round(fmean(each), 2)] for key, each in sorted(angles.items())]
    return {"optimised": optimised, "dimensions": n, "count": count, "shares": shares}


def _folder() -> Path:
    name = default("words")
    if name is None:
        raise RefusedError(404, "no vectors of words are bundled with this regard; drop a file of your own on the page")
    return zoo()[name]


def _told(card: dict[str, Any]) -> dict[str, Any]:
    return {each: card.get(each) for each in TOLD}


def _answer(data: bytes, headers: dict[str, str] | None = None) -> Response:
    kept = {"Cache-Control": "max-age=3600"} if headers is None else headers
    return Response(data, media_type="application/octet-stream", headers=kept)
