"""How large a picture becomes: the rules by which image processors resize one, as exact sides."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

LARGEST = 2**14  # pixels of a side that anybody asks for


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A size as Hugging Face writes it: both sides, the shortest edge (and a bound for the longest), the longest edge,
    or two bounds.
    """

    height: int | None = None
    width: int | None = None
    shortest_edge: int | None = None
    longest_edge: int | None = None
    max_height: int | None = None
    max_width: int | None = None

    def __post_init__(self) -> None:
        for name, value in self.to_json().items():
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST:
                raise ValueError(f"a {name} of {value!r} is no side of a picture; give 1 to {LARGEST} pixels")
        if frozenset(self.to_json()) not in _FORMS:
            raise ValueError(
                f"a size of {', '.join(self.to_json()) or 'nothing'} is not clear; give height and width, "
                "shortest_edge, longest_edge or both, or max_height and max_width"
            )

    @staticmethod
    def read(value: Any, *, square: bool = True, longest: int | None = None) -> "Size":
        """From any form that has been in use: an object, [height, width], or a number.

        A number is both sides where the processor is one for squares; else it is the shortest edge.
        """
        if isinstance(value, Mapping):
            strange = set(value) - {field.name for field in fields(Size)}
            if strange:
                raise ValueError(f"a size has no {', '.join(sorted(map(str, strange)))}; give height and width")
            return Size(**{name: side for name, side in value.items() if side is not None})
        if isinstance(value, list | tuple) and len(value) == 2:
            return Size(height=value[0], width=value[1])
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"{value!r} is no size; give a number of pixels, or height and width")
        return Size(height=value, width=value) if square else Size(shortest_edge=value, longest_edge=longest)

    def to_json(self) -> dict[str, int]:
        """What is said of it, and nothing else."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in said.items() if value is not None}

    def of(self, height: int, width: int) -> tuple[int, int]:
        """The sides to which a picture of such sides is resized."""
        if self.height and self.width:
            return self.height, self.width
        if self.max_height and self.max_width:
            scale = min(self.max_height / height, self.max_width / width)
            return max(int(height * scale), 1), max(int(width * scale), 1)
        if self.longest_edge and not self.shortest_edge:
            scale = self.longest_edge / max(height, width)
            return max(int(height * scale + 0.5), 1), max(int(width * scale + 0.5), 1)
        assert self.shortest_edge
        if self.longest_edge:
            return _bounded(height, width, self.shortest_edge, self.longest_edge)
        return shortest(height, width, self.shortest_edge)


_FORMS = {
    frozenset({"height", "width"}),
    frozenset({"shortest_edge"}),
    frozenset({"longest_edge"}),
    frozenset({"shortest_edge", "longest_edge"}),
    frozenset({"max_height", "max_width"}),
}


def shortest(height: int, width: int, edge: int) -> tuple[int, int]:
    """Sides of the same shape whose shorter one is `edge`; the other one is cut to whole pixels."""
    longer = int(edge * max(height, width) / min(height, width))
    return (longer, edge) if width <= height else (edge, longer)


def _bounded(height: int, width: int, edge: int, most: int) -> tuple[int, int]:
    """The same, or smaller where the longer side would be beyond a bound (Carion 2020, DETR)."""
    exact: float = edge
    if max(height, width) / min(height, width) * edge > most:
        exact = most * min(height, width) / max(height, width)
        edge = round(exact)  # half to even, as DETR's code does
    if min(height, width) == edge:
        return height, width
    if width < height:
        return max(int(exact * height / width), 1), max(edge, 1)
    return max(edge, 1), max(int(exact * width / height), 1)
