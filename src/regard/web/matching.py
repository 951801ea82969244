"""Match: a table of pictures and texts, one pair of them looked into; and pictures that a text finds."""

from collections import OrderedDict
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from regard.web.errors import RefusedError
from regard.web.question import Matched, Picture, Question, draw
from regard.web.scenes import small
from regard.web.shapes import Answered, open_small, reduced
from regard.web.ticket import Ticket

if TYPE_CHECKING:
    from PIL import Image
    from torch import Tensor

SIDE = 160  # pixels of pictures in the table
AMONG = 200  # scenes of the world that a search looks through
BATCH = 20  # of them that are read at once
HITS = 8  # that are told
KEPT = 4  # models whose vectors of them are kept
_known: "OrderedDict[str, Tensor]" = OrderedDict()


def matched(pipeline: Any, question: Question, edits: Any, ticket: Ticket) -> Answered:
    """How well every text goes with every picture; one pair is looked into."""
    given = question.given
    assert isinstance(given, Matched)
    if given.find is not None and given.folder is not None:
        return _found_in(given.folder, pipeline, question, edits, ticket)
    if given.find is not None:
        return _found(pipeline, question, edits, ticket)
    if not given.pictures or not given.texts:
        raise RefusedError(422, "there is nothing to compare; give one picture and one text or more")
    opened = [open_small(pipeline, each) for each in given.pictures]
    templates = tuple(each for each in question.options.get("templates", ()) if each.strip())
    with _edited(pipeline, edits):
        seen, read = pipeline.images(opened), _read(pipeline, given.texts, templates)
    chances, cosines = pipeline.compare(seen, read)
    picture, text = question.options.get("pair", (0, 0))
    chosen = min(picture, len(opened) - 1), min(text, len(given.texts) - 1)
    (said,) = _sentences([given.texts[chosen[1]]], templates[:1])
    return _look(pipeline, opened[chosen[0]], said, edits), {
        "kind": "match",
        "images": [small(pipeline.seen(each), SIDE) for each in opened],
        "cosines": _rounded(cosines),
        "chances": _rounded(chances),
        "alone": pipeline.model.bias is not None,  # each text is judged by itself, as a SigLIP does
        "scale": round(float(pipeline.model.log_scale.detach().exp()), 4),
        "pair": list(chosen),
        "read": said,
    }


def _found(pipeline: Any, question: Question, edits: Any, ticket: Ticket) -> Answered:
    """The pictures that a text describes best: of those that are given, of the photographs and of some scenes."""
    given = question.given
    assert isinstance(given, Matched)
    text, others = given.find or "", _others()
    pictures = {each.name: each for each in (*others, *given.pictures)}
    own = [open_small(pipeline, each) for each in given.pictures]
    with _edited(pipeline, edits):
        (wanted,) = pipeline.texts([text])
        near = _vectors(pipeline, others, edits, ticket)
        mine = pipeline.images(own) if own else near[:0]
    alike = dict(zip([each.name for each in others], (near @ wanted).tolist(), strict=True))
    alike |= dict(zip([each.name for each in given.pictures], (mine @ wanted).tolist(), strict=True))
    best = sorted(alike, key=lambda name: (-alike[name], name))[: question.options.get("top", HITS)]
    opened = {name: open_small(pipeline, pictures[name]) for name in best}
    hits = [{"picture": name, "cosine": round(alike[name], 5), "image": small(opened[name], SIDE)} for name in best]
    reading = _look(pipeline, opened[best[0]], text, edits)
    return reading, {"kind": "found", "hits": hits, "among": len(alike), "broken": 0, "read": text}


def _found_in(folder: Path, pipeline: Any, question: Question, edits: Any, ticket: Ticket) -> Answered:
    """The pictures of a folder that a text describes best, by the index that `regard search` keeps beside it."""
    from regard.pipelines.index import fingerprint, update

    if edits:
        raise RefusedError(422, "a folder is searched by the model as it is; take back what you switched off")
    given = question.given
    assert isinstance(given, Matched)
    text, share = given.find or "", 0.0

    def told(done: float) -> None:
        nonlocal share
        share = done
        ticket.tell({"event": "step", "done": int(100 * done), "of": 100, "what": f"Reading {folder.name}, percent"})
        ticket.check()

    (wanted,) = pipeline.texts([text])
    try:
        index = update(folder, pipeline.images, fingerprint(pipeline.model), progress=told)
    except ValueError as error:
        raise RefusedError(422, str(error)) from None
    except RefusedError as error:
        raise RefusedError(
            error.status, f"{100 * share:.0f} % of {folder.name} are read; search again to go on"
        ) from None
    hits = []
    for name, cosine in index.search(wanted, question.options.get("top", HITS)):
        with suppress(OSError, ValueError):  # it went away
            picture = reduced(pipeline.open(folder / name))
            hits.append((f"folder:{quote(name)}", cosine, picture))
    if not hits:
        raise RefusedError(422, f"the pictures of {folder.name} went away meanwhile; search again")
    shown = [{"picture": name, "cosine": round(cosine, 5), "image": small(each, SIDE)} for name, cosine, each in hits]
    reading = _look(pipeline, hits[0][2], text, edits)
    return reading, {"kind": "found", "hits": shown, "among": len(index), "broken": len(index.broken), "read": text}


def _others() -> list[Picture]:
    """The bundled photographs, and scenes of the world."""
    from regard.web.pictures import photos

    found = [Picture(path.read_bytes(), f"photo:{name}") for name, path in photos().items()]
    return [*found, *(Picture(f"world:{i}", f"world:{i}") for i in range(AMONG))]


def _vectors(pipeline: Any, pictures: list[Picture], edits: Any, ticket: Ticket) -> "Tensor":
    """The vectors of pictures that are always the same, kept for the next search unless heads are edited."""
    import torch

    from regard.pipelines.index import fingerprint

    key = fingerprint(pipeline.model)
    if key in _known and not edits:
        _known.move_to_end(key)
        return _known[key]
    parts = []
    for start in range(0, len(pictures), BATCH):
        ticket.check()
        ticket.tell({"event": "step", "done": start, "of": len(pictures), "what": "Picture"})
        parts.append(pipeline.images([pipeline.open(draw(each)) for each in pictures[start : start + BATCH]]))
    found = torch.cat(parts)
    if not edits:
        _known[key] = found
        while len(_known) > KEPT:
            _known.popitem(last=False)
    return found


def _read(pipeline: Any, texts: tuple[str, ...], templates: tuple[str, ...]) -> "Tensor":
    """The vectors of texts; of names of classes, the mean of what templates say of them."""
    from regard.analysis.zero_shot import class_vectors

    found: Tensor = class_vectors(pipeline.texts, texts, templates) if templates else pipeline.texts(list(texts))
    return found


def _sentences(texts: list[str], templates: tuple[str, ...]) -> list[str]:
    from regard.analysis.zero_shot import sentence

    return [sentence(templates[0], each) for each in texts] if templates else texts


def _look(pipeline: Any, picture: "Image.Image", text: str, edits: Any) -> Any:
    """A reading of one picture and one text; the picture's attentions come last, where a page begins."""
    reading = pipeline.attend((picture, text), edits=edits)
    words = [each for each in reading.maps if each.name.startswith("text.")]
    places = [each for each in reading.maps if each not in words]
    return replace(reading, maps=(*words, *places), caption=f"“{text}”")


def _edited(pipeline: Any, edits: Any) -> AbstractContextManager[Any]:
    from regard.attention import record

    return record(pipeline.model, edits=edits) if edits else nullcontext()


def _rounded(table: "Tensor") -> list[list[float]]:
    return [[round(each, 6) for each in row] for row in table.tolist()]
