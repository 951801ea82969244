"""Train a model by a recipe; it can stop and go on anywhere.

Ctrl-C stops behind the step that runs, and the same command with --resume goes on as if nothing had happened. Under
torchrun the same command trains with several processes.

    regard train translate --source de --target en --lower
    regard train translate --out runs/translate-0 --resume
    torchrun --nproc-per-node 2 -m regard train translate --accumulate 2
"""

import json
import os
import re
import sys
from dataclasses import asdict, replace
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Annotated, Any, Union

from tyro.conf import subcommand

from regard import recipes
from regard.cli.errors import UsageError
from regard.train.plan import Plan, check, fields_of

GROUP = "Train and run"

MODULES = {
    info.name: import_module(f"regard.recipes.{info.name}")  # their fields import no torch
    for info in iter_modules(recipes.__path__)
}
RECIPES = {name: module for name, module in MODULES.items() if hasattr(module, "Recipe")}


def _text(module: ModuleType) -> str:
    """The docstring of a recipe, with its commands set in, so that each keeps a line of its own."""
    return re.sub(r"^(?=regard |torchrun )", "    ", cleandoc(module.__doc__ or ""), flags=re.MULTILINE)


Flags: Any = Union[  # noqa: UP007 - as many kinds as there are files
    tuple(Annotated[module.Recipe, subcommand(name, description=_text(module))] for name, module in RECIPES.items())
]


def main(flags: Plan) -> None:
    """Train, and say where the model is and how good."""
    name = type(flags).__module__.rpartition(".")[2]
    folder = Path(flags.out or f"runs/{name}-{flags.seed}")
    from regard.data import DataError
    from regard.train.run import RunError, admit

    try:
        admit(folder, resume=flags.resume)
        recipe: Any = _resumed(flags, folder) if flags.resume else flags
        check(recipe, int(os.environ.get("WORLD_SIZE", 1)))  # before the data are read
    except (RunError, ValueError) as error:
        raise UsageError(str(error)) from None
    from regard.train.loop import fit
    from regard.train.ranks import Ranks

    try:
        with Ranks() as ranks:
            task, card = RECIPES[name].build(recipe)
            outcome = fit(task, recipe, folder, recipe=name, card=card, ranks=ranks)
    except (RunError, DataError) as error:
        raise SystemExit(str(error)) from None
    if ranks.first and flags.json:
        print(json.dumps({"recipe": name, **asdict(outcome), "folder": str(outcome.folder)}))
    elif ranks.first and outcome.finished:
        print(f"{outcome.folder / 'model'}: best score {outcome.best:.4g} in {outcome.minutes:.1f} minutes")
    if not outcome.finished:
        sys.stdout.flush()
        raise SystemExit(130)


def _resumed(flags: Plan, folder: Path) -> Plan:
    """The recipe of the run in a folder; a flag may say again what it says, not something else."""
    from regard.train.run import asked

    usual, before = fields_of(type(flags)()), asked(folder)["fields"]
    changed: dict[str, Any] = {}
    for name, given in fields_of(flags).items():
        was = before.get(name, given)
        was = tuple(was) if isinstance(was, list) else was  # JSON has no pairs
        if given not in (was, usual[name]):
            raise UsageError(f"{folder} was begun with --{name} {was}, not {given}; resume with the same")
        changed[name] = was
    return replace(flags, **changed)
