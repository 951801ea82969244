"""Questions to a translator: one sentence in, its translations, their search and a look at all attentions out."""

from dataclasses import asdict
from time import perf_counter
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from regard.web.errors import Problem, RefusedError
from regard.web.looks import Looks, Seen
from regard.web.queue import Ticket, Worker
from regard.web.shelf import Opened, Shelf

TEXT, TOKENS, BEAM = 2000, 512, 10  # the most characters, tokens and beginnings
Language = Literal["en", "de", "it", "cs"]
Text = Annotated[str, Field(max_length=TEXT)]
Name = Annotated[str, Field(max_length=200)]


class Wish(BaseModel):
    """What a request may hold; anything else is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Edit(Wish):
    """A head, or all heads of an attention, that look at nothing or everywhere alike."""

    name: Name
    head: Annotated[int, Field(ge=0, le=1023)] | None = None
    kind: Literal["off", "uniform"]


class Pair(Wish):
    """A sentence of the world, whose alignment is known."""

    source: Language
    target: Language
    index: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    split: Literal["train", "test"] = "test"


class Question(Wish):
    """What to translate, by which model, and how."""

    model: Name
    text: Text = ""
    beam: Annotated[int, Field(ge=1, le=BEAM)] = 5
    to: Annotated[str, Field(max_length=20)] | None = None
    length_penalty: Annotated[float, Field(ge=0.0, le=5.0)] = 1.0
    edits: Annotated[list[Edit], Field(max_length=256)] = []
    force: Text | None = None
    pair: Pair | None = None


class Axis(BaseModel):
    """Pieces, the first and the last of each word, and what the word says."""

    pieces: list[str]
    words: list[tuple[int, int]]
    labels: list[str]


class Output(BaseModel):
    """One translation; the last of its pieces is the stop."""

    text: str
    score: float
    log_prob: float
    finished: bool
    pieces: list[str]
    words: list[tuple[int, int]]
    labels: list[str]


class Node(BaseModel):
    """A piece that the search thought of."""

    id: int
    parent: int | None
    piece: str
    log_prob: float
    step: int
    kept: bool
    final: int | None


class Tree(BaseModel):
    """The search, from its root on."""

    nodes: list[Node]


class Attention(BaseModel):
    """One attention, and which axes it lies between."""

    name: str
    kind: Literal["self", "causal", "cross"]
    layer: int
    heads: int
    rows: Literal["source", "target"]
    columns: Literal["source", "read"]


class Gold(BaseModel):
    """Which words belong together, and how far each head looks past them while the reference is written.

    Links are places of words on the axes of the source and of the reference.
    """

    text: str
    links: list[tuple[int, int]]
    matches: bool  # what was written is the reference
    error: dict[str, list[float]]


class Answer(BaseModel):
    """Everything about one question; the weights are read by its id."""

    id: str
    model: str
    source: Axis
    axes: dict[Literal["source", "target", "read"], Axis]
    outputs: list[Output]
    beam: Tree
    attentions: list[Attention]
    gold: Gold | None
    seconds: float


def router(shelf: Shelf, worker: Worker, looks: Looks) -> APIRouter:
    """The one question of this file."""
    routes = APIRouter()

    @routes.post("/api/translate", responses={503: {"model": Problem, "description": "It takes too long"}})
    async def translate(question: Question, request: Request) -> Answer:
        """Translate, and keep what was looked at."""
        shelf.check(question.model)
        return await worker.run(lambda ticket: answer(question, shelf, looks, ticket), request.is_disconnected)

    return routes


def warm(shelf: Shelf, ticket: Ticket) -> None:
    """Open the first model before somebody asks for it."""
    if not shelf.folders:
        return
    one = shelf.open(next(iter(shelf.folders)))
    ticket.show()
    one.translator.translate(["."], to=one.languages[0] if one.translator.multilingual else None, beam=2)


def answer(question: Question, shelf: Shelf, looks: Looks, ticket: Ticket) -> Answer:
    """What the worker does with a question."""
    from regard.web.search import cut, edited, forced, searched

    began = perf_counter()
    one = shelf.open(question.model)
    ticket.begin()  # the first question of all waits for torch and for the model, which is not its fault
    pair = None if question.pair is None else _pair(question.pair)
    to = one.told(question.to or (question.pair.target if question.pair and one.translator.multilingual else None))
    text = question.text if pair is None else pair[0]
    source, tokenizer = _source(one, text, to), one.translator.tokenizer
    edits = edited(_edits(question, one), one.attentions)
    if question.force is None:
        found, nodes = searched(
            one.translator,
            text,
            one.attentions,
            edits,
            ticket.show,
            to=to,
            beam=question.beam,
            length_penalty=question.length_penalty,
        )
        best = found[0].written
        read = forced(one.translator.model, source, _ids(best), edits)
        outputs = [
            _output(one, each.text, each.written.score, each.written.log_prob, _ids(each.written)) for each in found
        ]
    else:
        read = forced(one.translator.model, source, _target(one, question.force), edits)
        nodes = []
        outputs = [_output(one, question.force, read.log_prob, read.log_prob, read.target)]
    axes = {"source": cut(tokenizer, source), "target": cut(tokenizer, read.target), "read": cut(tokenizer, read.read)}
    name = looks.keep(Seen(one.name, axes, one.attentions, read.trace))  # type: ignore[arg-type]
    return Answer(
        id=name,
        model=one.name,
        source=Axis(**asdict(axes["source"])),
        axes={side: Axis(**asdict(axis)) for side, axis in axes.items()},  # type: ignore[misc]
        outputs=outputs,
        beam=_tree(one, nodes),
        attentions=[Attention(**asdict(each)) for each in one.attentions],
        gold=None if pair is None else _gold(one, pair[1], to, edits, axes["source"], read.target),
        seconds=round(perf_counter() - began, 3),
    )


def _pair(wish: Pair) -> tuple[str, Any]:
    from regard.world.language import pairs, text

    if wish.source == wish.target:
        raise RefusedError(422, f"a pair needs two languages, not {wish.source!r} twice; choose another target")
    found = pairs(wish.source, wish.target, split=wish.split)[wish.index]
    return text(found.source), found


def _source(one: Opened, text: str, to: str | None) -> list[int]:
    if not text.strip():
        raise RefusedError(422, "there is nothing to translate; type a sentence")
    return _encoded(one, one.translator.tag(to) + text, "the text")


def _target(one: Opened, text: str) -> list[int]:
    if not text.strip():
        raise RefusedError(422, "there is nothing to write; give a translation, or leave `force` out")
    return _encoded(one, text, "the translation")


def _encoded(one: Opened, text: str, what: str) -> list[int]:
    try:
        (ids,) = one.translator.tokenizer.encode([text], stop=True)
    except ValueError as error:
        raise RefusedError(422, str(error).replace("text 0", what)) from None
    if len(ids) > TOKENS:
        raise RefusedError(422, f"{what} has {len(ids)} tokens, and at most {TOKENS} are read; make it shorter")
    return ids


def _edits(question: Question, one: Opened) -> list[tuple[str, int | None, str]]:
    heads = {each.name: each.heads for each in one.attentions}
    for each in question.edits:
        if each.name not in heads:
            known = ", ".join(list(heads)[:3]) or "none, since this model has no attention"
            raise RefusedError(422, f"{one.name} has no attention {each.name!r} to edit; there are {known}")
        if each.head is not None and each.head >= heads[each.name]:
            raise RefusedError(
                422, f"{each.name} has no head {each.head}; they are numbered 0 to {heads[each.name] - 1}"
            )
    return [(each.name, each.head, each.kind) for each in question.edits]


def _ids(written: Any) -> tuple[int, ...]:
    """The words of a sequence with the stop that it came to."""
    from regard.web.search import STOP

    return (*written.words, STOP) if written.finished or not written.words else tuple(written.words)


def _output(one: Opened, text: str, score: float, log_prob: float, ids: tuple[int, ...]) -> Output:
    from regard.web.search import STOP, cut

    axis = asdict(cut(one.translator.tokenizer, ids))
    return Output(text=text, score=score, log_prob=log_prob, finished=ids[-1:] == (STOP,), **axis)


def _tree(one: Opened, nodes: list[Any]) -> Tree:
    said = {
        word: one.translator.tokenizer.words([word]).pieces[0] for word in {n.word for n in nodes} if word is not None
    }
    return Tree(
        nodes=[
            Node(
                id=i,
                parent=node.parent,
                piece="" if node.word is None else said[node.word],
                log_prob=round(node.log_prob, 5),
                step=node.step,
                kept=node.kept,
                final=node.final,
            )
            for i, node in enumerate(nodes)
        ]
    )


def _gold(one: Opened, pair: Any, to: str | None, edits: Any, source: Any, written: tuple[int, ...]) -> Gold:
    """The truth about a sentence of the world."""
    from regard.analysis.alignment import errors, spans
    from regard.attention import record
    from regard.web.search import cut
    from regard.world.language import text

    translator, tag = one.translator, one.translator.tag(to)
    reference = _target(one, text(pair.target))
    columns = _words_of(source, spans(translator.tokenizer, pair.source, tag=tag))
    rows = _words_of(cut(translator.tokenizer, reference), spans(translator.tokenizer, pair.target))
    links = {(i, j) for a, b in pair.alignment for i in columns[a] for j in rows[b]}
    found: dict[str, list[float]] = {}
    if translator.model.cross_attentions:
        with record(translator.model, edits=edits):
            for (name, _), error in errors(translator.model, translator.tokenizer, [pair], tag=tag).items():
                found.setdefault(name, []).append(round(error, 5))
    return Gold(text=text(pair.target), links=sorted(links), matches=tuple(reference) == written, error=found)


def _words_of(axis: Any, groups: list[list[int]]) -> list[set[int]]:
    """The words of an axis that groups of its pieces lie in."""
    word = {piece: i for i, (first, last) in enumerate(axis.words) for piece in range(first, last + 1)}
    return [{word[piece] for piece in group} for group in groups]
