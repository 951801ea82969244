"""Test claims of the lectures by experiment: a verdict, a number with its 95 % interval, and a figure.

The verdict is computed from the numbers by a criterion that was written before the first run. `show` prints the result
that came with the library; `run` repeats the experiment on this machine.

    regard claim list              all claims, with verdict and number
    regard claim show scale        one claim: experiment, control, criterion, result
    regard claim run scale         repeat the experiment, into the folder claims
"""

import json
import shutil
import textwrap
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg, subcommand

from regard.claims import claim, claims, load
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
    """Print one claim: experiment, control, criterion and the stored result."""

    name: Annotated[Positional[str], arg(metavar="NAME")]
    """The name of a claim, as `list` prints it."""
    out: Path | None = None
    """A folder with results of your own; without it, the results that came with the library."""
    json: bool = False
    """Print JSON, with all that was measured."""


@dataclass(frozen=True, slots=True)
class Run:
    """Run the experiment, compute the verdict, and write the numbers and the figure."""

    name: Annotated[Positional[str], arg(metavar="NAME")]
    """The name of a claim, as `list` prints it."""
    out: Path = Path("claims")
    """The folder for NAME.json and NAME.svg."""
    seed: int = 0
    """The first random seed; an experiment with several takes the next ones too."""
    quick: bool = False
    """A smoke test: seconds instead of minutes, to see that everything works; the numbers mean nothing."""
    keep: bool = False
    """Write into the library itself, in place of the result that it came with."""
    json: bool = False
    """Print the result as JSON."""


Flags = Annotated[List, subcommand("list")] | Annotated[Show, subcommand("show")] | Annotated[Run, subcommand("run")]


def main(flags: List | Show | Run) -> None:
    """List, show or run claims."""
    if isinstance(flags, List):
        list_claims(flags)
    elif isinstance(flags, Show):
        show(flags)
    else:
        run(flags)


def list_claims(flags: List) -> None:
    """Print every claim."""
    found = [(one, load(one.name)) for one in claims().values()]
    if flags.json:
        short = ("verdict", "number", "interval", "says", "seeds", "minutes", "machine")
        facts = [
            asdict(one) | {"result": result and {name: getattr(result, name) for name in short}}
            for one, result in found
        ]
        print(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    for one, result in found:
        verdict = "not run yet" if result is None else f"{result.verdict}: {result.summary} {one.measures}"
        print(f"{ink(one.name.ljust(11), BOLD, CYAN)} {verdict}")
        print(_wrap(f"“{one.sentence}”", indent=4))
        print(ink(_wrap(one.deck, indent=4), DIM))


def show(flags: Show) -> None:
    """Print one claim with its result."""
    from regard.claims.claim import RESULTS

    one, folder = _find(flags.name), flags.out or RESULTS
    result = load(one.name, folder)
    if result is None and flags.out is not None:
        raise UsageError(f"{folder} has no {one.name}.json; run: regard claim run {one.name} --out {folder}")
    if flags.json:
        print(json.dumps(asdict(one) | {"result": result and result.facts()}, indent=2, ensure_ascii=False))
        return
    _print(one, result, folder / f"{one.name}.svg")


def run(flags: Run) -> None:
    """Run the experiment behind a progress bar."""
    one = _find(flags.name)
    if flags.keep and flags.quick:
        raise UsageError("--keep stores what was measured, and --quick measures nothing; leave one of them out")
    from regard.claims import run as experiment
    from regard.claims import save
    from regard.claims.claim import RESULTS
    from regard.progress import bar

    with bar(one.name, 100.0) as progress:
        result = experiment(one, seed=flags.seed, quick=flags.quick, progress=lambda done: progress(100 * done))
    _, figure = save(result, RESULTS if flags.keep else flags.out)
    if flags.json:
        print(json.dumps(result.facts() | {"figure": str(figure)}, indent=2, ensure_ascii=False))
    else:
        _print(one, result, figure)


def _print(one: "Claim", result: "Result | None", figure: Path) -> None:
    print(ink(one.name, BOLD, CYAN) + ink(f"  {one.deck}", DIM))
    print(_wrap(f"“{one.sentence}”"))
    for what in ("experiment", "control", "criterion"):
        print("\n" + ink(what, BOLD))
        print(_wrap(getattr(one, what)))
    if result is None:
        print(f"\nNot run yet; run: regard claim run {one.name}")
        return
    print("\n" + ink(result.verdict, BOLD) + f": {result.summary} {one.measures}")
    print(_wrap(result.says))
    if result.quick:
        print("A quick run: it shows that everything works, and its numbers mean nothing.")
    print(ink(result.conditions, DIM))
    print(ink(f"figure: {figure}", DIM))


def _find(name: str) -> "Claim":
    try:
        return claim(name)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _wrap(words: str, indent: int = 0) -> str:
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    return textwrap.fill(words, width, initial_indent=" " * indent, subsequent_indent=" " * indent)
