"""A training in one file outside of the package: its own module, its own DataLoader, and the loop of all others."""

import json
from pathlib import Path

import pytest
from safetensors.torch import load_file

from regard.cli.main import main
from regard.plugins import load
from regard.train.run import metrics

OWN = '''
"""Which of two numbers is larger?

regard train larger.py --width 16
"""

from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from regard.train.plan import Plan
from regard.train.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    width: int = 8
    """Numbers inside."""
    steps: int = 12
    evaluate: int = 4
    save: int = 4
    warmup: int = 2


def build(recipe):
    torch.manual_seed(recipe.seed)
    model = nn.Sequential(nn.Linear(2, recipe.width), nn.Tanh(), nn.Dropout(0.2), nn.Linear(recipe.width, 2))
    x = torch.rand(100, 2, generator=torch.Generator().manual_seed(1))
    data = TensorDataset(x, x.argmax(dim=1))
    return Task(
        model=model,
        batches=DataLoader(data, batch_size=16, shuffle=True),
        size=lambda batch: len(batch[0]),
        loss=lambda model, batch: nn.functional.cross_entropy(model(batch[0]), batch[1], reduction="sum"),
        score=lambda model: {"wrong": (model(x).argmax(dim=1) != x.argmax(dim=1)).float().mean().item()},
        metric="wrong",
        unit="pairs",
        card={"title": "The larger one"},
    )
'''


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "larger.py"
    path.write_text(OWN)
    load.cache_clear()
    return path


def test_a_file_of_ones_own_trains_stops_resumes_and_leaves_a_model(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "whole"), "--width", "16", "--schedule", "constant"]
    assert main(["train", str(own), *out]) == 0
    said = capsys.readouterr().err
    assert "holds the state dict alone: a Task with a `family` leaves a model that regard.load opens" in said
    card = json.loads((tmp_path / "whole/model/card.json").read_text())
    assert (card["title"], card["recipe"], card["trained_with"]["width"]) == ("The larger one", "larger", 16)
    assert load_file(tmp_path / "whole/model/model.safetensors")["0.weight"].shape == (16, 2)
    parts = ["--out", str(tmp_path / "parts")]
    assert main(["train", str(own), *parts, *out[2:], "--steps", "5"]) == 0
    assert main(["train", str(own), *parts, "--resume", "--steps", "12"]) == 0
    whole, resumed = (
        [(row["step"], row["loss"], row["grad_norm"]) for row in metrics(tmp_path / name)]
        for name in ("whole", "parts")
    )
    assert resumed == whole


def test_a_plugin_is_a_recipe_by_its_name(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REGARD_PLUGINS", str(own))
    assert main(["train", "--help"]) == 0
    assert "larger" in capsys.readouterr().out
    assert main(["train", "larger", "--out", str(tmp_path / "run")]) == 0


def test_a_file_that_is_no_recipe_is_told_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.py").write_text("x = 1\n")
    assert main(["train", str(tmp_path / "empty.py")]) == 2
    assert "empty.py is no recipe; give it a dataclass `class Recipe(Plan)`" in capsys.readouterr().err
    assert main(["train", str(tmp_path / "nowhere.py")]) == 2
    assert "nowhere.py is no file; give a Python file" in capsys.readouterr().err
