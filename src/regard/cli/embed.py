"""Embed texts: one vector for what each of them means, for search, comparison and clustering.

Texts are arguments, or lines on standard input. A vector is printed as numbers with spaces between.

    regard embed --model hub:sentence-transformers/all-MiniLM-L6-v2 "A dog runs."
    regard embed --model my-folder --json < lines.txt
"""

import json
from dataclasses import dataclass
from typing import Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.lines import Failure, print_answers
from regard.cli.load import load_model
from regard.names import Dtype

GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class Flags:
    texts: Annotated[Positional[tuple[str, ...]], arg(metavar="TEXT")] = ()
    """What to embed; without it, standard input line by line."""
    model: str = ""
    """A name that `regard list zoo` shows, a folder, or hub:owner/name; the default model if left out."""
    prompt: str = ""
    """The name of a prompt that is read in front of each text, such as query; what the card says if left out."""
    cut: bool = False
    """Read the beginning of what is too long, instead of refusing it."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one text a line: the vector."""


def main(flags: Flags) -> None:
    """Print the vector of each text."""
    embed: Any = load_model(flags.model, task="embed", dtype=flags.dtype)

    def show(text: str, found: Any) -> str:
        if flags.json:
            facts = {"error": found.reason} if isinstance(found, Failure) else {"vector": found.vector}
            return json.dumps({"text": text, **facts}, ensure_ascii=False)
        return "" if isinstance(found, Failure) else " ".join(f"{number:.6g}" for number in found.vector)

    print_answers(flags.texts, lambda texts: embed(texts, prompt=flags.prompt or None, cut=flags.cut), show)
