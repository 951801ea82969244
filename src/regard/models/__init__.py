"""One file, one paper. The folder is the registry: `build("deepsets-nano")` finds whatever lies here.

The models' classes are found here too, `from regard.models import Transformer`, when somebody asks for one.
"""

from importlib import import_module
from typing import Any

from regard.models.family import Family, build, families, folder, register

__all__ = ["Family", "build", "families", "register"]


def __getattr__(name: str) -> Any:
    if name in folder():
        return import_module(f"regard.models.{name}")
    if not name.startswith("_"):
        for each in families().values():
            if each.model.__name__ == name:
                return each.model
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *folder(), *(each.model.__name__ for each in families().values())})
