"""One question to any model: an input in; words as they are written, its output, and a look at all attentions out."""

import json
import re
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from regard.web import answers, question
from regard.web.errors import Problem, RefusedError
from regard.web.question import Question
from regard.web.state import AppState
from regard.web.worker import Call

TEXT, EDITS, BEAM, NEW = 10_000, 256, 10, 200  # the most characters, edits, hypotheses and new tokens
BOUND = 2**20  # characters of a text that is counted at all; longer requests do not come this far
_WORLD = re.compile(r"world:[0-9]{1,6}")
Name = Annotated[str, Field(max_length=200)]
Text = Annotated[str, Field(max_length=TEXT)]
Language = Literal["en", "de", "it", "cs"]

EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events, one a line; the last is the answer, or an error",
        "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
    },
    503: {"model": Problem, "description": "It takes too long"},
}


class Ask(BaseModel):
    """What a request may hold; anything else is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Edit(Ask):
    """A head, or all heads of an attention, that look at nothing or everywhere alike."""

    name: Name
    head: Annotated[int, Field(ge=0, le=1023)] | None = None
    kind: Literal["off", "uniform"]


class Pair(Ask):
    """A sentence of the world, whose alignment is known."""

    source: Language
    target: Language
    index: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    split: Literal["train", "test"] = "test"


class Input(Ask):
    """One of: a text, a sentence of the world, a picture (`world:7`, `photo:cat` or the hash of an upload), or ids."""

    text: Annotated[str, Field(max_length=BOUND)] | None = None
    pair: Pair | None = None
    picture: Annotated[str, Field(max_length=100)] | None = None
    numbers: Annotated[list[Annotated[int, Field(ge=-(2**31), lt=2**31)]], Field(max_length=TEXT)] | None = None


class Options(Ask):
    """Wishes, each of some tasks only.

    Translate: beam, to, length_penalty, force (a translation that the model is made to write). Generate: max_new
    (0 only reads), temperature, top_p, top_k, seed, greedy, choices (texts whose chance to follow is told). Fill: top,
    own (what each hidden word is, where it is known). Detect: threshold.
    """

    beam: Annotated[int, Field(ge=1, le=BEAM)] | None = None
    to: Annotated[str, Field(max_length=20)] | None = None
    length_penalty: Annotated[float, Field(ge=0.0, le=5.0)] | None = None
    force: Text | None = None
    max_new: Annotated[int, Field(ge=0, le=NEW)] | None = None
    temperature: Annotated[float, Field(ge=0.0, le=10.0)] | None = None
    top_p: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    top_k: Annotated[int, Field(ge=1, le=10_000)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None
    greedy: bool | None = None
    choices: Annotated[list[Annotated[str, Field(min_length=1, max_length=100)]], Field(max_length=8)] | None = None
    top: Annotated[int, Field(ge=1, le=100)] | None = None
    own: Annotated[list[Annotated[str, Field(max_length=100)] | None], Field(max_length=100)] | None = None
    threshold: Annotated[float, Field(ge=0.0, le=1.0)] | None = None


class AskRequest(Ask):
    """An input for a model, wishes, and heads that are to look otherwise."""

    model: Name
    input: Input
    options: Annotated[Options, Field(default_factory=Options)]
    edits: Annotated[list[Edit], Field(max_length=EDITS, default_factory=list)]


def router(state: AppState) -> APIRouter:
    """The question that every task answers."""
    routes = APIRouter()

    @routes.post("/api/ask", response_class=StreamingResponse, responses=EVENTS)
    async def ask(asked: AskRequest, request: Request) -> StreamingResponse:
        """Run a model on an input, tell how far it is, and keep what was looked at. To close the line is to cancel."""
        call = state.worker.submit(answers.answer, read_question(asked, state))
        return StreamingResponse(_events(state, call, request), media_type="application/x-ndjson")

    return routes


def read_question(asked: AskRequest, state: AppState) -> Question:
    """A request as the question that the process of the models is asked."""
    place = state.models.place(asked.model)
    return Question(
        place,
        _given(asked.input, state),
        {name: value for name, value in asked.options.model_dump().items() if value is not None},
        tuple(question.Edit(each.name, each.head, each.kind) for each in asked.edits),
    )


def _given(asked: Input, state: AppState) -> Any:
    """What the model is given; of pictures, only those that were uploaded, bundled or drawn by the world."""
    named = {name: value for name, value in asked if value is not None}
    if len(named) != 1:
        raise RefusedError(422, f"an input is one of text, pair, picture or numbers, and not {len(named)} of them")
    ((kind, value),) = named.items()
    if kind == "text" and len(value) > TEXT:
        raise RefusedError(422, f"the text has {len(value):,} characters, and at most {TEXT:,} are read; give a part")
    if kind == "pair":
        return question.Pair(value.source, value.target, value.index, value.split)
    if kind == "picture":
        return question.Picture(value if _WORLD.fullmatch(value) else state.pictures.find(value))
    return value


async def _events(state: AppState, call: Call, request: Request) -> AsyncIterator[str]:
    try:
        async for event in state.worker.listen(call, request.is_disconnected):
            yield (event["value"] if event["event"] == "answer" else json.dumps(event, ensure_ascii=False)) + "\n"
    except RefusedError as error:
        yield json.dumps({"event": "error", "status": error.status, "error": error.error}) + "\n"
