"""Put what the lectures claim to the test: an experiment, a number with its interval, a figure and a verdict.

A verdict is computed from the numbers by a criterion that was written first. `show` prints the result that came with
the library; `run` does the experiment again, here.

    regard claim list              the claims, and what was found
    regard claim show scale        one of them: experiment, control, criterion, result
    regard claim run scale         do it again, into the folder claims
"""

import json
import shutil
import sys
import textwrap
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg, subcommand

from regard.claims import claim, claims, stored
from regard.cli.errors import UsageError
from regard.cli.ink import BOLD, CYAN, DIM, ink

if TYPE_CHECKING:
    from regard.claims import Claim, Result

GROUP = "Look inside"


@dataclass(frozen=True, slots=True)
class List:
    """Print every claim with its verdict and its number."""

    json: bool = False
    """Print JSON instead of text."""


@dataclass(frozen=True, slots=True)
class Show:
    """Print one claim: how it is tested, by which criterion, and the result that is stored."""

    name: Annotated[Positional[str], arg(metavar="NAME")]
    """The name of a claim, as `list` prints it."""
    out: Path | None = None
    """A folder with results of your own; without it, the results that came with the library."""
    json: bool = False
    """Print JSON, with all that was measured."""


@dataclass(frozen=True, slots=True)
class Run:
    """Do the experiment, judge it, and write its numbers and its figure."""

    name: Annotated[Positional[str], arg(metavar="NAME")]
    """The name of a claim, as `list` prints it."""
    out: Path = Path("claims")
    """The folder for NAME.json and NAME.svg."""
    seed: int = 0
    """The first seed; an experiment with several takes the next ones too."""
    quick: bool = False
    """Seconds instead of minutes, to see that everything works; the numbers mean nothing."""
    keep: bool = False
    """Write into the library itself, in place of the result that it came with."""
    json: bool = False
    """Print the result as JSON."""


Flags = Annotated[List, subcommand("list")] | Annotated[Show, subcommand("show")] | Annotated[Run, subcommand("run")]


def main(flags: List | Show | Run) -> None:
    """Print the ledger or a page of it, or add to it."""
    if isinstance(flags, List):
        ledger(flags)
    elif isinstance(flags, Show):
        show(flags)
    else:
        run(flags)


def ledger(flags: List) -> None:
    """Print every claim."""
    found = [(one, stored(one.name)) for one in claims().values()]
    if flags.json:
        short = ("verdict", "number", "interval", "says", "seeds", "minutes", "machine")
        facts = [asdict(one) | {"result": result and _only(result, *short)} for one, result in found]
        print(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    for one, result in found:
        verdict = "not run yet" if result is None else f"{result.verdict}: {result.written} {one.measures}"
        print(f"{ink(one.name.ljust(11), BOLD, CYAN)} {verdict}")
        print("\n".join(_wrapped(f"“{one.sentence}”", indent=4)))
        print(ink("\n".join(_wrapped(one.deck, indent=4)), DIM))


def show(flags: Show) -> None:
    """Print one claim with its result."""
    one = _named(flags.name)
    result = stored(one.name) if flags.out is None else stored(one.name, flags.out)
    if result is None and flags.out is not None:
        raise UsageError(f"{flags.out} has no {one.name}.json; run: regard claim run {one.name} --out {flags.out}")
    if flags.json:
        print(json.dumps(asdict(one) | {"result": result and result.facts()}, indent=2, ensure_ascii=False))
        return
    _print(one)
    if result is None:
        print(f"\nNot run yet; run: regard claim run {one.name}")
    else:
        from regard.claims.claim import RESULTS

        _report(one, result, (flags.out or RESULTS) / f"{one.name}.svg")


def run(flags: Run) -> None:
    """Do the experiment while a bar tells how far it is."""
    one = _named(flags.name)
    if flags.keep and flags.quick:
        raise UsageError("--keep stores what was measured, and --quick measures nothing; leave one of them out")
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from regard.claims import run as experiment
    from regard.claims import save
    from regard.claims.claim import RESULTS

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as progress:
        bar = progress.add_task(one.name, total=1.0)
        result = experiment(
            one,
            seed=flags.seed,
            quick=flags.quick,
            tell=lambda done, now: progress.update(bar, completed=done, description=f"{one.name}: {now}"),
        )
    _, figure = save(result, RESULTS if flags.keep else flags.out)
    if flags.json:
        print(json.dumps(result.facts() | {"figure": str(figure)}, indent=2, ensure_ascii=False))
    else:
        _print(one)
        _report(one, result, figure)


def _print(one: "Claim") -> None:
    print(ink(one.name, BOLD, CYAN) + ink(f"  {one.deck}", DIM))
    print("\n".join(_wrapped(f"“{one.sentence}”")))
    for what in ("experiment", "control", "criterion"):
        print("\n" + ink(what, BOLD))
        print("\n".join(_wrapped(getattr(one, what))))


def _report(one: "Claim", result: "Result", figure: Path) -> None:
    print("\n" + ink(result.verdict, BOLD) + f": {result.written} {one.measures}")
    print("\n".join(_wrapped(result.says)))
    if result.quick:
        print("A quick run: it shows that everything works, and its numbers mean nothing.")
    print(ink(result.conditions, DIM))
    print(ink(f"figure: {figure}", DIM))


def _named(name: str) -> "Claim":
    try:
        return claim(name)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _only(result: "Result", *names: str) -> dict[str, Any]:
    return {name: getattr(result, name) for name in names}


def _wrapped(words: str, indent: int = 0) -> list[str]:
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    return textwrap.wrap(words, width, initial_indent=" " * indent, subsequent_indent=" " * indent)
