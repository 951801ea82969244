"""Questions to a translator: one sentence in, its translations, their search and a look at all attentions out."""

from collections.abc import Sequence
from dataclasses import asdict
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from regard.web.ask import EDITS, Ask, Edit, Name, Text, answering, attentions, compose
from regard.web.errors import Problem, RefusedError
from regard.web.models import Models
from regard.web.queue import Ticket
from regard.web.state import AppState

if TYPE_CHECKING:
    from regard.analysis.reading import Reading
    from regard.pipelines.sequence import Written
    from regard.pipelines.translate import Translate
    from regard.text import Words

BEAM = 10  # the most hypotheses
Language = Literal["en", "de", "it", "cs"]


class Pair(Ask):
    """A sentence of the world, whose alignment is known."""

    source: Language
    target: Language
    index: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    split: Literal["train", "test"] = "test"


class TranslateRequest(Ask):
    """What to translate, by which model, and how; `force` is a translation that the model is made to write."""

    model: Name
    text: Text = ""
    beam: Annotated[int, Field(ge=1, le=BEAM)] = 5
    to: Annotated[str, Field(max_length=20)] | None = None
    length_penalty: Annotated[float, Field(ge=0.0, le=5.0)] = 1.0
    edits: Annotated[list[Edit], Field(max_length=EDITS, default_factory=list)]
    force: Text | None = None
    pair: Pair | None = None


class TranslateResponse(BaseModel):
    """Everything about one question; the weights are read by its id.

    An axis is {pieces, words, labels}: words are the first and the last piece of each, labels what they say. `outputs`
    are axes with text, score, log_prob and finished; `beam` is the tree of the search, from its root on. `gold` is the
    truth about a sentence of the world: links are places of words on the axes of the source and of the reference, and
    `error` is how far each head looks past them while the reference is written.
    """

    id: str
    model: str
    source: dict[str, Any]
    axes: dict[str, dict[str, Any]]
    outputs: list[dict[str, Any]]
    beam: dict[str, list[dict[str, Any]]]
    attentions: list[dict[str, Any]]
    gold: dict[str, Any] | None
    seconds: float


def router(state: AppState) -> APIRouter:
    """The one question of this file."""
    routes = APIRouter()

    @routes.post("/api/translate", responses={503: {"model": Problem, "description": "It takes too long"}})
    async def translate(question: TranslateRequest, request: Request) -> TranslateResponse:
        """Translate, and keep what was looked at."""
        state.models.check(question.model, "translate")
        return await state.worker.run(lambda ticket: _answer(question, state, ticket), request.is_disconnected)

    return routes


def warm(models: Models, ticket: Ticket) -> None:
    """Open the default translator before somebody asks for it."""
    for name in models.of_task("translate")[:1]:
        one: Any = models.open(name)
        ticket.check()
        one(["."], to=one.targets[0] if one.multilingual else None, beam=2)


def _answer(question: TranslateRequest, state: AppState, ticket: Ticket) -> TranslateResponse:
    began = perf_counter()
    translate: Any = state.models.open(question.model, "translate")
    ticket.begin()  # the first question of all waits for torch and for the model, which is not its fault
    pair = None if question.pair is None else _find_pair(question.pair)
    to = question.to or (question.pair.target if question.pair and translate.multilingual else None)
    edits = compose(question.edits)
    with answering(translate, ticket):
        reading = translate.attend(
            question.text if pair is None else pair[0],
            edits=edits,
            target=question.force,
            to=to,
            beam=question.beam,
            length_penalty=question.length_penalty,
        )
        gold = None if pair is None else _gold(translate, pair[1], to, edits, reading)
    axes = {name: _axis(axis) for name, axis in reading.axes.items()}
    return TranslateResponse(
        id=state.readings.keep(reading),
        model=question.model,
        source=axes["source"],
        axes=axes,
        outputs=[_output(translate, each) for each in reading.output.outputs],
        beam={"nodes": _nodes(translate, reading)},
        attentions=attentions(reading),
        gold=gold,
        seconds=round(perf_counter() - began, 3),
    )


def _find_pair(wanted: Pair) -> tuple[str, Any]:
    from regard.world.language import pairs, text

    if wanted.source == wanted.target:
        raise RefusedError(422, f"a pair needs two languages, not {wanted.source!r} twice; choose another target")
    found = pairs(wanted.source, wanted.target, split=wanted.split)[wanted.index]
    return text(found.source), found


def _axis(words: "Words") -> dict[str, Any]:
    return {"pieces": list(words.pieces), "words": [list(span) for span in words.spans], "labels": list(words.labels)}


def _output(translate: "Translate", written: "Written") -> dict[str, Any]:
    """One translation; the last of its pieces is the stop, where it came to it."""
    found = written.hypothesis
    ids = [*found.words, *([translate.stop] if found.finished or not found.words else [])]
    facts = {"text": written.text, "score": found.score, "log_prob": found.log_prob, "finished": found.finished}
    return facts | _axis(translate.tokenizer.words(ids))


def _nodes(translate: "Translate", reading: "Reading") -> list[dict[str, Any]]:
    """The pieces that the search considered."""
    nodes = reading.output.nodes
    known = {node.word for node in nodes if node.word is not None}
    said = {word: translate.tokenizer.words([word]).pieces[0] for word in known}
    return [
        {"id": i, "piece": said.get(node.word, ""), **asdict(node), "log_prob": round(node.log_prob, 5)}
        for i, node in enumerate(nodes)
    ]


def _gold(translate: "Translate", pair: Any, to: str | None, edits: Any, reading: "Reading") -> dict[str, Any]:
    """The truth about a sentence of the world."""
    from regard.analysis.alignment import errors, spans
    from regard.attention import record
    from regard.world.language import text

    tokenizer, tag = translate.tokenizer, translate.prefix(to)
    (reference,) = tokenizer.encode([text(pair.target)], stop=True)
    columns = _find_words(reading.axes["source"], spans(tokenizer, pair.source, tag=tag))  # type: ignore[arg-type]
    rows = _find_words(tokenizer.words(reference), spans(tokenizer, pair.target))
    links = {(i, j) for a, b in pair.alignment for i in columns[a] for j in rows[b]}
    found: dict[str, list[float]] = {}
    if translate.model.cross_attentions:
        with record(translate.model, edits=edits):
            for (name, _), error in errors(translate.model, tokenizer, [pair], tag=tag).items():
                found.setdefault(name, []).append(round(error, 5))
    best = reading.output.outputs[0].hypothesis
    matches = best.finished and [*best.words, translate.stop] == reference
    return {"text": text(pair.target), "links": sorted(map(list, links)), "matches": matches, "error": found}


def _find_words(axis: "Words", groups: Sequence[Sequence[int]]) -> list[set[int]]:
    """The words of an axis that groups of its pieces lie in."""
    word = {piece: i for i, (first, last) in enumerate(axis.spans) for piece in range(first, last + 1)}
    return [{word[piece] for piece in group} for group in groups]
