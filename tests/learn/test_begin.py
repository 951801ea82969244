"""Training may begin where another ended."""

from pathlib import Path
from typing import Any

import pytest
import torch

from regard.data import DataError
from regard.hub import load
from regard.recipes import translate, writer
from regard.train.loop import fit

SMALL: dict[str, Any] = dict(
    data="world", source="it", target="en", length=(3, 4), pairs=200, vocab=300,
    set=("width=16", "depth=1", "heads=2", "hidden=32"),
    steps=2, evaluate=2, tokens=400, threads=1, precision="float32",
)  # fmt: skip


def trained(folder: Path, **fields: Any) -> Path:
    recipe = translate.Recipe(**{**SMALL, **fields})
    fit(translate.build(recipe), recipe, folder, recipe="translate", quiet=True)
    return folder / "model"


def test_training_begins_with_the_weights_and_words_of_a_trained_model_and_the_card_says_so(tmp_path: Path) -> None:
    first = trained(tmp_path / "first", model="seq2seq-tiny", set=("width=16", "hidden=24"), lower=True)
    begin = {name: value for name, value in SMALL.items() if name not in writer.OF_THE_MODEL}
    recipe = translate.Recipe(**begin, init_from=str(first))
    task = translate.build(recipe)
    torch.testing.assert_close(dict(task.model.state_dict()), dict(load(first).model.state_dict()))
    fit(task, recipe, tmp_path / "second", recipe="translate", quiet=True)
    second = tmp_path / "second" / "model"
    card = load(second).card
    assert card["title"] == "Italian to English: recurrent network with additive attention, world"
    assert card["lower"] is True
    assert card["before"]["trained_with"] == load(first).card["trained_with"]
    assert card["trained_with"]["vocab"] == load(first).model.config.vocab
    assert card["trained_with"]["config"]["width"] == 16
    assert "model" not in card["trained_with"]
    assert (second / "tokenizer.json").read_text() == (first / "tokenizer.json").read_text()
    assert not load(second).model.embed.weight.equal(load(first).model.embed.weight)


@pytest.mark.parametrize("flag", [{"vocab": 900}, {"lower": True}, {"set": ("width=48",)}, {"model": "seq2seq-tiny"}])
def test_flags_that_a_trained_model_has_answered_are_refused(flag: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"so --{next(iter(flag))} would do nothing; leave it out"):
        translate.build(translate.Recipe(data="world", source="it", pairs=50, init_from="it-en", **flag))


def test_a_beginning_that_is_no_model_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="training cannot begin from nowhere: no model is called 'nowhere'"):
        translate.build(translate.Recipe(data="world", source="it", pairs=50, init_from="nowhere"))
