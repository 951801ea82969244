"""Files spoilt by chance, thousands of each kind: each opens, or is refused by the one error of its door, and soon.

python -m bench fuzz                   20,000 files of every kind together
python -m bench fuzz --inputs 2000     a first look
python -m bench fuzz --seed 1          others
"""

import resource
import sys
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from zlib import crc32

from rich.table import Table
from tests.hostile.fuzz import SUBJECTS, Fuzz

from bench.clock import console


@dataclass(frozen=True)
class Trial:
    inputs: int = 20_000
    """How many files, of all kinds together."""
    seed: int = 0
    """Another seed spoils them otherwise; an input that fails is named by its seed and number."""
    only: tuple[str, ...] = ()
    """Some kinds alone."""


def main(trial: Trial) -> None:
    """Spoil, open, and tell what happened; the exit code is 1 where anything but an answer came."""
    names = [name for name in SUBJECTS if not trial.only or name in trial.only]
    table = Table(title=f"{trial.inputs:,} spoilt files, seed {trial.seed}")
    for column in ("kind", "files", "refused", "opened", "slowest ms", "failures"):
        table.add_column(column, justify="left" if column == "kind" else "right")
    failures = Counter[str]()
    total, began = 0, perf_counter()
    before = _peak()
    for place, name in enumerate(names):
        count = trial.inputs // len(names) + (place < trial.inputs % len(names))
        with TemporaryDirectory() as folder:
            refused, slowest, failed = _spoil(Fuzz(name, Path(folder)), name, trial.seed, count)
        failures += failed
        total += count
        wrong = sum(failed.values())
        table.add_row(name, str(count), str(refused), str(count - refused - wrong), f"{1e3 * slowest:.0f}", str(wrong))
    console.print(table)
    minutes = (perf_counter() - began) / 60
    console.print(
        f"{total:,} files in {minutes:.1f} minutes; memory grew by {_peak() - before:.0f} MB; "
        f"{sum(failures.values())} failures"
    )
    for said, count in failures.most_common():
        console.print(f"{count} × {said}", markup=False)
    sys.exit(1 if failures else 0)


def _spoil(fuzz: Fuzz, name: str, seed: int, count: int) -> tuple[int, float, Counter[str]]:
    """How many were refused, the longest that one took, and what failed."""
    refused, slowest, failures = 0, 0.0, Counter[str]()
    for number in range(count):
        start = perf_counter()
        try:
            refused += fuzz(Random(crc32(f"{name} {seed} {number}".encode()))) is not None
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # whatever comes is what is looked for
            where = traceback.extract_tb(error.__traceback__)[-1]
            said = ascii(" ".join(str(error).split()))[:200]
            place = f"{name}: {type(error).__name__} at {Path(where.filename).name}:{where.lineno}"
            failures[place] += 1
            if failures[place] == 1:
                console.print(f"{place}, number {number}: {said}", markup=False, soft_wrap=True)
        slowest = max(slowest, perf_counter() - start)
    return refused, slowest, failures


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
