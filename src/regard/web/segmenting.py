"""Segment: masks of what clicks and boxes mean. A picture is seen once and kept, so that the next click is quick."""

import hashlib
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from regard.web.question import Picture, Question, draw
from regard.web.scenes import render
from regard.web.shapes import Answered, Output, reduced
from regard.web.ticket import Ticket

if TYPE_CHECKING:
    import numpy as np

    from regard.pipelines.segment import Looked, Prompt

KEPT = 8  # pictures that are kept as a model saw them, beside it
SENT = 512  # pixels along the longer side of a mask that is sent
MEANINGS = ("part", "thing", "group")


class Kept(NamedTuple):
    """A picture as a model saw it, how large it was, and what a page shows of it."""

    looked: "Looked"
    width: int
    height: int
    image: str


_seen: "WeakKeyDictionary[Any, OrderedDict[str, Kept]]" = WeakKeyDictionary()


def segmented(pipeline: Any, question: Question, edits: Any, ticket: Ticket) -> Answered:
    """All masks of a prompt: the single one first; without a prompt the picture is only seen, for the first click."""
    from regard.pipelines.segment import Prompt

    assert isinstance(question.given, Picture)
    kept = _see(pipeline, question.given, ticket)
    wished = question.options
    points, others = (tuple((x, y) for x, y in wished.get(name, ())) for name in ("points", "not_points"))
    prompt = Prompt(points, others, wished.get("box"))
    prompt.check(kept.width, kept.height)
    reading, cuts = pipeline.look(kept.looked, _scaled(prompt, kept), edits=edits, image=kept.image)
    size = pipeline.model.config.size
    tall, wide = kept.looked.sides
    masks = [
        {
            "mask": _sent(each.mask),
            "score": round(each.score, 5),
            "stability": round(each.stability, 5),
            "share": round(each.area / each.mask.size, 6),
        }
        for each in (cuts if prompt else ())
    ]
    return reading, {
        "kind": "masks",
        "width": kept.width,
        "height": kept.height,
        "inside": [round(wide / size, 6), round(tall / size, 6)],  # of what the model sees; the rest is padding
        "masks": masks,
        "clear": prompt.clear,
        "truth": _truth(question.given, prompt, [each.mask for each in cuts]) if prompt else None,
    }


def _see(pipeline: Any, picture: Picture, ticket: Ticket) -> Kept:
    """A picture as the model saw it, now or before."""
    known = _seen.setdefault(pipeline, OrderedDict())
    key = picture.file if isinstance(picture.file, str) else hashlib.sha256(picture.file).hexdigest()
    if key not in known:
        ticket.tell({"event": "step", "done": 0, "of": None, "what": "Picture"})
        opened = pipeline.open(draw(picture))
        looked = pipeline.see(reduced(opened))
        known[key] = Kept(looked, opened.width, opened.height, pipeline.shown(looked))
        while len(known) > KEPT:
            known.popitem(last=False)
    known.move_to_end(key)
    return known[key]


def _scaled(prompt: "Prompt", kept: Kept) -> "Prompt":
    """A prompt in pixels of the picture that was seen."""
    right, down = kept.looked.picture.width / kept.width, kept.looked.picture.height / kept.height

    def moved(some: Any) -> Any:
        return tuple((x * right, y * down) for x, y in some)

    scaled = replace(prompt, points=moved(prompt.points), not_points=moved(prompt.not_points))
    if prompt.box is None:
        return scaled
    left, top, far, low = prompt.box
    return replace(scaled, box=(left * right, top * down, far * right, low * down))


def _sent(mask: "np.ndarray") -> str:
    """A mask as a picture that is opaque where it is."""
    from PIL import Image

    from regard.analysis.pictures import data_url

    drawn = Image.fromarray(mask).convert("L")
    drawn.thumbnail((SENT, SENT))
    return data_url(Image.merge("LA", (Image.new("L", drawn.size), drawn)))


def _truth(picture: Picture, prompt: "Prompt", masks: "list[np.ndarray]") -> list[Output] | None:
    """What may be meant in a scene of the world, and the IoU of each mask with it; None where nobody knows."""
    from regard.world import meant

    if not picture.of_world or "/" in str(picture.file):
        return None
    scene = render(int(str(picture.file).removeprefix("world:")), "")
    if prompt.points:
        x, y = prompt.points[0]
    elif prompt.box is not None:
        x, y = (prompt.box[0] + prompt.box[2]) / 2, (prompt.box[1] + prompt.box[3]) / 2
    else:
        return None
    told = meant(scene, int(y), int(x))
    if told is None:
        return None
    found = []
    for name in MEANINGS:
        true = getattr(told, name)
        either = [int((mask | true).sum()) for mask in masks]
        alike = [round(int((mask & true).sum()) / max(many, 1), 5) for mask, many in zip(masks, either, strict=True)]
        found.append({"name": name, "says": told.name if name == "part" else "", "mask": _sent(true), "iou": alike})
    return found
