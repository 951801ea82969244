"""A model by the name of a preset, with some of its fields set otherwise: `--model transformer-tiny --set depth=6`."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from regard.names import unknown

if TYPE_CHECKING:
    from torch import nn

    from regard.models.family import Family

SWITCH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def family_of(preset: str) -> "Family":
    """The family that has a preset."""
    from regard.models import families

    known = {size: family for family in families().values() for size in family.presets}
    if preset not in known:
        raise ValueError(f"{unknown('preset', preset, known)}; regard list models shows them")
    return known[preset]


def build(preset: str, changes: Sequence[str], decided: Mapping[str, Any]) -> tuple["Family", "nn.Module"]:
    """The family of a preset and a fresh model, with `field=value` as the user sets them and what the data decide."""
    from regard.models import build

    family = family_of(preset)
    wanted = parse(family, changes)
    for name in wanted.keys() & decided.keys():
        raise ValueError(f"--set {name}={wanted[name]} is decided by the data, {decided[name]}; leave it out")
    return family, build(preset, **wanted, **decided)


def parse(family: "Family", changes: Sequence[str]) -> dict[str, Any]:
    """`field=value` as the family's config has it."""
    hints, found = get_type_hints(family.config), dict[str, Any]()
    known = [field.name for field in fields(family.config)]
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals:
            raise ValueError(f"--set {change} has no value; write field=value, say {known[0]}=…")
        if name not in known:
            raise ValueError(f"--set {change}: {unknown(f'field of {family.name}', name, known)}")
        try:
            found[name] = _value(value, hints[name])
        except ValueError:
            raise ValueError(f"--set {change}: {name} is {_type_name(hints[name])}, and {value!r} is none") from None
    return found


def refuse(recipe: Any, names: Sequence[str], where: str) -> None:
    """Refuse flags that would have no effect, which cards would tell as facts."""
    for each in fields(recipe):
        if each.name in names and (given := getattr(recipe, each.name)) != each.default:
            name = each.name.replace("_", "-")
            said = f"--{name} {given}" if not isinstance(given, bool) else f"--{name}" if given else f"--no-{name}"
            raise ValueError(f"{said} has no effect {where}; leave it out")


def _value(text: str, hint: Any) -> Any:
    options = get_args(hint)
    if get_origin(hint) is Literal:
        if text not in options:
            raise ValueError
        return text
    if NoneType in options:
        return None if text.lower() == "none" else _value(text, next(each for each in options if each is not NoneType))
    if get_origin(hint) is tuple:
        return tuple(_value(part, options[0]) for part in text.split(","))
    if hint is bool:
        if text.lower() not in SWITCH:
            raise ValueError
        return SWITCH[text.lower()]
    if hint not in (int, float, str):
        raise ValueError
    return hint(text)


def _type_name(hint: Any) -> str:
    options = get_args(hint)
    if get_origin(hint) is Literal:
        return f"one of {', '.join(map(str, options))}"
    return str(getattr(hint, "__name__", hint)) if not options else str(hint)
