"""Calculate with words: king - man + woman, what is near a word, and which of several does not belong.

Words are vectors of length 1 that are added and compared by their cosine. The nearest word to king - man + woman is
often king itself. Customarily the words of the question are left out, and nobody says so: here both answers stand
side by side, and it is said which is which. Signs need spaces around them, and 2*king weighs twice.

    regard words "king - man + woman"                     both answers, side by side
    regard words --near bank --count 5                    the nearest words to one
    regard words --odd breakfast cereal dinner lunch      the one that does not belong
    regard words "paris - france + italy" --model glove.6B.50d.txt
    regard words "king - man + woman" --model glove-6b-50d --json
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.ink import BOLD, DIM, ink
from regard.cli.lines import refusal
from regard.cli.load import load_model

if TYPE_CHECKING:
    from regard.words import Answer, Odd

GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class Flags:
    expression: Annotated[Positional[tuple[str, ...]], arg(metavar="EXPRESSION")] = ()
    """Words with + and - between, such as "king - man + woman"."""
    near: str = ""
    """A word whose nearest words are wanted; its signs are its own, as in mother-in-law."""
    odd: tuple[str, ...] = ()
    """Three words or more, one of which does not belong."""
    model: str = ""
    """A file of vectors, a folder, a name that `regard list zoo` shows, or hub:owner/name; words-en if left out."""
    count: int = 10
    """How many words to print, the nearest first."""
    json: bool = False
    """Print JSON: both answers with their scores, or all words of --odd by how well they belong."""


def main(flags: Flags) -> None:
    """Print the answer to an expression, to --near or to --odd."""
    asked = " ".join(flags.expression)
    if sum((bool(asked.strip()), bool(flags.near), bool(flags.odd))) != 1:
        raise UsageError('one thing is answered at a time; give an expression such as "king - man + woman", or --near')
    if flags.count < 1:
        raise UsageError(f"--count {flags.count} is no number of words; give 1 or more")
    for each in (asked, flags.near, *flags.odd):
        if broken := refusal(each):
            raise UsageError(f"what is asked {broken.reason}")
    words: Any = load_model(flags.model, task="words")
    _tell(words.vectors.notes)
    try:
        if flags.odd:
            _print_odd(words.odd(flags.odd), flags)
        else:
            given = words.near(flags.near, count=flags.count) if flags.near else words(asked, count=flags.count)[0]
            _print_answer(given, flags)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _print_answer(answer: "Answer", flags: Flags) -> None:
    if flags.json:
        rule = "without_inputs leaves the words of the question out, as is customary; with_inputs does not"
        print(json.dumps(asdict(answer) | {"rule": rule}, ensure_ascii=False))
    else:
        print("\n".join(_side_by_side(answer)))


def _side_by_side(answer: "Answer") -> Iterator[str]:
    left = f"without {', '.join(answer.inputs)}"
    width = max(len(left), *(len(each.word) + 8 for each in answer.without_inputs), 8) + 3
    yield ink(answer.asked, BOLD)
    yield ink(f"{left:<{width}}with {'it' if len(answer.inputs) == 1 else 'them'}", DIM)
    for i, each in enumerate(answer.with_inputs):
        other = answer.without_inputs[i] if i < len(answer.without_inputs) else None
        before = "" if other is None else f"{other.score:.4f}  {other.word}"
        yield f"{before:<{width}}{each.score:.4f}  {each.word}"


def _print_odd(odd: "Odd", flags: Flags) -> None:
    if flags.json:
        print(json.dumps(asdict(odd), ensure_ascii=False))
        return
    print(ink(odd.word, BOLD) + " does not belong")
    print(ink("each word and its cosine with the mean of all:", DIM))
    for each in odd.ranked:
        print(f"{each.score:.4f}  {each.word}")


def _tell(notes: tuple[str, ...]) -> None:
    for note in notes:
        print(f"regard: {note}", file=sys.stderr)
