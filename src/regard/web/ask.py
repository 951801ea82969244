"""One question to any model: an input in, its output, and a look at all attentions out."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from threading import get_ident
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from regard.files import jsonable
from regard.web.errors import Problem, RefusedError
from regard.web.files import sanitize
from regard.web.queue import Ticket
from regard.web.state import AppState

if TYPE_CHECKING:
    from regard.analysis.reading import Reading
    from regard.attention.core import Edit as WeightEdit
    from regard.pipelines import Pipeline

TEXT, EDITS = 2000, 256  # the most characters and edits
_WORLD = re.compile(r"world:[0-9]{1,6}")
Text = Annotated[str, Field(max_length=TEXT)]
Name = Annotated[str, Field(max_length=200)]


class Ask(BaseModel):
    """What a request may hold; anything else is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Edit(Ask):
    """A head, or all heads of an attention, that look at nothing or everywhere alike."""

    name: Name
    head: Annotated[int, Field(ge=0, le=1023)] | None = None
    kind: Literal["off", "uniform"]


class AskRequest(Ask):
    """An input for a model: a text, or numbers."""

    model: Name
    input: Text | Annotated[list[int], Field(max_length=TEXT)]
    edits: Annotated[list[Edit], Field(max_length=EDITS, default_factory=list)]


class AskResponse(BaseModel):
    """Everything about one question; the weights are read by its id."""

    id: str
    model: str
    task: str
    output: Any
    axes: dict[str, dict[str, Any]]
    attentions: list[dict[str, Any]]
    caption: str


def router(state: AppState) -> APIRouter:
    """The question that every task answers."""
    routes = APIRouter()

    @routes.post("/api/ask", responses={503: {"model": Problem, "description": "It takes too long"}})
    async def ask(question: AskRequest, request: Request) -> AskResponse:
        """Run a model on an input, and keep what was looked at."""
        state.models.check(question.model)
        return await state.worker.run(lambda ticket: _answer(question, state, ticket), request.is_disconnected)

    return routes


def _answer(question: AskRequest, state: AppState, ticket: Ticket) -> AskResponse:
    pipeline = state.models.open(question.model)
    ticket.begin()  # the first question of all waits for torch and for the model, which is not its fault
    with answering(pipeline, ticket):
        reading = pipeline.attend(_input(pipeline, question.input), edits=compose(question.edits))
    from regard.analysis.view import axis_json

    return AskResponse(
        id=state.readings.keep(reading),
        model=question.model,
        task=pipeline.task,
        output=sanitize(jsonable(reading.output)),
        axes={name: axis_json(axis) for name, axis in reading.axes.items()},
        attentions=attentions(reading),
        caption=reading.caption,
    )


def _input(pipeline: "Pipeline", given: str | list[int]) -> str | list[int]:
    """What a model is asked; of pictures only the world's, since a request must open no file and fetch no set."""
    if pipeline.takes == "picture" and not (isinstance(given, str) and _WORLD.fullmatch(given)):
        raise ValueError(f"{pipeline.name} takes pictures of the world here, such as world:7, and opens no files")
    return given


def attentions(reading: "Reading") -> list[dict[str, Any]]:
    """What the page needs to know of each attention."""
    return [asdict(each) for each in reading.maps]


def compose(edits: Sequence[Edit]) -> dict[str, "WeightEdit"]:
    """The edits of each attention: those of one kind as one, so that many cost no more than two."""
    from regard.attention import off, only, then, uniform

    wanted: dict[tuple[str, str], set[int] | None] = {}
    for each in edits:
        key = each.name, each.kind
        heads = wanted.get(key, set())
        wanted[key] = None if each.head is None or heads is None else heads | {each.head}
    found: dict[str, list[WeightEdit]] = {}
    for (name, kind), heads in wanted.items():
        edit = off if kind == "off" else uniform
        found.setdefault(name, []).append(edit if heads is None else only(edit, *sorted(heads)))
    return {name: then(*several) for name, several in found.items()}


@contextmanager
def answering(pipeline: "Pipeline", ticket: Ticket) -> Iterator[None]:
    """A scope for a model to run in: the ticket is checked before each of its modules, and a wrong input is refused."""
    from torch.nn.modules.module import register_module_forward_pre_hook

    from regard.pipelines import TooLongError

    # A hook on all modules there are, for what is recorded holds copies of modules and would keep a hook of their own.
    thread = get_ident()
    handle = register_module_forward_pre_hook(lambda *_: ticket.check() if get_ident() == thread else None)
    try:
        yield
    except TooLongError as error:
        raise RefusedError(422, f"the text {error.reason}") from None
    except (ValueError, KeyError, TypeError, IndexError, RuntimeError) as error:
        said = str(error.args[0] if error.args else error)
        raise RefusedError(422, said or f"{pipeline.name} takes {pipeline.takes}, and this is something else") from None
    finally:
        handle.remove()
