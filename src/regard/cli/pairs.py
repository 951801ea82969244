"""Pairs of texts: two arguments, or one line of standard input with a tab in it."""

from collections.abc import Sequence

from regard.cli.errors import UsageError


def join_pairs(texts: Sequence[str]) -> list[str]:
    """Arguments two by two, as lines with a tab would be."""
    if len(texts) % 2:
        raise UsageError(f"{len(texts)} texts make no pairs; give two for each, or lines with a tab on standard input")
    return [f"{first}\t{second}" for first, second in zip(texts[::2], texts[1::2], strict=True)]


def split_pair(line: str) -> tuple[str, str]:
    """The two texts of a line."""
    first, tab, second = line.partition("\t")
    if not tab:
        raise ValueError("it is one text and no pair; put a tab between two")
    return first, second
