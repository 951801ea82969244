"""Scenes of the little world as they are numbered for every task, also under its named shifts: `world:7/sketch`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL import Image

    from regard.data.painted import Drawn
    from regard.world import Picture, Scene

NAMED = r"world:[0-9]{1,6}(/[a-z]{1,20})?"


def render(index: int, shift: str, size: int | None = None) -> "Picture":
    """A scene, and all that is true of it; as large as detectors see it, unless a size is given."""
    from regard.world import render as plain
    from regard.world.shift import shifted

    found = plain(scene(index), size or _drawn().size)
    return shifted(found, shift, seed=index) if shift else found


def scene(index: int) -> "Scene":
    """A scene as it is before it is drawn."""
    drawn = _drawn()
    if index >= len(drawn.numbers):
        raise ValueError(f"there is no scene {index}; they are numbered 0 to {len(drawn.numbers) - 1}")
    return drawn.view[drawn.numbers[index]]


def _drawn() -> "Drawn":
    from regard.data.painted import Drawn, world_detections

    drawn = world_detections("test").source
    assert isinstance(drawn, Drawn)
    return drawn


def draw_shifted(name: str) -> "Image.Image":
    """The picture that a name with a shift means."""
    from regard.vision import from_array

    index, _, shift = name.removeprefix("world:").partition("/")
    return from_array(render(int(index), shift).rgb)


def shifts() -> dict[str, str]:
    """The shifts by name, and what each does."""
    from regard.world.shift import SHIFTS

    return {name: shift.about for name, shift in SHIFTS.items()}


def small(picture: Any, side: int) -> str:
    """A picture as a page shows it among others, as a data URL."""
    from regard.analysis.pictures import data_url

    found = picture.copy()
    found.thumbnail((side, side))
    return data_url(found)
