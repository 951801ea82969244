"""One file, one task: call a model, evaluate it, look inside it. `regard.load` gives the pipeline of a model's task."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.pipelines.door import load as load
    from regard.pipelines.pipeline import Evaluation as Evaluation
    from regard.pipelines.pipeline import Pipeline as Pipeline
    from regard.pipelines.pipeline import TooLongError as TooLongError
    from regard.pipelines.registry import pipelines as pipelines
    from regard.pipelines.registry import register as register

_HOMES = {
    "load": "door",
    "Evaluation": "pipeline",
    "Pipeline": "pipeline",
    "TooLongError": "pipeline",
    "pipelines": "registry",
    "register": "registry",
}


def __getattr__(name: str) -> Any:
    """Tasks need torch, and are imported when somebody asks for one."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'regard.pipelines' has no attribute {name!r}")
    return getattr(import_module(f"regard.pipelines.{_HOMES[name]}"), name)
