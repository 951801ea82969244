"""Intra-attention: a reader looks over its own past, never at its future, and its weights can be watched."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import Additive, off, record
from regard.models.intra import LSTMN, PRESETS, Reader

ATTN = "readers.0.attn"


def nano(depth: int = 1) -> LSTMN:
    return LSTMN(replace(PRESETS["intra-nano"], depth=depth)).eval()


def some(batch: int = 2, words: int = 6) -> Tensor:
    return torch.randint(0, 120, (batch, words))


def written_out(reader: Reader, x: Tensor) -> tuple[list[Tensor], list[list[float]]]:
    """Equations 4 to 8 of the paper for one sentence, in loops: hidden states, and the weights of each word."""
    assert isinstance(reader.attn.score, Additive)
    q, k, v = reader.attn.q.weight, reader.attn.k.weight, reader.attn.score.energy.weight[0]
    cell, size = reader.cell, reader.hidden
    constant = cell.bias_ih + cell.bias_hh
    hiddens: list[Tensor] = []
    memories: list[Tensor] = []
    weights: list[list[float]] = []
    hidden = torch.zeros(size)
    for word in x:
        from_word, from_hidden = q[:, : word.numel()] @ word, q[:, word.numel() :] @ hidden
        scores = [v @ torch.tanh(k @ past + from_word + from_hidden) for past in hiddens]
        total = sum(torch.exp(score) for score in scores)
        shares = [torch.exp(score) / total for score in scores]
        hidden, memory = torch.zeros(size), torch.zeros(size)
        for share, past_hidden, past_memory in zip(shares, hiddens, memories, strict=True):
            hidden, memory = hidden + share * past_hidden, memory + share * past_memory
        gates = cell.weight_ih @ word + cell.weight_hh @ hidden + constant
        i, f, g, o = gates[:size], gates[size : 2 * size], gates[2 * size : 3 * size], gates[3 * size :]
        memories.append(torch.sigmoid(f) * memory + torch.sigmoid(i) * torch.tanh(g))
        hiddens.append(torch.sigmoid(o) * torch.tanh(memories[-1]))
        weights.append([float(share) for share in shares])
    return hiddens, weights


@torch.no_grad()
def test_states_and_weights_are_those_of_the_papers_equations() -> None:
    model, ids = nano(), some(batch=3, words=7)
    for part in model.readers.parameters():
        part.mul_(3.0)  # away from weights that are all alike
    with record(model) as trace:
        states = model.read(ids)
    looked = trace.weights(ATTN)
    for row in range(3):
        hiddens, weights = written_out(model.readers[0], model.embed(ids[row]))
        torch.testing.assert_close(states[row], torch.stack(hiddens), atol=1e-5, rtol=1e-5)
        for word, shares in enumerate(weights):
            torch.testing.assert_close(looked[row, 0, word, :word], torch.tensor(shares), atol=1e-5, rtol=1e-5)


def test_the_weights_are_a_triangle_of_words_by_earlier_words() -> None:
    model, ids = nano(depth=2), some(words=6)
    with record(model) as trace:
        model(ids)
    assert trace.names == ["readers.0.attn", "readers.1.attn"]
    for name in trace:
        weights = trace.weights(name)
        assert weights.shape == (2, 1, 6, 5)  # nobody comes after the last word to look at it
        assert weights.triu().count_nonzero() == 0
        torch.testing.assert_close(weights.sum(dim=-1), torch.tensor([0.0, 1.0, 1.0, 1.0, 1.0, 1.0]).expand(2, 1, 6))


def test_watching_changes_nothing_and_an_edit_does() -> None:
    model, ids = nano(), some()
    plain = model(ids)
    with record(model):
        assert model(ids).equal(plain)
    with record(model, edits={ATTN: off}):
        assert not model(ids).isclose(plain, atol=1e-4).all()


@given(words=st.integers(2, 9), changed=st.integers(0, 8), depth=st.integers(1, 2), seed=st.integers(0, 99))
@torch.no_grad()
def test_a_word_cannot_see_its_future(words: int, changed: int, depth: int, seed: int) -> None:
    torch.manual_seed(seed)
    changed %= words
    model, ids = nano(depth), some(words=words)
    other = ids.clone()
    other[:, changed] = (other[:, changed] + 1) % 120
    before, after = model.read(ids), model.read(other)
    assert before[:, :changed].equal(after[:, :changed])
    assert (before[:, changed:] != after[:, changed:]).any(dim=-1).all()


@given(lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_padding_changes_nothing(lengths: list[int]) -> None:
    model, ids = nano(), some(len(lengths))
    together = model(ids, lengths=torch.tensor(lengths))
    for row, length in enumerate(lengths):
        torch.testing.assert_close(together[row], model(ids[row : row + 1, :length])[0], atol=1e-6, rtol=1e-5)


def test_it_reads_the_same_when_nothing_is_learned() -> None:
    """Without gradients the tape grows in place."""
    model, ids = nano(depth=2), some(words=80)
    states = model.read(ids)
    with torch.no_grad():
        torch.testing.assert_close(model.read(ids), states)


def test_it_reads_in_short_floats_too() -> None:
    model, ids = nano(), some()
    with torch.autocast("cpu", torch.bfloat16):
        short = model(ids)
    torch.testing.assert_close(short.float(), model(ids), atol=0.02, rtol=0.02)


def test_gradients_are_finite_and_reach_every_word() -> None:
    model, ids = nano(depth=2), torch.arange(40)[None]
    model.read(ids)[:, -1].square().sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
    assert model.embed.weight.grad[:40].abs().sum(dim=-1).gt(0).all()


@pytest.mark.parametrize(
    ("columns", "lengths", "message"),
    [
        (4, [3, 0], "sequence 1 has length 0, which leaves nothing to read"),
        (4, [5, 2], "sequence 0 has length 5, but the batch holds 4 words; give lengths from 1 to 4"),
        (0, None, "a sequence of length 0 leaves nothing to read"),
    ],
)
def test_sentences_without_words_are_refused(columns: int, lengths: list[int] | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nano()(some(words=columns), lengths=None if lengths is None else torch.tensor(lengths))


def opinions(count: int) -> tuple[Tensor, Tensor]:
    """Four words: one is good (1) or bad (2), and one is "not" (3), which turns the verdict if it comes before."""
    ids = torch.randint(4, 10, (count, 4))
    opinion, negation = torch.rand(count, 4).topk(2, dim=-1).indices.unbind(dim=-1)
    verdict = torch.randint(0, 2, (count,))
    ids.scatter_(1, opinion[:, None], 2 - verdict[:, None]).scatter_(1, negation[:, None], 3)
    return ids, torch.where(negation < opinion, 1 - verdict, verdict)


def test_it_learns_a_verdict_that_hangs_on_the_order_of_words() -> None:
    model = nano().train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(100):
        ids, verdict = opinions(32)
        loss = F.cross_entropy(model(ids), verdict)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ids, verdict = opinions(400)
    # Words without their order say nothing: either verdict is as likely.
    assert (model.eval()(ids).argmax(dim=-1) == verdict).float().mean() > 0.9
