"""Paint: a picture of words, every step on the way from noise to it, and where each word was looked at from."""

from typing import Any

from regard.web.errors import RefusedError
from regard.web.question import Question
from regard.web.see.packing import pack_numbers
from regard.web.shapes import Answered, Output
from regard.web.ticket import Ticket

STEPS = 30  # where nobody says otherwise


def painted(pipeline: Any, question: Question, edits: Any, ticket: Ticket) -> Answered:
    """A picture, its moments, and maps of the words in each of them: the mean of all layers and heads."""
    from regard.analysis.pictures import data_url

    given, done, of = question.given, 0, question.options.get("steps", STEPS)
    if not isinstance(given, str):
        raise RefusedError(422, f"{pipeline.name} takes text, and this is something else; say what you want to see")

    def tell(moment: Any) -> None:
        nonlocal done
        done += 1
        ticket.tell({"event": "step", "done": done, "of": of, "what": "Step", "image": data_url(moment[2])})

    reading = pipeline.attend(given, edits=edits, tell=tell, **question.options)
    (picture,) = reading.output.pictures
    moments = reading.output.moments or ((0.0, picture, picture),)
    return reading, {
        "kind": "painted",
        "image": data_url(picture),
        "moments": [
            {"time": round(time, 4), "noised": data_url(noised), "clean": data_url(clean)}
            for time, noised, clean in moments
        ],
        "maps": _maps(pipeline, reading, len(moments)),
        "written": not reading.output.moments,  # token by token, and not out of noise
    }


def _maps(pipeline: Any, reading: Any, steps: int) -> Output | None:
    """How much each place looked at each word, step by step; nothing where places look at something else."""
    import torch

    names = [each.name for each in reading.maps if each.name in pipeline.model.cross_attentions]
    if not names or any(reading.find(name).columns != "words" for name in names):
        return None
    parts = []
    for step in range(steps):
        looks = (step if len(reading.trace[name]) == steps > 1 else None for name in names)
        found = [reading.trace.map(name, look)[0].mean(dim=0) for name, look in zip(names, looks, strict=True)]
        whole = reading.merge_words(names[0], torch.stack(found).mean(dim=0).float().cpu().numpy())
        parts.append(torch.from_numpy(whole.T.copy()))
    height, width = pipeline.grid
    return {"height": height, "width": width, "words": len(parts[0]), "weights": pack_numbers(torch.stack(parts))}
