"""Classification: tables of texts and labels become a task."""

from pathlib import Path

import pytest
import torch

from regard.data import DataError
from regard.recipes.classify import Recipe, build, report

SMALL = ("width=8", "hidden=8", "depth=1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.tsv").write_text("a good film\tpraise\na bad film\tblame\nso so\tneither\n")
    (tmp_path / "val.tsv").write_text("good\tpraise\n")
    return tmp_path


def test_labels_may_be_any_words_and_none_is_ignored(folder: Path) -> None:
    task = build(Recipe(data=str(folder), set=(*SMALL, "dropout=0"), word_dropout=0.0))
    assert task.card["labels"] == ["blame", "neither", "praise"]
    batch = next(iter(task.batches))
    task.model.eval()
    right = torch.tensor(batch.sides[1])[:, 0]
    scores = task.model(torch.tensor(batch.sides[0]), lengths=torch.tensor(batch.lengths[0]))
    expected = torch.nn.functional.cross_entropy(scores, right, reduction="sum")
    torch.testing.assert_close(task.loss(task.model, batch), expected)
    assert task.size(batch) == 3


def test_words_are_forgotten_in_training_alone(folder: Path) -> None:
    task = build(Recipe(data=str(folder), set=(*SMALL, "dropout=0"), word_dropout=0.9))
    batch = next(iter(task.batches))
    learning = {round(task.loss(task.model.train(), batch).item(), 6) for _ in range(8)}
    settled = {round(task.loss(task.model.eval(), batch).item(), 6) for _ in range(8)}
    assert len(learning) > 1
    assert len(settled) == 1


def test_a_folder_without_a_test_leaves_that_number_out(folder: Path) -> None:
    task = build(Recipe(data=str(folder), set=SMALL))
    assert task.measure is not None
    measured = task.measure(task.model.eval())
    assert "val accuracy" in measured
    assert not any(name.startswith("test") for name in measured)
    (folder / "test.tsv").write_text("bad\tblame\n")
    assert "test accuracy" in task.measure(task.model)


def test_validation_data_without_a_text_say_so(folder: Path) -> None:
    (folder / "val.tsv").write_text("text\tlabel\n\n")
    with pytest.raises(DataError, match="has no texts in its split 'val'; give more"):
        build(Recipe(data=str(folder)))


def test_a_label_that_is_not_learnt_is_refused(folder: Path) -> None:
    (folder / "val.tsv").write_text("good\tsuperb\n")
    with pytest.raises(DataError, match=r"the label 'superb' of .* is none of those to learn: blame, neither, praise"):
        build(Recipe(data=str(folder)))


def test_the_card_reports_each_label_and_what_it_was_taken_for() -> None:
    found = report(["a", "b", "b", "c"], ["a", "a", "b", "c"], ["a", "b", "c"])
    assert found["a"] == {
        "precision": 100.0,
        "recall": 50.0,
        "f1": 66.67,
        "count": 2,
        "taken for": {"a": 1, "b": 1, "c": 0},
    }


def test_numbers_have_intervals(folder: Path) -> None:
    (folder / "val.tsv").write_text("good\tpraise\nbad\tblame\nfilm\tneither\nso\tneither\n")
    task = build(Recipe(data=str(folder), set=SMALL))
    assert task.measure is not None
    measured = task.measure(task.model.eval())
    low, high = measured["val accuracy interval"]
    assert low <= measured["val accuracy"] <= high


def test_one_label_is_no_choice(folder: Path) -> None:
    (folder / "train.tsv").write_text("good\tpraise\n")
    with pytest.raises(DataError, match="has one label, 'praise', so that there is nothing to choose"):
        build(Recipe(data=str(folder)))
