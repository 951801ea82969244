"""No question costs more than its size, and none runs longer than it may."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from fastapi.testclient import TestClient
from tests.web.asking import question, read_events

import regard.attention
from regard.attention.core import Look
from regard.web import answers
from regard.web.app import make_app
from regard.web.errors import RefusedError
from regard.web.inside import Inside
from regard.web.models import Models
from regard.web.question import Edit, Pair, Question
from regard.web.state import AppState
from regard.web.ticket import Ticket
from regard.web.worker import Worker

NAME = "decoder.blocks.0.cross"
TEXT = "La casa rossa."
Answer = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def inside() -> Inside:
    """What the process of the models has, in this one."""
    return Inside()


@pytest.fixture
def answer(inside: Inside, models: Models) -> Answer:
    """A question answered here, where it can be watched."""

    def answered(given: Any = TEXT, *, model: str = "small", seconds: float = 60.0, **rest: Any) -> dict[str, Any]:
        asked = Question(models.place(model), given, **rest)
        found: dict[str, Any] = json.loads(answers.answer(inside, Ticket(seconds), asked))
        return found

    return answered


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
@pytest.mark.parametrize("options", [{"force": "The house."}, {"beam": 2}])
def test_many_edits_of_one_attention_cost_as_much_as_one(
    answer: Answer, evaluated: list[str], options: dict[str, Any], count: int
) -> None:
    costs = []
    for times in (1, count):
        evaluated.clear()
        answer(options=options, edits=(Edit(NAME, 0, "off"),) * times)
        costs.append(len(evaluated))
    assert 0 < costs[1] == costs[0]


def test_edits_of_all_heads_and_both_kinds_are_two_evaluations(answer: Answer, evaluated: list[str]) -> None:
    edits = tuple(Edit(NAME, i % 2, kind) for i in range(128) for kind in ("off", "uniform"))
    answer(options={"force": "The house."}, edits=edits)
    assert evaluated == ["off", "uniform"]


def test_one_link_with_forty_edits_is_answered_in_the_time_of_a_question(client: TestClient) -> None:
    edits = [{"name": NAME, "head": i % 2, "kind": ("off", "uniform")[i // 2 % 2]} for i in range(40)]
    # It took for ever, and what is beyond its time is refused.
    assert read_events(client.post("/api/ask", json=question(beam=1, edits=edits)))[-1]["event"] == "answer"


def test_more_edits_than_a_page_can_make_are_refused(client: TestClient) -> None:
    edits = [{"name": NAME, "head": 0, "kind": "off"}] * 257
    response = client.post("/api/ask", json=question(edits=edits))
    assert (response.status_code, "edits does not fit" in response.json()["error"]) == (422, True)


@pytest.fixture
def hasty(answer: Answer, models: Models, inside: Inside, monkeypatch: pytest.MonkeyPatch) -> Answer:
    """Time is up after a few modules."""
    for name in models.folders:
        inside.models.find(models.place(name))
    clock = iter(range(10**9))
    monkeypatch.setattr("regard.web.ticket.monotonic", lambda: float(next(clock)))
    return lambda *args, **rest: answer(*args, seconds=4.0, **rest)


@pytest.mark.parametrize(
    ("model", "given", "options"),
    [
        ("small", TEXT, {}),
        ("small", TEXT, {"beam": 1}),
        ("attentive", TEXT, {"force": "The red house."}),
        ("small", Pair("it", "en", 0, "test"), {"force": "Yes."}),
        ("a-parser", TEXT, {}),
        ("a-classifier", TEXT, {}),
        ("a-rememberer", [3, 12, 4, 13, 21, 22, 3], {}),
    ],
)
def test_the_time_limit_ends_every_kind_of_question_inside_the_model(
    hasty: Answer, model: str, given: Any, options: dict[str, Any]
) -> None:
    with pytest.raises(RefusedError, match="more than 4 seconds") as late:
        hasty(given, model=model, options=options)
    assert late.value.status == 503


def test_the_truth_about_a_sentence_is_computed_within_the_time_limit(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    import regard.analysis.alignment

    plain, late = regard.analysis.alignment.spans, [0.0]

    def slow(*args: Any, **options: Any) -> Any:
        late[0] = 1000.0
        return plain(*args, **options)

    monkeypatch.setattr(regard.analysis.alignment, "spans", slow)
    monkeypatch.setattr("regard.web.ticket.monotonic", lambda: time.monotonic() + late[0])
    with pytest.raises(RefusedError, match="more than 60 seconds"):
        answer(Pair("it", "en", 0, "test"), options={"force": "Yes."})
    late[0] = 0.0
    assert answer(options={"beam": 1})


def test_a_question_that_was_ended_leaves_nothing_on_the_modules(hasty: Answer, answer: Answer) -> None:
    from torch.nn.modules import module

    with pytest.raises(RefusedError):
        hasty()
    assert not module._global_forward_pre_hooks
    assert answer(seconds=1e9)["output"]["outputs"]


SLOW = '''"""A task whose model never ends on some texts, and never checks anything."""
from time import sleep
from regard.pipelines import Pipeline

class Slow(Pipeline):
    task, takes, gives = "dawdle", "text", "text"
    def __call__(self, inputs): ...
    def evaluate(self, data, *, split="", limit=0, progress=None): ...
    def attend(self, given, *, edits=None):
        while "slow" in given:
            sleep(1)
        raise ValueError("it was quick")

PIPELINE = Slow
'''


@pytest.fixture
def dawdler(zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[TestClient, Worker]]:
    """A server with a model from a file of somebody's own that may never end."""
    from tests.web.conftest import save_model

    monkeypatch.setattr("regard.web.worker.GRACE", 0.5)
    monkeypatch.setattr("regard.web.app.WARM", 3600.0)
    plugin = tmp_path / "slow.py"
    plugin.write_text(SLOW)
    monkeypatch.setenv("REGARD_PLUGINS", str(plugin))
    save_model(tmp_path / "dawdler", task="dawdle")
    worker = Worker()
    state = AppState(Models([tmp_path / "dawdler"], shelf=zoo), None, worker)
    with TestClient(make_app(state), base_url="http://127.0.0.1") as client:
        yield client, worker


def test_a_model_that_never_ends_is_ended_and_the_next_question_is_answered(
    dawdler: tuple[TestClient, Worker],
) -> None:
    client, worker = dawdler
    first = read_events(client.post("/api/ask", json=question("quick", model="dawdler")))[-1]
    assert first["error"] == "it was quick"
    before = worker.pid
    look = read_events(client.post("/api/ask", json=question(beam=1)))[-1]["id"]
    worker.seconds = 0.5
    late = read_events(client.post("/api/ask", json=question("slow", model="dawdler")))[-1]
    assert (late["status"], "more than 0.5 seconds" in late["error"]) == (503, True)
    worker.seconds = 60.0
    again = read_events(client.post("/api/ask", json=question(beam=1)))[-1]
    assert again["event"] == "answer"
    assert worker.pid != before
    # What was looked at is gone with the process; the page asks again.
    assert client.get(f"/api/looks/{look}/overview").status_code == 410
    assert client.get(f"/api/looks/{again['id']}/overview").status_code == 200
