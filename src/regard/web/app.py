"""The explorer as one application: the page, what it may ask, and the guard before both."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

import regard
from regard.analysis.viewfile import schema
from regard.web import ask, page, runs, source, translate, views, world
from regard.web.errors import Problem, RefusedError
from regard.web.guard import LOOPBACK, Guard
from regard.web.state import AppState

TOKENS = 512  # the most that a text may have
WARM = 1.0  # seconds until the first model is opened


def make_app(
    state: AppState, *, names: Collection[str] = LOOPBACK, token: str | None = None, cookie: str = "regard"
) -> FastAPI:
    """The application. It answers at once: torch is imported by the worker, afterwards."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        state.worker.start()
        # Not at once: whoever has the page open already should have it drawn first.
        soon = asyncio.get_running_loop().call_later(
            WARM, lambda: state.worker.submit(lambda ticket: translate.warm(state.models, ticket))
        )
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
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=4)
    app.add_middleware(Guard, names=names, token=token, cookie=cookie)
    app.add_exception_handler(RefusedError, _answer_refused)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(Exception, _answer_failed)

    @app.get("/api/about")
    def about() -> dict[str, Any]:
        """The version, the models and the limits: all that the page needs to begin."""
        limits = {"text": ask.TEXT, "tokens": TOKENS, "beam": translate.BEAM}
        rooms = ["build", "translate", "world", "runs", "file"]
        return {"version": regard.__version__, "models": state.models.about(), "rooms": rooms, "limits": limits}

    @app.get("/api/tasks")
    async def tasks(request: Request) -> list[dict[str, str]]:
        """Every task, with what goes in and what comes out."""
        # By the worker, which imports torch: two threads that import parts of one package may each meet half of it.
        return await state.worker.run(lambda _: _tasks(), request.is_disconnected)

    @app.get("/api/schema/view.json")
    def view_schema() -> dict[str, Any]:
        """What a file of views must look like."""
        return schema()

    for part in (ask, translate, views, world, runs, source, page):  # the page is last: it takes every other name
        app.include_router(part.router(state))
    return app


def _tasks() -> list[dict[str, str]]:
    from regard.pipelines import pipelines

    return [{"task": name, "takes": kind.takes, "gives": kind.gives} for name, kind in pipelines().items()]


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
