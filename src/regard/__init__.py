"""One attention equation, every model on it; look inside while it runs at full speed."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.attention import Trace as Trace
    from regard.attention import record as record
    from regard.models import build as build
    from regard.pipelines.door import load as load
    from regard.pipelines.registry import register as register
    from regard.web.show import show as show

__version__ = "0.1.0"

# What `import regard` offers, and where it lives: importing it is quick, and torch waits until it is needed.
_HOMES = {
    "load": "regard.pipelines.door",
    "build": "regard.models",
    "record": "regard.attention",
    "Trace": "regard.attention",
    "register": "regard.pipelines.registry",
    "show": "regard.web.show",
}
_FLOORS = (
    *("analysis", "attention", "claims", "data", "decode", "hub", "layers", "models", "pipelines", "recipes"),
    *("sound", "text", "train", "vision", "web", "words", "world", "zoo"),
)


def __getattr__(name: str) -> Any:
    """`regard.load`, `regard.attention`, …: imported when somebody asks for them."""
    if name in _FLOORS:
        return import_module(f"regard.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    from regard.pipelines.familiar import explain

    way = explain(name)
    raise AttributeError(f"regard has no {name!r}; " + (f"write {way}" if way else f"it has {', '.join(_names())}"))


def _names() -> list[str]:
    """The public names of the package."""
    return sorted((*_HOMES, *_FLOORS))


def __dir__() -> list[str]:
    return _names()
