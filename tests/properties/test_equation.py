"""What is true of the attention equation whatever is looked at."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.looks import Case, anything, cases
from torch import Tensor

from regard.attention import Causal, Look, kernel, mix


def answers(case: Case, *, fused: bool) -> list[Tensor]:
    """The answer and its gradients, with the choice of path taken away from the library."""
    case = case.with_gradients()
    choice = pytest.MonkeyPatch()
    with choice.context() as patch:
        patch.setattr(kernel, "written_out_is_faster", lambda *_: not fused)
        y = mix(case.look, case.v)
    y.float().square().sum().backward()
    return [y, *(t.grad for t in (case.look.q, case.look.k, case.v) if t.grad is not None)]


def near(one: Tensor, other: Tensor) -> None:
    digits = 1e-5 if one.dtype == torch.float32 else 0.03
    torch.testing.assert_close(one, other, atol=digits, rtol=10 * digits)


@given(cases())
def test_the_fused_kernel_answers_as_the_written_out_equation(case: Case) -> None:
    for fused, written in zip(answers(case, fused=True), answers(case, fused=False), strict=True):
        torch.testing.assert_close(fused, written, atol=2e-5, rtol=2e-4)


@given(cases(dtype=torch.bfloat16, long=False))
def test_in_bfloat16_both_ways_agree_to_its_few_digits(case: Case) -> None:
    for fused, written in zip(answers(case, fused=True), answers(case, fused=False), strict=True):
        scale = written.abs().max().clamp(min=1.0).item()
        torch.testing.assert_close(fused, written, atol=0.06 * scale, rtol=0.06)


@given(anything())
def test_every_row_of_weights_sums_to_one_or_to_zero_when_blind(case: Case) -> None:
    weights = case.look.weights()
    visible = case.look.visible
    seen = visible.draw() if isinstance(visible, Causal) else visible
    everything = torch.ones_like(weights, dtype=torch.bool)
    sighted = (everything if seen is None else everything & seen).any(dim=-1)
    digits = 1e-5 if weights.dtype == torch.float32 else 0.02
    torch.testing.assert_close(weights.float().sum(dim=-1), sighted.float(), atol=digits, rtol=0)
    assert (weights >= 0).all()


@given(anything(), st.booleans())
def test_gradients_are_finite_even_for_the_blind(case: Case, fused: bool) -> None:
    assert all(t.isfinite().all() for t in answers(case, fused=fused))


@given(anything(), st.booleans())
def test_a_blind_query_gets_zeros(case: Case, fused: bool) -> None:
    nothing = torch.zeros(case.look.q.shape[-2], case.look.k.shape[-2], dtype=torch.bool)
    y, q, k, v = answers(replace(case, look=replace(case.look, visible=nothing)), fused=fused)
    assert not y.any()
    assert not q.any()
    assert not k.any()
    assert not v.any()


@given(anything(), st.integers(0, 2**31))
def test_keys_and_values_may_stand_in_any_order(case: Case, seed: int) -> None:
    look = replace(case.look, visible=None, bias=None)
    order = torch.randperm(look.k.shape[-2], generator=torch.Generator().manual_seed(seed))
    there = mix(look, case.v)
    back = mix(replace(look, k=look.k[:, :, order]), case.v[:, :, order])
    near(there, back)


@given(anything(), st.booleans())
def test_what_is_hidden_changes_nothing(case: Case, fused: bool) -> None:
    keys = case.look.k.shape[-2]
    visible = torch.arange(keys) < (keys + 1) // 2
    hidden = ~visible[:, None]
    look = replace(case.look, visible=visible.expand(case.look.q.shape[-2], -1))
    other = Case(replace(look, k=torch.where(hidden, look.k * 3 + 7, look.k)), torch.where(hidden, -case.v, case.v))
    y, q, k, v = answers(Case(look, case.v), fused=fused)
    same_y, same_q, *_ = answers(other, fused=fused)
    assert y.equal(same_y)
    assert q.equal(same_q)
    assert not k.masked_select(hidden).any()
    assert not v.masked_select(hidden).any()


@given(anything())
def test_one_of_a_batch_is_answered_as_if_alone(case: Case) -> None:
    def first(t: Tensor) -> Tensor:
        return t[:1] if t.ndim == 4 else t

    look = case.look
    alone = Look(
        look.q[:1],
        look.k[:1],
        visible=first(look.visible) if isinstance(look.visible, Tensor) else look.visible,
        bias=None if look.bias is None else first(look.bias),
    )
    near(mix(alone, case.v[:1]), mix(look, case.v)[:1])


@given(anything(), st.booleans())
def test_rows_that_share_a_memory_answer_as_if_each_had_a_copy(case: Case, fused: bool) -> None:
    rows = len(case.look.q)
    one = replace(case.look, k=case.look.k[:1])
    own = replace(case.look, k=one.k.expand(rows, -1, -1, -1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "written_out_is_faster", lambda *_: not fused)
        near(mix(one, case.v[:1]), mix(own, case.v[:1].expand(rows, -1, -1, -1)))
    near(one.weights(), own.weights())


@given(anything())
def test_heads_that_share_keys_answer_as_if_each_had_a_copy(case: Case) -> None:
    heads = case.look.q.shape[1]
    copies = heads // case.look.k.shape[1]
    own = replace(case.look, k=case.look.k.repeat_interleave(copies, dim=1))
    near(mix(own, case.v.repeat_interleave(copies, dim=1)), mix(case.look, case.v))
