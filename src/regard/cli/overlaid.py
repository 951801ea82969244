"""Where heads look, laid over a picture, the spectrogram of a sound, points, or the frames of a film."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from regard.cli.errors import UsageError
from regard.cli.sheets import Chosen, Shown, to_one

if TYPE_CHECKING:
    import numpy as np

    from regard.analysis.reading import Map, Reading
    from regard.analysis.seeing.figure import Sheet

SMOOTH = 24  # cells along a side that look smooth


def perceived(pipeline: Any, given: str, chosen: Chosen) -> Shown:
    """Where a model of sounds, points or films looks: at a spectrogram, at points from the front, or at frames."""
    from regard.analysis.seeing.figure import Sheet

    def sheet(axis: Any, name: str, numbers: "np.ndarray") -> Sheet:
        return Sheet(
            name, numbers, getattr(axis, "image", None), getattr(axis, "height", 1) / getattr(axis, "width", 1)
        )

    return heads_over(pipeline.attend(given), chosen, sheet)


def heads_over(reading: "Reading", chosen: Chosen, sheet: "Callable[[Any, str, np.ndarray], Sheet]") -> Shown:
    """Where a place or a latent looks, for each head of a layer; without one, what all look at on average."""
    from regard.analysis.view import Boxes, Grid

    one = _choose_map(reading, chosen.layer)
    rows, columns = reading.axes[one.rows], reading.axes[one.columns]
    if not isinstance(columns, Grid | Boxes):
        raise SystemExit(f"{one.name} of {reading.model} does not look over what it was given; give another --layer")
    weights = reading.weights(one.name)
    if chosen.head is not None and not 0 <= chosen.head < one.heads:
        raise UsageError(f"there is no head {chosen.head}; they are numbered 0 to {one.heads - 1}")
    leading = rows.leading if isinstance(rows, Grid) else ()
    asking = place_of(rows, chosen.place) if isinstance(rows, Grid) else _latent(len(rows), chosen.place)
    looked = weights.mean(axis=1) if asking is None else weights[:, asking]
    heads = range(one.heads) if chosen.head is None else [chosen.head]
    shown = [_laid_out(columns, row) for row in looked]
    everyone = "all places on average" if isinstance(rows, Grid) else f"all {one.rows} on average"
    who = chosen.place or (leading[0] if leading else everyone)
    sheets = [sheet(columns, f"head {head}", to_one(shown[head])) for head in heads]
    facts = {"attention": one.name, "asks": who, "heads": {f"head {head}": shown[head].tolist() for head in heads}}
    caption = f"{reading.model}, {one.name}: where {who} looks; each head from its least to its most. {reading.caption}"
    return Shown(facts, sheets, caption)


def _laid_out(axis: Any, row: "np.ndarray") -> "np.ndarray":
    """The weights of the cells of a picture, or of boxes where each of them is."""
    import numpy as np

    from regard.analysis.view import Grid

    if isinstance(axis, Grid):
        return row[len(axis.leading) :].reshape(axis.height, axis.width)
    found = np.zeros((SMOOTH, SMOOTH), np.float32)
    left, top, wide, high = np.asarray(axis.boxes).T
    cells = ((np.clip(edge, 0, 1 - 1e-6)) * SMOOTH for edge in (top + high / 2, left + wide / 2))
    np.add.at(found, tuple(each.astype(int) for each in cells), row)
    return found


def _latent(count: int, said: str) -> int | None:
    """The number of a latent."""
    if not said:
        return None
    if not said.isdecimal() or int(said) >= count:
        raise UsageError(f"--place {said} is no latent; they are numbered 0 to {count - 1}")
    return int(said)


def _choose_map(reading: "Reading", layer: int | None) -> "Map":
    from regard.analysis.view import Latents

    if layer is not None and not 0 <= layer < len(reading.maps):
        raise UsageError(f"there is no layer {layer}; they are numbered 0 to {len(reading.maps) - 1}")
    if layer is not None:
        return reading.maps[layer]
    # What looks over the picture, and not at latents alone.
    over = [one for one in reading.maps if not isinstance(reading.axes[one.columns], Latents)]
    return (over or reading.maps)[-1]


def place_of(axis: Any, said: str) -> int | None:
    """The number of a token: a leading one by its name, or a cell by row,column. Without a word, the first leading."""
    if not said:
        return 0 if axis.leading else None
    if said in axis.leading:
        return int(axis.leading.index(said))
    parts = said.split(",")
    if len(parts) == 2 and all(part.strip().isdecimal() for part in parts):
        row, column = map(int, parts)
        if row < axis.height and column < axis.width:
            return len(axis.leading) + row * int(axis.width) + column
    choice = ", ".join((*axis.leading, f"0,0 to {axis.height - 1},{axis.width - 1}"))
    raise UsageError(f"--place {said} is no place on the picture; choose of {choice}")
