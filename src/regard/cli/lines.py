"""Texts or names of files, from arguments or from standard input, each answered by a line."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

T = TypeVar("T")

TOGETHER = 32  # lines that are answered at once


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a text has no answer, as it follows the words `text 3`."""

    reason: str


def print_answers(
    texts: Sequence[str],
    answer: Callable[[list[str]], Sequence[T]],
    show: Callable[[str, T | Failure], str],
    *,
    what: str = "text",
) -> None:
    """Print what `show` makes of each text and its answer; a failure is told too, and ends the program with code 1.

    Without texts, the lines of standard input are answered as they come. `what` is what a failure calls each of them.
    """
    typed = not texts and sys.stdin.isatty()
    if typed:
        print("type a line and press Enter; Ctrl-D ends", file=sys.stderr)
    given = iter(texts) if texts else read_lines(sys.stdin.buffer)
    failed, number = 0, 0
    # Who types wants an answer to each line; a pipe is answered faster in groups.
    while some := list(islice(given, 1 if typed else TOGETHER)):
        for text, found in zip(some, _answer(some, answer), strict=True):
            number += 1
            if isinstance(found, Failure):
                failed += 1
                print(f"regard: {what} {number} {found.reason}", file=sys.stderr)
            print(show(text, found), flush=True)
    if failed:
        others = "; the others were" if failed < number else ""
        raise SystemExit(f"{failed} of {number} {what}s could not be answered{others}")


def read_lines(stream: Iterable[bytes]) -> Iterator[str]:
    """Lines of UTF-8, one by one; what is not UTF-8 is left as half characters, which `refusal` knows."""
    for number, raw in enumerate(stream, start=1):
        line = raw.decode("utf-8-sig" if number == 1 else "utf-8", errors="surrogateescape")
        yield line.removesuffix("\n").removesuffix("\r")


def refusal(text: str) -> Failure | None:
    """Why no model can read a text."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return Failure(f"has half a character at place {error.start}, as broken UTF-8 leaves it; save it as UTF-8")
    return None


def _answer(texts: list[str], answer: Callable[[list[str]], Sequence[T]]) -> list[T | Failure]:
    from regard.pipelines import TooLongError

    broken = [refusal(text) for text in texts]
    if len(texts) == 1 and broken[0] is not None:
        return [broken[0]]
    if not any(broken):
        try:
            return [*answer(texts)]
        except ValueError as error:
            if len(texts) == 1:
                return [Failure(error.reason if isinstance(error, TooLongError) else f"cannot be answered: {error}")]
    # Only the texts that are at fault go without.
    return [found for text in texts for found in _answer([text], answer)]
