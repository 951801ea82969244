"""Colour for short answers, without the price of a printing library: escape codes on a terminal, nothing elsewhere."""

import os
import sys

BOLD, DIM, CYAN = "1", "2", "36"


def ink(text: str, *codes: str) -> str:
    """The text in a style where standard output shows it, and as it is in a pipe, a file or under NO_COLOR."""
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain or not text else f"\x1b[{';'.join(codes)}m{text}\x1b[0m"
