"""Places of a picture on the axes of models. One is given in percent, so that every grid is asked about the same."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.analysis.view import Axis

_PLACE = re.compile(r"(\d{1,3}(?:\.\d{1,2})?),(\d{1,3}(?:\.\d{1,2})?)")
_QUERY = re.compile(r"q(\d{1,4})")


def place_on(axis: "Axis", at: str) -> tuple[bool, int | None]:
    """Whether a place is known to an axis, and its number there; None is all of them."""
    from regard.analysis.view import Grid

    if not at:
        return True, None
    leading = axis.leading if isinstance(axis, Grid) else ()
    if at in leading:
        return True, leading.index(at)
    if (query := _QUERY.fullmatch(at)) is not None:
        number = int(query[1])
        return not isinstance(axis, Grid) and number < len(axis), number
    if (place := _PLACE.fullmatch(at)) is not None:
        if not isinstance(axis, Grid):
            return False, None
        x, y = (min(float(each), 100.0) / 100 for each in place.groups())
        column, row = min(int(x * axis.width), axis.width - 1), min(int(y * axis.height), axis.height - 1)
        return True, len(leading) + row * axis.width + column
    if at.startswith("["):  # the token of another model
        return False, None
    raise ValueError(f"{at!r} is no place; give 41,55 in percent of the picture, [CLS], or q3 for a query")
