"""Run any model on its input, whatever its task.

A model knows its task by its card: a translator translates, a parser parses. Inputs are arguments, or lines on
standard input.

    regard run de-en "Ein Hund läuft."
    regard run runs/parse-0 "the dog sleeps ."
    regard run runs/classify-0 --json < reviews.txt
"""

import json
from dataclasses import dataclass
from typing import Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.lines import answer_lines
from regard.cli.load import load_model
from regard.files import jsonable
from regard.names import Dtype

GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class Flags:
    model: Annotated[Positional[str], arg(metavar="MODEL")]
    """A name that `regard list zoo` shows, a folder, or hub:owner/name."""
    inputs: Annotated[Positional[tuple[str, ...]], arg(metavar="INPUT")] = ()
    """What the model reads; without it, standard input line by line. Lists of numbers are given as JSON."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one input a line."""


def main(flags: Flags) -> None:
    """Print the output for each input."""
    pipeline = load_model(flags.model, dtype=flags.dtype)
    for given, found in answer_lines(flags.inputs, lambda inputs: pipeline([read_input(each) for each in inputs])):
        print(
            json.dumps({"input": given, "output": jsonable(found)}, ensure_ascii=False) if flags.json else show(found)
        )


def read_input(given: str) -> Any:
    """A text, or the list of numbers that it writes out."""
    if given.startswith("["):
        try:
            return json.loads(given)
        except ValueError:
            return given
    return given


def show(value: Any) -> str:
    """An output as people read it: what it is called first."""
    for name in ("text", "label"):
        if hasattr(value, name):
            return str(getattr(value, name))
    return str(value)
