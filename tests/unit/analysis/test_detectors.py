"""Heads with a name are found where they are, and nowhere else."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from regard.analysis.cells import head_cells, svg
from regard.analysis.detectors import KINDS, detect, repeat
from regard.attention import causal, multihead
from regard.models import build

VOCAB, PLACES = 30, 26


class Induction(nn.Module):
    """Olsson's circuit by hand: the first head writes which word stood before, the second looks for the present one.

    The stream has a room for the word, one for the word before, and one for the place.
    """

    def __init__(self, *, first: str = "previous") -> None:
        super().__init__()
        self.config = SimpleNamespace(vocab=VOCAB)
        width = 2 * VOCAB + PLACES
        word, before, place = slice(0, VOCAB), slice(VOCAB, 2 * VOCAB), slice(2 * VOCAB, width)
        self.blocks = nn.ModuleList(multihead(width, 1, qkv_bias=False, out_bias=False) for _ in range(2))
        zeros = [layer.weight for attn in self.blocks for layer in (attn.q, attn.k, attn.v, attn.out)]
        for weight in zeros:
            nn.init.zeros_(weight)
        low, high = self.blocks
        sharp = 40.0 * width**0.5  # so that the softmax chooses
        eye = torch.eye(width)
        with torch.no_grad():
            if first == "previous":
                low.q.weight[place, place] = sharp * torch.eye(PLACES).roll(-1, 0)
                low.k.weight[place, place] = torch.eye(PLACES)
            else:
                low.q.weight[word, word] = sharp * torch.eye(VOCAB)
                low.k.weight[word, word] = torch.eye(VOCAB)
            low.v.weight[word, word] = torch.eye(VOCAB)
            low.out.weight[before, word] = torch.eye(VOCAB)
            high.q.weight[before, word] = sharp * torch.eye(VOCAB)
            high.k.weight[before, before] = torch.eye(VOCAB)
            high.v.weight[:], high.out.weight[:] = eye, eye

    def forward(self, ids: Tensor) -> Tensor:
        x = torch.zeros(*ids.shape, 2 * VOCAB + PLACES)
        x[..., :VOCAB] = nn.functional.one_hot(ids, VOCAB).float()
        x[..., 2 * VOCAB : 2 * VOCAB + ids.shape[1]] = torch.eye(ids.shape[1])
        for attn in self.blocks:
            x = x + attn(x, visible=causal(ids.shape[1]))
        return x[..., :VOCAB]


def test_an_induction_head_and_the_previous_token_head_that_feeds_it_are_found() -> None:
    found = detect(Induction(), length=12)
    assert found.attentions == ("blocks.0", "blocks.1")
    assert [one[:2] for one in found.found("previous")] == [(0, 0)]
    assert [one[:2] for one in found.found("induction")] == [(1, 0)]
    assert found.found("duplicate") == []
    assert found.scores["induction"][1, 0] > 0.95


def test_a_head_that_looks_at_equal_words_is_a_duplicate_token_head() -> None:
    found = detect(Induction(first="words"), length=12)
    assert found.scores["duplicate"][0, 0] == pytest.approx(0.5, abs=0.01)  # the other half looks at the word itself
    assert (0, 0) in [one[:2] for one in found.found("duplicate")]
    assert found.found("induction") == found.found("previous") == []


@pytest.mark.parametrize("preset", ["gpt-nano", "bert-nano", "transformer-nano"])
def test_a_fresh_model_has_none_and_scores_about_chance(preset: str) -> None:
    found = detect(build(preset), length=12)
    for kind in KINDS:
        assert found.found(kind) == []
        scores = found.scores[kind]
        known = ~np.isnan(scores[:, 0])
        np.testing.assert_allclose(scores[known].mean(axis=1), found.chance[kind][known], rtol=0.25)
    assert found.chance["previous"][-1] == pytest.approx(1 / 24 if preset == "bert-nano" else 0.0566, rel=0.05)


def test_induction_is_not_asked_of_heads_that_see_the_future() -> None:
    found = detect(build("transformer-nano"), length=8)
    assert np.isnan(found.scores["induction"][:2]).all()
    assert not np.isnan(found.scores["induction"][2:]).any()
    assert "induction" not in "".join(table.name for table in head_cells(detect(build("bert-nano"), length=8)))


def test_words_are_said_twice_behind_the_start_and_from_those_that_are_given() -> None:
    ids = repeat(build("gpt-nano"), words=torch.arange(10, 30), start=1, length=7, rows=3)
    assert ids.shape == (3, 15)
    assert ids[:, 0].eq(1).all()
    assert ids[:, 1:8].equal(ids[:, 8:])
    assert ids[:, 1:].min() >= 10
    assert all(len(set(row.tolist())) == 7 for row in ids[:, 1:8])
    assert ids.equal(repeat(build("gpt-nano"), words=torch.arange(10, 30), start=1, length=7, rows=3))


def test_what_cannot_be_scored_is_said() -> None:
    with pytest.raises(ValueError, match="8 texts of 2 words show nothing"):
        detect(build("gpt-nano"), length=2)
    with pytest.raises(ValueError, match="a DeepSets reads x, visible, and no ids; choose a model of texts"):
        detect(build("deepsets-nano"), words=torch.arange(9))


def test_the_figure_has_a_table_for_each_kind_and_tells_chance() -> None:
    drawn = svg(head_cells(detect(Induction(), length=12)), title="Heads")
    for words in ("previous: the word before", "induction: what followed the same word before", "layer 1", "by chance"):
        assert words in drawn
