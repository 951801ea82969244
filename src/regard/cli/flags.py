"""Flags of a verb, read from the fields of its dataclass."""

import os
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any, get_args

from regard.cli.errors import UsageError
from regard.cli.verbs import Verb


def parse(kind: Any, verb: Verb, args: list[str]) -> Any:
    """The flags as given. Help is printed and ends the program; what does not fit is a `UsageError`."""
    import tyro  # a tenth of a second, so not before it is needed

    if not args and _words(kind):  # a verb with further words teaches them when none is given
        try:
            with redirect_stdout(sys.stderr):
                parse(kind, verb, ["--help"])
        except SystemExit:
            raise SystemExit(2) from None
    help_text, said = StringIO(), StringIO()
    # tyro does not know NO_COLOR, but it writes plainly to what is no terminal.
    out = help_text if os.environ.get("NO_COLOR") else sys.stdout
    try:
        with redirect_stdout(out), redirect_stderr(said):
            return tyro.cli(
                kind,
                prog=f"regard {verb.name}",
                description=verb.text,
                args=args,
                config=(tyro.conf.FlagCreatePairsOff,),
            )
    except SystemExit as end:
        if end.code:
            complaint = _complaint(said.getvalue())
            if complaint.startswith("unrecognized") and any(re.match(r"-+\w+ ", each) for each in args):
                complaint += ", and a text that begins with - goes last, behind --"
            raise UsageError(f"{complaint}; see regard {_page(kind, verb.name, args)} --help") from None
        sys.stdout.write(help_text.getvalue())
        raise


def _complaint(box: str) -> str:
    """What tyro's framed message says between its title and the next rule, as one line."""
    box = re.sub(r"\x1b\[[\d;]*m", "", box)  # tyro looks at standard output to decide on colours
    sections = re.split(r"^.*[─-]{3}.*$", box, flags=re.MULTILINE)
    text = re.sub(r"^[│|]|[│|]\s*$", "", sections[1] if len(sections) > 1 else box, flags=re.MULTILINE)
    complaint = " ".join(text.split()).rstrip(".")
    return complaint[:1].lower() + complaint[1:]


def _page(kind: Any, verb: str, args: list[str]) -> str:
    """Whose help to read: that of the verb, or of the word behind it where the flags are a choice of several kinds."""
    return f"{verb} {args[0]}" if args and args[0] in _words(kind) else verb


def _words(kind: Any) -> list[str]:
    """The words that may follow a verb, where its flags are a choice of several kinds."""
    return [get_args(option)[1].name for option in get_args(kind)]
