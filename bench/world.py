"""How fast the little world is made: pictures and sentences a second, output by output, on one core and on two."""

import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from rich.table import Table

from bench.clock import console, race
from regard.world import language, render_batch, scenes
from regard.world.scene import Scene

SIZE, BATCH = 64, 256


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:  # noqa: ARG001
    seconds = 0.5 if quick else 3.0
    some = list(scenes(seed=0)[:BATCH])
    table = Table(title="The little world, items a second", title_justify="left", title_style="bold")
    for column in ("what", "one core", "two cores"):
        table.add_column(column, justify="left" if column == "what" else "right")
    numbers: list[dict[str, object]] = []

    def row(what: str, one: float, two: float | None = None) -> None:
        table.add_row(what, f"{one:,.0f}", "" if two is None else f"{two:,.0f}")
        numbers.append({"table": "World", "what": what, "one": one, "two": two})

    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        row("scenes built", BATCH / race({"": lambda: list(scenes(seed=1)[:BATCH])}, seconds=seconds)[""].best)
        for outputs in (
            ("rgb",),
            ("depth",),
            ("instance",),
            ("whole",),
            ("rgb", "depth", "instance", "whole", "edges"),
        ):
            best = race({"": partial(render_batch, some, SIZE, outputs=outputs)}, seconds=seconds)[""].best
            both = _together(pool, "pictures", seconds) if outputs == ("rgb",) else None
            row(f"{' + '.join(outputs)}, {SIZE}×{SIZE}", BATCH / best, both)
        best = race({"": lambda: render_batch(some, SIZE, baseline=0.0625)}, seconds=seconds)[""].best
        row(f"the right eye, {SIZE}×{SIZE}", BATCH / best)
        best = race({"": lambda: list(language.pairs("it", "en", seed=1)[:2000])}, seconds=seconds)[""].best
        row("aligned pairs it-en, 6 to 12 words", 2000 / best, _together(pool, "pairs", seconds))
        for name, view in (
            ("aligned pairs de-cs, 6 to 12 words", language.pairs("de", "cs")),
            ("aligned pairs it-en, 40 to 60 words", language.pairs("it", "en", length=(40, 60))),
            ("stories", language.stories("en")),
            ("questions about scenes", language.questions("en")),
        ):
            row(name, 500 / race({"": partial(list, view[:500])}, seconds=seconds)[""].best)
    console.print(table)
    return numbers


def _together(pool: ProcessPoolExecutor, what: str, seconds: float) -> float:
    """Items a second of two processes that work at the same time."""
    list(pool.map(_work, [(what, worker, 0.2) for worker in range(2)]))  # both are awake before the clock starts
    return sum(pool.map(_work, [(what, worker, seconds) for worker in range(2)]))


def _work(order: tuple[str, int, float]) -> float:
    what, worker, seconds = order
    some: list[Scene] = list(scenes(seed=0).part(worker, 2)[:BATCH])
    sentences = language.pairs("it", "en", seed=1).part(worker, 2)
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        if what == "pictures":
            render_batch(some, SIZE)
            done += BATCH
        else:
            list(sentences[done : done + 500])
            done += 500
    return done / (time.perf_counter() - start)
