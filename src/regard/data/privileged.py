"""What a teacher may see of the world beside its pictures, and a student not: masks and depths, as planes of bytes."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from jaxtyping import UInt8

from regard.data.album import Pictures
from regard.data.painted import Drawn, clearly_largest, world_pictures
from regard.world import KINDS, Scene, render_batch
from regard.world.scene import BASELINE, FOCAL

Privilege = Literal["none", "mask", "depth", "both"]
PLANES: dict[Privilege, int] = {"none": 0, "mask": 1, "depth": 1, "both": 2}
NEAREST = 0.6  # metres, of all that scenes are built of
_TOGETHER = 256  # pictures that are drawn at once


def privileged_pictures(
    split: str, size: int, privilege: Privilege, count: int = 0
) -> tuple[Pictures, UInt8[np.ndarray, "n s s c"]]:
    """Pictures of the world with the kind of their largest thing, and them drawn with the planes behind."""
    named = world_pictures(split)
    known = Pictures(KINDS, named.targets % len(KINDS), named.source, named.names)
    drawn = named.source
    assert isinstance(drawn, Drawn)
    shown = [drawn.view[number] for number in drawn.numbers[: count or len(known)]]
    return known, with_planes(shown, size, privilege)


def with_planes(shown: Sequence[Scene], size: int, privilege: Privilege) -> UInt8[np.ndarray, "n s s c"]:
    """Pictures of scenes: three colours, and behind them what is privileged."""
    parts = []
    for start in range(0, len(shown), _TOGETHER):
        some = shown[start : start + _TOGETHER]
        seen = render_batch(some, size, outputs=("rgb", "depth", "instance"))
        planes = [seen["rgb"]]
        if privilege in ("mask", "both"):
            named = np.asarray([largest(scene) for scene in some], np.int8)
            planes.append(((seen["instance"] == named[:, None, None]) * np.uint8(255))[..., None])
        if privilege in ("depth", "both"):
            # Disparities rather than metres: what is near differs most.
            share = BASELINE * FOCAL / seen["depth"].astype(np.float64)
            near = np.rint(share * NEAREST / (BASELINE * FOCAL) * 255).clip(0, 255)
            planes.append(near.astype(np.uint8)[..., None])
        parts.append(np.concatenate(planes, axis=-1))
    return np.concatenate(parts)


def largest(scene: Scene) -> int:
    """The number of the thing that a picture is named after."""
    clear = clearly_largest(scene)
    return 0 if clear is None else clear
