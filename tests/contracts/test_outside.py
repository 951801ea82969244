"""A model and a task in a file each, outside of the package, are found everywhere without another edit."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOY = Path(__file__).parents[1] / "toy"
MAKE = """
import regard
from regard.hub import save
from regard.models.family import family
save("model", regard.build("counter-nano"), family=family("counter"), card={"task": "count", "title": "A toy"})
"""
ASK = """
import json
from fastapi.testclient import TestClient
from regard.web.app import make_app
from regard.web.models import Models
from regard.web.state import AppState
with TestClient(make_app(AppState(Models(["model"]))), base_url="http://127.0.0.1") as client:
    about = {model["name"]: model for model in client.get("/api/about").json()["models"]}
    tasks = [each["task"] for each in client.get("/api/tasks").json()]
    name = next(name for name, model in about.items() if model["task"] == "count")
    events = client.post("/api/ask", json={"model": name, "input": {"text": "two words"}}).text.splitlines()
    found = json.loads(events[-1])
    overview = client.get(f"/api/looks/{found['id']}/overview").status_code
print(json.dumps({"tasks": tasks, "found": found, "overview": overview}))
"""


@pytest.fixture
def run(tmp_path: Path) -> object:
    def call(*command: str) -> str:
        where = {**os.environ, "REGARD_PLUGINS": str(TOY), "NO_COLOR": "1"}
        done = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, env=where, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    call("-c", MAKE)
    return call


def test_the_command_line_lists_and_runs_them(run: object) -> None:
    assert callable(run)
    assert "counter(width=16, heads=2)" in run("-m", "regard", "list", "models")
    assert "count(text → number)" in run("-m", "regard", "list", "tasks")
    answer = json.loads(run("-m", "regard", "run", "model", "two words", "--json"))
    assert isinstance(answer["output"], float)
    assert "accuracy" in json.loads(run("-m", "regard", "evaluate", "model", "two words", "--json"))["scores"]
    heads = json.loads(run("-m", "regard", "look", "model", "two words", "--json"))["heads"]
    assert list(heads) == ["layer 0, head 0", "layer 0, head 1"]


def test_the_explorer_asks_them_and_looks_inside(run: object) -> None:
    assert callable(run)
    said = json.loads(run("-c", ASK))
    assert "count" in said["tasks"]
    assert said["found"]["task"] == "count"
    assert said["found"]["axes"]["bytes"]["labels"] == list("two words")
    assert said["overview"] == 200


def test_the_contracts_of_every_family_hold_for_them(run: object) -> None:
    assert callable(run)
    contracts = Path(__file__).with_name("test_families.py")
    said = run("-m", "pytest", "-n", "0", "-p", "no:cacheprovider", str(contracts), "-k", "counter")
    assert " passed" in said
