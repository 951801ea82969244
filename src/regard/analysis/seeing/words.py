"""Where each word looks on a picture: a small map for each, as in the figures of "Show, Attend and Tell"."""

import numpy as np

from regard.analysis.reading import Reading
from regard.analysis.seeing.figure import Sheet
from regard.analysis.view import Grid
from regard.names import unknown
from regard.text.words import Words


def looks_of_words(reading: Reading) -> list[str]:
    """The attentions of a reading in which words look at places of a picture."""
    return [
        each.name
        for each in reading.maps
        if isinstance(reading.axes[each.rows], Words) and isinstance(reading.axes[each.columns], Grid)
    ]


def word_sheets(reading: Reading, name: str = "", *, head: int | None = None) -> list[Sheet]:
    """The picture as it is, then for each word a map of where was looked before it was written.

    `name` is one of `looks_of_words`, the last where it is left out; of several heads it is their mean, or one `head`.
    Each map is shown against its own highest cell; special tokens are left out.
    """
    known = looks_of_words(reading)
    if not known:
        raise ValueError(
            f"{reading.model} looks at no picture while it writes, as a model that gets one vector of it; choose a "
            "model with attention"
        )
    if name and name not in known:
        raise ValueError(unknown("look of words at a picture", name, known))
    one = reading.find(name or known[-1])
    rows, grid = reading.axes[one.rows], reading.axes[one.columns]
    assert isinstance(rows, Words)
    assert isinstance(grid, Grid)
    if head is not None and not 0 <= head < one.heads:
        raise ValueError(f"{one.name} has no head {head}; they are numbered 0 to {one.heads - 1}")
    weights = reading.weights(one.name, words=True)
    maps = weights.mean(axis=0) if head is None else weights[head]
    cells = maps[:, len(grid.leading) :].reshape(-1, grid.height, grid.width)
    sheets = [Sheet("", np.ones((1, 1), np.float32), grid.image)]
    for label, cell in zip(rows.labels, cells, strict=True):
        if not (label.startswith("<") and label.endswith(">")):
            sheets.append(Sheet(label.strip(), cell / max(float(cell.max()), 1e-12), grid.image))
    return sheets
