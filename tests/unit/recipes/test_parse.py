"""Parsing as translation: what is read, what is written, and what is measured."""

from pathlib import Path
from types import SimpleNamespace

import torch

from regard.recipes.parse import Recipe, build, parses
from regard.recipes.writer import samples
from regard.text import Tokenizer
from regard.world.language import bracket, leaves, trees

SMALL = ("width=16", "depth=1", "heads=2", "hidden=16")
TINY = Recipe(trees=40, set=SMALL, vocab=400)


def test_a_sentence_is_read_and_its_tree_without_words_is_written() -> None:
    task = build(TINY)
    batch = next(iter(task.batches))
    assert task.card["data"] == "world"
    assert all(
        row[length - 1] == task.tokenizer.stop for row, length in zip(batch.sides[0], batch.lengths[0], strict=True)
    )
    assert task.size(batch) == int(batch.lengths[1].sum()) - len(batch.rows)
    assert torch.isfinite(task.loss(task.model, batch))


class Copyist(torch.nn.Module):
    """Writes one line after another, whatever it reads: a model that is sure of itself."""

    def __init__(self, ids: list[int], vocab: int) -> None:
        super().__init__()
        self.ids, self.vocab, self.where = ids, vocab, torch.nn.Parameter(torch.zeros(()))
        self.config, self.cross_attentions = SimpleNamespace(vocab=vocab), ()

    def start(self, source: torch.Tensor, *, lengths: torch.Tensor) -> "Place":
        return Place(0)

    def step(self, words: torch.Tensor, state: "Place") -> tuple[torch.Tensor, "Place"]:
        logits = torch.zeros(len(words), 1, self.vocab)
        logits[:, :, self.ids[state.at]] = 9.0
        return logits, Place(state.at + 1)


class Place:
    def __init__(self, at: int) -> None:
        self.at = at

    def select(self, rows: torch.Tensor) -> "Place":
        return self


def test_what_is_written_becomes_a_tree_over_each_sentence_in_its_order() -> None:
    line = "(S (NP DT NN ) (VP VBZ ) . )"
    tokenizer = Tokenizer.train([line, "the dog sleeps ."], vocab=280)
    model = Copyist([*tokenizer.encode([line], stop=True)[0]], tokenizer.vocab)
    found = parses(model, tokenizer, [("the", "dog", "really", "sleeps"), ("a", "cat", "runs", ".")])
    assert [bracket(tree) for tree in found] == [
        "(S (NP (DT the) (NN dog)) (VP (VBZ really)) (. sleeps))",
        "(S (NP (DT a) (NN cat)) (VP (VBZ runs)) (. .))",
    ]


def test_a_treebank_of_ones_own_is_learnt_and_longer_sentences_are_measured_apart(tmp_path: Path) -> None:
    for name, length in (("train", (4, 6)), ("val", (4, 6)), ("test", (4, 9))):
        written = "\n".join(bracket(each.tree) for each in trees(length=length)[:30])
        (tmp_path / f"{name}.mrg").write_text(written)
    task = build(Recipe(data=str(tmp_path), set=SMALL, vocab=400))
    assert task.measure is not None
    measured = task.measure(task.model.eval())
    assert measured["longest learnt"] == max(len(leaves(each.tree)) for each in trees(length=(4, 6))[:30])
    assert measured["test sentences"] + measured["longer sentences"] == 30
    assert measured["longer sentences"] > 3


def test_samples_are_whole_trees() -> None:
    line = "(S (NP DT NN ) (VP VBZ (NP DT JJ NN ) (PP IN (NP DT NN ) ) ) . )"
    tokenizer = Tokenizer.train([line, "the dog sleeps ."], vocab=270)
    model = Copyist([*tokenizer.encode([line], stop=True)[0]], tokenizer.vocab)
    (shown,) = samples("parse", model, tokenizer, [("the dog sleeps .", line)], 100)
    assert shown["written"] == line
