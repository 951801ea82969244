"""A training that is killed again and again, at random moments, ends bit by bit as one that never was.

python -m bench kills                       50 kills, over three recipes
python -m bench kills --recipes copy        a Transformer that copies letters, alone
python -m bench kills --kills 6             a first look

`copy` has dropout, a moving average and a mean of checkpoints, `recognize` varies its pictures by chance, `language`
packs lines into rows. Each is trained once undisturbed. Then every attempt goes on where the last one was killed, and
when it comes to its end, weights, moments, averages, measurements, samples and the model left are compared; then it
begins anew, until all kills are used.
"""

import os
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any, Literal

import torch
from PIL import Image
from rich.table import Table
from tests.unit.train import copying
from tests.unit.train.test_loop import equal

from bench.clock import console
from regard.train import checkpoint
from regard.train.loop import fit
from regard.train.run import newest

Name = Literal["copy", "recognize", "language"]
SHARED: dict[str, Any] = {"save": 1, "keep": 3, "average": 3, "ema": 0.9, "threads": 1, "precision": "float32"}
FIELDS: dict[Name, dict[str, Any]] = {
    "copy": {"steps": 30, "evaluate": 5},
    "recognize": {"model": "vit-nano", "augment": "move", "batch_size": 16, "steps": 30, "evaluate": 10, "warmup": 5},
    "language": {
        "data": "world",
        "vocab": 400,
        "texts": 300,
        "model": "gpt-nano",
        "set": ("context=48",),
        "tokens": 500,
        "steps": 30,
        "evaluate": 10,
        "warmup": 5,
    },
}


@dataclass(frozen=True)
class Trial:
    kills: int = 50
    """How many times a process is ended by SIGKILL, over all recipes together."""
    recipes: tuple[Name, ...] = ("copy", "recognize", "language")
    """Which trainings."""
    seed: int = 0
    """Of the moments."""


def main(trial: Trial) -> None:
    """Kill, go on, compare; the exit code is 1 where a bit is another."""
    torch.set_num_threads(1)
    dice, table, wrong = Random(trial.seed), Table(title=f"{trial.kills} kills, seed {trial.seed}"), 0
    for column in ("recipe", "kills", "ends compared", "bit-equal", "steps in s"):
        table.add_column(column, justify="left" if column == "recipe" else "right")
    for place, name in enumerate(trial.recipes):
        wanted = trial.kills // len(trial.recipes) + (place < trial.kills % len(trial.recipes))
        with TemporaryDirectory() as home:
            kills, ends, same, seconds = _trial(name, Path(home), wanted, dice)
        wrong += ends - same
        console.print(f"{name}: {kills} kills, {same} of {ends} ends are bit-equal")
        table.add_row(name, str(kills), str(ends), str(same), f"{FIELDS[name]['steps']} in {seconds:.1f}")
    console.print(table)
    sys.exit(1 if wrong else 0)


def _trial(name: Name, home: Path, wanted: int, dice: Random) -> tuple[int, int, int, float]:
    """Kills, how many trainings came to their end between them, how many of these were equal, and the time of one."""
    fields = {**SHARED, **FIELDS[name]}
    if name == "recognize":
        fields["data"] = str(_album(home / "album"))
    began = monotonic()
    assert _wait(_start(name, fields, home / "whole")) == 0, (home / f"{name}.log").read_text()
    seconds = monotonic() - began
    kills = ends = same = 0
    while kills < wanted or not ends:
        folder = home / f"parts-{ends}"
        while True:
            process = _start(name, fields | {"resume": (folder / "recipe.json").exists()}, folder)
            if kills < wanted:
                sleep(dice.uniform(0.0, seconds / 2))
                ended, status = os.waitpid(process, os.WNOHANG)
                if not ended:
                    os.kill(process, 9)
                    status = os.waitpid(process, 0)[1]
                if os.waitstatus_to_exitcode(status) == -9:
                    kills += 1
                    for path in folder.glob("checkpoints/*.safetensors"):
                        checkpoint.read(path)  # all that carries the name is whole
                    continue
                ended_well = os.waitstatus_to_exitcode(status) == 0
            else:
                ended_well = _wait(process) == 0
            assert ended_well, (home / f"{name}.log").read_text()
            break
        ends += 1
        alike = equal(home / "whole", folder), _said(home / "whole") == _said(folder)
        same += all(alike)
        if not all(alike):
            console.print(
                f"{name}, end {ends}: weights and measurements {alike[0]}, samples and checkpoints {alike[1]}"
            )
            console.print(_said(home / "whole"), _said(folder), (home / f"{name}.log").read_text()[-2000:])
    return kills, ends, same, seconds


def _start(name: Name, fields: dict[str, Any], folder: Path) -> int:
    """A training in a process of its own that need not import torch again."""
    if pid := os.fork():
        return pid
    os.dup2(os.open(folder.parent / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    try:
        if name == "copy":
            copying.train(folder, copying.Copy(**fields))
        else:
            module = import_module(f"regard.recipes.{name}")
            recipe = module.Recipe(**fields)
            torch.manual_seed(recipe.seed)
            fit(module.build(recipe), recipe, folder, recipe=name, quiet=True)
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def _wait(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _said(folder: Path) -> tuple[bytes, list[bytes]]:
    """The samples, and the names of the checkpoints that are left."""
    samples = folder / "samples.jsonl"
    left = sorted(path.name.encode() for path in (newest(folder) or folder).parent.glob("*.safetensors"))
    return samples.read_bytes() if samples.exists() else b"", left


def _album(folder: Path) -> Path:
    """Pictures of two colours that a model may learn, in the folders of their classes."""
    dice = Random(0)
    for label, colour in (("red", (200, 40, 40)), ("blue", (40, 40, 200))):
        (folder / label).mkdir(parents=True)
        for number in range(40):
            shade = tuple(max(0, min(255, each + dice.randrange(-40, 40))) for each in colour)
            Image.new("RGB", (16, 16), shade).save(folder / label / f"{number}.png")
    return folder
