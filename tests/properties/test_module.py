"""What is true of an attention module, however its parts were chosen."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import Alibi, Attention, Buckets, Memory, Shaw, both, causal, multihead, padding, record
from regard.layers.position import Rotary

# Every kind of self-attention over a sequence: width 32, 4 heads.
KINDS = {
    "plain": lambda: multihead(32, 4),
    "grouped": lambda: multihead(32, 4, groups=2),
    "one group": lambda: multihead(32, 4, groups=1, qkv_bias=False, out_bias=False),
    "T5 buckets": lambda: multihead(32, 4, bias=Buckets(4, buckets=8, reach=10, bidirectional=False)),
    "ALiBi": lambda: multihead(32, 4, bias=Alibi(4)),
    "relative keys": lambda: multihead(32, 4, bias=Shaw(8, reach=3)),
    "rotary": lambda: multihead(32, 4, rotary=Rotary(8)),
    "grouped rotary": lambda: multihead(32, 4, groups=2, rotary=Rotary(8)),
}


PRECISIONS = {torch.float32: 1e-5, torch.bfloat16: 0.03}  # and how far two ways to one answer may differ


@pytest.fixture(params=list(KINDS))
def attn(request: pytest.FixtureRequest) -> Attention:
    return KINDS[request.param]().eval()


@pytest.fixture(params=list(PRECISIONS), ids=str)
def dtype(request: pytest.FixtureRequest) -> torch.dtype:
    return request.param


def decoded(attn: Attention, x: Tensor, pieces: list[int]) -> Tensor:
    """The causal answer, computed a few tokens at a time with what came before remembered."""
    past: Memory | None = None
    answers = []
    for piece in x.split(pieces, dim=1):
        past = attn.remember(piece, past)
        answers.append(attn(piece, past, visible=causal(piece.shape[1], len(past))))
    return torch.cat(answers, dim=1)


def test_a_word_cannot_see_its_future(attn: Attention, dtype: torch.dtype) -> None:
    attn.to(dtype)
    for n in (7, 140):  # written out, and fused
        x = torch.randn(2, n, 32, dtype=dtype)
        changed = x.clone()
        changed[:, n // 2] += 1.0
        before, after = attn(x, visible=causal(n)), attn(changed, visible=causal(n))
        assert before[:, : n // 2].equal(after[:, : n // 2])
        assert not before[:, n // 2 :].isclose(after[:, n // 2 :]).all()


@torch.no_grad()
def test_remembering_the_past_answers_as_the_whole_sentence(attn: Attention, dtype: torch.dtype) -> None:
    x = torch.randn(2, 140, 32, dtype=dtype)
    whole, near = attn.to(dtype)(x, visible=causal(140)), PRECISIONS[dtype]
    torch.testing.assert_close(decoded(attn, x, [1] * 140), whole, atol=near, rtol=10 * near)
    torch.testing.assert_close(decoded(attn, x, [5, 1, 60, 1, 73]), whole, atol=near, rtol=10 * near)


def test_what_is_remembered_can_be_learned_from(attn: Attention) -> None:
    x = torch.randn(2, 6, 32)
    gradients = []
    for answer in (attn(x, visible=causal(6)), decoded(attn, x, [1] * 6)):
        attn.zero_grad()
        answer.square().sum().backward()
        gradients.append([p.grad.clone() for p in attn.parameters() if p.grad is not None])
    for whole, stepwise in zip(*gradients, strict=True):
        torch.testing.assert_close(stepwise, whole, atol=1e-4, rtol=1e-3)


def test_watching_changes_nothing(attn: Attention, dtype: torch.dtype) -> None:
    attn.to(dtype)
    for n in (9, 140):
        x = torch.randn(2, n, 32, dtype=dtype, requires_grad=True)
        results = []
        for watched in (False, True):
            x.grad = None
            if watched:
                with record(attn) as trace:
                    y = attn(x, visible=causal(n))
                assert trace.weights("").shape == (2, 4, n, n)
            else:
                y = attn(x, visible=causal(n))
            y.square().sum().backward()
            results.append((y, x.grad))
        assert all(a.equal(b) for a, b in zip(*results, strict=True))


@given(st.lists(st.integers(1, 11), min_size=1, max_size=4), st.sampled_from(list(KINDS)))
def test_a_padded_batch_answers_as_each_sentence_alone(lengths: list[int], kind: str) -> None:
    attn = KINDS[kind]().eval()
    longest = max(lengths)
    x = torch.randn(len(lengths), longest, 32)
    together = attn(x, visible=both(causal(longest), padding(torch.tensor(lengths), longest)))
    for i, n in enumerate(lengths):
        alone = attn(x[i : i + 1, :n], visible=causal(n))
        torch.testing.assert_close(together[i : i + 1, :n], alone, atol=1e-5, rtol=1e-4)


def test_a_set_has_no_order_until_positions_give_it_one() -> None:
    x, order = torch.randn(2, 9, 32), torch.randperm(9)
    for kind, build in KINDS.items():
        attn = build().eval()
        same = attn(x[:, order]).isclose(attn(x)[:, order], atol=1e-5).all()
        assert bool(same) == (kind in ("plain", "grouped", "one group")), kind


def test_dropout_thins_in_training_only() -> None:
    attn = multihead(32, 4, dropout=0.5)
    x = torch.randn(2, 20, 32)
    assert not attn(x).equal(attn(x))
    attn.eval()
    assert attn(x).equal(attn(x))


def test_dropout_keeps_the_expected_answer() -> None:
    attn = multihead(32, 4, dropout=0.2)
    x = torch.randn(1, 4, 32)
    mean = torch.stack([attn(x) for _ in range(1500)]).mean(dim=0)
    torch.testing.assert_close(mean, attn.eval()(x), atol=0.03, rtol=0)


def test_mixed_precision_answers_as_float32_to_its_few_digits(attn: Attention) -> None:
    for n in (9, 140):
        x = torch.randn(2, n, 32, requires_grad=True)
        with torch.autocast("cpu", torch.bfloat16):
            mixed = attn(x, visible=causal(n))
        mixed.float().sum().backward()
        assert x.grad is not None
        assert x.grad.isfinite().all()
        torch.testing.assert_close(mixed.float(), attn(x, visible=causal(n)), atol=0.05, rtol=0.05)
