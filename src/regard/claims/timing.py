"""Time on a machine that others use too: by turns, and in several rounds, so that a busy moment meets everybody alike.

One thread is timed by the processor's clock, which stands still while others are served. Several threads wait for one
another, so they need the clock on the wall, and a machine that is otherwise idle.
"""

import os
from collections.abc import Callable, Mapping
from time import perf_counter, process_time

import torch

from regard.progress import Progress


def rounds(
    calls: Mapping[str, Callable[[], object]], count: int, progress: Progress | None = None
) -> dict[str, list[float]]:
    """The seconds of each call in each round; a first round warms up and is not counted."""
    clock = process_time if torch.get_num_threads() == 1 else perf_counter
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(count + 1):
        for name, call in calls.items():
            start = clock()
            call()
            if turn:
                taken[name].append(clock() - start)
        if progress is not None:
            progress((turn + 1) / (count + 1))
    return taken


def busy() -> bool:
    """Whether others are at work, as far as the system tells."""
    return hasattr(os, "getloadavg") and os.getloadavg()[0] > 0.5 * (os.cpu_count() or 1)
