"""Attention as a picture that needs nothing else: an SVG, or a page around it.

A row is who looks, a column who is looked at, and a cell says how much. Colours follow the reader's light or dark
setting; a cell tells its number when pointed at. There is no script and no font.
"""

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from regard.analysis.paint import LEVELS, label, level_of, page, safe, scale, short, style, width_of
from regard.analysis.view import Axis, Kind
from regard.text.words import Words

if TYPE_CHECKING:
    from regard.analysis.reading import Reading


SPECIAL = re.compile(r"<(pad|start|stop|s|/s|bos|eos)>|\[(CLS|SEP|PAD)\]")  # tokens that are no words of a text
LEAST = 0.005  # what would be shown as 0 % is not drawn
LARGEST, SMALLEST = 36.0, 9.0  # pixels of a cell
WIDTH = 960.0  # what all columns share


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One head of the figure, what to call it, and the words at its margins."""

    name: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    weights: Float[np.ndarray, "r c"]


def panels(
    reading: "Reading",
    *,
    kind: Kind | None = None,
    layer: int | None = None,
    head: int | None = None,
    specials: bool = False,
) -> list[Panel]:
    """A panel for each head of a reading, between words: of one `kind`, cross-attention where there is any.

    `layer` and `head` choose among them, counted from 0. Special tokens are left out unless they are asked for.
    """
    kinds = [each.kind for each in reading.maps]
    chosen = kind or ("cross" if "cross" in kinds else kinds[0] if kinds else "self")
    maps = [each for each in reading.maps if each.kind == chosen]
    if not maps:
        there = ", ".join(dict.fromkeys(kinds)) or "none"
        raise ValueError(f"{reading.model} has no {chosen} attention; there is {there}")
    if layer is not None and not 0 <= layer < len(maps):
        raise ValueError(f"there is no layer {layer}; they are numbered 0 to {len(maps) - 1}")
    shown = {number: one for number, one in enumerate(maps) if layer in (None, number)}
    sizes = dict.fromkeys((len(reading.axes[one.rows]), len(reading.axes[one.columns])) for one in shown.values())
    if len(sizes) > 1:
        listed = ", ".join(f"{rows} × {columns}" for rows, columns in sizes)
        raise ValueError(f"layers of different sizes ({listed}) cannot be drawn together: choose one by --layer")
    found = []
    for number, one in shown.items():
        if head is not None and not 0 <= head < one.heads:
            raise ValueError(f"there is no head {head}; they are numbered 0 to {one.heads - 1}")
        rows, columns = (_labels(reading.axes[side], specials) for side in (one.rows, one.columns))
        weights = reading.weights(one.name, words=True)
        for place in range(one.heads):
            if head in (None, place):
                part = weights[place][np.ix_(list(rows), list(columns))]
                name = f"layer {number}, head {place}"
                found.append(Panel(name, tuple(rows.values()), tuple(columns.values()), part))
    return found


def _labels(axis: Axis, specials: bool) -> dict[int, str]:
    """The words of an axis by their places; what has no words is numbered."""
    if not isinstance(axis, Words):
        return {place: str(place) for place in range(len(axis))}
    every = dict(enumerate(axis.labels))
    plain = {place: word for place, word in every.items() if word.strip() and not SPECIAL.fullmatch(word)}
    return every if specials or not plain else plain


def svg(panels: Sequence[Panel], *, title: str = "", caption: str = "", columns: int | None = None) -> str:
    """Heads side by side as small multiples with their words at the margins, or one of them large.

    All panels are about the same words. `columns` is how many stand side by side: the heads of a layer, as a rule.
    """
    return _Drawing(panels, title, caption, columns).svg()


def html(panels: Sequence[Panel], *, title: str = "", caption: str = "", columns: int | None = None) -> str:
    """The same figure as a page."""
    return page(svg(panels, title=title, caption=caption, columns=columns), title or "Attention")


class _Drawing:
    """The measures of a figure, and its parts."""

    def __init__(self, panels: Sequence[Panel], title: str, caption: str, columns: int | None) -> None:
        self.panels, self.title = panels, title
        self.source, self.target = ([short(word) for word in words] for words in _words(panels))
        self.columns = min(columns or math.ceil(len(panels) ** 0.5), len(panels))
        self.rows = math.ceil(len(panels) / self.columns)
        self.cell = max(SMALLEST, min(LARGEST, WIDTH / (self.columns * len(self.source)), 2 * WIDTH / len(self.target)))
        self.font = max(8.0, min(16.0, 0.6 * self.cell))
        self.gap, self.head = 0.8 * self.font + 6, self.font + 8 if len(panels) > 1 else 0.0
        self.wide, self.high = self.cell * len(self.source), self.cell * len(self.target)
        # Words over the columns are tilted by 45°, so the last one leans out to the right.
        lean = [width_of(word, self.font) / 2**0.5 for word in self.source]
        self.margin = 24.0
        self.left = self.margin + max(width_of(word, self.font) for word in self.target) + 12
        self.top = self.margin + (30 if title else 0) + max(lean) + self.font
        over = max(place * self.cell + each for place, each in enumerate(lean, start=1)) - self.wide
        inner = self.columns * (self.wide + self.gap) - self.gap
        # The title and the scale need room even where the sentence is short.
        self.width = max(self.left + inner + max(over, 0) + self.margin, width_of(title, 19.0) + 2 * self.margin, 420.0)
        self.bottom = self.top + self.rows * (self.high + self.head + self.gap) - self.gap
        letters = int((self.width - 2 * self.margin) / width_of("n", 13.0))
        self.caption = textwrap.wrap(caption, letters)
        self.height = self.bottom + 46 + 19 * len(self.caption) + self.margin

    def svg(self) -> str:
        panels = [self._panel(number, panel) for number, panel in enumerate(self.panels)]
        about = ". ".join(filter(None, (self.title, *self.caption))) or "Attention"
        parts = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:.0f}" height="{self.height:.0f}" '
            f'viewBox="0 0 {self.width:.0f} {self.height:.0f}" role="img" aria-label="{safe(about)}">',
            f"<style>{style(self.font)}</style>",
            '<rect class="ground" width="100%" height="100%"/>',
            label(self.margin, self.margin + 15, self.title, "title"),
            *panels,
            scale(self.margin, self.bottom + 26, "0 %", "100 %"),
            *(
                label(self.margin, self.bottom + 65 + 19 * line, words, "note")
                for line, words in enumerate(self.caption)
            ),
            "</svg>\n",
        )
        return "\n".join(filter(None, parts))

    def _panel(self, number: int, panel: Panel) -> str:
        row, column = divmod(number, self.columns)
        x = self.left + column * (self.wide + self.gap)
        y = self.top + row * (self.high + self.head + self.gap)
        parts = [f'<rect class="c0" x="{x:.1f}" y="{y:.1f}" width="{self.wide:.1f}" height="{self.high:.1f}" rx="4"/>']
        if len(self.panels) > 1:
            # Below, since over the first row stand the words.
            parts.append(label(x + self.wide / 2, y + self.high + self.font + 3, panel.name, "name"))
        if column == 0:
            parts += [
                label(x - 8, y + (j + 0.5) * self.cell + 0.35 * self.font, word, "row")
                for j, word in enumerate(self.target)
            ]
        if row == 0:
            parts += [
                label(0.0, 0.0, word, "word", f"translate({x + (i + 0.62) * self.cell:.1f},{y - 7:.1f})rotate(-45)")
                for i, word in enumerate(self.source)
            ]
        for j, line in enumerate(panel.weights.tolist()):
            parts += [self._cell(panel, x, y, i, j, weight) for i, weight in enumerate(line) if weight >= LEAST]
        return "\n".join(parts)

    def _cell(self, panel: Panel, x: float, y: float, i: int, j: int, weight: float) -> str:
        level, side = level_of(weight), self.cell - (2 if self.cell > 16 else 1)
        left, top = x + (i + 0.5) * self.cell, y + (j + 0.5) * self.cell
        said = f"{panel.rows[j]} looked at {panel.columns[i]}: {100 * weight:.0f} %"
        number = ""
        if self.cell >= 28 and weight >= 0.05:
            size = "over" if level > LEVELS * 0.55 else "under"
            number = label(left, top + 4, f"{100 * weight:.0f}", f"number {size}")
        return (
            f'<g><title>{safe(said)}</title><rect class="c{level}" x="{left - side / 2:.1f}" y="{top - side / 2:.1f}" '
            f'width="{side:.1f}" height="{side:.1f}" rx="{min(4.0, side / 6):.1f}"/>{number}</g>'
        )


def _words(panels: Sequence[Panel]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words over the columns and beside the rows, which all panels share."""
    if not panels:
        raise ValueError("there is nothing to draw; give one panel or more")
    columns, rows = panels[0].columns, panels[0].rows
    if any((each.columns, each.rows) != (columns, rows) for each in panels):
        raise ValueError("these panels are about different words; draw them one by one")
    if not rows or not columns:
        raise ValueError(f"{len(columns)} words read and {len(rows)} written leave nothing to draw; give a sentence")
    return columns, rows
