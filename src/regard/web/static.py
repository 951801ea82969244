"""The page as a folder of files, for any web host: what its rooms would ask a server is written down beforehand.

An answer to `/api/world/scene?index=3&split=test` lies in `api/world/scene/index=3&split=test.json`. The page knows by
one attribute of its first tag that it stands alone, and leaves out the rooms in which models run.
"""

import asyncio
import json
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.types import ASGIApp, Message

from regard.files import write
from regard.progress import Progress
from regard.web import claims, gallery, lectures, words
from regard.web.assets import PAGE, list_files
from regard.web.guard import POLICY

SCENES = 12  # of the world
STYLES = ("each", "whole", "relations", "counts")
PICTURES = ("rgb", "depth", "masks", "left", "right")
SOURCE = re.compile(r'name: "(attention\.[\w.]+|layers\.[\w.]+)"')


class StaticError(Exception):
    """The site cannot be written; the message says why and what to do."""


def write_site(folder: Path, *, progress: Progress = lambda _: None) -> int:
    """Write the whole site into a folder that is empty or was written before; the number of its bytes."""
    from regard.web.app import make_app
    from regard.web.models import Models
    from regard.web.state import AppState

    if folder.exists() and any(folder.iterdir()) and not (folder / "js/app.js").is_file():
        raise StaticError(f"{folder} has files of something else; give an empty folder or a new one")
    app = make_app(AppState(Models()))
    asked = list(questions())
    for name, path in list_files(PAGE).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)
    index = (PAGE / "index.html").read_text(encoding="utf-8")
    write(folder / "index.html", stand_alone(index).encode())
    for done, address in enumerate(asked, 1):
        place, body = folder / file_name(address), ask(app, address)
        place.parent.mkdir(parents=True, exist_ok=True)
        write(place, _alone(body) if address == "/api/about" else body)
        progress(done / len(asked))
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def stand_alone(index: str) -> str:
    """The first page of a site without a server; the guard's rules, which a server sends, stand in it."""
    policy = POLICY.replace("; frame-ancestors 'none'", "")  # a page may not say this of itself
    rules = f'<meta charset="utf-8">\n  <meta http-equiv="Content-Security-Policy" content="{policy}">'
    return index.replace("<html ", "<html data-static ", 1).replace('<meta charset="utf-8">', rules, 1)


def questions() -> Iterator[str]:
    """The address of all that the rooms may ask."""
    yield from ("/api/about", "/api/schema/view.json")
    for script in sorted((PAGE / "js/build").rglob("*.js")):
        yield from (f"/api/source?name={name}" for name in sorted(set(SOURCE.findall(script.read_text("utf-8")))))
    for part in (claims, lectures, gallery, words):
        yield from part.pages()
    for index in range(SCENES):
        yield from (f"/api/world/scene?index={index}&split=test&style={style}" for style in STYLES)
        yield from (f"/api/world/scene/{picture}.png?index={index}&seed=0&split=test" for picture in PICTURES)


def file_name(address: str) -> str:
    """Where an answer lies: its path, its parameters in the order of the alphabet, and an ending."""
    parts = urlsplit(address)
    stem, dot, ending = parts.path.removeprefix("/").rpartition(".")
    if not dot or "/" in ending:
        stem, ending = parts.path.removeprefix("/"), "json"
    query = urlencode(sorted(parse_qsl(parts.query)))
    return f"{stem}/{query}.{ending}" if query else f"{stem}.{ending}"


def ask(app: ASGIApp, address: str) -> bytes:
    """The answer of an application to one question; no server and no network stand between."""
    parts = urlsplit(address)
    said: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        said.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": parts.path,
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1")],
        "client": ("127.0.0.1", 0),
        "server": ("127.0.0.1", 80),
    }
    with ThreadPoolExecutor(1) as apart:  # a notebook has a loop of its own in this thread
        apart.submit(asyncio.run, _call(app, scope, receive, send)).result()
    start = next(message for message in said if message["type"] == "http.response.start")
    body = b"".join(message.get("body", b"") for message in said)
    if start["status"] != 200:
        raise StaticError(f"{address} answered {start['status']}: {body[:200].decode('utf-8', 'replace')}")
    return body


async def _call(app: ASGIApp, scope: dict[str, Any], receive: Any, send: Any) -> None:
    await app(scope, receive, send)


def _alone(about: bytes) -> bytes:
    """What the page is told at first, with how many scenes there are to see."""
    facts = json.loads(about)
    facts["limits"]["scenes"] = SCENES
    return json.dumps(facts, ensure_ascii=False).encode()
