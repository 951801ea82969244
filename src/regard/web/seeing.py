"""What a model of pictures saw in one, for the page: each analysis of `regard.web.see` under one address."""

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath

from regard.web.answers import answering, compose, opened
from regard.web.errors import RefusedError
from regard.web.see import OF_READING, Asked, How, Options, see

if TYPE_CHECKING:
    from regard.web.inside import Inside
    from regard.web.state import AppState
    from regard.web.ticket import Ticket


def router(state: "AppState") -> APIRouter:
    """All that can be seen of a look at a picture."""
    routes = APIRouter(prefix="/api/looks/{look}")

    @routes.get("/seen")
    async def seen(
        request: Request,
        look: Annotated[str, InPath(max_length=64)],
        how: How,
        at: Annotated[str, Query(max_length=40)] = "",
        by: bool = False,
        label: Annotated[str, Query(max_length=200)] = "",
    ) -> dict[str, Any]:
        """One analysis of what a model of pictures saw, with the heads edited as they were when it was asked."""
        options = Options(at, by, label)
        if how in OF_READING:
            found: dict[str, Any] = await state.worker.read(read, look, how, options)
        else:
            found = await state.worker.run(run, look, how, options, gone=request.is_disconnected)
        return found

    return routes


def read(inside: "Inside", look: str, how: How, options: Options) -> dict[str, Any]:
    """An analysis that needs no model, in the process of the models."""
    reading = inside.readings.find(look)
    try:
        return see(reading, how, options)
    except (ValueError, KeyError) as error:
        raise RefusedError(422, str(error.args[0] if error.args else error)) from None


def run(inside: "Inside", ticket: "Ticket", look: str, how: How, options: Options) -> dict[str, Any]:
    """An analysis for which the model runs again, in the process of the models."""
    reading, question = inside.readings.find(look), inside.readings.question(look)
    assert question is not None
    pipeline = opened(inside, ticket, question.place)
    try:
        with answering(pipeline, ticket):
            return see(Asked(reading, pipeline, compose(question.edits)), how, options)
    except RefusedError as error:
        if error.status != 503:
            raise
        why = f"{how} of {reading.model} takes more than {ticket.seconds:g} seconds"
        raise RefusedError(503, f"{why}; choose gradcam, which runs it once, or a smaller model") from None
