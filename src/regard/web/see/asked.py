"""What is asked of a reading, and of the model behind it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.analysis.reading import Reading
    from regard.attention.core import Edit
    from regard.pipelines import Pipeline


@dataclass(frozen=True, slots=True)
class Options:
    """What a request says."""

    at: str = ""  # `41,55` in percent from the left and the top, [CLS], or q3 for a query; else all on average
    by: bool = False  # who looks at this place, instead of what it looks at
    label: str = ""  # the class that a map is for, if not the one that the model names


@dataclass(frozen=True, slots=True)
class Asked:
    """A reading, and its model as it was when it read: with the heads that were edited."""

    reading: "Reading"
    pipeline: "Pipeline"
    edits: "Mapping[str, Edit]" = field(default_factory=dict)
