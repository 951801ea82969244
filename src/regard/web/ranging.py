"""Depth: how far away each pixel of a picture is, and of scenes of the world how far it truly is."""

from typing import Any

from regard.web.question import Picture, Question
from regard.web.see.packing import pack_numbers
from regard.web.shapes import Answered, Output
from regard.web.ticket import Ticket

MOST = 192  # pixels along the longer side that a page is sent


def ranged(pipeline: Any, question: Question, edits: Any, _: Ticket) -> Answered:
    """Disparities as shares of the width, the picture in the same size, and the truth where it is known."""
    from regard.analysis.pictures import data_url

    reading = pipeline.attend(question.plain, edits=edits)
    found = reading.output
    every = -(-max(found.disparity.shape) // MOST)
    share = found.disparity[::every, ::every]
    height, width = share.shape
    picture = pipeline.open(question.plain).convert("RGB").resize((width, height))
    return reading, {
        "kind": "depth",
        "image": data_url(picture),
        "height": height,
        "width": width,
        "disparity": pack_numbers(share),
        "metres": pipeline.metres,  # divided by a disparity is the depth; none where nobody knows
        "truth": _truth(question, share),
    }


def _truth(question: Question, share: Any) -> Output | None:
    """The true disparities of a scene, how far the model is off, and how far the best single depth would be."""
    from regard.analysis.depth import constant, errors
    from regard.data.stereo import SIDE, world_eyes
    from regard.names import NUMBERED

    given = question.given
    named = NUMBERED.fullmatch(given.file) if isinstance(given, Picture) and isinstance(given.file, str) else None
    if named is None or named[1] != "world" or share.shape != (SIDE, SIDE):
        return None
    real = world_eyes("test")[int(named[2])].disparity
    assert real is not None
    truth = (real / SIDE)[None]
    off, best = (errors(each, truth)["abs rel"][0] for each in (share[None], constant(truth)))
    return {"disparity": pack_numbers(truth[0]), "error": round(float(off), 5), "constant": round(float(best), 5)}
