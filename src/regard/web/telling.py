"""Ask: what is said behind pictures and texts, how far the gates are open, and what each word sees of each picture."""

from typing import TYPE_CHECKING, Any

from regard.web.question import Question, Told
from regard.web.see.packing import pack_numbers
from regard.web.shapes import Answered, Output, open_small
from regard.web.ticket import Ticket

if TYPE_CHECKING:
    from torch import Tensor

MOST = 300_000  # numbers of the maps of all words; beyond it, heads alone are shown
NEW = 32  # tokens of an answer, where nobody says otherwise


def told(pipeline: Any, question: Question, edits: Any, _: Ticket) -> Answered:
    """An answer behind its prompt; places of pictures and of the answer are counted in pieces of the axis `words`."""
    given = question.given
    assert isinstance(given, Told)
    prompt = [(None if picture is None else open_small(pipeline, picture), text) for picture, text in given.parts]
    row = pipeline.lay_out(prompt)
    reading = pipeline.attend(prompt, edits=edits, max_new_tokens=min(question.options.get("max_new", NEW), 200) or 1)
    insight = reading.output
    return reading, {
        "kind": "told",
        "text": insight.answer.text,
        "log_prob": round(insight.answer.log_prob, 5),
        "finished": insight.answer.finished,
        "read": len(row.ids),
        "shown": [place for place, shown in enumerate(row.shown) if shown],
        "gates": [[round(look, 5), round(mlp, 5)] for look, mlp in insight.gates],
        "maps": _maps(reading, sum(row.shown)),
    }


def _maps(reading: Any, pictures: int) -> Output | None:
    """What each word sees of each picture, through its latents: the mean of all gated blocks and heads."""
    import torch

    gated = [each.name for each in reading.maps if each.name.startswith("gated.")]
    if not pictures or not gated:
        return None
    words = torch.stack([reading.trace.map(name)[0].mean(dim=0) for name in gated]).mean(dim=0).float()
    parts = [_through(reading, words, i) for i in range(pictures)]
    grid = reading.axes["picture 1"]
    if sum(each.numel() for each in parts) > MOST:
        return None
    merged = torch.stack([_whole(reading, each) for each in parts])
    return {"height": grid.height, "width": grid.width, "words": merged.shape[1], "weights": pack_numbers(merged)}


def _through(reading: Any, words: "Tensor", picture: int) -> "Tensor":
    """How words look at the places of one picture: by its latents, as the last block of the resampler filled them."""
    name = [each.name for each in reading.maps if each.columns == f"picture {picture + 1}"][-1]
    latents = len(reading.axes[f"latents of picture {picture + 1}"])
    places = reading.trace.map(name)[0].mean(dim=0).float()[:, latents:]
    found: Tensor = words[:, picture * latents : (picture + 1) * latents] @ places
    return found


def _whole(reading: Any, pieces: "Tensor") -> "Tensor":
    """Whole words look as their pieces do on average."""
    import torch

    spans = reading.axes["words"].spans
    return torch.stack([pieces[first : last + 1].mean(dim=0) for first, last in spans])
