"""Vectors of texts: pairs that belong together, or scores of pairs, become a task."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

import regard
from regard.data import DataError, Example
from regard.recipes.embed import SCALE, Recipe, Scale, build, scale_of, vectors
from regard.train.loop import fit

SMALL = ("width=16", "heads=2", "depth=1", "hidden=32", "context=24", "dropout=0")
PAIRS = [("a dog runs", "the dog is running"), ("a cat sleeps", "the cat naps"), ("it rains", "there is rain")]


def write(folder: Path, rows: str) -> Path:
    for split in ("train", "val"):
        (folder / f"{split}.tsv").write_text(rows)
    return folder


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    rows = "".join(f"{first}\t{second}\t{score}\n" for (first, second), score in zip(PAIRS, (5, 2.5, 0), strict=True))
    return write(tmp_path, "sentence1\tsentence2\tscore\n" + rows)


@pytest.fixture
def paired(tmp_path: Path) -> Path:
    rows = "".join(f"{first}\t{second}\n" for first, second in (*PAIRS, ("so wet", "there is rain")))
    return write(tmp_path, "anchor\tpositive\n" + rows)


def test_a_cosine_learns_its_score(scored: Path) -> None:
    task = build(Recipe(data=str(scored), set=SMALL, vocab=60))
    batch = next(iter(task.batches))
    first, second = vectors(task.model.eval(), batch)
    wanted = torch.tensor([(1.0, 0.5, 0.0)[row] for row in batch.rows.tolist()])
    expected = ((first * second).sum(-1) - wanted).square().sum()
    torch.testing.assert_close(task.loss(task.model, batch), expected)
    assert task.metric == "spearman"


def test_packed_texts_have_the_vectors_they_have_alone(scored: Path) -> None:
    task = build(Recipe(data=str(scored), set=SMALL, vocab=60))
    batch = next(iter(task.batches))
    first, _ = vectors(task.model.eval(), batch)
    for vector, row, length in zip(first, batch.sides[0], batch.lengths[0], strict=True):
        alone = task.model(torch.as_tensor(row[:length])[None]).hidden[0].mean(0)
        torch.testing.assert_close(vector, alone / alone.norm())


def test_pairs_are_told_from_the_others_of_the_batch_and_no_answer_is_wrong_twice(paired: Path) -> None:
    task = build(Recipe(data=str(paired), set=SMALL, vocab=60))
    batch = next(iter(task.batches))
    assert len(batch.rows) == 4
    first, second = vectors(task.model.eval(), batch)
    cosines = SCALE * first @ second.T
    place = {row: i for i, row in enumerate(batch.rows.tolist())}
    cosines[place[2], place[3]] = cosines[place[3], place[2]] = -math.inf  # both are answered with the same text
    expected = torch.nn.functional.cross_entropy(cosines, torch.arange(4), reduction="sum")
    torch.testing.assert_close(task.loss(task.model, batch), expected)
    assert task.metric == "nearest"


def test_only_pairs_of_one_label_belong_together(tmp_path: Path) -> None:
    rows = "".join(f"{a}\t{b}\t{'same' if i else 'other'}\n" for i, (a, b) in enumerate(PAIRS))
    write(tmp_path, "premise\thypothesis\tlabel\n" + rows)
    task = build(Recipe(data=str(tmp_path), set=SMALL, vocab=60, positive="same"))
    assert len(next(iter(task.batches)).rows) == 2


def test_the_objective_follows_from_the_labels() -> None:
    recipe = Recipe(data="mine")
    assert scale_of(recipe, [Example(("a", "b"), "1"), Example(("a", "b"), "3")]) == Scale(1, 3)
    assert scale_of(recipe, [Example(("a", "b"), ""), Example(("a", "b"), "")]) is None
    with pytest.raises(ValueError, match="mine has labels that are no numbers; take --objective contrastive"):
        scale_of(Recipe(data="mine", objective="cosine"), [Example(("a", "b"), "yes")])
    with pytest.raises(ValueError, match="all pairs of mine have the score 1; take --objective contrastive"):
        scale_of(recipe, [Example(("a", "b"), "1")])


def test_single_texts_make_no_pairs(tmp_path: Path) -> None:
    write(tmp_path, "text\tlabel\nalone\tyes\n")
    with pytest.raises(DataError, match=r"has one text a row; give pairs, or name both by --text first,second"):
        build(Recipe(data=str(tmp_path), set=SMALL))


def test_what_was_trained_is_opened_and_gives_those_vectors(scored: Path) -> None:
    recipe = Recipe(data=str(scored), set=SMALL, vocab=60, steps=2, warmup=0, lr=1e-3, evaluate=2, threads=1)
    fit(build(recipe), recipe, scored / "run", recipe="embed", quiet=True)
    embed: Any = regard.load(scored / "run")
    assert embed.task == "embed"
    (found,) = embed(["a dog runs"])
    assert sum(each * each for each in found.vector) == pytest.approx(1.0, abs=1e-5)
