"""The three sheets of paper behind the things: a sky, hills and a ground, painted for many scenes at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int8

from regard.world.paper import PALETTE, SHEETS, checks, covered, grain
from regard.world.scene import GROUND, HILLS, WALL, Scene, disparity
from regard.world.silhouette import Field, turned

SHEET_DEPTHS = (WALL, HILLS, GROUND)  # metres


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """The sheets as an eye sees them."""

    sheet: Int8[np.ndarray, "b h w"]  # 0 the sky, 1 the hills, 2 the ground
    edges: Bool[np.ndarray, "b h w"]  # where a ridge crosses a pixel
    planes: Float[np.ndarray, "b 3 h w"] | None


def stage(scenes: Sequence[Scene], size: int, baseline: float, *, shaded: bool) -> Stage:
    """Which sheet each pixel shows and, when shaded, its colour."""
    shifts = [disparity(depth, baseline, size) for depth in SHEET_DEPTHS]
    y = _pixels(size)[:, None]
    # How far each pixel lies below each ridge, measured along the picture's side: ridges are nearly level.
    below = [
        y - ridge(scenes, size, shift)[:, None] for ridge, shift in zip((_hills, _ground), shifts[1:], strict=True)
    ]
    shares = [covered(-distance) for distance in below]
    return Stage(
        sheet=np.where(shares[1] >= 0.5, 2, shares[0] >= 0.5).astype(np.int8),
        edges=(shares[1] > 0) & (shares[1] < 1) | (shares[1] < 1) & (shares[0] > 0) & (shares[0] < 1),
        planes=_planes(scenes, size, shifts, below, shares) if shaded else None,
    )


def _planes(
    scenes: Sequence[Scene], size: int, shifts: list[float], below: list[Field], shares: list[Field]
) -> Float[np.ndarray, "b 3 h w"]:
    colours = np.array([PALETTE[scene.backdrop.palette] for scene in scenes], np.float32)[..., None, None]
    top, foot, hills, ground = colours.swapaxes(0, 1)
    high = np.clip(_pixels(size)[:, None] / (_each(scenes, "horizon") * size), 0.0, 1.0)
    planes: np.ndarray = (top + (foot - top) * high[:, None]) * _shade(scenes, size, 0, shifts[0])[:, None]
    # A sheet darkens what lies close behind it, and its own cut edge catches the light.
    planes *= _gloom(_hills(scenes, size, shifts[0]), size)
    for sheet, colour in ((1, hills), (2, ground)):
        shade = _shade(scenes, size, sheet, shifts[sheet])
        shade += 0.06 * np.clip(1.0 - below[sheet - 1] / (0.02 * size), 0.0, 1.0)
        shade -= np.clip(below[sheet - 1] * (0.25 / size), 0.0, 0.08)
        if sheet == 1:
            shade *= _gloom(_ground(scenes, size, shifts[1]), size)[:, 0]
        paint = colour * shade[:, None]
        paint -= planes
        paint *= shares[sheet - 1][:, None]
        planes += paint
    return planes


def _shade(scenes: Sequence[Scene], size: int, sheet: int, shift: float) -> Float[np.ndarray, "b h w"]:
    """The brightness of a sheet: its grain, and a little more of the light on the side where it comes from."""
    papers = [(scene.backdrop.grain + 5 * sheet) % SHEETS for scene in scenes]
    towards_x, towards_y = turned(np.array([scene.light.angle for scene in scenes]))
    x, y = (_pixels(size, shift) / size - 0.5) * 0.1, (_pixels(size) / size - 0.5) * 0.1
    shade: np.ndarray = grain(size, shift)[papers, :size, :size] * 0.012
    shade += (1.0 + towards_x[:, None] * x).astype(np.float32)[:, None]
    shade += (towards_y[:, None] * y).astype(np.float32)[:, :, None]
    for row, scene in enumerate(scenes):
        if scene.backdrop.pattern == "checks":
            across, down = np.meshgrid(_pixels(size, shift), _pixels(size))
            shade[row] -= 0.2 * checks(across, down, size / 5)
    return shade


def _gloom(ridge: Float[np.ndarray, "b w"], size: int) -> Float[np.ndarray, "b 1 h w"]:
    near = np.clip(1.0 - (ridge[:, None] - _pixels(size)[:, None]) / (0.06 * size), 0.0, 1.0)
    gloom: np.ndarray = 1.0 - 0.14 * near * near
    return gloom[:, None]


def _hills(scenes: Sequence[Scene], size: int, shift: float) -> Float[np.ndarray, "b w"]:
    """The height of the ridge in each column, in pixels, as an eye sees it that has moved by `shift`."""
    phase = _each(scenes, "phase")[:, :, 0]
    wave = (
        _wave(_pixels(size, shift) * (1.3 / size) + phase) * 0.3
        + _wave(_pixels(size, shift) * (2.9 / size) - phase) * 0.12
    )
    height: np.ndarray = (_each(scenes, "horizon")[:, :, 0] - _each(scenes, "hills")[:, :, 0] * (0.6 + wave)) * size
    return height


def _ground(scenes: Sequence[Scene], size: int, shift: float) -> Float[np.ndarray, "b w"]:
    wave = _wave(_pixels(size, shift) * (0.8 / size) + 2.7 * _each(scenes, "phase")[:, :, 0])
    height: np.ndarray = (_each(scenes, "horizon")[:, :, 0] + 0.03 * wave) * size
    return height


def _wave(t: Field) -> Field:
    """Two parabolas a period: as good as a sine, and equal on every machine."""
    q = 2.0 * (t - np.floor(t)) - 1.0
    wave: Field = 4.0 * q * (1.0 - np.abs(q))
    return wave


def _pixels(size: int, shift: float = 0.0) -> Float[np.ndarray, " n"]:
    """The centres of the pixels along a side, in pixels."""
    return np.arange(size, dtype=np.float32) + np.float32(0.5 + shift)


def _each(scenes: Sequence[Scene], name: str) -> Float[np.ndarray, "b 1 1"]:
    return np.array([getattr(scene.backdrop, name) for scene in scenes], np.float32)[:, None, None]
