"""No question costs more than its size, and none runs longer than it may."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from fastapi.testclient import TestClient

import regard.attention
from regard.attention.core import Look
from regard.web.app import make_app
from regard.web.models import Models
from regard.web.queue import Worker
from regard.web.state import AppState

NAME = "decoder.blocks.0.cross"
TEXT = "La casa rossa."


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each time that an edit is evaluated."""
    found: list[str] = []
    for kind in ("off", "uniform"):

        def edit(look: Look, kind: str = kind, plain: Any = getattr(regard.attention, kind)) -> torch.Tensor:
            found.append(kind)
            weights: torch.Tensor = plain(look)
            return weights

        monkeypatch.setattr(regard.attention, kind, edit)
    return found


@pytest.mark.parametrize("count", [40, 256])
@pytest.mark.parametrize("path", ["translate", "ask"])
def test_many_edits_of_one_attention_cost_as_much_as_one(
    client: TestClient, evaluated: list[str], path: str, count: int
) -> None:
    question = (
        {"model": "small", "force": "The house.", "text": TEXT}
        if path == "translate"
        else {"model": "small", "input": TEXT}
    )
    costs = []
    for edits in ([_edit(0, "off")], [_edit(0, "off") for _ in range(count)]):
        evaluated.clear()
        assert client.post(f"/api/{path}", json=question | {"edits": edits}).status_code == 200
        costs.append(len(evaluated))
    assert 0 < costs[1] == costs[0]


def test_edits_of_all_heads_and_both_kinds_are_two_evaluations(client: TestClient, evaluated: list[str]) -> None:
    edits = [_edit(i % 2, kind) for i in range(128) for kind in ("off", "uniform")]
    response = client.post(
        "/api/translate", json={"model": "small", "text": TEXT, "force": "The house.", "edits": edits}
    )
    assert response.status_code == 200
    assert evaluated == ["off", "uniform"]


def test_more_edits_than_a_page_can_make_are_refused(client: TestClient) -> None:
    edits = [_edit(0, "off")] * 257
    response = client.post("/api/translate", json={"model": "small", "text": TEXT, "edits": edits})
    assert (response.status_code, "edits does not fit" in response.json()["error"]) == (422, True)


@pytest.fixture
def hasty(models: Models, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A server whose time is up after a few modules."""
    monkeypatch.setattr("regard.web.app.WARM", 3600.0)
    for name in models.folders:
        models.open(name)
    clock = iter(range(10**9))
    monkeypatch.setattr("regard.web.queue.monotonic", lambda: float(next(clock)))
    with TestClient(make_app(AppState(models, None, Worker(seconds=4.0))), base_url="http://127.0.0.1") as client:
        yield client


@pytest.mark.parametrize(
    ("path", "question"),
    [
        ("translate", {"model": "small", "text": TEXT}),
        ("translate", {"model": "attentive", "text": TEXT, "force": "The red house."}),
        ("translate", {"model": "small", "pair": {"source": "it", "target": "en"}, "force": "Yes."}),
        ("ask", {"model": "small", "input": TEXT}),
        ("ask", {"model": "a-parser", "input": TEXT}),
        ("ask", {"model": "a-classifier", "input": TEXT}),
        ("ask", {"model": "a-rememberer", "input": [3, 12, 4, 13, 21, 22, 3]}),
    ],
)
def test_the_time_limit_ends_every_kind_of_question_inside_the_model(
    hasty: TestClient, path: str, question: dict[str, Any]
) -> None:
    response = hasty.post(f"/api/{path}", json=question)
    assert response.status_code == 503
    assert "more than 4 seconds" in response.json()["error"]


def test_the_truth_about_a_sentence_is_computed_within_the_time_limit(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    import regard.analysis.alignment

    plain, late = regard.analysis.alignment.errors, [0.0]

    def slow(*args: Any, **options: Any) -> Any:
        late[0] = 1000.0
        return plain(*args, **options)

    monkeypatch.setattr(regard.analysis.alignment, "errors", slow)
    monkeypatch.setattr("regard.web.queue.monotonic", lambda: time.monotonic() + late[0])
    with TestClient(make_app(AppState(models)), base_url="http://127.0.0.1") as client:
        pair = {"source": "it", "target": "en"}
        response = client.post("/api/translate", json={"model": "small", "pair": pair, "force": "Yes."})
        assert response.status_code == 503
        late[0] = 0.0
        assert client.post("/api/translate", json={"model": "small", "text": TEXT, "beam": 1}).status_code == 200


def test_a_question_that_was_ended_leaves_nothing_on_the_modules(hasty: TestClient, models: Models) -> None:
    from torch.nn.modules import module

    hasty.post("/api/translate", json={"model": "small", "text": TEXT})
    assert not module._global_forward_pre_hooks
    assert models.open("small")([TEXT])


def _edit(head: int, kind: str) -> dict[str, Any]:
    return {"name": NAME, "head": head, "kind": kind}
