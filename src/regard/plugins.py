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
from zlib import crc32


class PluginError(ValueError):
    """A file that REGARD_PLUGINS names and that cannot be used, with the reason and the way out in one sentence."""


def paths() -> list[Path]:
    """The files that REGARD_PLUGINS names."""
    found = []
    for place in filter(None, os.environ.get("REGARD_PLUGINS", "").split(os.pathsep)):
        path = Path(place)
        if not path.exists():
            raise PluginError(f"REGARD_PLUGINS names {place}, and nothing lies there; give Python files or folders")
        found += sorted(path.glob("[!_]*.py")) if path.is_dir() else [path]
    return found


def modules() -> list[ModuleType]:
    """The plugins, each run once."""
    return [load(path.resolve()) for path in paths()]


@cache
def load(path: Path) -> ModuleType:
    """Run a Python file that the user has named, as a module of its own."""
    # Two files in two folders may have one name.
    spec = spec_from_file_location(f"regard_plugin_{path.stem}_{crc32(str(path).encode()):08x}", path)
    if spec is None or spec.loader is None:
        raise PluginError(f"{path} is no Python file; give one that ends in .py")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[spec.name]
        raise PluginError(
            f"{path} cannot be run: {type(error).__name__}: {error}; mend it, or take it out of REGARD_PLUGINS"
        ) from error
    return module
