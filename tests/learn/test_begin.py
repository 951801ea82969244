"""Training may begin where another ended."""

from pathlib import Path
from typing import Any

import pytest
import torch

from regard.data import DataError
from regard.hub import load
from regard.recipes import translate
from regard.train.loop import fit

SMALL: dict[str, Any] = dict(
    data="world", source="it", target="en", length=(3, 4), pairs=200, vocab=300, width=16, depth=1, heads=2, hidden=32,
    steps=2, evaluate=2, tokens=400, threads=1, precision="float32",
)  # fmt: skip


def trained(folder: Path, **fields: Any) -> Path:
    recipe = translate.Recipe(**{**SMALL, **fields})
    task, card = translate.build(recipe)
    fit(task, recipe, folder, recipe="translate", card=card, quiet=True)
    return folder / "model"


def test_training_begins_with_the_weights_and_words_of_a_trained_model(tmp_path: Path) -> None:
    first = trained(tmp_path / "first")
    task, _ = translate.build(translate.Recipe(**{**SMALL, "init_from": str(first), "vocab": 900, "width": 48}))
    torch.testing.assert_close(dict(task.model.state_dict()), dict(load(first).model.state_dict()))
    second = trained(tmp_path / "second", init_from=str(first))
    assert load(second).card["before"]["fields"] == load(first).card["fields"]
    assert (second / "tokenizer.json").read_text() == (first / "tokenizer.json").read_text()
    assert not load(second).model.embed.weight.equal(load(first).model.embed.weight)


def test_a_beginning_that_is_no_model_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="training cannot begin from nowhere: no model is called 'nowhere'"):
        translate.build(translate.Recipe(**{**SMALL, "init_from": "nowhere"}))
