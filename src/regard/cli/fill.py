"""Fill in hidden words: what a masked language model guesses for each.

A hidden word is written as [MASK], <mask> or _. Texts are arguments, or lines on standard input.

    regard fill "The dog was [MASK]."                        by the BERT of the little world
    regard fill --model hub:google-bert/bert-base-uncased "Paris is the [MASK] of France."
    regard fill --model my-bert --top 3 --json < lines.txt
"""

import json
from dataclasses import dataclass
from typing import Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.lines import Failure, print_answers
from regard.cli.load import load_model
from regard.files import jsonable
from regard.names import Dtype

GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class Flags:
    texts: Annotated[Positional[tuple[str, ...]], arg(metavar="TEXT")] = ()
    """Texts with hidden words; without any, standard input line by line."""
    model: str = ""
    """A name that `regard list zoo` shows, a folder, or hub:owner/name; the default model if left out."""
    top: int = 5
    """How many guesses to give for each hidden word."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one text a line: the filled text, and the guesses at each hidden word."""


def main(flags: Flags) -> None:
    """Print the guesses for each text."""
    if flags.top < 1:
        raise UsageError(f"--top {flags.top} leaves no guess; give 1 or more")
    fill: Any = load_model(flags.model, task="fill", dtype=flags.dtype)

    def show(text: str, found: Any) -> str:
        if flags.json:
            failed = isinstance(found, Failure)
            facts = {"error": found.reason} if failed else {"filled": found.text, "guesses": jsonable(found.guesses)}
            return json.dumps({"text": text, **facts}, ensure_ascii=False)
        return "" if isinstance(found, Failure) else "  |  ".join(map(_plain, found.guesses))

    print_answers(flags.texts, lambda texts: fill(texts, top=flags.top), show)


def _plain(guesses: Any) -> str:
    return ", ".join(f"{each.word} {each.chance:.1%}" for each in guesses)
