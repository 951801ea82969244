"""JSON files that others wrote, as an answer can hold them."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regard.files import check, read_json

OBJECT = 2**20  # bytes of a card, a configuration or a recipe
ROWS, ROW = 64 * 2**20, 2**20  # bytes of measurements, from the end of their file, and of one line
DEPTH = 20  # of values within values; what lies deeper is left out


def read_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file, or an empty one where it cannot be read: the page then says less of it."""
    try:
        found: dict[str, Any] = sanitize(read_json(path, OBJECT))
    except (OSError, ValueError):
        return {}
    return found


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file that are objects with a step; any other is left out, such as a last one that was cut off."""
    try:
        size = check(path)
        with path.open("rb") as file:
            file.seek(max(0, size - ROWS))
            while file.tell() < size and (line := file.readline(ROW)):
                try:
                    row = sanitize(json.loads(line))
                except (ValueError, RecursionError):
                    continue
                if isinstance(row, dict) and type(row.get("step")) is int:
                    yield row
    except (OSError, ValueError):
        return


def sanitize(value: Any, depth: int = DEPTH) -> Any:
    """A value without what an answer cannot hold: numbers that are not finite or endless, half characters, depths."""
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case float():
            return value if math.isfinite(value) else None
        case int():
            return value if abs(value) < 2**63 else None
        case dict() | list() if not depth:
            return None
        case dict():
            return {sanitize(str(key)): sanitize(each, depth - 1) for key, each in value.items()}
        case list():
            return [sanitize(each, depth - 1) for each in value]
    return value
