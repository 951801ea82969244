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
from regard.web.pictures import HASH
from regard.web.question import Question
from regard.web.scenes import NAMED
from regard.web.state import AppState
from regard.web.worker import Call

TEXT, EDITS, BEAM, NEW = 10_000, 256, 10, 200  # the most characters, edits, hypotheses and new tokens
BOUND = 2**20  # characters of a text that is counted at all; longer requests do not come this far
STEPS, POINTS = 100, 64  # steps of a denoiser, points of each kind
PICTURES, TEXTS, SHORT, TURNS = 12, 12, 300, 17  # pictures and texts that are compared, letters of one, turns of a talk
_WORLD = re.compile(NAMED)
Name = Annotated[str, Field(max_length=200)]
Text = Annotated[str, Field(max_length=TEXT)]
Shown = Annotated[str, Field(max_length=400)]
Short = Annotated[str, Field(max_length=SHORT)]
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


class Matched(Ask):
    """Pictures and texts to be compared; with `find`, a text by which pictures are found among these and others.

    `among` folder searches the folder that the server was started with instead.
    """

    pictures: Annotated[list[Shown], Field(max_length=PICTURES, default_factory=list)]
    texts: Annotated[list[Short], Field(max_length=TEXTS, default_factory=list)]
    find: Short | None = None
    among: Literal["folder"] | None = None


class Turn(Ask):
    """A text, and the picture that stands before it, if any."""

    picture: Shown | None = None
    text: Annotated[str, Field(max_length=1000)]


class Input(Ask):
    """One of: a text, a sentence of the world, a picture, pictures with texts, turns of both, a sound or cloud, or ids.

    A picture is `world:7`, `world:7/sketch` under a shift, `photo:cat`, `folder:sea/boat.jpg` of the server's folder,
    or the hash of an upload. A `thing` is the hash of a sound or of a cloud of points that was uploaded.
    """

    text: Annotated[str, Field(max_length=BOUND)] | None = None
    pair: Pair | None = None
    picture: Shown | None = None
    match: Matched | None = None
    told: Annotated[list[Turn], Field(min_length=1, max_length=TURNS)] | None = None
    thing: Annotated[str, Field(pattern=HASH)] | None = None
    numbers: Annotated[list[Annotated[int, Field(ge=-(2**31), lt=2**31)]], Field(max_length=TEXT)] | None = None


class Options(Ask):
    """Wishes, each of some tasks only.

    Translate: beam, to, length_penalty, force (a translation that the model is made to write). Generate: max_new
    (0 only reads), temperature, top_p, top_k, seed, greedy, choices (texts whose chance to follow is told). Fill: top,
    own (what each hidden word is, where it is known). Detect: threshold. Caption: beam, length_penalty, force. Match:
    templates (sentences with {} or {a} for each text), pair (which picture and text are looked into), top (pictures
    that are found). Ask: max_new. Paint: steps, guidance, seed; or temperature, top_p, top_k, seed. Segment: points,
    not_points (each x and y in pixels of the picture), box (left, top, right, bottom).
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
    templates: Annotated[list[Short], Field(max_length=8)] | None = None
    pair: tuple[Annotated[int, Field(ge=0, lt=PICTURES)], Annotated[int, Field(ge=0, lt=TEXTS)]] | None = None
    steps: Annotated[int, Field(ge=1, le=STEPS)] | None = None
    guidance: Annotated[float, Field(ge=0.0, le=20.0)] | None = None
    points: Annotated[list[tuple[float, float]], Field(max_length=POINTS)] | None = None
    not_points: Annotated[list[tuple[float, float]], Field(max_length=POINTS)] | None = None
    box: tuple[float, float, float, float] | None = None


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
        kinds = "text, pair, picture, match, told, thing or numbers"
        raise RefusedError(422, f"an input is one of {kinds}, and not {len(named)} of them")
    ((kind, value),) = named.items()
    if kind == "text" and len(value) > TEXT:
        raise RefusedError(422, f"the text has {len(value):,} characters, and at most {TEXT:,} are read; give a part")
    if kind == "pair":
        return question.Pair(value.source, value.target, value.index, value.split)
    if kind == "picture":
        return _find(value, state)
    if kind == "thing":
        return question.Thing(state.things.find(value))
    if kind == "match":
        folder = state.pictures.given_folder() if value.among else None
        found = tuple(_find(each, state) for each in value.pictures)
        return question.Matched(found, tuple(value.texts), value.find, folder)
    if kind == "told":
        turns = ((each.picture and _find(each.picture, state), each.text) for each in value)
        return question.Told(tuple((picture or None, text) for picture, text in turns))
    return value


def _find(name: str, state: AppState) -> question.Picture:
    """A picture by its name in a request."""
    return question.Picture(name if _WORLD.fullmatch(name) else state.pictures.find(name), name)


async def _events(state: AppState, call: Call, request: Request) -> AsyncIterator[str]:
    try:
        async for event in state.worker.listen(call, request.is_disconnected):
            yield (event["value"] if event["event"] == "answer" else json.dumps(event, ensure_ascii=False)) + "\n"
    except RefusedError as error:
        yield json.dumps({"event": "error", "status": error.status, "error": error.error}) + "\n"
