"""What docs/explorer.md says of the HTTP API is so."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from regard.web.app import make_app
from regard.web.models import Models
from regard.web.state import AppState

PAGE = (Path(__file__).parents[2] / "docs/explorer.md").read_text()
EXAMPLES = [shlex.split(found) for found in re.findall(r"`(curl .*?localhost:8420/.*?)` \|$", PAGE, re.MULTILINE)]
ADDRESSES = [next(part for part in words if part.startswith("localhost:8420")) for words in EXAMPLES]
PATHS = [address.removeprefix("localhost:8420") for address in ADDRESSES]


@pytest.fixture(scope="module")
def bundled(runs: Path) -> Iterator[TestClient]:
    """A server with the models that are bundled."""
    with TestClient(make_app(AppState(Models(), runs)), base_url="http://127.0.0.1") as client:
        yield client


def test_every_endpoint_is_documented_once(bundled: TestClient) -> None:
    described = {re.sub(r"\{\w+\}", "[^/]+", path) for path in bundled.get("/api/openapi.json").json()["paths"]}
    shown = [path.partition("?")[0] for path in PATHS if path != "/api/openapi.json"]
    for pattern in described:
        assert sum(re.fullmatch(pattern, path) is not None for path in shown) == 1, pattern
    assert len(shown) == len(described)


@pytest.mark.parametrize("words", EXAMPLES, ids=PATHS)
def test_every_example_is_answered(bundled: TestClient, words: list[str]) -> None:
    path = next(part for part in words if part.startswith("localhost:8420")).removeprefix("localhost:8420")
    if "$ID" in path:
        asked = {"model": "de-en", "text": "Ein Hund.", "beam": 1}
        path = path.replace("$ID", bundled.post("/api/translate", json=asked).json()["id"])
    body = words[words.index("--json") + 1] if "--json" in words else None
    response = bundled.get(path) if body is None else bundled.post(path, json=json.loads(body))
    assert response.status_code == 200, response.text
