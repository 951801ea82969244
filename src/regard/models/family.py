"""What every model file ends with, and how it is found: the folder is the registry."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from torch import nn


@dataclass(frozen=True, slots=True)
class Family:
    """A paper's model: its settings, its module, and the sizes it was published in, with one `-nano` for tests."""

    name: str
    config: type[Any]
    model: type[nn.Module]
    presets: Mapping[str, Any]

    def build(self, preset: str | None = None, **changes: Any) -> nn.Module:
        """A fresh model of a published size, or of the paper's base size."""
        if preset is not None and preset not in self.presets:
            raise KeyError(f"{self.name} has no size {preset!r}; choose from {', '.join(self.presets)}")
        return self.model(replace(self.config() if preset is None else self.presets[preset], **changes))


def families() -> dict[str, Family]:
    """Every family in the folder, by name."""
    package = import_module("regard.models")
    modules = (import_module(f"regard.models.{info.name}") for info in iter_modules(package.__path__))
    found = [module.FAMILY for module in modules if hasattr(module, "FAMILY")]
    return {family.name: family for family in found}


def build(preset: str, **changes: Any) -> nn.Module:
    """A fresh model by the name of a size, such as `deepsets-nano`."""
    sizes = {size: one for one in families().values() for size in one.presets}
    if preset not in sizes:
        near = get_close_matches(preset, sizes, n=3, cutoff=0.4) or sorted(sizes)
        raise KeyError(f"no model has the size {preset!r}; try {', '.join(near)}")
    return sizes[preset].build(preset, **changes)


def family(name: str) -> Family:
    """One family; an unknown name is answered with the nearest."""
    known = families()
    if name not in known:
        near = get_close_matches(name, known, n=3, cutoff=0.4) or sorted(known)
        raise KeyError(f"no family is called {name!r}; try {', '.join(near)}")
    return known[name]
