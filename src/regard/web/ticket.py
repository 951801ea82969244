"""The right to go on computing, which ends with the time that a question has, or with whoever asked it."""

from collections.abc import Callable
from time import monotonic
from typing import Any

from regard.web.errors import RefusedError


class DroppedError(Exception):
    """Nobody waits for this answer any more."""


def _nobody(_: dict[str, Any]) -> None:
    """Where nobody wants to know how far it is."""


class Ticket:
    """What a job is given: it checks it in between, and tells by it how far it is."""

    def __init__(self, seconds: float, tell: Callable[[dict[str, Any]], None] = _nobody) -> None:
        self.seconds, self.until, self.dropped = seconds, float("inf"), False
        self.tell = tell

    def begin(self) -> None:
        """The time runs from here: the first question of all waits for torch and its model, which is not its fault."""
        self.until = monotonic() + self.seconds
        self.tell({"event": "begun"})

    def check(self) -> None:
        """Go on, or end here."""
        if self.dropped:
            raise DroppedError
        if monotonic() > self.until:
            raise too_long(self.seconds)


def too_long(seconds: float) -> RefusedError:
    """What a question is told whose time is up."""
    return RefusedError(503, f"this takes more than {seconds:g} seconds; give a shorter text or a narrower beam")
