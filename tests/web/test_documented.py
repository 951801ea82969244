"""What docs/explorer.md says of the HTTP API is so."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from tests.unit.sound.test_recording import TONE, wav
from tests.web.asking import question, read_events

from regard.web import app, ask, memory
from regard.web.app import make_app
from regard.web.models import Models
from regard.web.state import AppState
from regard.web.worker import Worker

PAGE = (Path(__file__).parents[2] / "docs/explorer.md").read_text()
EXAMPLES = [shlex.split(found) for found in re.findall(r"`(curl .*?localhost:8420/.*?)` \|$", PAGE, re.MULTILINE)]
ADDRESSES = [next(part for part in words if part.startswith("localhost:8420")) for words in EXAMPLES]
PATHS = [address.removeprefix("localhost:8420") for address in ADDRESSES]
SENT = [{"--json", "--data-binary"} & set(words) for words in EXAMPLES]
NAMES = [f"{'post' if sent else 'get'} {path}" for path, sent in zip(PATHS, SENT, strict=True)]


@pytest.fixture(scope="module")
def bundled(runs: Path, kept: Worker) -> Iterator[TestClient]:
    """A server with the models that are bundled."""
    with TestClient(make_app(AppState(Models(), runs, kept)), base_url="http://127.0.0.1") as client:
        yield client


def test_every_endpoint_is_documented_once(bundled: TestClient) -> None:
    paths = bundled.get("/api/openapi.json").json()["paths"]
    described = {f"{way} {re.sub('{.*?}', '[^/]+', path)}" for path, ways in paths.items() for way in ways}
    shown = [name.partition("?")[0] for name in NAMES if name != "get /api/openapi.json"]
    literal = {pattern for pattern in described if "[^/]+" not in pattern}
    for pattern in described:
        found = [name for name in shown if re.fullmatch(pattern, name) and (name == pattern or name not in literal)]
        assert len(found) == 1, pattern
    assert len(shown) == len(described)


@pytest.mark.parametrize("words", EXAMPLES, ids=NAMES)
def test_every_example_is_answered(bundled: TestClient, words: list[str]) -> None:
    path = next(part for part in words if part.startswith("localhost:8420")).removeprefix("localhost:8420")
    photo = bundled.get("/photos/cat.jpg").content
    if "$ID" in path:
        seen = question(model="cifar10-vit", picture="photo:cat")
        asked = seen if "/seen" in path else question("Ein Hund.", model="de-en", beam=1)
        path = path.replace("$ID", read_events(bundled.post("/api/ask", json=asked))[-1]["id"])
    if "$HASH" in path:
        path = path.replace("$HASH", bundled.post("/api/pictures", content=photo).json()["picture"])
    if "--data-binary" in words:
        response = bundled.post(path, content=wav(TONE) if path == "/api/things" else photo)
    elif "--json" in words:
        response = bundled.post(path, json=json.loads(words[words.index("--json") + 1]))
    else:
        response = bundled.get(path)
    assert response.status_code == 200, response.text
    if path == "/api/ask":
        assert read_events(response)[-1]["event"] == "answer"


def test_the_limits_that_are_stated_are_those_there_are() -> None:
    said = " ".join(PAGE.split())
    assert f"at most {ask.TEXT:,} characters and {app.TOKENS} tokens" in said
    assert f"and {ask.NEW} tokens are written at most" in said
    assert f"each has a minute and {memory.MOST >> 30} GB" in said
    assert Worker().seconds == 60
    assert Worker().waiting == 8
