"""One question answered, in the process of the models: run, watched, and what is to be said of it."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from threading import get_ident
from time import perf_counter
from typing import TYPE_CHECKING, Any

from regard.names import NUMBERED
from regard.web import memory
from regard.web.cautions import cautions
from regard.web.errors import RefusedError
from regard.web.files import sanitize
from regard.web.gold import find_pair
from regard.web.opened import Place
from regard.web.outputs import OPTIONS, run
from regard.web.question import Edit, Matched, Pair, Picture, Question, Thing, Told
from regard.web.ticket import Ticket

if TYPE_CHECKING:
    from regard.analysis.reading import Reading
    from regard.attention.core import Edit as WeightEdit
    from regard.pipelines import Pipeline
    from regard.web.inside import Inside

# What is given to pipelines that take no text alone, and what they are to be given.
KINDS: dict[str, type] = {"picture": Picture, "picture and texts": Matched, "pictures and text": Told}
WAYS = {
    "picture": "a picture",
    "picture and texts": "match, pictures and texts",
    "pictures and text": "told, turns of pictures and texts",
}
CLOSED = "a request opens no files"
FILED = ("perceive",)  # tasks to which a text is the name of a file


def answer(inside: "Inside", ticket: Ticket, question: Question) -> str:
    """The answer as a line of JSON; what was looked at is kept under its id."""
    pipeline = opened(inside, ticket, question.place)
    began = perf_counter()
    _check_kind(pipeline, question)
    with answering(pipeline, ticket):
        reading, output = run(pipeline, question, compose(question.edits), ticket)
        warnings = cautions(pipeline, question, _text(question), _count_read(reading))
    special = _specials(pipeline)
    found = {
        "event": "answer",
        "id": inside.readings.keep(reading, question),
        "model": question.place.name,
        "task": pipeline.task,
        "seconds": round(perf_counter() - began, 3),
        "axes": {name: axis_json(axis, special) for name, axis in reading.axes.items()},
        "attentions": [asdict(each) for each in reading.maps],
        "output": output,
        "warnings": warnings,
        "caption": reading.caption,
    }
    return json.dumps(sanitize(found), ensure_ascii=False)


def _text(question: Question) -> str | None:
    """The text that was asked about; what hides a word is none of it."""
    match question.given:
        case Pair():
            return find_pair(question.given)[0]
        case Matched(_, texts, find):
            return find or " ".join(texts)
        case Told(parts):
            return " ".join(text for _, text in parts)
    return re.sub(r"\[MASK\]|<mask>", " ", question.given) if isinstance(question.given, str) else None


def _count_read(reading: "Reading") -> int:
    """The tokens of what was read; what was written behind it is among them."""
    axis = reading.axes.get("source") or reading.axes.get("words")
    return 0 if axis is None else len(axis)


def opened(inside: "Inside", ticket: Ticket, place: Place) -> "Pipeline":
    """The model of a question, whose time begins when it is open."""
    if place not in inside.models:
        ticket.tell({"event": "loading", "model": place.name})
    pipeline = inside.models.find(place)
    ticket.begin()
    return pipeline


def warm(inside: "Inside", ticket: Ticket, place: Place) -> None:
    """Open a translator before somebody asks for it."""
    one: Any = opened(inside, ticket, place)
    one(["."], to=one.targets[0] if one.multilingual else None, beam=2)


def tasks(inside: "Inside", ticket: Ticket) -> list[dict[str, str]]:  # noqa: ARG001
    """Every task, with what goes in and what comes out."""
    from regard.pipelines import pipelines

    return [{"task": name, "takes": kind.takes, "gives": kind.gives} for name, kind in pipelines().items()]


def axis_json(axis: Any, special: frozenset[str]) -> dict[str, Any]:
    """An axis as a page draws it; of words also whole ones by name, and which pieces are none of the text's."""
    from regard.analysis.view import axis_json as plain
    from regard.text import Words

    found = plain(axis)
    if isinstance(axis, Words):
        # The tag of a language has several pieces, and stands at the beginning.
        tag = axis.spans[0][1] + 1 if axis.spans and axis.labels[0] in special else 0
        found["names"] = list(axis.labels)
        found["special"] = [i < tag or piece in special for i, piece in enumerate(axis.pieces)]
        # Two texts end alike, each by what stands at the end of all.
        ends = [i for i, piece in enumerate(axis.pieces) if piece == axis.pieces[-1] and piece in special]
        if len(ends) > 1 and ends[0] < len(axis) - 2:
            found["segments"] = [int(i > ends[0]) for i in range(len(axis))]
    elif found["kind"] == "grid":
        found.setdefault("leading", [])
    return found


def compose(edits: Sequence[Edit]) -> dict[str, "WeightEdit"]:
    """The edits of each attention: those of one kind as one, so that many cost no more than two."""
    import regard.attention as attention

    wanted: dict[tuple[str, str], set[int] | None] = {}
    for each in edits:
        key = each.name, each.kind
        heads = wanted.get(key, set())
        wanted[key] = None if each.head is None or heads is None else heads | {each.head}
    found: dict[str, list[WeightEdit]] = {}
    for (name, kind), some in wanted.items():
        edit = attention.off if kind == "off" else attention.uniform
        found.setdefault(name, []).append(edit if some is None else attention.only(edit, *sorted(some)))
    return {name: attention.then(*several) for name, several in found.items()}


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
        if memory.was_refused(error):
            raise MemoryError from None
        raise RefusedError(422, said or f"{pipeline.name} takes {pipeline.takes}, and this is something else") from None
    finally:
        handle.remove()


def _check_kind(pipeline: "Pipeline", question: Question) -> None:
    """Refuse what the model cannot be asked with, and options that its task does not have."""
    given, name = question.given, pipeline.name
    kind = next((takes for takes, one in KINDS.items() if isinstance(given, one)), None)
    if pipeline.takes in KINDS and kind != pipeline.takes:
        raise RefusedError(
            422, f"{name} takes {WAYS[pipeline.takes]}: world:7, or one that was uploaded, by its hash; {CLOSED}"
        )
    if kind is not None and kind != pipeline.takes:
        given_is = "a picture" if kind == "picture" else kind
        raise RefusedError(422, f"{name} takes {pipeline.takes}, and this is {given_is}; choose another model")
    _check_filed(pipeline, given)
    if isinstance(given, Pair):
        _check_pair(pipeline, given)
    known = OPTIONS.get(pipeline.task, ())
    if strange := sorted(set(question.options) - set(known)):
        way = f"it has {', '.join(known)}" if known else "it has none"
        raise RefusedError(422, f"{strange[0]} is no option of {pipeline.task}; {way}")


def _check_filed(pipeline: "Pipeline", given: Any) -> None:
    """Refuse what would be the name of a file, and sounds and clouds where the model takes something else."""
    filed, named = isinstance(given, Thing), isinstance(given, str) and NUMBERED.fullmatch(given)
    if pipeline.task in FILED and not filed and not named:
        way = "one of a named set, such as spoken-digits:7, or a file that was uploaded, by its hash"
        raise RefusedError(422, f"{pipeline.name} takes {way}; {CLOSED}")
    if filed and pipeline.task not in FILED:
        raise RefusedError(
            422, f"{pipeline.name} takes {pipeline.takes}, and this is a sound or a cloud; choose another model"
        )


def _check_pair(pipeline: Any, pair: Pair) -> None:
    """Refuse a pair of other languages than the model's, whose alignment would be true of nothing."""
    name = pipeline.name
    if pipeline.task != "translate":
        raise RefusedError(422, f"{name} does {pipeline.task}, and a pair of sentences is translated; give a text")
    for code, known, does in ((pair.source, pipeline.sources, "reads"), (pair.target, pipeline.targets, "writes")):
        if known and code not in known:
            way = f"choose a pair of {', '.join(known)}, or another model"
            raise RefusedError(422, f"{name} {does} {', '.join(known)}, and this pair has {code!r}; {way}")


def _specials(pipeline: Any) -> frozenset[str]:
    """What pieces of no text are called: starts, stops, paddings, and the tags of languages."""
    from regard.models.gpt_tasks import NEW

    tokenizer = pipeline.tokenizer
    foreign = getattr(tokenizer, "all_special_tokens", None)
    said = {getattr(tokenizer, role, None) for role in ("mask", "unknown")}  # which stand for words
    own = [tokenizer.entry(i) for i in tokenizer.specials - said] if hasattr(tokenizer, "specials") else foreign or ()
    tags = [f"[{to}]" for to in getattr(pipeline, "targets", ())] if getattr(pipeline, "multilingual", False) else ()
    return frozenset({*own, *NEW, *tags})
