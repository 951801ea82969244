"""Every model is asked for what its card says it does, and whatever it does can be looked into."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from tests.web.asking import read_events

from regard.analysis.view import unpack
from regard.analysis.viewfile import read
from regard.web.models import Models

INPUTS: dict[str, Any] = {
    "small": "La casa rossa.",
    "attentive": "La casa rossa.",
    "a-parser": "La casa rossa.",
    "a-classifier": "La casa rossa.",
    "a-rememberer": [3, 12, 4, 13, 21, 22, 3],
}
KINDS = {
    "small": "written",
    "attentive": "written",
    "a-parser": "written",
    "a-classifier": "labels",
    "a-rememberer": "value",
}


def test_a_room_is_offered_models_of_its_task_only(models: Models) -> None:
    assert models.of_task("translate") == ["attentive", "fixed", "many", "small"]
    assert (models.of_task("parse"), models.of_task("paint")) == (["a-parser"], [])


def test_the_default_comes_first_and_behind_what_the_user_named(tmp_path: Path) -> None:
    for name, card in {"a": {}, "b": {"default": True}, "c": {}}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
        (tmp_path / name / "card.json").write_text(json.dumps({"task": "translate"} | card))
    assert Models(shelf=tmp_path).of_task("translate") == ["b", "a", "c"]
    assert Models(["c"], shelf=tmp_path).of_task("translate") == ["c", "b", "a"]


def test_the_tasks_say_what_they_take_and_give(client: TestClient) -> None:
    found = {each["task"]: (each["takes"], each["gives"]) for each in client.get("/api/tasks").json()}
    assert found["translate"] == ("text", "text")
    assert found["recall"] == ("ids", "id")


def ask(client: TestClient, name: str, given: Any, **rest: Any) -> dict[str, Any]:
    """What is last said to a question."""
    kind = "text" if isinstance(given, str) else "numbers"
    response = client.post("/api/ask", json={"model": name, "input": {kind: given}} | rest)
    return read_events(response)[-1]


@pytest.mark.parametrize("name", INPUTS)
def test_whatever_a_model_does_its_attention_can_be_read(client: TestClient, models: Models, name: str) -> None:
    answer = ask(client, name, INPUTS[name])
    assert answer["event"] == "answer", answer
    assert (answer["model"], answer["task"]) == (name, models.card(name)["task"])
    assert answer["output"]["kind"] == KINDS[name]
    look, attentions = f"/api/looks/{answer['id']}", answer["attentions"]
    layout = json.loads(client.get(f"{look}/overview").headers["X-Regard-Layout"])
    assert [each["name"] for each in layout["attentions"]] == [each["name"] for each in attentions] != []
    for each in attentions:
        asked = {"name": each["name"], "head": 0}
        found = client.get(f"{look}/weights", params=asked | {"encoding": "f32"})
        shape = [int(side) for side in found.headers["X-Regard-Shape"].split(",")]
        weights = unpack(found.content, shape, "f32")
        assert shape == [_length(answer["axes"][each[side]]) for side in ("rows", "columns")]
        (view,) = read(
            json.dumps(
                {"format": "regard-views-1", "title": "", "views": [client.get(f"{look}/view", params=asked).json()]}
            )
        ).views
        np.testing.assert_array_equal(view.weights, weights)
        neuron = client.get(f"{look}/neuron", params=asked | {"row": 0})
        if neuron.status_code == 409:  # of additive attention, whose score is no product
            assert "small network" in neuron.json()["error"]
        else:
            np.testing.assert_allclose(neuron.json()["weights"], weights[0], atol=1e-5)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("small", ""),
        ("small", [1, 2]),
        ("a-parser", "casa " * 399),
        ("a-rememberer", []),
        ("a-rememberer", [3]),
        ("a-rememberer", [10**6] * 7),
        ("a-rememberer", [-1] * 7),
        ("a-rememberer", [3] * 100),
        ("a-rememberer", "La casa."),
        ("a-classifier", ""),
        ("a-classifier", [1, 2]),
    ],
)
def test_an_input_that_a_model_cannot_read_is_refused_or_answered_but_breaks_nothing(
    client: TestClient, name: str, given: Any
) -> None:
    last = ask(client, name, given)
    assert last["event"] == "answer" or (last["status"], bool(last["error"])) == (422, True)


def test_edits_change_the_answer_of_any_task(client: TestClient) -> None:
    given = INPUTS["a-rememberer"]
    name = ask(client, "a-rememberer", given)["attentions"][0]["name"]
    edited = ask(client, "a-rememberer", given, edits=[{"name": name, "kind": "uniform"}])
    query = {"name": name, "head": 0, "encoding": "f32"}
    weights = np.frombuffer(client.get(f"/api/looks/{edited['id']}/weights", params=query).content, "<f4")
    assert np.ptp(weights) < 1e-6


def _length(axis: dict[str, Any]) -> int:
    return axis["count"] if axis["kind"] == "latents" else len(axis["labels"])
