"""The explorer as one application: the page, what it may ask, and the guard before both."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import Receive, Scope, Send

import regard
from regard.analysis.viewfile import schema
from regard.web import (
    answers,
    ask,
    claims,
    gallery,
    lectures,
    page,
    pictures,
    runs,
    seeing,
    senses,
    source,
    things,
    views,
    words,
    world,
)
from regard.web.errors import Problem, RefusedError
from regard.web.guard import LOOPBACK, Guard
from regard.web.state import AppState

TOKENS = 512  # the most that a text may have
WARM = 1.0  # seconds until the first model is opened
STREAMED = ("/api/ask",)


def make_app(
    state: AppState, *, names: Collection[str] = LOOPBACK, token: str | None = None, cookie: str = "regard"
) -> FastAPI:
    """The application. It answers at once: models run in another process, which is started afterwards."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        state.worker.start()
        # Not at once: whoever has the page open already should have it drawn first.
        soon = asyncio.get_running_loop().call_later(WARM, _warm, state)
        yield
        soon.cancel()
        state.worker.stop()

    app = FastAPI(
        title="regard explore",
        version=regard.__version__,
        lifespan=lifespan,
        docs_url=None,  # its pages come from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        responses={"4XX": {"model": Problem, "description": "Why not, and what to do"}},
    )
    app.add_middleware(Packed, minimum_size=1024, compresslevel=4)
    app.add_middleware(Guard, names=names, token=token, cookie=cookie)
    app.add_exception_handler(RefusedError, _answer_refused)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(Exception, _answer_failed)

    @app.get("/api/about")
    def about() -> dict[str, Any]:
        """The version, the models, the limits and the folder of pictures: all that the page needs to begin."""
        limits = {"text": ask.TEXT, "tokens": TOKENS, "beam": ask.BEAM, "new": ask.NEW, "edits": ask.EDITS}
        folder = state.pictures.folder and state.pictures.folder.resolve().name
        return {"version": regard.__version__, "models": state.models.about(), "limits": limits, "folder": folder}

    @app.get("/api/tasks")
    async def tasks(request: Request) -> list[dict[str, str]]:
        """Every task, with what goes in and what comes out."""
        found: list[dict[str, str]] = await state.worker.run(answers.tasks, gone=request.is_disconnected)
        return found

    @app.get("/api/schema/view.json")
    def view_schema() -> dict[str, Any]:
        """What a file of views must look like."""
        return schema()

    # The page is last: it takes every other name.
    for part in (
        ask,
        views,
        pictures,
        things,
        seeing,
        senses,
        world,
        words,
        runs,
        source,
        claims,
        lectures,
        gallery,
        page,
    ):
        app.include_router(part.router(state))
    return app


class Packed(GZipMiddleware):
    """Answers in fewer bytes, but for those that are told word by word: to pack them would be to hold them back."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self.app if scope.get("path") in STREAMED else super().__call__)(scope, receive, send)


def _warm(state: AppState) -> None:
    """Open the default translator before somebody asks for it."""
    for name in state.models.of_task("translate")[:1]:
        with suppress(RefusedError):
            state.worker.submit(answers.warm, state.models.place(name), quiet=True)


def _answer_refused(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RefusedError)
    return JSONResponse({"error": error.error}, error.status, error.headers)


def _answer_invalid(_: Request, error: Exception) -> JSONResponse:
    """The first thing that does not fit, in one sentence."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:]) or "the request"
    said = str(first["msg"])
    sentence = f"{where} does not fit: {said[:1].lower()}{said[1:]}"
    return JSONResponse({"error": sentence.encode("utf-8", "replace").decode()[:500]}, 422)


def _answer_http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)


def _answer_failed(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": f"the server failed ({type(error).__name__}); its terminal says where"}, 500)
