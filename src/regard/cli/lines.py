"""Texts from arguments or from standard input, each with its answer."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")

TOGETHER = 32  # lines that are answered at once


def answer_lines(texts: Sequence[str], answer: Callable[[list[str]], list[T]]) -> Iterator[tuple[str, T | str]]:
    """Each text with its answer, or with why there is none; without texts, the lines of standard input as they come."""
    typed = not texts and sys.stdin.isatty()
    if typed:
        print("type a line and press Enter; Ctrl-D ends", file=sys.stderr)
    given = iter(texts) if texts else read_lines(sys.stdin.buffer)
    # Who types wants an answer to each line; a pipe is answered faster in groups.
    while some := list(islice(given, 1 if typed else TOGETHER)):
        yield from zip(some, _answer(some, answer), strict=True)


def read_lines(stream: Iterable[bytes]) -> Iterator[str]:
    """Lines of UTF-8, one by one; what is not UTF-8 is left as half characters, and refused by whoever reads them."""
    for number, raw in enumerate(stream, start=1):
        line = raw.decode("utf-8-sig" if number == 1 else "utf-8", errors="surrogateescape")
        yield line.removesuffix("\n").removesuffix("\r")


def _answer(texts: list[str], answer: Callable[[list[str]], list[T]]) -> Iterator[Any]:
    try:
        yield from answer(texts)
    except ValueError as error:
        if len(texts) > 1:  # only the texts that are at fault go without
            for text in texts:
                yield from _answer([text], answer)
        else:
            yield str(error).removeprefix("text 0 ")
