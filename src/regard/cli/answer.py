"""Answer questions about a text, by the part of it that says it.

Question and text are two arguments, or a line on standard input with a tab between; with --about, the questions are
asked about a file. Long texts are read in windows that overlap.

    regard answer --model hub:deepset/tinyroberta-squad2 "Who sleeps?" "The dog runs and the cat sleeps."
    regard answer --model my-bert --about report.txt "Who wrote it?" "When was it written?"
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.lines import Failure, print_answers
from regard.cli.load import load_model
from regard.cli.pairs import join_pairs, split_pair
from regard.files import jsonable, read
from regard.names import Dtype

GROUP = "Train and run"

LARGEST = 10_000_000  # bytes of a text


@dataclass(frozen=True, slots=True)
class Flags:
    texts: Annotated[Positional[tuple[str, ...]], arg(metavar="QUESTION TEXT")] = ()
    """A question and the text it is asked about; without them, standard input line by line, with a tab between."""
    model: str = ""
    """A name that `regard list zoo` shows, a folder, or hub:owner/name; the default model if left out."""
    about: Path | None = None
    """A file of text; then every argument, or every line of standard input, is a question about it."""
    top: int = 1
    """How many answers to give to each question."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one question a line: the answer, its place in the text, its score, and alternatives."""


def main(flags: Flags) -> None:
    """Print the answer to each question."""
    if flags.top < 1:
        raise UsageError(f"--top {flags.top} leaves no answer; give 1 or more")
    about = None if flags.about is None else _read(flags.about)
    texts = join_pairs(flags.texts) if about is None else flags.texts
    answer: Any = load_model(flags.model, task="answer", dtype=flags.dtype)

    def reply(lines: Sequence[str]) -> Any:
        return answer([split_pair(line) if about is None else (line, about) for line in lines], top=flags.top)

    def show(line: str, found: Any) -> str:
        if flags.json:
            facts = {"error": found.reason} if isinstance(found, Failure) else {"answer": found.text, **_facts(found)}
            return json.dumps({"text": line, **facts}, ensure_ascii=False)
        if isinstance(found, Failure):
            return ""
        return "  |  ".join(f"{each.text}  {each.score:.1%}" for each in (found, *found.alternatives))

    print_answers(texts, reply, show)


def _facts(found: Any) -> dict[str, Any]:
    facts: dict[str, Any] = jsonable(found)
    return {name: facts[name] for name in ("start", "end", "score", "none", "alternatives")}


def _read(path: Path) -> str:
    try:
        return read(path, LARGEST).decode()
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read as a text in UTF-8: {error}") from None
