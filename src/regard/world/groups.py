"""Things that belong together, and what somebody may mean who points at a pixel: a part, a thing, or its group."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool

from regard.world.parts import parts
from regard.world.picture import Picture
from regard.world.scene import Scene, relations

By = Literal["together", "kind", "colour", "fill", "scale"]
_HANG = {"in front of", "behind", "inside", "contains"}


@dataclass(frozen=True, slots=True, eq=False)
class Meant:
    """What is seen of the part, the thing and the group at a pixel; each lies in the next."""

    part: Bool[np.ndarray, "h w"]
    thing: Bool[np.ndarray, "h w"]
    group: Bool[np.ndarray, "h w"]
    name: str  # of the part


def groups(scene: Scene, by: By = "together") -> tuple[tuple[int, ...], ...]:
    """The things of a scene, divided: each is in one group, which may be its own alone.

    By default those are together that hang one before or inside another, also through a third; or else things of one
    kind, colour, fill or scale (small, medium, big).
    """
    if by not in get_args(By):
        raise ValueError(f"things are not grouped by {by!r}; choose {', '.join(get_args(By))}")
    count = len(scene.things)
    if by == "together":
        owner = list(range(count))
        for a in range(count):
            for b in range(a):
                if relations(scene, a, b) & _HANG:
                    owner = [owner[b] if each == owner[a] else each for each in owner]
        labels: list[object] = [*owner]
    else:
        labels = [getattr(thing, by) for thing in scene.things]
    return tuple(tuple(i for i in range(count) if labels[i] == label) for label in dict.fromkeys(labels))


def group_masks(picture: Picture, by: By = "together", *, whole: bool = False) -> Bool[np.ndarray, "g h w"]:
    """What is seen of each group, or all of it as if nothing were before it: the union of its things."""
    masks = picture.whole if whole else picture.visible
    return np.stack([masks[list(group)].any(axis=0) for group in groups(picture.scene, by)])


def meant(picture: Picture, row: int, column: int, by: By = "together") -> Meant | None:
    """What may be meant by a pixel; None on the backdrop."""
    if not (0 <= row < picture.size and 0 <= column < picture.size):
        raise IndexError(f"row {row} and column {column} are not on a picture of {picture.size} pixels")
    thing = int(picture.instance[row, column])
    if thing < 0:
        return None
    cut = parts(picture)
    part = next(i for i, mask in enumerate(cut.visible) if mask[row, column])
    (group,) = (each for each in groups(picture.scene, by) if thing in each)
    visible = picture.visible
    together: np.ndarray = np.any(visible[list(group)], axis=0)
    return Meant(cut.visible[part], visible[thing], together, cut.names[part])
