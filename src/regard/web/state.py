"""What a server has: models, runs, one worker, and what was looked at."""

from dataclasses import dataclass, field
from pathlib import Path

from regard.web.models import Models
from regard.web.queue import Worker
from regard.web.readings import Readings


@dataclass(frozen=True, slots=True)
class AppState:
    """All that the routes of the explorer share."""

    models: Models
    runs: Path | None = None
    worker: Worker = field(default_factory=Worker)
    readings: Readings = field(default_factory=Readings)
