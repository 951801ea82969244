"""Sounds and clouds of points that readers give, to be asked about by their hash.

A file of a stranger is opened once, within bounds, before it is kept. The store is bounded in bytes; what is forgotten
is asked for again.
"""

import hashlib
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Literal

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Request
from pydantic import BaseModel

from regard.web.errors import Problem, RefusedError

if TYPE_CHECKING:
    from regard.web.state import AppState

SOUND = b"RIFF"  # with which every WAV file begins
SECONDS = 60.0  # of a sound; a model hears a few of them


class Heard(BaseModel):
    """The name of a sound or a cloud, by which to ask about it, and which of both it is."""

    thing: str
    kind: Literal["sound", "cloud"]


class Things:
    """The store."""

    def __init__(self, *, room: int = 64 * 2**20) -> None:
        """`room` bytes of files, of which the newest always stays."""
        self.room = room
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, data: bytes) -> Heard:
        """Keep a file if it is a sound or a cloud."""
        about = Heard(thing=hashlib.sha256(data).hexdigest(), kind=_open(data))
        with self._lock:
            self._kept[about.thing] = data
            self._kept.move_to_end(about.thing)
            while len(self._kept) > 1 and sum(map(len, self._kept.values())) > self.room:
                self._kept.popitem(last=False)
        return about

    def find(self, name: str) -> bytes:
        """The file of a hash."""
        with self._lock:
            if name not in self._kept:
                raise RefusedError(410, "this file is not kept here any more; choose it again")
            self._kept.move_to_end(name)
            return self._kept[name]


def router(state: "AppState") -> APIRouter:
    """Giving sounds and clouds."""
    routes = APIRouter(prefix="/api/things")
    readers = CapacityLimiter(1)  # a long sound needs many times its bytes while it is read

    @routes.post("", responses={413: {"model": Problem, "description": "It is too large"}})
    async def upload(request: Request) -> Heard:
        """Keep a sound or a cloud of points: the bytes of its file, .wav, .npz, .npy or .xyz, are the whole request."""
        data = await request.body()
        return await run_sync(state.things.keep, data, limiter=readers)

    return routes


def _open(data: bytes) -> Literal["sound", "cloud"]:
    from regard.sound import open_sound
    from regard.vision.cloud import open_cloud

    try:
        if data.startswith(SOUND):
            open_sound(data, name="the file", most_seconds=SECONDS)
            return "sound"
        open_cloud(data, name="the file")
    except ValueError as error:
        raise RefusedError(422, str(error)) from None
    return "cloud"
