"""Whatever is asked, the answer is one that the API describes, and never a failure of the server."""

import json
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from regard.web.app import make_app
from regard.web.models import Models
from regard.web.state import AppState

# Schemathesis throws dice of its own while it draws.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the .random. module")

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
API = schemathesis.openapi.from_dict(make_app(AppState(Models(shelf=Path("nowhere")))).openapi())
PATIENCE = 600  # seconds: a busy machine is no failure
OPERATIONS = [found.ok() for found in API.get_all_operations()]


@pytest.fixture(scope="module", autouse=True)
def awake(server: Any) -> None:
    """A server that has imported all it ever will. The tests check shapes, for which each module is parsed as it is
    imported, and CPython 3.11 cannot parse in two threads at once (python/cpython#106905): the server's and ours."""
    for path in ("world/scene", "world/pair?source=it&target=en&index=1", "source?name=attention.core.weigh"):
        urlopen(f"{server.url}/api/{path}", timeout=PATIENCE).close()
    for model in ("small", "many", "attentive", "fixed"):
        asked = {"model": model, "input": {"text": "Ieri."}, "options": {"to": "en" if model == "many" else None}}
        headers = {"Content-Type": "application/json"}
        urlopen(Request(f"{server.url}/api/ask", json.dumps(asked).encode(), headers), timeout=PATIENCE).close()


@pytest.mark.parametrize("mode", GenerationMode)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_no_question_breaks_the_server(server: Any, operation: Any, mode: GenerationMode) -> None:
    if mode.is_negative and not list(operation.iter_parameters()) and not operation.body:
        pytest.skip("nothing can be wrong about it")

    try:
        cases = draw(operation.as_strategy(generation_mode=mode))
    except Unsatisfiable:
        assert mode.is_negative
        pytest.skip("any text will do for it")
    for case in cases:
        case.call_and_validate(base_url=server.url, checks=CHECKS, timeout=PATIENCE)


@pytest.mark.parametrize("name", ["small", "many", "attentive", "fixed", "a-parser", "a-classifier", "a-rememberer"])
def test_no_wish_breaks_a_model(server: Any, name: str) -> None:
    """The same with models that exist, so that what is asked for is also done."""
    operation = API["/api/ask"]["POST"]

    for case in draw(operation.as_strategy()):
        given = {"numbers": [3, 12, 4]} if name == "a-rememberer" else {"text": "Ieri."}
        named = {kind: value for kind, value in case.body["input"].items() if value is not None and kind != "picture"}
        # Of the long inputs that are allowed, the beginning will do here.
        short = {kind: value[:10] if kind in ("text", "numbers") else value for kind, value in named.items()}
        options = {"beam": 2} if name in ("small", "many", "attentive", "fixed") else {}
        case.body = {"model": name, "input": short or given, "options": case.body.get("options", {}) | options}
        answer = case.call_and_validate(base_url=server.url, checks=CHECKS, timeout=PATIENCE)
        if answer.status_code == 200:
            last = json.loads(answer.content.splitlines()[-1])
            assert last["event"] == "answer" or last["status"] < 500, last


def draw(strategy: SearchStrategy[Any], most: int = 5) -> list[Any]:
    """Questions, all drawn before the first is asked: while it draws, Hypothesis parses, too."""
    found: list[Any] = []

    @given(strategy)
    @settings(max_examples=most, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck))
    def collect(case: Any) -> None:
        found.append(case)

    collect()
    return found
