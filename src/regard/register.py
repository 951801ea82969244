"""Add models and tasks of your own to those that every part of the library finds."""

from typing import TypeVar

from regard import models
from regard.models import Family
from regard.pipelines import registry
from regard.pipelines.pipeline import Pipeline

T = TypeVar("T", Family, type[Pipeline])


def register(own: T) -> T:
    """Add a `Family` of models or a `Pipeline` of a task. For the command line, name its file in REGARD_PLUGINS."""
    if isinstance(own, Family):
        models.register(own)
    elif isinstance(own, type) and issubclass(own, Pipeline):
        registry.register(own)
    else:
        raise TypeError(f"a {type(own).__name__} cannot be registered; give a Family or a class of Pipeline")
    return own
