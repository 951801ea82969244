"""Your own models, tasks and recipes, in files outside of the package.

REGARD_PLUGINS names Python files, or folders of them, divided as PATH is. Each is run once, when somebody first asks
what there is; a file that ends with `FAMILY = Family(…)` adds a model, one with `PIPELINE = …` a task, one with a
`Recipe` a training. `regard.register` does the same from a program of your own.
"""

import os
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def paths() -> list[Path]:
    """The files that REGARD_PLUGINS names."""
    found = []
    for place in filter(None, os.environ.get("REGARD_PLUGINS", "").split(os.pathsep)):
        path = Path(place)
        if not path.exists():
            raise ValueError(f"REGARD_PLUGINS names {place}, and nothing lies there; give Python files or folders")
        found += sorted(path.glob("[!_]*.py")) if path.is_dir() else [path]
    return found


def modules() -> list[ModuleType]:
    """The plugins, each run once."""
    return [load(path.resolve()) for path in paths()]


@cache
def load(path: Path) -> ModuleType:
    """Run a Python file that the user has named, as a module of its own."""
    spec = spec_from_file_location(f"regard_plugin_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is no Python file; give one that ends in .py")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
