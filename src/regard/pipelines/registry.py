"""Which tasks there are: the files of this folder, plugins, and what was registered."""

from collections.abc import Mapping
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
        _check_free(own, pipelines())
        _REGISTERED[own.task] = own
    else:
        raise TypeError(f"a {type(own).__name__} cannot be registered; give a Family or a class of Pipeline")
    return own


def pipelines() -> dict[str, type[Pipeline]]:
    """Every task by its name."""
    found = {name: own for name in _folder() if (own := _import(name)) is not None}
    for module in plugins.modules():
        if hasattr(module, "PIPELINE"):
            _check_free(module.PIPELINE, found)
            found[module.PIPELINE.task] = module.PIPELINE
    return found | _REGISTERED


def pipeline(task: str) -> type[Pipeline]:
    """The pipeline of a task, of which no other file is imported; an unknown name is answered with the nearest."""
    own = _import(task) if task in _folder() else _REGISTERED.get(task)
    if own is not None:
        return own
    if task not in (known := pipelines()):
        raise ValueError(unknown("task", task, known))
    return known[task]


def _folder() -> list[str]:
    return sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))


def _import(name: str) -> type[Pipeline] | None:
    found: type[Pipeline] | None = getattr(import_module(f"regard.pipelines.{name}"), "PIPELINE", None)
    return found


def _check_free(own: type[Pipeline], others: Mapping[str, type[Pipeline]]) -> None:
    """Refuse a name that is taken, unless by the same class before its notebook's cell or file was run again."""
    taken = others.get(own.task, own)
    if (taken.__module__, taken.__qualname__) != (own.__module__, own.__qualname__):
        raise ValueError(f"a task is called {own.task!r} already; give yours another name")
