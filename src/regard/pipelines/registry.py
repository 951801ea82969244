"""Which tasks there are: the files of this folder, plugins, and what was registered."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from regard import plugins
from regard.names import unknown
from regard.pipelines.pipeline import Pipeline

_REGISTERED: dict[str, type[Pipeline]] = {}


def register(kind: type[Pipeline]) -> type[Pipeline]:
    """Add a task of your own; its name must be free."""
    taken = _REGISTERED.get(kind.task, kind)
    if taken is not kind or find_spec(f"regard.pipelines.{kind.task}") is not None:
        raise ValueError(f"a task is called {kind.task!r} already; give yours another name")
    _REGISTERED[kind.task] = kind
    return kind


def pipelines() -> dict[str, type[Pipeline]]:
    """Every task by its name."""
    own = [import_module(f"regard.pipelines.{path.stem}") for path in sorted(Path(__file__).parent.glob("[!_]*.py"))]
    found = [module.PIPELINE for module in (*own, *plugins.modules()) if hasattr(module, "PIPELINE")]
    return {each.task: each for each in found} | _REGISTERED


def pipeline(task: str) -> type[Pipeline]:
    """The pipeline of a task; an unknown name is answered with the nearest."""
    if task not in (known := pipelines()):
        raise ValueError(unknown("task", task, known))
    return known[task]
