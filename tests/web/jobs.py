"""Jobs for the process of the models, as tests need them: patient, stuck, hungry and mortal ones."""

import os
import threading
from pathlib import Path
from time import sleep
from typing import Any


def echo(_: Any, ticket: Any, value: Any, seconds: float = 0.0) -> Any:
    """What it is given, after a while."""
    ticket.begin()
    ticket.tell({"event": "step", "done": 1, "of": 1, "text": str(value)})
    sleep(seconds)
    return value


def where(_: Any, ticket: Any) -> tuple[int, str]:
    """In which process and thread it runs."""
    ticket.begin()
    return os.getpid(), threading.current_thread().name


def endless(_: Any, ticket: Any) -> None:
    """It never ends by itself, but checks its ticket."""
    ticket.begin()
    while True:
        ticket.check()
        sleep(0.005)


def stuck(_: Any, ticket: Any, path: str = "") -> None:
    """It never ends, and checks nothing."""
    ticket.begin()
    if path:
        Path(path).write_text("here")
    while True:
        sleep(1)


def hungry(_: Any, ticket: Any) -> int:
    """It wants 64 GB."""
    import torch

    ticket.begin()
    return len(torch.zeros(16 * 2**30, dtype=torch.float32))


def die(_: Any, ticket: Any) -> None:
    """It takes the process with it."""
    ticket.begin()
    os._exit(3)


def fail(_: Any, ticket: Any) -> None:
    """It has a fault."""
    ticket.begin()
    raise ZeroDivisionError("a fault of the test's")


def peek(_: Any, value: Any) -> Any:
    """Read something."""
    return value


def sit(_: Any) -> None:
    """Read without end."""
    while True:
        sleep(1)


def count(inside: Any) -> tuple[int, int]:
    """How many looks are kept, and in how many bytes."""
    return len(inside.readings), inside.readings.nbytes


def bound(inside: Any, room: int, cached: int, age: float) -> None:
    """Keep no more than this."""
    inside.readings.room, inside.readings.cached, inside.readings.age = room, cached, age
