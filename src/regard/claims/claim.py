"""A claim, what was found about it, and how both are kept.

A claim file has a `CLAIM` of plain literals, which are read without running the file, and three functions::

    measure(seeds, quick, progress) -> Numbers    the experiment: everything that was measured, as JSON can hold it
    judge(numbers) -> Finding                     the criterion, in code: a verdict from numbers and nothing else
    draw(numbers) -> str                          the figure, as SVG

So a stored result can be judged and drawn again without repeating the experiment.
"""

import ast
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any, Literal, TypeVar

from regard.files import read_json, write
from regard.names import unknown
from regard.progress import Progress

Verdict = Literal["supported", "not at this scale", "refuted"]
Numbers = dict[str, Any]
T = TypeVar("T")

HERE = Path(__file__).parent
RESULTS = HERE / "results"
DIGITS = 6  # significant ones of a stored number


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
    """What the numbers say: a verdict, the one number to remember with its 95 % interval, and a sentence around it."""

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
    def summary(self) -> str:
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


def verdict(*, supported: bool, refuted: bool) -> Verdict:
    """The verdict where a criterion names two sides: between them lies what this experiment cannot tell."""
    return "refuted" if refuted else "supported" if supported else "not at this scale"


def parts(progress: Progress, items: Sequence[T]) -> Iterator[tuple[T, Progress]]:
    """Each item with the progress of its own part, from 0 to 1, of the whole."""

    def part(place: int) -> Progress:
        return lambda done: progress((place + done) / len(items))

    return ((item, part(place)) for place, item in enumerate(items))


def track(items: Iterable[T], count: int, progress: Progress) -> list[T]:
    """All items, where making each takes a while; progress is told after each."""
    found = []
    for item in items:
        found.append(item)
        progress(len(found) / count)
    return found


def claims() -> dict[str, Claim]:
    """Every claim in the folder by name, read without running it, so that nobody waits for torch."""
    found = [_read(path) for path in sorted(HERE.glob("*.py"))]
    return {one.name: one for one in found if one is not None}


def claim(name: str) -> Claim:
    """One claim; an unknown name is answered with the nearest."""
    known = claims()
    if name not in known:
        raise ValueError(unknown("claim", name, known))
    return known[name]


def run(one: Claim, *, seed: int = 0, quick: bool = False, progress: Progress | None = None) -> Result:
    """Do the experiment and judge it. A `quick` run takes seconds and shows only that everything works."""
    from regard.train.machine import describe

    experiment = import_module(f"regard.claims.{one.name}")
    seeds = list(range(seed, seed + (1 if quick else one.seeds)))
    start = process_time()
    measured = experiment.measure(seeds, quick, progress or (lambda _: None))
    minutes = (process_time() - start) / 60
    # Judged and drawn as they will be read back.
    numbers = json.loads(json.dumps(measured), parse_float=lambda digits: float(f"{float(digits):.{DIGITS}g}"))
    found: Finding = experiment.judge(numbers)
    machine = describe()
    return Result(
        one.name,
        found.verdict,
        found.number,
        found.interval,
        found.says,
        tuple(seeds),
        round(minutes, 2),
        f"{machine['processor']}, {machine['cores']} cores, torch {str(machine['torch']).partition('+')[0]}",
        quick,
        numbers,
        experiment.draw(numbers),
    )


def save(result: Result, folder: Path) -> tuple[Path, Path]:
    """Write the numbers and the figure, and return where they are."""
    facts, figure = folder / f"{result.claim}.json", folder / f"{result.claim}.svg"
    write(facts, _json(result.facts()) + "\n")
    write(figure, result.figure)
    return facts, figure


def load(name: str, folder: Path = RESULTS) -> Result | None:
    """The result that a folder keeps of a claim; without a folder, the one that came with the library."""
    path = folder / f"{name}.json"
    if not path.is_file():
        return None
    facts = read_json(path)
    facts |= {"interval": tuple(facts["interval"]), "seeds": tuple(facts["seeds"])}
    return Result(**facts, figure=path.with_suffix(".svg").read_text(encoding="utf-8"))


def _json(value: object, indent: str = "") -> str:
    """JSON in which whatever holds no lists or objects, or fits into a line, stands on one line."""
    flat = json.dumps(value, ensure_ascii=False)
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if len(indent + flat) <= 120 or not any(isinstance(each, dict | list) for each in inner):
        return flat
    deeper = indent + " "
    names = [f"{json.dumps(name)}: " for name in value] if isinstance(value, dict) else [""] * len(inner)
    lines = [f"{deeper}{name}{_json(each, deeper)}" for name, each in zip(names, inner, strict=True)]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n" + ",\n".join(lines) + f"\n{indent}{closing}"


def _read(path: Path) -> Claim | None:
    """The `CLAIM = Claim(name="…", …)` of a file; a file without one, or one half written, is no claim."""
    try:
        body = ast.parse(path.read_text(encoding="utf-8")).body
    except SyntaxError:
        return None
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name("CLAIM")], value=ast.Call(keywords=words)):
                return Claim(**{str(word.arg): ast.literal_eval(word.value) for word in words})
    return None
