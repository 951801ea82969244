"""Train a model by a recipe; it can stop and go on anywhere.

Ctrl-C stops behind the step that runs, and the same command with --resume goes on as if nothing had happened. Under
torchrun the same command trains with several processes. A recipe may also be a Python file of your own.

    regard train translate --source de --target en --lower
    regard train translate --out runs/translate-0 --resume
    regard train my_recipe.py --lr 1e-3
    torchrun --nproc-per-node 2 -m regard train translate --accumulate 2
"""

import json
import os
import re
import sys
from dataclasses import asdict, replace
from importlib import import_module
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Annotated, Any, Union

from tyro.conf import subcommand

from regard import plugins, recipes
from regard.cli.errors import UsageError
from regard.names import unknown
from regard.train.plan import Kept, Plan, check, check_bounds, fields_of

GROUP = "Train and run"


def recipes_of(args: list[str]) -> dict[str, ModuleType]:
    """The recipes that may be named: ours, those of plugins, and a Python file that is named here."""
    modules = {info.name: import_module(f"regard.recipes.{info.name}") for info in iter_modules(recipes.__path__)}
    found = {name: module for name, module in modules.items() if hasattr(module, "Recipe")}
    for module in plugins.modules():
        path = Path(str(module.__file__))
        if hasattr(module, "Recipe") and path.stem in found:
            raise UsageError(f"{path} has the name of a recipe that is there already; rename the file")
        if hasattr(module, "Recipe"):
            found[path.stem] = module
    if args and args[0].endswith(".py"):
        found[args[0]] = _own(Path(args[0]))
    return found


def _own(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"{path} is no file; give a Python file with a `Recipe` and a `build`")
    module = plugins.load(path.resolve())
    recipe = getattr(module, "Recipe", None)
    if not (isinstance(recipe, type) and issubclass(recipe, Plan) and hasattr(module, "build")):
        raise UsageError(
            f"{path} is no recipe; give it a dataclass `class Recipe(Plan)` and a function `build(recipe)` that "
            "returns a Task"
        )
    return module


def flags_of(args: list[str]) -> Any:
    """The flags of every recipe, as a choice.

    Who classifies pictures means `recognize`, and who classifies sounds or points `perceive`, which `args` then say.
    """
    found = recipes_of(args)
    if args[:1] == ["classify"]:
        args[0] = _means(args)
    if args and not args[0].startswith("-") and args[0] not in found:
        raise UsageError(unknown("recipe", args[0], found))
    return Union[  # noqa: UP007 - as many kinds as there are files
        tuple(Annotated[module.Recipe, subcommand(name, description=_text(module))] for name, module in found.items())
    ]


def _means(args: list[str]) -> str:
    """The recipe for the data that are named: for pictures, a set of them or a folder of folders, for sounds, …"""
    from regard.data.sets import SETS
    from regard.data.things import kind_of

    given = [following for name, following in pairwise(args) if name == "--data"]
    given += [arg.removeprefix("--data=") for arg in args if arg.startswith("--data=")]
    if not given:
        return "classify"
    name, folder = given[-1], Path(given[-1])
    if name in SETS:
        return {"images": "recognize", "sounds": "perceive", "points": "perceive"}.get(SETS[name].kind, "classify")
    if folder.is_dir() and any(inside.is_dir() for inside in folder.iterdir()):
        return "recognize" if kind_of(folder) is None else "perceive"
    return "classify"


def _text(module: ModuleType) -> str:
    """The docstring of a recipe, with its commands set in, so that each keeps a line of its own."""
    return re.sub(r"^(?=regard |torchrun )", "    ", cleandoc(module.__doc__ or ""), flags=re.MULTILINE)


def main(flags: Kept, args: list[str]) -> None:
    """Train, and say where the model is and how good."""
    module = recipes_of(args)[args[0]]
    name = Path(str(module.__file__)).stem
    folder = Path(flags.out or f"runs/{name}-{flags.seed}")
    from regard.data import DataError
    from regard.train.run import RunError, admit, compare

    try:
        admit(folder, resume=flags.resume)
        recipe: Any = _resume(flags, args, folder) if flags.resume else flags
        if flags.resume:
            compare(folder, name, json.loads(json.dumps(fields_of(recipe))))
        if isinstance(recipe, Plan):  # before the data are read
            check(recipe, int(os.environ.get("WORLD_SIZE", 1)))
        else:
            check_bounds(recipe)
    except (RunError, ValueError) as error:
        raise UsageError(str(error)) from None
    if hasattr(module, "run"):  # a training with a loop of its own
        try:
            outcome = module.run(recipe, folder)
        except ValueError as error:
            raise UsageError(str(error)) from None
        except (RunError, DataError) as error:
            raise SystemExit(str(error)) from None
        return _tell(outcome, name, module.METRIC, as_json=flags.json)
    import torch

    from regard.train.loop import fit
    from regard.train.ranks import Ranks

    with Ranks() as ranks:
        try:
            torch.manual_seed(recipe.seed)  # the first weights of a recipe that sets no seed of its own
            task = module.build(recipe)
        except DataError as error:
            raise SystemExit(str(error)) from None
        except ValueError as error:
            raise UsageError(str(error)) from None
        try:
            outcome = fit(task, recipe, folder, recipe=name, ranks=ranks)
        except (RunError, DataError) as error:
            raise SystemExit(str(error)) from None
    return _tell(outcome, name, task.metric, as_json=flags.json, quiet=not ranks.first)


def _tell(outcome: Any, name: str, metric: str, *, as_json: bool, quiet: bool = False) -> None:
    """Say how a training ended, and end as it did."""
    if as_json and not quiet:
        print(json.dumps({"recipe": name, **asdict(outcome), "folder": str(outcome.folder)}))
    elif outcome.finished and not quiet:
        print(f"{outcome.folder / 'model'}: best {metric} {outcome.best:.4g} in {outcome.minutes:.1f} minutes")
    if not outcome.finished:
        sys.stdout.flush()
        raise SystemExit(130)


def _resume(flags: Kept, args: list[str], folder: Path) -> Kept:
    """The flags that a run began with, and over them those that are said now."""
    from regard.train.run import read_recipe

    said = {arg.partition("=")[0].removeprefix("--").replace("-", "_") for arg in args if arg.startswith("--")}
    before = read_recipe(folder)["fields"]
    known: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value  # JSON has no tuples
        for name, value in before.items()
        if name in fields_of(flags) and name not in said
    }
    return replace(flags, **known)
