"""What is known of a kind of other people's checkpoints, and how it is found: the folder is the registry."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from torch import nn

from regard.hub.gate import CheckpointError, NoTableError
from regard.hub.tables.rules import Rule
from regard.models.family import Family
from regard.names import unknown
from regard.text import Tokenizer


@dataclass(frozen=True, slots=True)
class Table:
    """A `model_type` of Hugging Face as one of our families."""

    model_type: str
    family: Family
    # Those of every model, or of one with these fields of ours and this config.json of theirs.
    rules: Sequence[Rule] | Callable[[Mapping[str, Any], Mapping[str, Any]], Sequence[Rule]]
    config: Callable[[Mapping[str, Any], Set[str]], dict[str, Any]]  # their config.json and names: our fields
    to_json: Callable[[Any, Tokenizer | None], dict[str, Any]]
    tokenizer: Callable[[Mapping[str, Any], Tokenizer], Tokenizer]
    # What the card of such a model says, or that by the fields of ours: which task, above all.
    card: Mapping[str, Any] | Callable[[Mapping[str, Any]], Mapping[str, Any]]
    # Tensors that a file may have and a model with these fields of ours has not, as under a head that needs no pooler.
    unused: Callable[[Mapping[str, Any]], Set[str]] = lambda _: frozenset()
    prefix: str = ""  # of their names, which a file of the model without its head leaves out
    fits: Callable[[Any], bool] | None = None  # whether it writes a model of this config, where several tables might
    by_name: bool = False  # writes only where it is asked for by its `model_type`

    def rules_of(self, fields: Mapping[str, Any], about: Mapping[str, Any]) -> Sequence[Rule]:
        """The rules of a model with these fields of ours, beside this config.json of theirs."""
        return self.rules(fields, about) if callable(self.rules) else self.rules

    def card_of(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """The card of a model with these fields of ours."""
        return self.card(fields) if callable(self.card) else self.card


def tables() -> dict[str, Table]:
    """Every table in the folder, by the `model_type` it reads."""
    package = import_module("regard.hub.tables")
    modules = [import_module(f"regard.hub.tables.{info.name}") for info in iter_modules(package.__path__)]
    found: list[Table] = [module.TABLE for module in modules if hasattr(module, "TABLE")]
    return {table.model_type: table for table in found}


def table(model_type: object, folder: Path, name: str) -> Table:
    """The table of a `model_type`; an unknown one is answered with those there are."""
    known = tables()
    if not isinstance(model_type, str):
        raise CheckpointError(f"{folder / 'config.json'} names no model_type; fetch it again")
    if model_type not in known:
        raise NoTableError(unknown("model_type that can be loaded", model_type, known), folder, name)
    return known[model_type]


def find_problems(given: Mapping[str, Any], known: Set[str], fixed: Mapping[str, tuple[object, ...]]) -> list[str]:
    """What speaks against a config.json: fields that nobody knows, and those that have but some supported values."""
    return [f"{name} is not known" for name in given.keys() - known - fixed.keys()] + [
        f"{name} is {str(given[name])[:40]}, and only {allowed[0]} is supported"
        for name, allowed in fixed.items()
        if name in given and not any(type(given[name]) is type(each) and given[name] == each for each in allowed)
    ]


TASKS = {  # of the heads of encoders
    "pretraining": "fill",
    "masked": "fill",
    "classify": "classify",
    "tokens": "tag",
    "spans": "answer",
    "none": "embed",
}


def task_by_head(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The card of an encoder: its head says what it can do."""
    return {"task": TASKS[fields["head"]]}


def table_of(model: nn.Module, model_type: str | None = None) -> Table:
    """The table by which a model of ours is written for others; that of one `model_type`, where several might."""
    for each in tables().values():
        named = not each.by_name if model_type is None else each.model_type == model_type
        if named and type(model) is each.family.model and (each.fits is None or each.fits(model.config)):
            return each
    known = ", ".join(sorted({each.family.name for each in tables().values()}))
    raise ValueError(
        f"a {type(model).__name__} has no place in other libraries; models of these families have: {known}"
    )
