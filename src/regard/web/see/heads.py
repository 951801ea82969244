"""Where heads look: from one place, through all layers, and how far. All of it is in the reading, edits and all."""

from typing import TYPE_CHECKING, Any

from regard.web.see.asked import Options
from regard.web.see.packing import pack_axis, pack_numbers
from regard.web.see.places import place_on

if TYPE_CHECKING:
    from torch import Tensor

    from regard.analysis.reading import Reading
    from regard.attention import Look

NUMBERS = 100_000_000  # weights of one attention over whole maps that are computed at once


def looks(reading: "Reading", options: Options) -> dict[str, Any]:
    """Where every head of every attention looks from one place, or who looks at it; without a place, all on average.

    An attention to which the place is not known, such as [CLS] to windows, has no weights.
    """
    found = []
    for one in reading.maps:
        asked, seen = (reading.axes[side] for side in (one.rows, one.columns))
        if options.by:
            asked, seen = seen, asked
        known, row = place_on(asked, options.at)
        about = {"name": one.name, "layer": one.layer, "heads": one.heads, "axis": pack_axis(seen), "row": row}
        shares = _shares(reading.trace[one.name][0], row, by=options.by) if known else None
        found.append(about | {"weights": None if shares is None else pack_numbers(shares)})
    return {"at": options.at, "by": options.by, "attentions": found}


def rolled(reading: "Reading", _: Options) -> dict[str, Any]:
    """How much each token of the last layer has of each place: all rows, so that a page can point."""
    from regard.analysis.seeing import rollout

    _bound(reading)
    total, last, first = rollout(reading)
    return {"rows": pack_axis(last), "columns": pack_axis(first), "weights": pack_numbers(total)}


def distance(reading: "Reading", _: Options) -> dict[str, Any]:
    """How far each head looks, in sides of the picture, and how far looking evenly would be."""
    from regard.analysis.seeing import attention_distances

    _bound(reading)
    return {
        "attentions": [
            {
                "name": each.name,
                "layer": each.layer,
                "heads": [round(float(head), 4) for head in each.heads],
                "even": round(each.even, 4),
            }
            for each in attention_distances(reading)
        ]
    }


def _shares(look: "Look", row: int | None, *, by: bool) -> "Tensor":
    """How much one token takes from each, or gives to each, in every head: h × tokens. Windows need not be unfolded."""
    import torch

    with torch.no_grad():
        weights = look.weights().float()
        if by:
            weights = weights.mT
        if look.layout is None or look.layout.partition is None:
            return weights[0].mean(dim=1) if row is None else weights[0, :, row]
        total = look.layout.height * look.layout.width
        cells = look.layout.partition.cells(look.layout.height, look.layout.width, weights.device)
        whole = weights.new_zeros(weights.shape[1], total + 1)  # padding is a cell after the last
        if row is not None:
            group, place = (int(each) for each in (cells == row).nonzero()[0])
            return whole.scatter(1, cells[group].expand(len(whole), -1), weights[group, :, place])[:, :total]
        taken = (weights * (cells < total)[:, None, :, None]).sum(dim=2) / total
        return whole.index_add(1, cells.flatten(), taken.transpose(0, 1).flatten(1))[:, :total]


def _bound(reading: "Reading") -> None:
    for one in reading.maps:
        count = one.heads * len(reading.axes[one.rows]) * len(reading.axes[one.columns])
        if count > NUMBERS:
            raise ValueError(
                f"{one.name} of {reading.model} has {count:,} weights, and at most {NUMBERS:,} are computed at once; "
                "choose a model of smaller pictures"
            )
