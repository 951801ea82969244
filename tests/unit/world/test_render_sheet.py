"""The contact sheet."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.world.build import scenes
from regard.world.picture import render
from regard.world.sheet import ramp, save, sheet
from regard.world.video import clip


def test_a_sheet_grows_by_a_row_for_each_scene() -> None:
    one, two = (sheet(list(scenes(seed=1)[:count]), size=32, shifts=()) for count in (1, 2))
    assert one.dtype == np.uint8
    assert two.shape[0] - one.shape[0] >= 32
    assert two.shape[1:] == one.shape[1:]


def test_captions_shifts_and_film_take_their_place() -> None:
    view = list(scenes(seed=1)[:1])
    bare = sheet(view, size=32, shifts=())
    assert sheet(view, size=32, shifts=(), captions=["a red disc"]).shape[0] > bare.shape[0]
    assert sheet(view, size=32).shape[0] > bare.shape[0] + 32
    assert sheet(view, size=32, shifts=(), film=clip(0, 0, frames=3)).shape[0] > bare.shape[0] + 32


def test_the_picture_is_on_the_sheet() -> None:
    scene = scenes(seed=1)[0]
    page, tile = sheet([scene], size=32, shifts=()), render(scene, 32).rgb
    inner = tile[8:24, 8:24]
    found = np.lib.stride_tricks.sliding_window_view(page, inner.shape)[..., 0, :, :, :]
    assert (found == inner).all(axis=(-1, -2, -3)).any()


def test_saved_is_what_was_drawn(tmp_path: Path) -> None:
    page = sheet(list(scenes(seed=1)[:1]), size=16, shifts=())
    save(page, tmp_path / "sheet.png")
    assert (np.asarray(Image.open(tmp_path / "sheet.png")) == page).all()


def test_a_ramp_is_brighter_where_there_is_more() -> None:
    light = ramp(np.linspace(0, 1, 20)[None], 0.0, 1.0).astype(int).sum(axis=-1)[0]
    assert (np.diff(light) > 0).all()


def test_captions_go_with_scenes() -> None:
    with pytest.raises(ValueError, match="1 captions do not go with 2 scenes; give one each, or none"):
        sheet(list(scenes()[:2]), captions=["alone"])
