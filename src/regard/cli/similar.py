"""Find the texts that mean the same: lines ranked by how near they are to a query, or pairs compared.

The query is the first argument; what is looked through are the others, or the lines of standard input. With --pair,
texts are compared two by two. The number is the cosine of their vectors.

    regard similar --model my-folder "a dog plays" < lines.txt
    regard similar --model my-folder --pair "A dog runs." "A hound is running."
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.lines import Failure, print_answers, read_lines, refusal
from regard.cli.load import load_model
from regard.cli.pairs import join_pairs, split_pair
from regard.names import Dtype

if TYPE_CHECKING:
    from regard.pipelines.similar import Similar

GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class Flags:
    texts: Annotated[Positional[tuple[str, ...]], arg(metavar="TEXT")] = ()
    """A query, and texts to rank; without the latter, the lines of standard input."""
    model: str = ""
    """A name that `regard list zoo` shows, a folder, or hub:owner/name; the default model of embed if left out."""
    pair: bool = False
    """Compare pairs of texts: two arguments each, or lines with a tab."""
    top: int = 10
    """How many texts to print, the nearest first; 0 prints all."""
    cut: bool = False
    """Read the beginning of what is too long, instead of refusing it."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one text or pair a line: its score, and of a ranked text its line, counted from 1."""


def main(flags: Flags) -> None:
    """Print ranked texts, or the similarity of each pair."""
    if flags.top < 0:
        raise UsageError(f"--top {flags.top} is no number of texts; give 1 or more, or 0 for all")
    if not flags.pair and not flags.texts:
        raise UsageError("nothing is looked for; give a query as the first argument, or say --pair")
    pairs = join_pairs(flags.texts) if flags.pair else []
    found: Any = load_model(flags.model, task="embed", dtype=flags.dtype)
    from regard.pipelines.similar import Similar

    similar = Similar(found.checkpoint, limit=found.limit)
    if flags.pair:
        _compare(flags, similar, pairs)
    else:
        _rank(flags, similar)


def _compare(flags: Flags, similar: "Similar", pairs: Sequence[str]) -> None:
    def show(line: str, found: Any) -> str:
        if flags.json:
            facts = {"error": found.reason} if isinstance(found, Failure) else {"score": found.score}
            return json.dumps({"text": line, **facts}, ensure_ascii=False)
        return "" if isinstance(found, Failure) else f"{found.score:.4f}"

    print_answers(pairs, lambda lines: similar([split_pair(line) for line in lines], cut=flags.cut), show)


def _rank(flags: Flags, similar: "Similar") -> None:
    from regard.pipelines import TooLongError

    query, *texts = flags.texts
    lines = texts or list(read_lines(sys.stdin.buffer))
    told = [(i, line) for i, line in enumerate(lines) if line.strip()]  # an empty line means nothing
    for number, line in ((0, query), *((i + 1, line) for i, line in told)):
        if broken := refusal(line):
            raise SystemExit(f"{f'text {number}' if number else 'the query'} {broken.reason}")
    if not told:
        raise SystemExit("there is nothing to look through; give texts behind the query, or lines on standard input")
    try:
        hits = similar.rank(query, [line for _, line in told], top=flags.top or None, cut=flags.cut)
    except TooLongError as error:
        raise SystemExit(f"a text {error.reason}, or say --cut") from None
    for hit in hits:
        if flags.json:
            facts = {"text": hit.text, "line": told[hit.index][0] + 1, "score": hit.score}
            print(json.dumps(facts, ensure_ascii=False))
        else:
            print(f"{hit.score:.4f}  {hit.text}")
