"""Pictures to ask about: those that readers give, by their hash; bundled photographs; those of a folder that the server
was started with; and what is true of the world's.

A picture of a stranger is decoded once, within bounds, before it is kept. The store is bounded in bytes; what is
forgotten is asked for again.
"""

import base64
import hashlib
import re
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import unquote

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response
from fastapi import Path as InPath
from pydantic import BaseModel

from regard.web import scenes
from regard.web.errors import Problem, RefusedError

if TYPE_CHECKING:
    from PIL import Image

    from regard.web.state import AppState

BYTES = 20 * 2**20  # of a file
SMALL = 512  # pixels along the longer side of what the page shows
TRUE = 256  # pixels along a side of a picture of the world, drawn for its masks
WORLD = 1000  # pictures of the world, numbered from 0
PHOTOS = Path(__file__).parent / "page" / "photos"
HASH = r"^[0-9a-f]{64}$"
PNG: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}}
}
KEPT = {"Cache-Control": "private, max-age=86400, immutable"}


class Uploaded(BaseModel):
    """The name of a picture, by which to ask about it, its size, and a word on what was made of it."""

    picture: str
    width: int
    height: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A file as it came, and its picture as a small PNG."""

    data: bytes
    small: bytes
    about: Uploaded


class Pictures:
    """The store."""

    def __init__(self, *, room: int = 96 * 2**20, folder: Path | None = None) -> None:
        """`room` bytes of files, of which the newest always stays; and a folder whose pictures may be seen, too."""
        self.room, self.folder = room, folder
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, data: bytes) -> Uploaded:
        """Keep a file if it is a picture."""
        name = hashlib.sha256(data).hexdigest()
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
                return self._kept[name].about
        found = _open(data, name)
        with self._lock:
            self._kept[name] = found
            while len(self._kept) > 1 and sum(map(_size, self._kept.values())) > self.room:
                self._kept.popitem(last=False)
        return found.about

    def find(self, name: str) -> bytes:
        """The file of a picture: by its hash, `photo:cat` of a bundled one, or `folder:sea/boat.jpg` of a folder."""
        if name.startswith("photo:"):
            return photo(name.removeprefix("photo:"))
        if name.startswith("folder:"):
            return within(self.given_folder(), unquote(name.removeprefix("folder:")))
        return self._find(name).data

    def given_folder(self) -> Path:
        """The folder that the server was started with."""
        if self.folder is None:
            raise RefusedError(
                404, "this server has no folder of pictures; start it with regard explore --pictures FOLDER"
            )
        return self.folder

    def small(self, name: str) -> bytes:
        """The picture of a hash as a PNG that a page can show."""
        return self._find(name).small

    def _find(self, name: str) -> Kept:
        with self._lock:
            if name not in self._kept:
                if not re.fullmatch(HASH, name):
                    raise RefusedError(422, f"{name[:80]!r} is no picture; give world:7, photo:cat, or upload a file")
                raise RefusedError(410, "this picture is not kept here any more; choose its file again")
            self._kept.move_to_end(name)
            return self._kept[name]


def photo(name: str) -> bytes:
    """A bundled photograph by its name."""
    known = photos()
    if name not in known:
        raise RefusedError(404, f"no photograph is called {name[:40]!r}; there are {', '.join(known)}")
    return known[name].read_bytes()


def within(folder: Path, name: str) -> bytes:
    """A file of a folder by its name below it; nothing outside of the folder is opened, nor what is no picture."""
    whole = folder / name
    try:
        inside = "\0" not in name and whole.parent.resolve().is_relative_to(folder.resolve())
        if inside and whole.is_file() and whole.stat().st_size <= BYTES:
            data = whole.read_bytes()
            _open(data, name)
            return data
    except OSError:  # it went away
        pass
    raise RefusedError(404, f"{folder.name} has no picture {name[:80]!r} of at most {BYTES // 2**20} MB; search again")


def photos() -> dict[str, Path]:
    """The bundled photographs; names in requests are compared with these, and never become part of a path."""
    return {path.stem: path for path in sorted(PHOTOS.glob("*.jpg"))}


def router(state: "AppState") -> APIRouter:
    """Giving pictures, and seeing them."""
    pictures = state.pictures
    routes = APIRouter(prefix="/api/pictures")
    decoders = CapacityLimiter(1)  # a large picture needs 200 MB while it is decoded

    @routes.post("", responses={413: {"model": Problem, "description": "It is too large"}})
    async def upload(request: Request) -> Uploaded:
        """Keep a picture: the bytes of its file are the whole request."""
        data = await request.body()
        return await run_sync(pictures.keep, data, limiter=decoders)

    @routes.get("/photos")
    def bundled() -> list[str]:
        """The names of the bundled photographs."""
        return list(photos())

    @routes.get("/world")
    def world(
        index: Annotated[int, Query(ge=0, lt=WORLD)] = 0, shift: Annotated[str, Query(max_length=20)] = ""
    ) -> dict[str, Any]:
        """The picture `world:7` of any task, and the truth: its things, their boxes and their masks."""
        try:
            return tell(index, shift)
        except ValueError as error:
            raise RefusedError(404, str(error)) from None

    @routes.get("/shifts")
    def strange() -> dict[str, str]:
        """The world's named shifts, `world:7/sketch`, and what each does to a picture."""
        return scenes.shifts()

    @routes.get("/{picture}.png", response_class=Response, responses=PNG)
    def small(picture: Annotated[str, InPath(pattern=HASH)]) -> Response:
        """A picture that was given, at most 512 pixels wide or high."""
        return Response(pictures.small(picture), media_type="image/png", headers=KEPT)

    return routes


@lru_cache(maxsize=64)
def tell(index: int, shift: str = "") -> dict[str, Any]:
    """What is true of a picture of the world; of masks, 0 is the backdrop and 1 the first thing."""
    import numpy as np
    from PIL import Image

    from regard.data.painted import clearly_largest
    from regard.world.language.scenes import looks

    seen = scenes.render(index, shift, TRUE)
    things = [
        {
            "name": " ".join((*looks(thing), thing.kind)),
            "kind": thing.kind,
            "box": [round(float(each) / TRUE, 4) for each in (x, y, right - x, bottom - y)],
        }
        for thing, (x, y, right, bottom) in zip(seen.scene.things, seen.boxes, strict=True)
    ]
    masks = Image.fromarray((seen.instance + 1).astype(np.uint8))
    return {
        "index": index,
        "things": things,
        "largest": clearly_largest(seen.scene),  # after which a model that recognizes names it, if there is one
        "image": _url(Image.fromarray(seen.rgb)),
        "masks": _url(masks),
    }


def _open(data: bytes, name: str) -> Kept:
    from regard.vision import PictureError, open_picture

    try:
        picture = open_picture(data, name="the file", most_bytes=BYTES)
    except PictureError as error:
        raise RefusedError(422, re.sub(r", or raise most_\w+", "", str(error))) from None
    about = Uploaded(picture=name, width=picture.width, height=picture.height, note=_note(data))
    picture.thumbnail((SMALL, SMALL))
    return Kept(data, _png(picture), about)


def _note(data: bytes) -> str | None:
    from PIL import Image

    with Image.open(BytesIO(data)) as found:
        moves = getattr(found, "is_animated", False)
    return "It has several frames, and a model sees the first." if moves else None


def _size(kept: Kept) -> int:
    return len(kept.data) + len(kept.small)


def _png(picture: "Image.Image") -> bytes:
    found = BytesIO()
    picture.save(found, "PNG")
    return found.getvalue()


def _url(picture: "Image.Image") -> str:
    return f"data:image/png;base64,{base64.b64encode(_png(picture)).decode()}"
