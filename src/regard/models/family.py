"""What every model file ends with, and how it is found: the folder is the registry.

Families from outside of the package join them: a file named by REGARD_PLUGINS that ends with `FAMILY = Family(…)`, or
`register(Family(…))` in a program.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from torch import nn

from regard import plugins
from regard.names import unknown


@dataclass(frozen=True, slots=True)
class Family:
    """A paper's model: its settings, its module, and the sizes it was published in, with one `-nano` for tests.

    `example` makes keyword inputs of `forward` for a batch of two, and `frozen` names the beginnings of parameters that
    get no gradient, such as a teacher's.
    """

    name: str  # that of its file
    config: type[Any]
    model: type[nn.Module]
    presets: Mapping[str, Any]
    example: Callable[[Any], dict[str, Any]]
    frozen: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # What stands before the first hyphen of a preset names the family, so that `build` imports one file.
        if "-" in self.name:
            raise ValueError(f"the family {self.name!r} has a hyphen; call it {self.name.replace('-', '_')}")
        for preset in self.presets:
            if preset.partition("-")[0] != self.name:
                raise ValueError(f"the preset {preset!r} does not begin with {self.name!r}; try {self.name}-{preset}")

    def build(self, preset: str | None = None, **changes: Any) -> nn.Module:
        """A fresh model of a published size, or of the paper's base size, with some fields of its config changed."""
        if preset is not None and preset not in self.presets:
            raise KeyError(unknown("preset", preset, self.presets))
        config = self.config() if preset is None else self.presets[preset]
        known = [field.name for field in fields(config)]
        wrong = [name for name in changes if name not in known]
        if wrong:
            raise ValueError(f"{self.name} has no field {', '.join(wrong)}; its fields are {', '.join(known)}")
        return self.model(replace(config, **changes))


def family(name: str) -> Family:
    """One family; no file but its own is imported."""
    found = _find(name)
    if found is None:
        raise KeyError(unknown("family", name, families()))
    return found


def families() -> dict[str, Family]:
    """Every family by name: those of the folder, of plugins, and registered ones."""
    return {name: family(name) for name in folder()} | _outside()


def build(preset: str, **changes: Any) -> nn.Module:
    """A fresh model by the name of a preset, with some fields changed: `build("transformer-tiny", vocab=8000)`."""
    found = _find(preset.partition("-")[0])
    if found is None or preset not in found.presets:
        raise KeyError(unknown("model", preset, [size for each in families().values() for size in each.presets]))
    return found.build(preset, **changes)


def register(family: Family) -> None:
    """Make a family of your own known to `build`, to the hub and to whatever lists models."""
    _check_free(family, _outside())
    _registered[family.name] = family


def folder() -> list[str]:
    """The names of the model files."""
    package = import_module("regard.models")
    return [info.name for info in iter_modules(package.__path__) if info.name not in ("family", "tower")]


def _find(name: str) -> Family | None:
    if name in folder():
        found: Family = import_module(f"regard.models.{name}").FAMILY
        return found
    return _outside().get(name)


def _outside() -> dict[str, Family]:
    found = dict(_registered)
    for module in plugins.modules():
        if hasattr(module, "FAMILY"):
            _check_free(module.FAMILY, found)
            found[module.FAMILY.name] = module.FAMILY
    return found


def _check_free(family: Family, others: Mapping[str, Family]) -> None:
    """Refuse a name that is taken, unless by the same class before its notebook's cell or file was run again."""
    owner = f"regard.models.{family.name}" if family.name in folder() else _path(others.get(family.name))
    if owner not in (None, _path(family)):
        raise ValueError(f"the name {family.name!r} belongs to {owner}; give your family another")


def _path(family: Family | None) -> str | None:
    return None if family is None else f"{family.model.__module__}.{family.model.__qualname__}"


_registered: dict[str, Family] = {}
