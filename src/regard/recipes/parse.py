"""Parse sentences by translating them into their trees."""

from dataclasses import dataclass
from regard.train.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    pass
