"""The verbs of the command line: every file of this folder that names its GROUP."""

import ast
from collections.abc import Iterator
from pathlib import Path

from regard.cli.ink import BOLD, CYAN, DIM, ink
from regard.cli.source import constant, parse_file, sentence

# Groups in the order of the help; any other follows.
GROUPS = ["Start here", "Look inside", "Train and run", "Reference"]
TRY = ("demo", "translate", "look")  # verbs whose first example works at once


class Verb:
    """One word that may follow `regard`, as its file describes it."""

    def __init__(self, path: Path) -> None:
        tree = parse_file(path)
        self.name = path.stem
        self.group = str(constant(tree, "GROUP") or "")
        self.text = ast.get_docstring(tree) or ""
        self.summary = sentence(tree)

    @property
    def examples(self) -> list[str]:
        """The lines of the docstring that can be typed."""
        return [line.strip() for line in self.text.splitlines() if line.strip().startswith("regard ")]


def verbs() -> dict[str, Verb]:
    """Every verb by its name."""
    found = [Verb(path) for path in sorted(Path(__file__).parent.glob("*.py"))]
    return {verb.name: verb for verb in found if verb.group}


def overview(summary: str) -> Iterator[str]:
    """The lines of `regard --help`: what regard is, its verbs by purpose, and a few commands to try."""
    known = list(verbs().values())
    width = max(len(verb.name) for verb in known)
    yield ink("regard", BOLD) + f" · {summary}"
    for group in (*GROUPS, *sorted({verb.group for verb in known}.difference(GROUPS))):
        members = [verb for verb in known if verb.group == group]
        if members:
            yield ""
            yield ink(group, BOLD)
            yield from (f"  {ink(verb.name.ljust(width), CYAN)}  {verb.summary}" for verb in members)
    yield ""
    yield ink("Try", BOLD)
    for verb in (verb for name in TRY for verb in known if verb.name == name):
        command, _, why = verb.examples[0].partition("  ")
        yield f"  {command:<62}" + ink(why.strip(), DIM)
    yield ""
    yield ink("regard VERB --help explains a verb; regard --version tells the version.", DIM)
