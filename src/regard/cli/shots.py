"""Show a language model a task by a few examples, and count what it gets right.

The task is a small file, JSON or TOML: instruction, format, examples and tests, with choices or without. The likeliest
choice is the answer; without choices it is what the model writes. The same examples with shuffled labels are the
control: what they still give was not learnt from the labels. `world` explains new words and asks for them.

    regard shots my-gpt reviews.json --shots 0 1 4 8
    regard shots world-gpt world --shots 0 1 2 --limit 100 --json
"""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.ink import BOLD, DIM, ink
from regard.cli.load import load_model
from regard.names import Dtype

if TYPE_CHECKING:
    from collections.abc import Iterator

    from regard.analysis.scores import Score
    from regard.pipelines import Evaluation

GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class Flags:
    model: Annotated[Positional[str], arg(metavar="MODEL")]
    """A name that `regard list zoo` shows, a folder, or hub:owner/name."""
    task: Annotated[Positional[str], arg(metavar="TASK")]
    """A file that ends in .json or .toml, or world."""
    shots: tuple[int, ...] = (0, 1, 4)
    """How many examples to show, each number in turn."""
    normalise: bool = False
    """Compare choices by their log probability for each byte, which favours no short ones."""
    free: bool = False
    """Let the model write its answer, also where there are choices; it must be right letter by letter."""
    max_new_tokens: int = 16
    """How many tokens an answer that is written may have."""
    limit: int = 0
    """Only the first so many tests; 0 takes all."""
    seed: int = 0
    """Random seed of the examples and of the shuffled labels."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one object for each number of shots."""


def main(flags: Flags) -> None:
    """Print the accuracy after each number of shots."""
    if flags.limit < 0:
        raise UsageError(f"a limit of {flags.limit} tests leaves nothing to measure; give 1 or more, or 0 for all")
    from regard.pipelines.shots import read_task, score_shots
    from regard.progress import bar

    try:
        task = read_task(flags.task)
        generate: Any = load_model(flags.model, task="generate", dtype=flags.dtype)
        with bar(f"{generate.name} answers {task.name}") as progress:
            found = score_shots(
                generate,
                task,
                flags.shots,
                normalise=flags.normalise,
                free=flags.free,
                max_new_tokens=flags.max_new_tokens,
                seed=flags.seed,
                limit=flags.limit,
                progress=progress,
            )
    except (ValueError, FileNotFoundError) as error:
        raise UsageError(str(error)) from None
    for line in _json(found, flags.shots) if flags.json else _table(found):
        print(line)


def _json(found: "Evaluation", shots: tuple[int, ...]) -> "Iterator[str]":
    chance = {"chance": found.scores["chance"].value} if "chance" in found.scores else {}
    for count in shots:
        facts: dict[str, Any] = {
            "shots": count,
            "tests": found.count,
            **_facts("accuracy", found.scores[f"{count} shots"]),
        }
        if count:
            facts |= _facts("shuffled", found.scores[f"{count} shots/shuffled labels"])
        yield json.dumps({"model": found.model, "task": found.data, **facts, **chance, **found.settings})


def _facts(name: str, score: "Score") -> dict[str, Any]:
    return {name: score.value, f"{name}_interval": score.interval}


def _table(found: "Evaluation") -> "Iterator[str]":
    how = ", ".join(f"{name} {value}" for name, value in found.settings.items())
    yield ink(f"{found.model} on {found.data}", BOLD) + f"  {ink(how, DIM)}"
    yield f"{found.count:,} tests in {found.seconds:.1f} s; percent right, and the interval of 95 in 100 resamples"
    for name, score in found.scores.items():
        between = "" if score.interval is None else "{:.1f} to {:.1f}".format(*score.interval)
        count, _, part = name.partition("/")
        yield f"{f'  {part}' if part else count:<18} {score.value:6.1f}  {ink(between, DIM)}".rstrip()
