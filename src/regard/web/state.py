"""What a server has: models, runs, the process that asks them, and pictures and other things that were given."""

from dataclasses import dataclass, field
from pathlib import Path

from regard.web.models import Models
from regard.web.pictures import Pictures
from regard.web.things import Things
from regard.web.worker import Worker


@dataclass(frozen=True, slots=True)
class AppState:
    """All that the routes of the explorer share."""

    models: Models
    runs: Path | None = None
    worker: Worker = field(default_factory=Worker)
    pictures: Pictures = field(default_factory=Pictures)
    things: Things = field(default_factory=Things)
