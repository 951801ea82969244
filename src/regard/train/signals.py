"""Ctrl-C and a polite kill end a training behind the step that runs; a second Ctrl-C ends it at once."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from types import FrameType


class Stop:
    """Whether somebody has asked for an end."""

    wanted = False
    since = 0.0


@contextmanager
def stoppable(say: Callable[[str], object]) -> Iterator[Stop]:
    """A scope in which signals ask for an end instead of making one."""
    stop = Stop()

    def ask(number: int, _: FrameType | None) -> None:
        if stop.wanted:
            # A runner may pass on the one Ctrl-C that the terminal has sent us too.
            if number == signal.SIGINT and monotonic() - stop.since > 1.0:
                raise KeyboardInterrupt
            return
        stop.wanted, stop.since = True, monotonic()
        with suppress(RuntimeError):  # we may have interrupted another line in its middle
            say("stopping behind this step; once more to stop at once")

    try:
        before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: whoever runs us handles signals
        before = {}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
