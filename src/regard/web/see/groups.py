"""Which places see each other, where a model looks inside of windows, grids or strides."""

from typing import TYPE_CHECKING, Any

from regard.web.see.asked import Options

if TYPE_CHECKING:
    from regard.analysis.reading import Reading
    from regard.attention.partition import Layout, Partition


def groups(reading: "Reading", _: Options) -> dict[str, Any]:
    """Which cells of the map share a group, for each attention that looks inside of groups: a number for each cell."""
    found = []
    for one in reading.maps:
        layout = reading.trace[one.name][0].layout
        if layout is None or layout.partition is None:
            continue
        about = {"name": one.name, "layer": one.layer, "height": layout.height, "width": layout.width}
        found.append(about | {"says": _say(layout.partition, layout), "groups": _number_cells(layout)})
    if not reading.maps:
        raise ValueError(f"{reading.model} has no attention, and so no groups; choose a model that has")
    if not found:
        raise ValueError(f"{reading.model} cuts its map into no groups: every place sees every other")
    return {"attentions": found}


def _number_cells(layout: "Layout") -> list[int]:
    """A number for each cell, equal where cells see each other; those that only a wrap brings together do not."""
    import torch

    assert layout.partition is not None
    height, width = layout.height, layout.width
    cells = layout.partition.cells(height, width, torch.device("cpu"))
    number = torch.arange(len(cells))[:, None].expand_as(cells)
    owner = torch.zeros(height * width + 1, dtype=torch.long).scatter(0, cells.flatten(), number.flatten())
    up, left = layout.partition.shifts(height, width)
    carried = 2 * (torch.arange(height) < up)[:, None] + (torch.arange(width) < left)[None].long()
    found: list[int] = (owner[:-1] * 4 + carried.flatten()).unique(return_inverse=True)[1].tolist()
    return found


def _say(partition: "Partition", layout: "Layout") -> str:
    from regard.attention import partition as kinds

    match partition:
        case kinds.Shifted(size=size, shift=shift) if any(partition.shifts(layout.height, layout.width)):
            return f"windows of {size} × {size} cells, shifted by {shift}"
        case kinds.Dilated(size=size, rate=rate):
            return f"windows of {size} × {size} cells" + (f" that lie {rate} apart" if rate > 1 else "")
        case kinds.Grid(size=size):
            return f"a grid: {size} × {size} cells from all over the map"
        case kinds.Window(size=size):
            return f"windows of {size} × {size} cells"
        case kinds.Atrous(rate=rate):
            return f"cells {rate} apart, from all over the map"
        case kinds.Axis(along=along):
            return "each row on its own" if along == "rows" else "each column on its own"
    return type(partition).__name__
