"""A contact sheet: scenes in rows, and beside each picture everything else that is known about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from unicodedata import combining, normalize

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8
from PIL import Image, ImageDraw, ImageFont

from regard.world.cloud import Cloud, points
from regard.world.language.realise import Pair
from regard.world.picture import Picture, render
from regard.world.scene import Scene
from regard.world.sensor import infrared, range_finder
from regard.world.shift import SHIFTS, shifted
from regard.world.stereo import Stereo, stereo
from regard.world.video import Clip

Tile = UInt8[np.ndarray, "h w 3"]

PAPER, INK, FAINT = (252, 250, 246), (58, 54, 50), (140, 134, 126)
# Dark is far and bright is near.
RAMP = np.array(
    [(24, 18, 64), (92, 32, 110), (182, 54, 98), (240, 110, 72), (252, 190, 110), (255, 246, 214)], np.float32
)
# One for each thing, told apart by their number and not by the colour of the thing.
LABELS = np.array(
    (
        *((78, 154, 214), (240, 158, 74), (96, 184, 120), (222, 98, 108), (156, 124, 204), (170, 132, 108)),
        *((232, 148, 192), (146, 150, 156), (190, 192, 82), (92, 194, 204), (60, 96, 150), (204, 180, 140)),
    ),
    np.float32,
)

COLUMNS: dict[str, Callable[[Stereo], Tile]] = {
    "picture": lambda pair: pair.left.rgb,
    "right eye": lambda pair: pair.right.rgb,
    "disparity": lambda pair: ramp(pair.disparity, 0.0, float(pair.disparity.max())),
    "depth": lambda pair: ramp(1 / pair.left.depth, 0.1, 1.8),
    "range finder": lambda pair: _echo(range_finder(pair.left)),
    "infrared": lambda pair: ramp(infrared(pair.left), 0.0, 1.0),
    "things": lambda pair: _boxed(_labelled(pair.left, pair.left.visible), pair.left.boxes),
    "whole things": lambda pair: _labelled(pair.left, pair.left.whole),
    "point cloud": lambda pair: _turned(points(pair.left, pair.left.size**2 * 2 // 3), pair.left.size),
}


def sheet(
    scenes: Sequence[Scene],
    *,
    size: int = 128,
    captions: Sequence[str] = (),
    shifts: Sequence[str] = tuple(SHIFTS),
    film: Clip | None = None,
    pairs: Sequence[Pair] = (),
) -> Tile:
    """One row for each scene with its caption below, the first scene's shifts, a clip's frames, aligned sentences."""
    if captions and len(captions) != len(scenes):
        raise ValueError(f"{len(captions)} captions do not go with {len(scenes)} scenes; give one each, or none")
    page = _Page(size)
    for row, scene in enumerate(scenes):
        pair = stereo(scene, size)
        names = list(COLUMNS) if row == 0 else []
        page.add([draw(pair) for draw in COLUMNS.values()], names, captions[row] if captions else "")
    if shifts and scenes:
        first = render(scenes[0], size)
        page.add([shifted(first, name).rgb for name in shifts], list(shifts), "")
    if film is not None:
        chosen = np.linspace(0, len(film) - 1, min(len(film), len(COLUMNS))).round().astype(int).tolist()
        page.add([render(film.frames[i], size).rgb for i in chosen], [f"frame {i}" for i in chosen], "")
    drawn = page.drawn()
    return np.concatenate([drawn, *(_linked(pair, drawn.shape[1], size) for pair in pairs)])


def _linked(pair: Pair, width: int, size: int) -> Tile:
    """A sentence above its translation, with a line between the words that mean the same."""
    sharp = 2  # drawn so many times larger, for smooth lines
    text, margin = sharp * max(11, size // 9), sharp * (size // 6)
    font, height = _font(text), int(text * 6.5)
    page = Image.new("RGB", (width * sharp, height), PAPER)
    pen = ImageDraw.Draw(page)
    middles = []
    for words, y in ((pair.source, text), (pair.target, height - 2 * text)):
        left, places = float(margin), []
        for word in words:
            long = pen.textlength(_legible(word), font)
            places.append(left + long / 2)
            pen.text((left, y), _legible(word), INK, font, anchor="la")
            left += long + text * 0.8
        middles.append(places)
    for i, j in sorted(pair.alignment):
        line = ((middles[0][i], 2.35 * text), (middles[1][j], height - 2.2 * text))
        pen.line(line, tuple(LABELS[i % len(LABELS)].astype(int).tolist()), width=2 * sharp)
    return np.asarray(page.resize((width, height // sharp), Image.Resampling.LANCZOS))


def save(image: Tile, path: str | Path) -> None:
    """Write a picture or a sheet as PNG, or in the format that the file's name asks for."""
    Image.fromarray(image).save(path)


def ramp(values: Float[np.ndarray, "h w"], low: float, high: float) -> Tile:
    """Numbers as colours, from dark to bright."""
    place = np.clip((values - low) / max(high - low, 1e-6), 0.0, 1.0) * (len(RAMP) - 1)
    first = np.minimum(place.astype(np.int64), len(RAMP) - 2)
    colour: np.ndarray = RAMP[first] + (RAMP[first + 1] - RAMP[first]) * (place - first)[..., None]
    return colour.astype(np.uint8)


def _labelled(picture: Picture, masks: Bool[np.ndarray, "n h w"]) -> Tile:
    """Each mask in a colour of its own; where whole things overlap, both shine through."""
    grey = picture.rgb.mean(axis=2, keepdims=True) * 0.25 + 185.0
    tile = np.repeat(grey, 3, axis=2)
    for index, mask in enumerate(masks):
        tile[mask] = tile[mask] * 0.25 + LABELS[index] * 0.75
    return tile.astype(np.uint8)


def _boxed(tile: Tile, boxes: Int[np.ndarray, "n 4"]) -> Tile:
    page = Image.fromarray(tile)
    pen = ImageDraw.Draw(page)
    for index, (left, top, right, bottom) in enumerate(boxes.tolist()):
        if right > left:
            dark = tuple((LABELS[index] * 0.7).astype(int).tolist())
            pen.rectangle((left - 1, top - 1, right, bottom), outline=dark)
    return np.asarray(page)


def _echo(depth: Float[np.ndarray, "h w"]) -> Tile:
    tile = ramp(1 / np.maximum(depth, 0.1), 0.1, 1.8)
    tile[depth == 0] = 0
    return tile


def _turned(cloud: Cloud, size: int) -> Tile:
    """A cloud seen from a little to the right and above: the nearer, the further to the lower left."""
    x, y, z = cloud.xyz.T
    near = 1.0 / z - 0.5  # squeezed as disparity squeezes it, or the sky would be out of sight
    across, down = x / z + 0.5 - 0.1 * near, y / z + 0.5 + 0.07 * near
    column, row = ((place * size).astype(np.int64) for place in (across, down))
    inside = (column >= 0) & (column < size) & (row >= 0) & (row < size)
    order = np.argsort(-z[inside], kind="stable")
    tile = np.full((size, size, 3), (246, 243, 237), np.uint8)
    tile[row[inside][order], column[inside][order]] = cloud.rgb[inside][order]
    return tile


@dataclass(slots=True)
class _Page:
    """Rows of tiles with names above and a caption below."""

    size: int
    rows: list[tuple[list[Tile], list[str], str]] = field(default_factory=list)

    def add(self, tiles: list[Tile], names: list[str], caption: str) -> None:
        self.rows.append((tiles, names, caption))

    def drawn(self) -> Tile:
        gap, text = self.size // 12, max(11, self.size // 9)
        line, small = text + gap // 2, _font(text * 0.86)
        widest = max((len(tiles) for tiles, _, _ in self.rows), default=0)
        heights = [
            self.size + gap + (line if names else 0) + (line if caption else 0) for _, names, caption in self.rows
        ]
        page = Image.new("RGB", (widest * (self.size + gap) + 3 * gap, sum(heights) + 3 * gap), PAPER)
        pen = ImageDraw.Draw(page)
        corner = _rounded(self.size)
        top = 2 * gap
        for (tiles, names, caption), height in zip(self.rows, heights, strict=True):
            below = top + (line if names else 0)
            for column, tile in enumerate(tiles):
                left = 2 * gap + column * (self.size + gap)
                page.paste(Image.fromarray(tile), (left, below), corner)
                if names:
                    pen.text((left + 1, below - gap // 2), names[column], FAINT, small, anchor="ls")
            if caption:
                said, place = _legible(caption), (2 * gap + 1, below + self.size + gap // 2)
                long, room = pen.textlength(said, _font(text)), page.width - 4 * gap
                pen.text(place, said, INK, _font(text * min(1.0, room / max(long, 1))), anchor="la")
            top += height
        return np.asarray(page).copy()


@lru_cache(maxsize=1)
def _face() -> str | None:
    """The first font of this machine that has the letters of all four languages."""
    for name in ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial.ttf", "Helvetica.ttc"):
        try:
            ImageFont.truetype(name, 12)
        except OSError:
            continue
        return name
    return None


def _font(size: int | float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    face = _face()
    return ImageFont.load_default(size) if face is None else ImageFont.truetype(face, size)


def _legible(text: str) -> str:
    """The text as it can be drawn: Pillow's own font knows no accents, so without another one they are left out."""
    if _face() is not None:
        return text
    return "".join(letter for letter in normalize("NFD", text) if not combining(letter))


def _rounded(size: int) -> Image.Image:
    """A mask that rounds the corners of a tile, smooth because it is drawn four times as large."""
    mask = Image.new("L", (4 * size, 4 * size), 0)
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, 4 * size - 1, 4 * size - 1), radius=size // 4, fill=255)
    return mask.resize((size, size), Image.Resampling.BOX)
