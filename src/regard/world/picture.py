"""What an eye sees of a scene: colours, depth, and to which thing each pixel belongs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float32, Int, Int8, UInt8

from regard.world.painter import OUTPUTS, paint
from regard.world.scene import Scene

CELL = 8  # pixels along a side that a thing needs to be told from another


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A scene seen by one eye, with the truth about each pixel. Things are numbered as in the scene."""

    scene: Scene
    rgb: UInt8[np.ndarray, "h w 3"]
    depth: Float32[np.ndarray, "h w"]  # metres
    instance: Int8[np.ndarray, "h w"]  # the thing that is seen, or -1 for the backdrop
    whole: Bool[np.ndarray, "n h w"]  # each thing as if nothing were before it
    edges: Bool[np.ndarray, "h w"]  # pixels that two surfaces share

    @property
    def size(self) -> int:
        return len(self.rgb)

    @property
    def visible(self) -> Bool[np.ndarray, "n h w"]:
        """What is seen of each thing; with the backdrop, these tile the picture."""
        seen: np.ndarray = self.instance == np.arange(len(self.whole), dtype=np.int8)[:, None, None]
        return seen

    @property
    def backdrop(self) -> Bool[np.ndarray, "h w"]:
        bare: np.ndarray = self.instance < 0
        return bare

    @property
    def boxes(self) -> Int[np.ndarray, "n 4"]:
        """Left, top, right and bottom of what is seen of each thing, in pixels, the last two one beyond."""
        return boxes(self.visible)

    @property
    def whole_boxes(self) -> Int[np.ndarray, "n 4"]:
        """The same of each whole thing, as far as it lies in the picture."""
        return boxes(self.whole)

    @property
    def shown(self) -> Float[np.ndarray, " n"]:
        """The share of each thing that nothing hides, 0..1; 0 for what is not in the picture."""
        seen, whole = self.visible.sum(axis=(1, 2)), self.whole.sum(axis=(1, 2))
        share: np.ndarray = seen / np.maximum(whole, 1)
        return share


def render(scene: Scene, size: int = 64, *, baseline: float = 0.0) -> Picture:
    """A scene as one eye sees it, which may have moved `baseline` metres to the right."""
    seen = render_batch([scene], size, outputs=OUTPUTS, baseline=baseline)
    return Picture(scene, **{name: seen[name][0] for name in OUTPUTS})


def render_batch(
    scenes: Iterable[Scene], size: int = 64, *, outputs: Sequence[str] = ("rgb",), baseline: float = 0.0
) -> dict[str, np.ndarray]:
    """The asked outputs of many scenes, stacked; what is not asked for is not computed.

    `whole` has as many masks as the fullest scene has things; the ones beyond a scene's own are empty.
    """
    some = list(scenes)
    _check(max((len(scene.things) for scene in some), default=1), size)
    return paint(some, size, outputs, baseline)


def boxes(masks: Bool[np.ndarray, "n h w"]) -> Int[np.ndarray, "n 4"]:
    """The tight box around each mask: left, top, right, bottom, the last two one beyond; all 0 for an empty mask."""
    ends = []
    for axis in (1, 2):
        line: np.ndarray = np.any(masks, axis=axis)
        ends.append((line.argmax(axis=1), np.where(line.any(axis=1), line.shape[1] - line[:, ::-1].argmax(axis=1), 0)))
    (left, right), (top, bottom) = ends
    return np.stack([left, top, right, bottom], axis=1)


def room(size: int) -> int:
    """How many things a picture of this size has room for."""
    return (size // CELL) ** 2


def _check(things: int, size: int) -> None:
    if size < CELL:
        raise ValueError(f"a picture of {size} pixels shows nothing; the smallest is {CELL}, and 64 is usual")
    if things > room(size):
        enough = next(side for side in range(size, 1024) if room(side) >= things)
        raise ValueError(
            f"{things} things do not fit {size} pixels: each needs {CELL}×{CELL}; "
            f"ask for up to {room(size)} things, or for {enough} pixels"
        )
