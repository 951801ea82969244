"""Hard attention picks; soft attention is what it picks on average."""

from dataclasses import replace

import torch

from regard.attention import Look, pick

TIMES = 20_000


def look(queries: int = 3, keys: int = 5) -> Look:
    return Look(torch.randn(2, 2, queries, 4, requires_grad=True), torch.randn(2, 2, keys, 4))


def many(one: Look) -> Look:
    """The same look, asked over and over along the batch."""
    return replace(one, q=one.q.repeat(TIMES, 1, 1, 1), k=one.k.repeat(TIMES, 1, 1, 1))


def test_the_answer_is_one_of_the_values() -> None:
    v = torch.randn(2, 2, 5, 6)
    picked = pick(look(), v)
    assert picked.y.equal(v.gather(2, picked.key[..., None].expand(-1, -1, -1, 6)))


def test_on_average_it_is_the_soft_answer() -> None:
    one, v = look(), torch.randn(2, 2, 5, 6)
    mean = pick(many(one), v.repeat(TIMES, 1, 1, 1)).y.unflatten(0, (TIMES, 2)).mean(dim=0)
    torch.testing.assert_close(mean, one.weights().detach() @ v, atol=0.05, rtol=0)


def test_without_sampling_it_is_the_likeliest() -> None:
    one = look()
    assert pick(one, torch.randn(2, 2, 5, 6), sample=False).key.equal(one.weights().argmax(dim=-1))


def test_the_same_generator_picks_the_same() -> None:
    one, v = look(), torch.randn(2, 2, 5, 6)
    keys = [pick(one, v, generator=torch.Generator().manual_seed(7)).key for _ in range(2)]
    assert keys[0].equal(keys[1])


def test_reinforce_is_told_how_likely_the_choice_was() -> None:
    one = look()
    picked = pick(one, torch.randn(2, 2, 5, 6))
    torch.testing.assert_close(picked.log_prob.exp(), one.weights().gather(-1, picked.key[..., None])[..., 0])
    assert not picked.y.requires_grad
    assert picked.log_prob.requires_grad


def test_reinforce_agrees_with_the_soft_gradient_on_average() -> None:
    one, v, reward = look(1, 3), torch.randn(2, 2, 3, 1), torch.randn(2, 2, 1, 1)
    (soft,) = torch.autograd.grad((one.weights() @ v * reward).sum(), one.q)
    picked = pick(many(one), v.repeat(TIMES, 1, 1, 1))
    rewards = picked.y * reward.repeat(TIMES, 1, 1, 1)
    (estimate,) = torch.autograd.grad((picked.log_prob[..., None] * rewards).sum() / TIMES, one.q)
    torch.testing.assert_close(estimate, soft, atol=0.05, rtol=0)


def test_straight_through_answers_hard_and_learns_soft() -> None:
    one, v = look(), torch.randn(2, 2, 5, 6)
    picked = pick(one, v, straight_through=True, generator=torch.Generator().manual_seed(1))
    hard = pick(one, v, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(picked.y, hard.y)
    (through,) = torch.autograd.grad(picked.y.sum(), one.q)
    (soft,) = torch.autograd.grad((one.weights() @ v).sum(), one.q)
    torch.testing.assert_close(through, soft)


def test_a_blind_query_picks_nothing() -> None:
    blind = replace(look(), visible=torch.tensor([[True] * 5, [False] * 5, [True] * 5]))
    picked = pick(blind, torch.randn(2, 2, 5, 6))
    assert picked.key[:, :, 1].eq(-1).all()
    assert not picked.y[:, :, 1].any()
    assert not picked.log_prob[:, :, 1].any()
    picked.log_prob.sum().backward()
    assert blind.q.grad is not None
    assert blind.q.grad.isfinite().all()


def test_heads_that_share_keys_pick_among_them() -> None:
    shared = Look(torch.randn(2, 4, 3, 4), torch.randn(2, 2, 5, 4))
    v = torch.randn(2, 2, 5, 6)
    picked = pick(shared, v, sample=False)
    copies = v.repeat_interleave(2, dim=1)
    assert picked.y.equal(copies.gather(2, picked.key[..., None].expand(-1, -1, -1, 6)))
