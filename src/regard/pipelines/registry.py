"""Which tasks there are: the files of this folder, plugins, and what was registered."""

from importlib import import_module
from pathlib import Path
from typing import TypeVar

from regard import models, plugins
from regard.models import Family
from regard.names import unknown
from regard.pipelines.pipeline import Pipeline

T = TypeVar("T", Family, type[Pipeline])

_REGISTERED: dict[str, type[Pipeline]] = {}


def register(own: T) -> T:
    """Add a `Family` of models or a class of `Pipeline`. For the command line, name its file in REGARD_PLUGINS."""
    if isinstance(own, Family):
        models.register(own)
    elif isinstance(own, type) and issubclass(own, Pipeline):
        if own.task in pipelines() and pipelines()[own.task].__qualname__ != own.__qualname__:
            raise ValueError(f"a task is called {own.task!r} already; give yours another name")
        _REGISTERED[own.task] = own
    else:
        raise TypeError(f"a {type(own).__name__} cannot be registered; give a Family or a class of Pipeline")
    return own


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
