"""The world as other sensors than the camera see it, from beside the camera: a range finder, and one of warmth.

The camera's detections of a scene can be carried to them, since the projection is known (`world/rig.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Float, Float32
from PIL import Image

from regard.data.annotated import Detections, Marked, Objects
from regard.data.painted import BOXED, Drawn, world_detections
from regard.vision.picture import from_array
from regard.world import KINDS, Picture
from regard.world.rig import BESIDE, Mount, carry
from regard.world.sensor import infrared, range_finder

Sensor = Literal["camera", "range", "infrared"]
FARTHEST = 4.0  # metres at which a range is black
_MIDDLE = 0.25  # of a box, on either side of its middle, where its depth is read


@dataclass(frozen=True, slots=True)
class Sensed:
    """What a sensor sees of the scenes of some pictures, drawn when somebody asks, and where things are in it."""

    drawn: Drawn
    sensor: Sensor
    mount: Mount
    _last: dict[int, Picture] = field(default_factory=dict, compare=False)

    def look(self, index: int) -> Picture:
        """The truth of what it sees; who asks for both has it drawn once."""
        if index not in self._last:
            self._last.clear()
            self._last[index] = self.mount.look(self.drawn.view[self.drawn.numbers[index]])
        return self._last[index]

    def __call__(self, index: int) -> Image.Image:
        return from_array(as_bytes(self.look(index), self.sensor, self.drawn.numbers[index]))

    def marked(self, index: int) -> Objects:
        """The boxes and kinds of what it sees."""
        picture = self.look(index)
        seen = [i for i, mask in enumerate(picture.visible) if mask.any()]
        kinds = np.asarray([KINDS.index(picture.scene.things[i].kind) for i in seen], np.int64)
        return Objects(picture.boxes[seen].astype(np.float32), kinds, np.zeros(len(seen), bool), (None,) * len(seen))


def as_bytes(picture: Picture, sensor: Sensor, seed: int) -> np.ndarray:
    """What a sensor says of each pixel, as a picture; one of a single number a pixel is grey."""
    if sensor == "camera":
        return picture.rgb
    if sensor == "infrared":
        said = infrared(picture, seed)
    else:
        echo: Float32[np.ndarray, "h w"] = range_finder(picture, seed)
        said = np.where(echo > 0, np.clip(1 - echo / np.float32(FARTHEST), 0, 1), 0).astype(np.float32)
    grey = np.rint(said * 255).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=-1)


def sensed_detections(
    sensor: Sensor, split: str, mount: Mount = BESIDE, count: int = 0, *, first: int = 0
) -> Detections:
    """The world's pictures with boxes, as a sensor beside the camera sees them, with its own true boxes.

    The `first` so many pictures are left out.
    """
    known = world_detections(split, first=first)
    assert isinstance(known.source, Drawn)
    seen = Sensed(known.source, sensor, Mount(mount.right, BOXED))
    count = min(count or len(known), len(known))
    return Detections(KINDS, seen, seen.marked, known.names[:count])


def taught_detections(
    sensor: Sensor,
    split: str,
    found: Sequence[Objects],
    mount: Mount = BESIDE,
    *,
    project: bool = True,
    first: int = 0,
) -> Detections:
    """Pictures with what the camera found in each, carried to the sensor; the true boxes are not told.

    Without `project` boxes stay where the camera saw them. The `first` so many pictures are left out.
    """
    known = sensed_detections(sensor, split, mount, len(found), first=first)
    seen = known.source
    assert isinstance(seen, Sensed)
    marks = [_carried(seen.drawn.render(i), each, seen.mount) for i, each in enumerate(found)] if project else found
    return Detections(KINDS, seen, Marked(marks), known.names)


def _carried(picture: Picture, found: Objects, mount: Mount) -> Objects:
    """What was found in a picture of the camera, as another sensor sees it."""
    boxes = carry(found.boxes, depths(picture, found.boxes), Mount(0.0, picture.size), mount)
    inside = ((boxes[:, 2:] - boxes[:, :2]) >= 1).all(axis=1)  # what has left the sight of the sensor is a line
    count = int(inside.sum())
    return Objects(boxes[inside].astype(np.float32), found.targets[inside], np.zeros(count, bool), (None,) * count)


def depths(picture: Picture, boxes: Float32[np.ndarray, "n 4"]) -> Float[np.ndarray, " n"]:
    """How far away what each box holds is: the nearer half of what lies in its middle, as rings have a hole there."""
    found = []
    for left, top, right, bottom in boxes:
        x, y, wide, high = (left + right) / 2, (top + bottom) / 2, right - left, bottom - top
        ends = (y - _MIDDLE * high, y + _MIDDLE * high, x - _MIDDLE * wide, x + _MIDDLE * wide)
        first, last, start, stop = (int(np.clip(np.rint(end), 0, picture.size)) for end in ends)
        first, start = min(first, picture.size - 1), min(start, picture.size - 1)
        inner = picture.depth[first : max(last, first + 1), start : max(stop, start + 1)]
        found.append(float(np.quantile(inner, 0.25)))
    return np.asarray(found, np.float64)
