"""Whatever is asked, the answer is one that the API describes, and never a failure of the server."""

import json
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
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
        asked = {"model": model, "text": "Ieri.", "beam": 2, "to": "en" if model == "many" else None}
        headers = {"Content-Type": "application/json"}
        urlopen(Request(f"{server.url}/api/translate", json.dumps(asked).encode(), headers), timeout=PATIENCE).close()


@pytest.mark.parametrize("mode", GenerationMode)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_no_question_breaks_the_server(server: Any, operation: Any, mode: GenerationMode) -> None:
    if mode.is_negative and not list(operation.iter_parameters()) and not operation.body:
        pytest.skip("nothing can be wrong about it")

    for case in draw(operation.as_strategy(generation_mode=mode)):
        case.call_and_validate(base_url=server.url, checks=CHECKS, timeout=PATIENCE)


@pytest.mark.parametrize("name", ["small", "many", "attentive", "fixed"])
def test_no_wish_breaks_a_translator(server: Any, name: str) -> None:
    """The same with models that exist, so that what is asked for is also done."""
    operation = API["/api/translate"]["POST"]

    for case in draw(operation.as_strategy()):
        # Of the long texts that are allowed, the beginning will do here.
        case.body = case.body | {"model": name, "beam": 2, "edits": [], "text": case.body.get("text", "Ieri.")[:10]}
        case.call_and_validate(base_url=server.url, checks=CHECKS, timeout=PATIENCE)


@pytest.mark.parametrize("name", ["small", "a-parser", "a-classifier", "a-rememberer"])
def test_no_input_breaks_a_task(server: Any, name: str) -> None:
    operation = API["/api/ask"]["POST"]

    for case in draw(operation.as_strategy()):
        case.body = case.body | {"model": name, "edits": [], "input": case.body["input"][:10]}
        case.call_and_validate(base_url=server.url, checks=CHECKS, timeout=PATIENCE)


def draw(strategy: SearchStrategy[Any], most: int = 5) -> list[Any]:
    """Questions, all drawn before the first is asked: while it draws, Hypothesis parses, too."""
    found: list[Any] = []

    @given(strategy)
    @settings(max_examples=most, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck))
    def collect(case: Any) -> None:
        found.append(case)

    collect()
    return found
