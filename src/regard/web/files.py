"""Small JSON files that others wrote, as the page can be told of them."""

import json
import math
from pathlib import Path
from typing import Any


def told(path: Path) -> dict[str, Any]:
    """What a file says, or nothing where it cannot be read: what it should say is then missing on the page too."""
    try:
        found = clean(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def clean(value: Any) -> Any:
    """A value without the numbers that JSON cannot hold."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): clean(each) for key, each in value.items()}
    return [clean(each) for each in value] if isinstance(value, list) else value
