"""How a model is shown sounds, points or films: its card says, and all that is done to them is here."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32
from PIL import Image
from torch import Tensor

from regard.analysis.pictures import data_url
from regard.analysis.view import Axis, Boxes, Grid
from regard.data.sensed import Sense, Thing
from regard.layers.cells import points
from regard.sound import Sound, Spectrogram, resample
from regard.vision.cloud import Few
from regard.vision.film import Film

Seen = Spectrogram | Few | Film
Array = Float32[np.ndarray, "*n"]  # frames × bands, points × 3, or frames × height × width × 3
SENSES: dict[Sense, type[Seen]] = {"sounds": Spectrogram, "points": Few, "films": Film}
DOT = 0.02  # side of a point in a view, as a share of it


def sense_of(card: Mapping[str, Any], name: str) -> Seen:
    """How a model of this card sees: a spectrogram, so many points, or so many frames."""
    try:
        for kind, sense in SENSES.items():
            if kind in card:
                return sense(**card[kind])
    except TypeError as error:
        raise ValueError(f"the card of {name} says how it hears or sees in words that are not known: {error}") from None
    raise ValueError(f"the card of {name} says none of {', '.join(SENSES)}, so that nobody knows what it takes")


def kind_of(sense: Seen) -> Sense:
    """What a model takes that sees so."""
    return next(kind for kind, each in SENSES.items() if isinstance(sense, each))


def kind_of_thing(thing: Thing) -> Sense:
    """What an open thing is."""
    return "sounds" if isinstance(thing, Sound) else "points" if thing.ndim == 2 else "films"


def whole(sense: Seen, thing: Thing) -> np.ndarray:
    """All of a thing, as numbers that a model sees some of: by `sense.fit`, or varied in training."""
    if isinstance(sense, Spectrogram):
        assert isinstance(thing, Sound)
        own = thing.rate == sense.rate
        return sense(thing.samples if own else resample(thing.samples, thing.rate, sense.rate))
    assert isinstance(thing, np.ndarray)
    return thing


def batch(sense: Seen, arrays: Sequence[Array], device: torch.device | None = None) -> tuple[Tensor, ...]:
    """Things that were fit as a Perceiver is given them: a picture, cells and their places, or a film."""
    stacked = np.stack([upright(each) for each in arrays] if isinstance(sense, Spectrogram) else arrays)
    tensor = torch.from_numpy(stacked).to(device)
    match sense:
        case Spectrogram():
            return (tensor[:, None],)
        case Few():
            return points(tensor)
    return (tensor.permute(0, 4, 1, 2, 3),)


def axis(sense: Seen, grid: tuple[int, ...], array: Array) -> Axis:
    """The cells that a model looks at, as they are drawn: a spectrogram, points from the front, or frames in a column.

    `grid` is how many cells there are along each axis.
    """
    match sense:
        case Spectrogram():
            return Grid(grid[0], grid[1], data_url(_painted(upright(array)[..., None].repeat(3, axis=-1))))
        case Few():
            # As seen from the front: x to the right, z up.
            flat = np.clip((array[:, [0, 2]] * [1, -1] + 1) / 2, 0, 1) * (1 - DOT)
            boxes = tuple((round(left, 4), round(top, 4), DOT, DOT) for left, top in flat.tolist())
            places = tuple((round(x, 4), round(y, 4), round(z, 4)) for x, y, z in array.tolist())
            return Boxes(boxes, tuple(", ".join(f"{each:.2f}" for each in place) for place in places), places)
    times, rows, columns = grid
    shown = array[(np.arange(times) * len(array)) // times]  # the first frame of each cell
    return Grid(times * rows, columns, data_url(_painted(shown.reshape(-1, *shown.shape[2:]))))


def sides(sense: Seen, array: Array) -> tuple[int, ...]:
    """The sides of what a model is given, as `Perceiver.grid` takes them."""
    return upright(array).shape if isinstance(sense, Spectrogram) else array.shape[:-1]


def upright(array: Float32[np.ndarray, "t m"]) -> Float32[np.ndarray, "m t"]:
    """A spectrogram as people draw it: time to the right, high sounds above."""
    return np.ascontiguousarray(array.T[::-1])


def _painted(array: Float32[np.ndarray, "h w 3"]) -> Image.Image:
    return Image.fromarray((np.clip((array + 1) / 2, 0, 1) * 255).round().astype(np.uint8))
