"""Run any model on its input, whatever its task.

A model knows its task by its card: a translator translates, a parser parses. Inputs are arguments, or lines on
standard input.

    regard run de-en "Ein Hund läuft."
    regard run runs/parse-0 "the dog sleeps ."
    regard run world-clip $'world:7\\ta red disc\\ta blue star'    a picture and texts, with tabs between
    regard run runs/classify-0 --json < reviews.txt
"""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.lines import Failure, print_answers
from regard.cli.load import load_model, refuse_useless
from regard.files import jsonable
from regard.names import Dtype

if TYPE_CHECKING:
    from regard.pipelines import Pipeline

GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class Flags:
    model: Annotated[Positional[str], arg(metavar="MODEL")]
    """A name that `regard list zoo` shows, a folder, or hub:owner/name."""
    inputs: Annotated[Positional[tuple[str, ...]], arg(metavar="INPUT")] = ()
    """What the model reads; without it, standard input line by line. Ids are written as [3, 1, 4]."""
    to: str = ""
    """Target language, for a translator that writes several."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one input a line."""


def main(flags: Flags) -> None:
    """Print the output for each input."""
    pipeline: Any = load_model(flags.model, dtype=flags.dtype)
    options = {"to": flags.to} if flags.to else {}
    refuse_useless(options, pipeline.__call__, pipeline.task)

    def show(given: str, found: Any) -> str:
        if flags.json:
            facts = {"error": found.reason} if isinstance(found, Failure) else {"output": jsonable(found)}
            return json.dumps({"input": given, **facts}, ensure_ascii=False)
        return "" if isinstance(found, Failure) else _plain(found)

    print_answers(
        flags.inputs, lambda inputs: pipeline([read_input(pipeline, each) for each in inputs], **options), show
    )


def read_input(pipeline: "Pipeline", given: str) -> str | list[int] | tuple[str, list[str]]:
    """What the task takes: the text as it is, the list of ids that it writes out, or what texts are compared with."""
    if pipeline.takes.endswith(" and texts"):
        first, *texts = given.split("\t")
        if not texts:
            what = pipeline.takes.removesuffix(" and texts")
            raise ValueError(f"{given[:40]!r} has no text; write a {what} and texts with tabs between, or regard match")
        return first, texts
    if pipeline.takes != "ids":
        return given
    try:
        found = json.loads(given)
    except ValueError:
        found = None
    if not isinstance(found, list) or not found or any(type(each) is not int for each in found):
        raise ValueError(f"{given[:40]!r} is no list of ids; write [3, 1, 4]")
    return found


def _plain(value: Any) -> str:
    """An output as people read it: what it is called first."""
    for name in ("text", "label"):
        if hasattr(value, name):
            return str(getattr(value, name))
    return str(value)
