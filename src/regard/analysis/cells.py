"""Tables as pictures: a coloured cell for each layer and place, or layer and head, with a word or a number in it.

They look as the pictures of attention do, and like them need no script and no font.
"""

import math
import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from regard.analysis.detectors import KINDS, Detected
from regard.analysis.lens import Lens
from regard.analysis.paint import LEVELS, label, level_of, page, safe, scale, short, style, width_of
from regard.analysis.patching import Patching

FONT = 13.0
HIGH = 24.0  # pixels of a cell
LETTERS = 12  # of a word in a cell
MARGIN, GAP = 24.0, 28.0


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """One table: values from 0 to 1 colour its cells, those below 0 in another colour, and `words` stand in them."""

    name: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Float[np.ndarray, "r c"]  # NaN leaves a cell out
    words: tuple[tuple[str, ...], ...]
    said: tuple[tuple[str, ...], ...]  # what each cell tells when it is pointed at


def lens_cells(found: Lens, places: Sequence[str], guesses: Sequence[Sequence[str]]) -> list[Cells]:
    """The lens: each layer's guess, coloured by its probability; `guesses` are the words of `found.guesses`."""
    rows = name_rows(found.layers)
    said = tuple(
        tuple(
            f"after {place}, {row} says {word}: {100 * chance:.1f} %; the final {final}: {100 * answer:.1f} %; "
            f"entropy {entropy:.2f} nats"
            for place, word, final, chance, answer, entropy in zip(
                places, guesses[i], guesses[-1], found.chances[i], found.answers[i], found.entropies[i], strict=True
            )
        )
        for i, row in enumerate(rows)
    )
    words = tuple(tuple(line) for line in guesses)
    return [Cells("", rows, tuple(places), found.chances, words, said)]


def patch_cells(found: Patching, places: Sequence[str]) -> list[Cells]:
    """How much each patch restores; `places` are the words of the clean prompt."""
    rows = name_rows(found.layers)
    heads = found.part == "heads"
    columns = tuple(f"head {head}" for head in range(found.restored.shape[1])) if heads else tuple(places)
    words = tuple(tuple(str(round(100 * value)) for value in line) for line in found.restored.tolist())
    said = tuple(
        tuple(f"{row}, {column}: {100 * value:.1f} % restored" for column, value in zip(columns, line, strict=True))
        for row, line in zip(rows, found.restored, strict=True)
    )
    return [Cells(found.part, rows, columns, found.restored, words, said)]


def head_cells(found: Detected) -> list[Cells]:
    """A table for each kind of head that the model can have: how much of its attention lies where the kind looks."""
    rows = name_rows(found.attentions)
    tables = []
    for kind, sense in KINDS.items():
        scores = found.scores[kind]
        if np.isnan(scores).all():
            continue
        columns = tuple(f"head {head}" for head in range(scores.shape[1]))
        words = tuple(tuple("" if np.isnan(score) else f"{100 * score:.0f}" for score in line) for line in scores)
        said = tuple(
            tuple(
                f"{row}, {column}: {100 * score:.1f} % at {sense}; by chance {100 * chance:.1f} %"
                for column, score in zip(columns, line, strict=True)
            )
            for row, line, chance in zip(rows, scores, found.chance[kind], strict=True)
        )
        tables.append(Cells(f"{kind}: {sense}", rows, columns, scores, words, said))
    return tables


def svg(tables: Sequence[Cells], *, title: str = "", caption: str = "") -> str:
    """Tables one below another, with their rows at the left and their columns on top."""
    if not tables or not all(table.rows and table.columns for table in tables):
        raise ValueError("there is nothing to draw; give one table or more, with rows and columns")
    left = MARGIN + max(width_of(short(row), FONT) for table in tables for row in table.rows) + 12
    y, drawn, width = MARGIN + (30 if title else 0), [], 420.0
    for table in tables:
        part, right, y = _table(table, left, y)
        drawn.append(part)
        width = max(width, right + MARGIN)
        y += GAP
    width = max(width, width_of(title, 19.0) + 2 * MARGIN)
    lines = textwrap.wrap(caption, int((width - 2 * MARGIN) / width_of("n", 13.0)))
    height = y + 46 + 19 * len(lines)
    about = ". ".join(filter(None, (title, *lines))) or "A table"
    parts = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{safe(about)}">',
        f"<style>{style(FONT)}</style>",
        '<rect class="ground" width="100%" height="100%"/>',
        label(MARGIN, MARGIN + 15, title, "title"),
        *drawn,
        scale(MARGIN, y, "0 %", "100 %"),
        *(label(MARGIN, y + 39 + 19 * line, words, "note") for line, words in enumerate(lines)),
        "</svg>\n",
    )
    return "\n".join(filter(None, parts))


def html(tables: Sequence[Cells], *, title: str = "", caption: str = "") -> str:
    """The same picture as a page."""
    return page(svg(tables, title=title, caption=caption), title or "A table")


def _table(table: Cells, left: float, top: float) -> tuple[str, float, float]:
    """One table, and where it ends at the right and below."""
    inside = max(width_of(short(word, LETTERS), 12.0) for line in table.words for word in line)
    wide = max(30.0, inside + 10)
    columns = [short(column, LETTERS) for column in table.columns]
    # Words over the columns are tilted by 45° where they would touch.
    tilted = max(width_of(column, FONT) for column in columns) > wide - 6
    lean = max(width_of(column, FONT) for column in columns) / math.sqrt(2) if tilted else 0.0
    parts = [label(left, top + FONT + 4, table.name, "note")] if table.name else []
    y = top + (FONT + 16 if table.name else 0) + (lean if tilted else 0) + FONT + 8
    for i, column in enumerate(columns):
        x = left + (i + 0.5) * wide
        turned = f"translate({x:.1f},{y - 7:.1f})rotate(-45)" if tilted else ""
        parts.append(label(x, y - 7, column, "word" if tilted else "word name", turned))
    for j, row in enumerate(table.rows):
        parts.append(label(left - 8, y + (j + 0.5) * HIGH + 0.35 * FONT, short(row), "row"))
        there = [i for i in range(len(columns)) if not np.isnan(table.values[j, i])]
        parts += [_cell(table, left + i * wide, y + j * HIGH, wide, j, i) for i in there]
    return "\n".join(parts), left + len(columns) * wide + lean, y + len(table.rows) * HIGH


def _cell(table: Cells, x: float, y: float, wide: float, row: int, column: int) -> str:
    value = float(table.values[row, column])
    level = level_of(abs(value))
    kind = f"d{level}" if value < 0 and level else f"c{level}"
    ink = "over" if level > LEVELS * 0.55 else "under"
    word = label(x + wide / 2, y + HIGH / 2 + 4, short(table.words[row][column], LETTERS), f"number {ink}")
    return (
        f'<g><title>{safe(table.said[row][column])}</title><rect class="{kind}" x="{x + 1:.1f}" y="{y + 1:.1f}" '
        f'width="{wide - 2:.1f}" height="{HIGH - 2:.1f}" rx="4"/>{word}</g>'
    )


def name_rows(names: Sequence[str]) -> tuple[str, ...]:
    """What to call layers beside a table: by their number, and by their stack where there are several."""
    stacks = [re.split(r"(?:^|\.)\d", name, maxsplit=1)[0] for name in names]
    several = len(set(stacks) - {"embedding"}) > 1
    seen, rows = Counter[str](), []
    for name, stack in zip(names, stacks, strict=True):
        first = next((part for part in stack.split(".") if part in ("encoder", "decoder")), stack.partition(".")[0])
        rows.append(name if name == "embedding" else f"{first if several else 'layer'} {seen[stack]}")
        seen[stack] += 1
    return tuple(rows)
