"""The named data sets: one file each, with its `DATASET` and a `read`; the folder is the registry."""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from regard.data.dataset import Dataset, Kind
from regard.names import unknown

MODULES: dict[str, ModuleType] = {
    module.DATASET.name: module
    for module in (import_module(f"{__name__}.{info.name}") for info in iter_modules(__path__))
}
SETS: dict[str, Dataset] = {name: module.DATASET for name, module in MODULES.items()}


def find(name: str) -> Dataset:
    """The set of a name."""
    if name not in SETS:
        raise ValueError(unknown("data set", name, SETS))
    return SETS[name]


def names(kind: Kind) -> str:
    """The sets of a kind, set out in a row."""
    return ", ".join(name for name, dataset in SETS.items() if dataset.kind == kind)
