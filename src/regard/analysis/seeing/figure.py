"""Maps over a picture as a figure that needs nothing else: an SVG, or a page around it.

Where a map is low, the picture is veiled. A map without a picture is drawn in colours. There is no script and no font.
"""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, UInt8

from regard.analysis.paint import label, level_of, page, safe, scale, style, width_of
from regard.analysis.seeing.decisive import resize

FONT, MARGIN, GAP = 13.0, 24.0, 14.0
WIDTH = 960.0  # what all sheets of a row share
LARGEST, SMALLEST = 360.0, 96.0  # pixels of a sheet
FINEST = 64  # cells along a side; what is finer is averaged
VEIL = 0.85  # how much of the picture is covered where a map is lowest


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """One map, and the picture below it: numbers from 0 to 1, or colours of their own."""

    name: str
    numbers: Float[np.ndarray, "i j"] | UInt8[np.ndarray, "i j 3"]
    image: str | None = None  # as data:image/png;base64,…
    ratio: float = 1.0  # height over width


def svg(sheets: Sequence[Sheet], *, title: str = "", caption: str = "", columns: int | None = None) -> str:
    """Sheets side by side with their names below; `columns` is how many stand in a row."""
    if not sheets:
        raise ValueError("there is nothing to draw; give one sheet or more")
    columns = min(columns or math.ceil(len(sheets) ** 0.5), len(sheets))
    wide = max(SMALLEST, min(LARGEST, (WIDTH - (columns - 1) * GAP) / columns))
    high = wide * max(sheet.ratio for sheet in sheets)
    top = MARGIN + (30 if title else 0)
    width = max(2 * MARGIN + columns * (wide + GAP) - GAP, width_of(title, 19.0) + 2 * MARGIN, 420.0)
    drawn = []
    for number, sheet in enumerate(sheets):
        row, column = divmod(number, columns)
        drawn.append(_sheet(sheet, MARGIN + column * (wide + GAP), top + row * (high + FONT + GAP + 6), wide))
    y = top + math.ceil(len(sheets) / columns) * (high + FONT + GAP + 6)
    lines = textwrap.wrap(caption, int((width - 2 * MARGIN) / width_of("n", 13.0)))
    coloured = any(sheet.numbers.ndim == 2 and sheet.image is None for sheet in sheets)
    height = y + (36 if coloured else 8) + 19 * len(lines)
    about = ". ".join(filter(None, (title, *lines))) or "Maps over a picture"
    parts = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{safe(about)}">',
        f"<style>{style(FONT)}</style>",
        '<rect class="ground" width="100%" height="100%"/>',
        label(MARGIN, MARGIN + 15, title, "title"),
        *drawn,
        scale(MARGIN, y, "0", "most") if coloured else "",
        *(label(MARGIN, y + (29 if coloured else 1) + 19 * line, words, "note") for line, words in enumerate(lines)),
        "</svg>\n",
    )
    return "\n".join(filter(None, parts))


def html(sheets: Sequence[Sheet], *, title: str = "", caption: str = "", columns: int | None = None) -> str:
    """The same figure as a page."""
    return page(svg(sheets, title=title, caption=caption, columns=columns), title or "Maps over a picture")


def _sheet(sheet: Sheet, x: float, y: float, wide: float) -> str:
    high = wide * sheet.ratio
    parts = []
    if sheet.image is not None:
        parts.append(
            f'<image href="{safe(sheet.image)}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" '
            'preserveAspectRatio="none"/>'
        )
    numbers = sheet.numbers if sheet.numbers.ndim == 3 else _coarser(sheet.numbers)
    rows, columns = numbers.shape[:2]
    for i in range(rows):
        for j in range(columns):
            left, top = x + j * wide / columns, y + i * high / rows
            # A little wider than the cell, so that no seam shines through.
            place = f'x="{left:.2f}" y="{top:.2f}" width="{wide / columns + 0.3:.2f}" height="{high / rows + 0.3:.2f}"'
            parts.append(f"<rect {place} {_look(numbers[i, j], sheet.image is not None)}/>")
    parts.append(label(x + wide / 2, y + high + FONT + 4, sheet.name, "name"))
    return "\n".join(filter(None, parts))


def _look(value: np.ndarray | np.floating, veiled: bool) -> str:
    if isinstance(value, np.ndarray):  # a colour
        return f'fill="#{"".join(f"{channel:02x}" for channel in value.tolist())}"'
    share = min(max(float(value), 0.0), 1.0)
    return f'class="ground" fill-opacity="{VEIL * (1 - share):.2f}"' if veiled else f'class="c{level_of(share)}"'


def _coarser(numbers: Float[np.ndarray, "i j"]) -> Float[np.ndarray, "k l"]:
    rows, columns = (min(side, FINEST) for side in numbers.shape)
    return numbers if (rows, columns) == numbers.shape else resize(numbers.astype(np.float32), rows, columns)
