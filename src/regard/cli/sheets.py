"""What `regard look` shows of what is not text, and how it is put together and drawn in a terminal."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from regard.analysis.seeing.figure import Sheet


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which attention is looked at, and who asks."""

    layer: int | None = None
    head: int | None = None
    place: str = ""  # the name of a leading token, or row,column from 0
    label: str = ""  # the class that a map is for


@dataclass(frozen=True, slots=True)
class Shown:
    """What was found: as numbers, as sheets of a figure, and in a sentence."""

    facts: dict[str, Any]
    sheets: "list[Sheet]"
    caption: str
    columns: int | None = None
    lines: list[str] = field(default_factory=list)  # for a terminal, in place of the sheets


def join(found: Mapping[str, Shown]) -> Shown:
    """What several models show, by their names, as one; each has a column, where each has one sheet."""
    if len(found) == 1:
        return next(iter(found.values()))
    return Shown(
        {name: one.facts for name, one in found.items()},
        [replace(sheet, name=f"{name}: {sheet.name}") for name, one in found.items() for sheet in one.sheets],
        " · ".join(one.caption for one in found.values()),
        max(len(found), *(one.columns or len(one.sheets) for one in found.values())),
        [f"{name} {line}" for name, one in found.items() for line in one.lines],
    )


def draw(shown: Shown) -> None:
    """The sheets as blocks of colour in a terminal, some side by side, or lines in their place."""
    from rich.console import Console

    console = Console(highlight=False)
    if shown.lines:
        for line in shown.lines:
            console.print(line, markup=False)
    else:
        for sheet in shown.sheets:
            _draw_sheet(console, sheet)
    console.print(shown.caption, markup=False)


def _draw_sheet(console: Any, sheet: "Sheet") -> None:
    from rich.text import Text

    from regard.analysis.paint import NIGHT, colour
    from regard.analysis.seeing.decisive import resize

    numbers = sheet.numbers
    if numbers.ndim == 2:
        rows, columns = (min(side, 24) for side in numbers.shape)
        numbers = resize(numbers, rows, columns)
    console.print(sheet.name, style="dim", markup=False)
    for line in numbers:
        text = Text()
        for value in line:
            shade = f"rgb({','.join(map(str, value.tolist()))})" if value.ndim else colour(NIGHT, float(value))
            text.append("  ", style=f"on {shade}")
        console.print(text)


def to_one(numbers: "np.ndarray") -> "np.ndarray":
    least, most = float(numbers.min()), float(numbers.max())
    scaled: np.ndarray = (numbers - least) / max(most - least, 1e-12)
    return scaled
