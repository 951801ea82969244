"""Tagging: words and tags become a task."""

from pathlib import Path

import pytest
import torch

from regard.data import DataError
from regard.recipes.tag import NONE, Recipe, build, first_pieces
from regard.text import Tokenizer

LINES = "Ada B-PER\nLovelace I-PER\nsaw O\nParis B-LOC\n. O\n\nParis B-LOC\nslept O\n. O\n\n"
SMALL = ("width=16", "heads=2", "depth=1", "hidden=32", "context=24", "dropout=0")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for split in ("train", "val", "test"):
        (tmp_path / f"{split}.conll").write_text(LINES)
    return tmp_path


def test_the_first_piece_of_a_word_has_its_tag_and_no_other(folder: Path) -> None:
    task = build(Recipe(data=str(folder), set=SMALL, vocab=40))
    batch = next(iter(task.batches))
    assert task.card["labels"] == ["B-LOC", "B-PER", "I-PER", "O"]
    assert task.tokenizer is not None
    row = next(i for i, length in enumerate(batch.lengths[0]) if length == max(batch.lengths[0]))
    tagged = [
        (task.tokenizer.entry(int(i)), tag) for i, tag in zip(*(side[row] for side in batch.sides[:2]), strict=True)
    ]
    assert len([tag for _, tag in tagged if tag != NONE]) == 5
    assert not any(piece.startswith(("##", "<")) for piece, tag in tagged if tag != NONE)
    assert task.size(batch) == 8


def test_the_loss_is_that_of_words_alone(folder: Path) -> None:
    task = build(Recipe(data=str(folder), set=SMALL, vocab=40))
    batch = next(iter(task.batches))
    task.model.eval()
    said = task.model(torch.as_tensor(batch.sides[0]), lengths=torch.as_tensor(batch.lengths[0])).logits
    beyond = torch.arange(said.shape[1]) >= torch.as_tensor(batch.lengths[0])[:, None]
    right = torch.as_tensor(batch.sides[1]).masked_fill(beyond, NONE)
    expected = torch.nn.functional.cross_entropy(said.flatten(0, 1), right.flatten(), reduction="sum")
    torch.testing.assert_close(task.loss(task.model, batch), expected)


def test_words_that_are_cut_off_are_outside_of_every_span(folder: Path) -> None:
    task = build(Recipe(data=str(folder), set=SMALL, vocab=40, limit=5))
    measured = task.measure(task.model.eval()) if task.measure else {}
    assert {"val accuracy", "val f1", "test f1", "test f1 interval"} <= set(measured)


def test_pieces_are_found_whatever_the_tokenizer() -> None:
    words = ("Ada", "Lovelace", "saw", "—", "Paris")
    for kind in ("pieces", "bytes", "words"):
        tokenizer = Tokenizer.train([" ".join(words)] * 3, kind=kind, vocab=300)
        ((window,),) = tokenizer.windows([(" ".join(words),)])
        found = first_pieces(words, window)
        assert len(found) == len(set(found)) == 5
        assert tokenizer.decode(window.ids[found[1] : found[2]]).strip() == "Lovelace"


def test_a_tag_that_is_not_learnt_is_refused(folder: Path) -> None:
    (folder / "val.conll").write_text("Ada B-ORG\n")
    with pytest.raises(DataError, match=r"the tag 'B-ORG' of .* is none of those to learn: B-LOC, B-PER, I-PER, O"):
        build(Recipe(data=str(folder), set=SMALL, vocab=40))
