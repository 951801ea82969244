"""A run goes on with the data, the teacher and the flags that it began with, bit by bit, whatever the recipe."""

import signal
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from tests.unit.train.test_loop import SHORT, equal, line
from torch import Tensor, nn

from regard.data import Order
from regard.recipes import language, recognize
from regard.train.loop import fit
from regard.train.run import RunError

QUICK: dict[str, Any] = {
    **dict(steps=8, evaluate=4, save=3, warmup=2, threads=1, precision="float32", ema=0.9),
    **dict(average=2, keep=2),
}


@pytest.fixture
def album(tmp_path: Path) -> Path:
    """Pictures of two classes, in folders of their names."""
    for label, colour in (("red", (200, 40, 40)), ("blue", (40, 40, 200))):
        (tmp_path / "album" / label).mkdir(parents=True)
        for number in range(24):
            shade = (colour[0] + number, colour[1], colour[2] - number)
            Image.new("RGB", (16, 16), shade).save(tmp_path / "album" / label / f"{number}.png")
    return tmp_path / "album"


def seeing(album: Path) -> recognize.Recipe:
    """Pictures that vary by chance."""
    return recognize.Recipe(data=str(album), model="vit-nano", augment="move", batch_size=8, **QUICK)


def writing(rows: str, folder: Path) -> language.Recipe:
    """Lines, or one stream of text."""
    text = folder / "text.txt"
    text.write_text("".join(f"the cat {i} sat on mat {i % 7}.\n" for i in range(600)))
    shape = ("context=24",)
    return language.Recipe(
        data=str(text), rows=rows, tokenizer="characters", model="gpt-nano", set=shape, tokens=200, **QUICK
    )


def go(module: Any, recipe: Any, folder: Path, *, halt: int = 0) -> bool:
    """Train; with `halt`, Ctrl-C comes in the middle of so many batches."""
    torch.manual_seed(recipe.seed)
    asked, taken = module.build(recipe), count(1)

    def loss(model: nn.Module, batch: Any) -> Tensor:
        if next(taken) == halt:
            signal.raise_signal(signal.SIGINT)
        return asked.loss(model, batch)

    return fit(replace(asked, loss=loss), recipe, folder, recipe="x", quiet=True).finished


@pytest.mark.parametrize("what", ["varied pictures", "lines", "stream"])
def test_recipes_that_vary_or_pack_go_on_bit_by_bit(what: str, album: Path, tmp_path: Path) -> None:
    module, recipe = (recognize, seeing(album)) if what == "varied pictures" else (language, writing(what, tmp_path))
    assert go(module, recipe, tmp_path / "whole")
    assert not go(module, recipe, tmp_path / "parts", halt=2)
    assert not go(module, replace(recipe, resume=True), tmp_path / "parts", halt=3)
    assert go(module, replace(recipe, resume=True), tmp_path / "parts")
    assert equal(tmp_path / "whole", tmp_path / "parts")


@pytest.mark.parametrize("what", ["varied pictures", "lines", "stream"])
def test_two_processes_meet_together_what_one_meets_alone(what: str, album: Path, tmp_path: Path) -> None:
    """A batch is varied by its place among all batches, so that it does not matter who takes it."""
    module, recipe = (recognize, seeing(album)) if what == "varied pictures" else (language, writing(what, tmp_path))
    alone, first, second = (module.build(recipe).batches for _ in range(3))
    for rank, each in enumerate((first, second)):
        each.rank, each.ranks = rank, 2
    for _ in range(4):
        for taker in (first, second):
            one, other = next(alone), next(taker)
            assert np.array_equal(one.rows, other.rows)
            ours, theirs = (batch.image if what == "varied pictures" else batch.sides[0] for batch in (one, other))
            assert np.array_equal(np.asarray(ours), np.asarray(theirs))


def test_one_pixel_that_is_another_makes_other_data(album: Path) -> None:
    """By its names and labels the folder is the same."""
    batches: Any = recognize.build(seeing(album)).batches
    state = batches.state
    batches.restore(state)
    changed = next(path for path in sorted(album.rglob("*.png")))
    with Image.open(changed) as picture:
        picture.load()
        picture.putpixel((3, 3), (0, 255, 0))
        picture.save(changed)
    both: list[Any] = [recognize.build(seeing(album)).batches for _ in range(2)]
    with pytest.raises(ValueError, match=r"taken with contents .* continue with the same data"):
        both[0].restore(state)
    both[1].restore({name: value for name, value in state.items() if name != "contents"})  # an older run says nothing


def test_contents_are_part_of_a_state_only_where_somebody_knows_them() -> None:
    assert "contents" not in Order([1, 2], room=2).state
    assert Order([1, 2], room=2, contents=5).state["contents"] == 5


def test_another_teacher_is_refused(tmp_path: Path) -> None:
    def taught(bias: float) -> Any:
        teacher = nn.Linear(1, 1)
        nn.init.constant_(teacher.weight, 1.0)
        nn.init.constant_(teacher.bias, bias)
        return replace(line(), teacher=teacher)

    fit(taught(0.0), replace(SHORT, steps=5), tmp_path, recipe="line", quiet=True)
    going = replace(SHORT, steps=10, resume=True)
    with pytest.raises(RunError, match="the teacher is another one than the run began with"):
        fit(taught(0.5), going, tmp_path, recipe="line", quiet=True)
    assert fit(taught(0.0), going, tmp_path, recipe="line", quiet=True).step == 10
