"""Attentions that look several times in one pass, as layers that are shared do."""

from collections.abc import Mapping
from typing import TypeVar

from regard.attention import Trace

T = TypeVar("T")


class Unrolled(Trace):
    """The looks of layers that are used again and again, each by a name of its own, as `blocks.0.attn/3`."""

    def __init__(self, trace: Trace) -> None:
        looks = {f"{name}/{i}": [look] for name in trace for i, look in enumerate(trace[name])}
        super().__init__({}, looks)
        self._looks = looks


def of_layers(edits: Mapping[str, T] | None) -> dict[str, T] | None:
    """Edits of looks as edits of layers: one that is shared is edited wherever it looks."""
    return {name.partition("/")[0]: edit for name, edit in (edits or {}).items()} or None
