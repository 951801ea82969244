"""A training goes on where it stopped, on the processor and on an accelerator; who has one runs that too."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from regard.train import machine
from regard.train.loop import fit

DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no cuda device on this machine"),
    ),
]
SHARED: dict[str, Any] = {"schedule": "constant", "warmup": 0, "evaluate": 4, "save": 4, "precision": "float32"}
FIELDS: dict[str, dict[str, Any]] = {
    "recognize": {"data": "digits", "model": "vit-nano", "augment": "move", "batch_size": 16},
    "language": {
        "data": "world",
        "vocab": 400,
        "texts": 300,
        "model": "gpt-nano",
        "set": ("context=48",),
        "tokens": 500,
    },
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", FIELDS)
def test_a_training_goes_on_where_it_stopped(
    name: str, device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "device", lambda: torch.device(device))
    module = import_module(f"regard.recipes.{name}")

    def train(folder: Path, **changes: Any) -> dict[str, torch.Tensor]:
        recipe = replace(module.Recipe(**SHARED, **FIELDS[name]), **changes)
        torch.manual_seed(0)
        task = module.build(recipe)
        assert fit(task, recipe, folder, recipe=name, quiet=True).finished
        assert next(task.model.parameters()).device.type == device
        return load_file(folder / "model" / "model.safetensors")

    whole = train(tmp_path / "whole", steps=8)
    train(tmp_path / "parts", steps=4)
    parts = train(tmp_path / "parts", steps=8, resume=True)
    # A GPU adds in no fixed order; the processor is bit-equal, as other tests hold it to.
    torch.testing.assert_close(parts, whole, atol=2e-2 if device == "cuda" else 0.0, rtol=0.0)
