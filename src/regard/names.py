"""Names that users give: those of dtypes, and what to say to one that is not there."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Literal

Dtype = Literal["float32", "bfloat16", "int8"]  # of the weights of a model
Runtime = Literal["onnx", "hf", "ctranslate2"]  # for which a model can be written

NUMBERED = re.compile(r"([a-z][a-z0-9-]*):([0-9]{1,9})")  # a picture of a named set, such as world:7


def nearest(name: str, known: Iterable[str], count: int = 3) -> str:
    """The known names that are most like one, set out in a row; the first few where none is like it."""
    every = list(known)
    return ", ".join(get_close_matches(name, every, n=count, cutoff=0.4) or every[: 2 * count]) or "there are none"


def listed(names: Iterable[str], letters: int = 200) -> str:
    """Names of strangers in a row, cut off behind so many letters, so that a sentence about them stays one."""
    row = ", ".join(names)
    return row if len(row) <= letters else row[: letters - 1] + "…"


def unknown(what: str, name: object, known: Iterable[str]) -> str:
    """The sentence for a name that is not known: `no family is called 'bret'; try bert`."""
    return f"no {what} is called {str(name)[:100]!r}; try {nearest(str(name), known)}"
