"""Perceive and queries: what a sound, a cloud or a film is, and what a Perceiver IO answers, as a page can draw it.

A request opens no files and fetches none: it names one of a set that is on this machine, such as `spoken-digits:7`, or
brings the bytes of a sound or a cloud. `sound:7` is a digit by a synthetic voice that comes with the page.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from regard.names import NUMBERED
from regard.web.assets import PAGE
from regard.web.errors import RefusedError
from regard.web.question import Question, Thing
from regard.web.shapes import Answered
from regard.web.ticket import Ticket

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float
    from PIL import Image

    from regard.data.sensed import Sensed
    from regard.data.sensed import Thing as Open

WORLD = "world"
SOUND = "sound"  # before the number of a bundled one, as in sound:7
LABELS = 100
SOUNDS = PAGE / "sounds"


def perceived(pipeline: Any, question: Question, edits: Any, _: Ticket) -> Answered:
    """The likeliest labels, the likeliest first, what was done to the input, and the true label where it is known."""
    given = question.given
    thing, truth = (given.file, None) if isinstance(given, Thing) else _find(pipeline, str(given))
    reading = pipeline.attend(thing, edits=edits)
    best = sorted(reading.output.scores.items(), key=lambda each: -each[1])[:LABELS]
    named = [[name, round(chance, 6)] for name, chance in best]
    return reading, {"kind": "labels", "labels": named, "notes": list(reading.output.notes), "truth": truth}


def queried(pipeline: Any, question: Question, edits: Any, _: Ticket) -> Answered:
    """What is answered in words; how far each pixel moves as a picture, or the frames of a film side by side."""
    from regard.analysis.pictures import data_url
    from regard.vision import from_array

    reading = pipeline.attend(question.plain, edits=edits)
    text, numbers = reading.output.text, reading.output.numbers
    picture, shows = None, ""
    if numbers is not None and numbers.ndim == 3:
        picture, shows = data_url(draw_flow(numbers)), "flow"
    elif numbers is not None:
        picture, shows = data_url(from_array(numbers.transpose(1, 0, 2, 3).reshape(numbers.shape[1], -1, 3))), "film"
    return reading, {"kind": "answer", "text": text, "picture": picture, "shows": shows}


def draw_flow(moved: "Float[np.ndarray, 'h w 2']") -> "Image.Image":
    """Where pixels go as colours: the hue says which way, and what is pale moves less (Baker 2011)."""
    import numpy as np
    from PIL import Image

    far = np.hypot(moved[..., 0], moved[..., 1])
    way = np.arctan2(moved[..., 1], moved[..., 0]) / (2 * np.pi) % 1
    shades = np.stack((way, far / max(float(far.max()), 1.0), np.ones_like(far)), axis=-1)
    return Image.fromarray((shades * 255).round().astype(np.uint8), "HSV").convert("RGB")


def _find(pipeline: Any, text: str) -> "tuple[Open, str | None]":
    """One of the test of a named set, or one by the voice that comes with the page, and its label."""
    from regard.data import DataError

    named = NUMBERED.fullmatch(text)
    if named is None:
        raise RefusedError(422, f"{text[:40]!r} is none of a named set; give {WORLD}:7, {SOUND}:7 or another")
    if named[1] == SOUND:
        return _bundled(pipeline, int(named[2]))
    known, number = _known(named[1]), int(named[2])
    try:
        thing = known.thing(number)
    except (DataError, IndexError) as error:
        raise RefusedError(422, f"{error}; give a smaller number") from None
    pipeline.see(thing)  # which refuses what the model does not take
    return thing, known.labels[int(known.targets[number])]


def _bundled(pipeline: Any, digit: int) -> "tuple[Open, str | None]":
    """What the synthetic voice of the page says, and the digit that it is, where the model has a name for it."""
    from regard.sound import open_sound

    path = SOUNDS / f"{digit}.wav"
    if not path.is_file():
        raise RefusedError(422, f"no sound {digit} comes with the explorer; choose {SOUND}:0 to {SOUND}:9")
    thing = open_sound(path)
    pipeline.see(thing)
    return thing, str(digit) if str(digit) in pipeline.labels else None


@lru_cache(maxsize=2)
def _known(name: str) -> "Sensed":
    """The test of a named set that is on this machine; folders beside the server have no names."""
    from regard.data import DataError
    from regard.data.fetch import locate
    from regard.data.sensed import FILES
    from regard.data.sets import SETS, names
    from regard.data.things import things

    if name != WORLD and (name not in SETS or SETS[name].kind not in FILES):
        choice = ", ".join((WORLD, names("sounds"), names("points")))
        raise RefusedError(422, f"{name!r} is no set of sounds, points or films; choose {choice}")
    if name != WORLD and any(locate(SETS[name], file) is None for file in SETS[name].files):
        raise RefusedError(422, f"{name} is not on this machine; run regard data get {name}, then ask again")
    try:
        return things(name, "test")
    except DataError as error:
        raise RefusedError(422, str(error)) from None
