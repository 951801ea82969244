"""Compare regard with its peers on this machine, in one run.

python -m bench                    every table
python -m bench attention windows  some of them
python -m bench --quick            a first look, in a minute
python -m bench --json out.json    the numbers for machines

Three trials stand beside the tables, each by its name alone: `fuzz`, `kills` and `soak`, as docs/trust.md tells.
"""

import json
import platform
import sys
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Annotated, Literal

import torch
import tyro

from bench import (
    agreement,
    attention,
    decoding,
    explorer,
    language,
    limits,
    paths,
    perceiver,
    pictured,
    recording,
    segment,
    training,
    translation,
    vision,
    windows,
    words,
    world,
)
from bench.clock import console
from regard.attention.kernel import cpu_multiplies_bfloat16

TABLES = {
    "limits": limits.run,
    "attention": attention.run,
    "recording": recording.run,
    "decoding": decoding.run,
    "translation": translation.run,
    "language": language.run,
    "agreement": agreement.run,
    "vision": vision.run,
    "pictured": pictured.run,
    "segment": segment.run,
    "windows": windows.run,
    "perceiver": perceiver.run,
    "paths": paths.run,
    "training": training.run,
    "world": world.run,
    "explorer": explorer.run,
    "words": words.run,
}
TRIALS = ("fuzz", "kills", "soak")


@dataclass(frozen=True)
class Bench:
    tables: tyro.conf.Positional[
        tuple[
            Literal[
                "limits",
                "attention",
                "recording",
                "decoding",
                "translation",
                "language",
                "agreement",
                "vision",
                "pictured",
                "segment",
                "windows",
                "perceiver",
                "paths",
                "training",
                "world",
                "explorer",
                "words",
            ],
            ...,
        ]
    ] = ()
    """Which tables; all of them when none is named."""
    quick: bool = False
    """Fewer repeats: to see that everything runs, not to quote."""
    threads: int = 2
    """Threads for every contestant."""
    bfloat16: Annotated[bool | None, tyro.conf.FlagConversionOff] = None
    """Time bfloat16 too; left out, only where the machine multiplies it in hardware."""
    json: Path | None = field(default=None)
    """Write every number to this file."""


def main(bench: Bench) -> None:
    torch.set_num_threads(bench.threads)
    bfloat16 = cpu_multiplies_bfloat16() if bench.bfloat16 is None else bench.bfloat16
    console.print(
        f"torch {torch.__version__}, {bench.threads} threads, {platform.machine()} "
        f"{torch.backends.cpu.get_cpu_capability()}, Python {platform.python_version()}"
    )
    if not bfloat16:
        console.print("bfloat16 is left out: this machine has no instruction for its products.")
    numbers = [row for name in bench.tables or TABLES for row in TABLES[name](quick=bench.quick, bfloat16=bfloat16)]
    if bench.json is not None:
        bench.json.write_text(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in TRIALS:
        trial = import_module(f"bench.{sys.argv[1]}")
        trial.main(tyro.cli(trial.Trial, description=trial.__doc__, args=sys.argv[2:]))
    else:
        main(tyro.cli(Bench, description=__doc__))
