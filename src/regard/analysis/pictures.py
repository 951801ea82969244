"""Attention over pictures: which axes the looks of a model of pictures have."""

import base64
from collections.abc import Iterable, Sequence
from io import BytesIO

from PIL import Image

from regard.analysis.reading import Map, read_layer
from regard.analysis.view import Axis, Grid, Kind, Latents
from regard.attention import Trace


def maps_over(
    trace: Trace,
    grid: tuple[int, int],
    *,
    leading: Sequence[str] = (),
    image: str | None = None,
    names: Iterable[str] | None = None,
) -> tuple[dict[str, Axis], tuple[Map, ...]]:
    """The axes and maps of what was watched over a picture of `grid` rows and columns of tokens.

    An attention that says where its tokens lie has a grid of its own, as in a model that shrinks its map. Any other is
    over the grid behind the `leading` tokens, if it has so many; else its tokens have a number alone. So it serves
    models of strangers too, whose grid is given by hand. `names` are the attentions that see, where others read.
    """
    axes: dict[str, Axis] = {}

    def name_axis(axis: Axis) -> str:
        shape = f"{axis.height}×{axis.width}" if isinstance(axis, Grid) else f"{len(axis)} tokens"
        key = f"{shape} of the picture" if isinstance(axis, Grid) else shape
        axes.setdefault(key, axis)
        return key

    whole = Grid(*grid, image, tuple(leading))
    maps = []
    for name in trace if names is None else names:
        look = trace[name][0]
        queries, keys = look.q.shape[-2], look.k.shape[-2]
        if look.layout is not None:
            rows: Axis = Grid(look.layout.height, look.layout.width, image)
            columns: Axis = rows if look.layout.keys is None else Grid(*look.layout.keys, image)
        else:
            rows, columns = (whole if count == len(whole) else Latents(count) for count in (queries, keys))
        sides = name_axis(rows), name_axis(columns)
        kind: Kind = "self" if rows == columns else "cross"
        maps.append(Map(name, kind, read_layer(name), look.q.shape[1], *sides, "places look at places"))
    return axes, tuple(maps)


def data_url(picture: Image.Image) -> str:
    """A picture as text that a page shows."""
    buffer = BytesIO()
    picture.save(buffer, "PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
