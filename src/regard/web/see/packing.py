"""Axes and numbers as an answer holds them."""

import base64
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.analysis.view import Axis


def pack_axis(axis: "Axis") -> dict[str, Any]:
    """An axis without its picture, which the page has."""
    from regard.analysis.view import axis_json

    return {key: value for key, value in axis_json(axis).items() if key != "image"}


def pack_numbers(numbers: Any) -> str:
    """Numbers, row by row, as float32."""
    from regard.analysis.view import pack

    return pack_bytes(pack(numbers.numpy() if hasattr(numbers, "numpy") else numbers, "f32"))


def pack_bytes(data: bytes) -> str:
    """Bytes as text."""
    return base64.b64encode(data).decode()
