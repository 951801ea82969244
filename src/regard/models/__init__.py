"""One file, one paper. The folder is the registry: `build("deepsets-nano")` finds whatever lies here."""

from regard.models.family import Family, build, families

__all__ = ["Family", "build", "families"]
