"""Fine-tuning: what is carried over of a trained model, what learns of it, and what is left in the end."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.data import DataError
from regard.hub import load, save
from regard.models import build as build_model
from regard.models.family import family
from regard.recipes import classify
from regard.recipes.classify import Recipe
from regard.text import Tokenizer
from regard.train.loop import fit

TEXTS = [
    f"the {thing} is {how}" for thing in ("film", "book", "song", "meal") for how in ("good", "bad", "fine", "dull")
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    rows = [f"{text},{'praise' if text.endswith(('good', 'fine')) else 'blame'}\n" for text in TEXTS]
    for split in ("train", "val", "test"):
        (folder / f"{split}.csv").write_text("text,label\n" + "".join(rows))
    return folder


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    """An encoder that was trained to fill gaps, or would have been."""
    tokenizer = Tokenizer.train(TEXTS, kind="pieces", vocab=120, mask=True)
    model = build_model("bert-nano", vocab=tokenizer.vocab, head="pretraining")
    save(tmp_path / "encoder", model, family=family("bert"), card={"title": "an encoder"}, tokenizer=tokenizer)
    return tmp_path / "encoder"


def recipe(data: Path, trained: Path, **flags: Any) -> Recipe:
    usual: dict[str, Any] = dict(steps=4, evaluate=2, save=2, batch_size=4, warmup=1, threads=1, precision="float32")
    return Recipe(data=str(data), model=str(trained), **usual | flags)


def test_the_body_is_carried_over_and_the_head_is_drawn_anew(data: Path, trained: Path) -> None:
    task = classify.build(recipe(data, trained))
    before, after = load(trained).model.state_dict(), task.model.state_dict()
    assert task.model.config.head == "classify"
    assert {name for name in after if name not in before} == {"head.classifier.weight", "head.classifier.bias"}
    assert all(torch.equal(after[name], before[name]) for name in after if name in before)
    assert task.card["before"] == {"name": "encoder"}
    assert any("drawn anew: head.classifier.weight, head.classifier.bias" in note for note in task.notes)


def test_a_head_that_says_the_same_labels_is_kept(data: Path, trained: Path, tmp_path: Path) -> None:
    flags = recipe(data, trained)
    fit(classify.build(flags), flags, tmp_path / "run", quiet=True)
    again = classify.build(replace(flags, model=str(tmp_path / "run")))
    kept = load(tmp_path / "run" / "model").model.state_dict()["head.classifier.weight"]
    torch.testing.assert_close(again.model.state_dict()["head.classifier.weight"], kept)


def test_flags_that_are_left_out_follow_from_model_and_data(data: Path, trained: Path) -> None:
    task = classify.build(recipe(data, trained, steps=0, epochs=2.0))
    assert task.settled == {"steps": 8, "warmup": 1, "lr": 1e-4}
    fresh = classify.build(Recipe(data=str(data), model="bert-nano", set=("dropout=0",)))
    assert fresh.settled == {"steps": 1200, "warmup": 100, "lr": 2e-3}


@pytest.mark.parametrize(
    ("freeze", "learning"),
    [
        ("none", {"embed", "segment", "position", "norm", "encoder.0", "encoder.1", "head"}),
        ("0", {"encoder.0", "encoder.1", "head"}),
        ("1", {"encoder.1", "head"}),
        ("all", {"head"}),
    ],
)
def test_what_is_frozen_does_not_learn(data: Path, trained: Path, freeze: str, learning: set[str]) -> None:
    task = classify.build(recipe(data, trained, freeze=freeze))
    names = [name for name, parameter in task.model.named_parameters() if parameter.requires_grad]
    assert {name.partition(".")[0] if "blocks" not in name else f"encoder.{name.split('.')[2]}" for name in names} == (
        learning
    )


def test_layers_that_are_not_there_cannot_be_frozen(data: Path, trained: Path) -> None:
    with pytest.raises(ValueError, match="--freeze 3: the model has 2 layers; give 0 to 2, or all"):
        classify.build(recipe(data, trained, freeze="3"))
    with pytest.raises(ValueError, match="--freeze half is no number of layers; give none, all, or 0 to 2"):
        classify.build(recipe(data, trained, freeze="half"))


def test_lora_leaves_a_plain_model_that_says_what_was_measured(data: Path, trained: Path, tmp_path: Path) -> None:
    flags = recipe(data, trained, lora=2, lr=1e-2)
    outcome = fit(classify.build(flags), flags, tmp_path / "run", quiet=True)
    found = load(tmp_path / "run")
    before = load(trained).model.state_dict()
    changed = {
        name for name, tensor in found.model.state_dict().items() if not torch.equal(tensor, before.get(name, tensor))
    }
    assert outcome.finished
    assert {name.split(".")[-2] for name in changed} == {"q", "v", "dense"}  # and the pooler, which is of the head
    assert found.card["measured"]["val accuracy"] == pytest.approx(outcome.best, abs=0.01)


def test_a_run_that_was_stopped_goes_on_bit_by_bit(data: Path, trained: Path, tmp_path: Path) -> None:
    flags = recipe(data, trained, lora=2, freeze="1", set=("dropout=0.1",))
    fit(classify.build(flags), flags, tmp_path / "whole", quiet=True)
    half = replace(flags, schedule="constant")
    fit(classify.build(half), half, tmp_path / "one", quiet=True)
    fit(classify.build(half), replace(half, steps=2), tmp_path / "two", quiet=True)
    fit(classify.build(half), replace(half, resume=True), tmp_path / "two", quiet=True)
    one, two = (load(tmp_path / name).model.state_dict() for name in ("one", "two"))
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_pairs_are_read_with_their_segments(tmp_path: Path, trained: Path) -> None:
    rows = [f"{first}\t{second}\t{int(first == second)}\n" for first in TEXTS[:4] for second in TEXTS[:4]]
    for split in ("train", "val"):
        (tmp_path / f"{split}.tsv").write_text("sentence1\tsentence2\tlabel\n" + "".join(rows))
    task = classify.build(recipe(tmp_path, trained))
    batch = next(iter(task.batches))
    assert set(batch.sides[2].ravel()) == {0, 1}
    assert torch.isfinite(task.loss(task.model, batch))
    with pytest.raises(ValueError, match="a intra reads one text, and the data have pairs; choose an encoder"):
        classify.build(Recipe(data=str(tmp_path)))


def test_packing_changes_no_loss(data: Path, trained: Path) -> None:
    task = classify.build(recipe(data, trained))
    batch = next(iter(task.batches))
    task.model.eval()
    said = task.model(torch.as_tensor(batch.sides[0]), lengths=torch.as_tensor(batch.lengths[0])).logits
    expected = torch.nn.functional.cross_entropy(said, torch.as_tensor(batch.sides[1][:, 0]), reduction="sum")
    torch.testing.assert_close(task.loss(task.model, batch), expected)


def test_what_cannot_be_begun_from_is_said(data: Path, trained: Path) -> None:
    with pytest.raises(DataError, match="training cannot begin from bret-nano: no model is called 'bret-nano'"):
        classify.build(recipe(data, Path("bret-nano")))
    with pytest.raises(ValueError, match=r"--set hidden=16 changes the shape of .*, which was trained; leave it out"):
        classify.build(recipe(data, trained, set=("hidden=16",)))
    with pytest.raises(ValueError, match=r"--limit 64 is more than the 32 tokens that .* reads; give less"):
        classify.build(recipe(data, trained, limit=64))
    with pytest.raises(ValueError, match=r"gpt-nano is a gpt, which has no head 'classify'; choose an encoder"):
        classify.build(recipe(data, Path("gpt-nano")))
