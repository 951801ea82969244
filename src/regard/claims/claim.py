"""A claim, what was found about it, and how both are kept.

A claim file has a `CLAIM` of plain literals, which are read without running the file, and three functions::

    measure(seeds, quick, tell) -> Numbers    the experiment: everything that was measured, as JSON can hold it
    judge(numbers) -> Finding                 the criterion, in code: a verdict from numbers and nothing else
    draw(numbers) -> str                      the figure, as SVG

So a stored result can be judged and drawn again without repeating the experiment.
"""

import ast
import json
import os
import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any, Literal

Verdict = Literal["supported", "not at this scale", "refuted"]
Numbers = dict[str, Any]
Tell = Callable[[float, str], None]  # how much of the experiment is done, from 0 to 1, and what comes now


def silent(done: float, now: str) -> None:
    """For who is not interested in how far an experiment is."""


def part(tell: Tell, number: int, of: int, what: str) -> Tell:
    """How one of several parts tells how far it is."""
    return lambda done, now: tell((number + done) / of, f"{what}, {now}" if now else what)


HERE = Path(__file__).parent
RESULTS = HERE / "results"


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the lectures, and how it is put to the test."""

    name: str
    deck: str
    sentence: str  # as the deck says it
    experiment: str
    control: str
    criterion: str  # written before the first run
    measures: str  # what to read after the number
    seeds: int = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """What the numbers say: a verdict, the one number to remember with its interval, and a sentence around it."""

    verdict: Verdict
    number: float
    interval: tuple[float, float]
    says: str


@dataclass(frozen=True, slots=True)
class Result:
    """A finding with all that was measured, and how."""

    claim: str
    verdict: Verdict
    number: float
    interval: tuple[float, float]
    says: str
    seeds: tuple[int, ...]
    minutes: float  # of processor time, which a busy machine does not lengthen
    machine: str
    quick: bool  # a trial of the machinery, whose numbers mean nothing
    numbers: Numbers
    figure: str  # SVG

    @property
    def written(self) -> str:
        """The number with its interval, as people write it."""
        low, high = self.interval
        return f"{self.number:.3g} ({low:.3g} to {high:.3g})" if low < high else f"{self.number:.3g}"

    @property
    def conditions(self) -> str:
        """Seeds, minutes and machine, as people write them."""
        first, last = self.seeds[0], self.seeds[-1]
        seeds = f"seeds {first} to {last}" if first < last else f"seed {first}"
        return f"{seeds} · {self.minutes:.1f} minutes · {self.machine}"

    def facts(self) -> dict[str, Any]:
        """Everything but the figure, for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "figure"}


def ruled(*, supported: bool, refuted: bool) -> Verdict:
    """The verdict where a criterion names two sides: between them lies what this experiment cannot tell."""
    return "refuted" if refuted else "supported" if supported else "not at this scale"


def claims() -> dict[str, Claim]:
    """Every claim in the folder by name, read without running it, so that nobody waits for torch."""
    found = [_read(path) for path in sorted(HERE.glob("*.py"))]
    return {one.name: one for one in found if one is not None}


def claim(name: str) -> Claim:
    """One claim; an unknown name is answered with the nearest."""
    known = claims()
    if name not in known:
        near = get_close_matches(name, known, n=1)
        way = f"did you mean {near[0]}?" if near else f"choose {', '.join(known)}"
        raise ValueError(f"no claim is called {name!r}; {way}")
    return known[name]


def run(one: Claim, *, seed: int = 0, quick: bool = False, tell: Tell = silent) -> Result:
    """Do the experiment and judge it. A `quick` run takes seconds and shows only that everything works."""
    experiment = import_module(f"regard.claims.{one.name}")
    seeds = list(range(seed, seed + (1 if quick else one.seeds)))
    start = process_time()
    measured = experiment.measure(seeds, quick, tell)
    minutes = (process_time() - start) / 60
    numbers = json.loads(json.dumps(measured))  # judged and drawn as they will be read back
    found: Finding = experiment.judge(numbers)
    return Result(
        one.name,
        found.verdict,
        found.number,
        found.interval,
        found.says,
        tuple(seeds),
        round(minutes, 2),
        machine(),
        quick,
        numbers,
        experiment.draw(numbers),
    )


def save(result: Result, folder: Path) -> tuple[Path, Path]:
    """Write the numbers and the figure, and tell where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    facts, figure = folder / f"{result.claim}.json", folder / f"{result.claim}.svg"
    facts.write_text(json.dumps(result.facts(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    figure.write_text(result.figure, encoding="utf-8")
    return facts, figure


def stored(name: str, folder: Path = RESULTS) -> Result | None:
    """The result that a folder keeps of a claim; without a folder, the one that came with the library."""
    path = folder / f"{name}.json"
    if not path.is_file():
        return None
    facts = json.loads(path.read_text(encoding="utf-8"))
    facts |= {"interval": tuple(facts["interval"]), "seeds": tuple(facts["seeds"])}
    return Result(**facts, figure=path.with_suffix(".svg").read_text(encoding="utf-8"))


def machine() -> str:
    """What the experiment ran on."""
    import torch

    cpu = platform.processor() or platform.machine()
    if (info := Path("/proc/cpuinfo")).is_file():
        names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        cpu = names[0] if names else cpu
    return f"{cpu}, {os.cpu_count()} cores, torch {torch.__version__.partition('+')[0]}"


def _read(path: Path) -> Claim | None:
    """The `CLAIM = Claim(name="…", …)` of a file; a file without one, or one half written, is no claim."""
    try:
        body = ast.parse(path.read_text(encoding="utf-8")).body
    except SyntaxError:
        return None
    for node in body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.targets[0]) == "CLAIM"
        ):
            given = {word.arg: ast.literal_eval(word.value) for word in node.value.keywords}
            return Claim(**{field.name: given[field.name] for field in fields(Claim) if field.name in given})
    return None
