"""One attention equation, every model on it; look inside while it runs at full speed."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.web.show import show as show

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`regard.show(trace)` puts what was looked at into a notebook; torch is imported when it is asked for."""
    if name == "show":
        from regard.web.show import show

        return show
    raise AttributeError(f"module 'regard' has no attribute {name!r}")
