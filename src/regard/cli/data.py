"""Get the data sets that have a name, and check them.

A set is looked for in the folder REGARD_DATA, then in the cache, and fetched from its public home where neither has it.
Every file is compared with the checksum of what was published.

    regard data list              the sets, their terms, and where they are
    regard data get multi30k      fetch what is not here yet
    regard data verify            compare every file that is here with its checksum
"""

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg, subcommand

from regard.cli.errors import UsageError
from regard.cli.ink import BOLD, CYAN, DIM, ink

if TYPE_CHECKING:  # numpy and the tokenizers wait until they are needed, so that help does not
    from regard.data import Dataset

GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class List:
    """Print the sets: what they are, on which terms, how large, and where they lie."""

    json: bool = False
    """Print JSON instead of text."""


@dataclass(frozen=True, slots=True)
class Get:
    """Fetch what is not here yet; a download that was interrupted continues."""

    name: Annotated[Positional[str], arg(metavar="NAME")]
    """The name of a set, as `list` prints it."""
    json: bool = False
    """Print the paths as JSON."""


@dataclass(frozen=True, slots=True)
class Verify:
    """Compare files with their checksums. A damaged file, or a set asked for by name that is not here, ends with 1."""

    name: Annotated[Positional[str], arg(metavar="NAME")] = ""
    """The name of a set; without it, all of them."""
    json: bool = False
    """Print JSON, with the state of each file."""


Flags = (
    Annotated[List, subcommand("list")] | Annotated[Get, subcommand("get")] | Annotated[Verify, subcommand("verify")]
)


def main(flags: List | Get | Verify) -> None:
    """Print the sets, fetch one, or check them."""
    from regard.data import DataError

    try:
        if isinstance(flags, List):
            show(flags)
        elif isinstance(flags, Get):
            fetch(flags)
        else:
            verify(flags)
    except DataError as error:
        raise SystemExit(str(error)) from None  # the message says what to do; the kind of the error adds nothing


def show(flags: List) -> None:
    """Print every set, with the folders its files lie in."""
    from regard.data import SETS

    if flags.json:
        facts = [asdict(dataset) | {"size": dataset.size, "here": _folders(dataset)} for dataset in SETS.values()]
        print(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    for dataset in SETS.values():
        counts = ", ".join(name if count is None else f"{name} {count:,}" for name, count in dataset.splits.items())
        print(ink(dataset.name, BOLD, CYAN) + f"  {dataset.about}")
        print("    " + " · ".join(filter(None, (dataset.kind, ", ".join(dataset.languages), counts))))
        print(f"    {_size(dataset)} · terms: {dataset.terms} · {ink(dataset.home, DIM)}")
        print(f"    {_where(dataset)}")


def fetch(flags: Get) -> None:
    """Bring a set here, and say where it lies."""
    from regard.data import get

    dataset = _find(flags.name)
    paths = [str(path) for path in get(dataset)]
    if flags.json:
        print(json.dumps(paths, indent=2, ensure_ascii=False))
    elif not paths:
        print(f"{dataset.name} is made as it is asked for; there is nothing to fetch")
    else:
        print(
            f"{dataset.name}: {len(paths)} files, {_size(dataset)}, all as published, in {', '.join(_folders(dataset))}"
        )
        print(f"terms: {dataset.terms} ({dataset.home})")


def verify(flags: Verify) -> None:
    """Print the state of each file."""
    from regard.data import SETS, inspect, locate

    chosen = [_find(flags.name)] if flags.name else list(SETS.values())
    found = []
    for dataset in chosen:
        for file in dataset.files:
            path = locate(dataset, file)
            state = "absent" if path is None else inspect(path, file)
            found.append({"set": dataset.name, "file": file.name, "path": path and str(path), "state": state})
    if flags.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        for dataset in chosen:
            states = [fact["state"] for fact in found if fact["set"] == dataset.name]
            counts = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
            print(f"{ink(dataset.name.ljust(14), CYAN)} {counts or 'made as it is asked for'}")
    bad = [fact for fact in found if fact["state"] != "whole" and (flags.name or fact["state"] != "absent")]
    if bad:
        files = ", ".join(f"{fact['path'] or fact['file']} is {fact['state']}" for fact in bad[:3])
        more = f", and {len(bad) - 3} more" if len(bad) > 3 else ""
        remove = "remove what is damaged and run" if any(fact["path"] for fact in bad) else "run"
        raise SystemExit(f"{files}{more}; {remove}: regard data get {bad[0]['set']}")


def _find(name: str) -> "Dataset":
    from regard.data import find

    try:
        return find(name)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _folders(dataset: "Dataset") -> list[str]:
    from regard.data import locate

    paths = [locate(dataset, file) for file in dataset.files]
    return list(dict.fromkeys(str(path.parent) for path in paths if path is not None))


def _where(dataset: "Dataset") -> str:
    if not dataset.files:
        return "always here"
    from regard.data import locate

    here = sum(locate(dataset, file) is not None for file in dataset.files)
    if not here:
        way = f"regard data get {dataset.name} fetches it" if dataset.folder else f"take it from {dataset.home}"
        return f"not here; {way}"
    return f"{here} of {len(dataset.files)} files in {', '.join(_folders(dataset))}"


def _size(dataset: "Dataset") -> str:
    return f"{dataset.size / 1e6:.1f} MB" if dataset.files else "no files"
