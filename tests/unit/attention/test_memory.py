"""A memory is a value, though it grows in place."""

import copy
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch

from regard.attention import Memory, multihead


def memory(n: int, *, visible: bool = False) -> Memory:
    mask = torch.rand(2, 1, 1, n) < 0.5 if visible else None
    return Memory(torch.randn(2, 3, n, 4), torch.randn(2, 3, n, 5), mask)


@pytest.mark.parametrize("learning", [True, False])
def test_extending_joins_keys_and_values(learning: bool) -> None:
    old, new = memory(3), memory(2)
    with torch.set_grad_enabled(learning):
        both = old.extend(new)
    assert len(both) == 5
    assert both.k.equal(torch.cat((old.k, new.k), dim=-2))
    assert both.v.equal(torch.cat((old.v, new.v), dim=-2))


@torch.no_grad()
def test_two_continuations_of_one_past_do_not_disturb_each_other() -> None:
    past = memory(3).extend(memory(1))
    one, other = memory(1), memory(1)
    left, right = past.extend(one), past.extend(other)
    further = left.extend(memory(1))
    for grown, newest in ((left, one), (right, other)):
        assert grown.k.equal(torch.cat((past.k, newest.k), dim=-2))
        assert grown.v.equal(torch.cat((past.v, newest.v), dim=-2))
    assert further.k[..., :5, :].equal(left.k)


@torch.no_grad()
def test_threads_that_continue_one_past_do_not_disturb_each_other() -> None:
    for _ in range(50):
        past, newest = memory(3).extend(memory(1)), [memory(8), memory(8)]
        grown = _at_once(past, newest)
        assert all(mine.k[..., 4:, :].equal(own.k) for mine, own in zip(grown, newest, strict=True))


def _at_once(past: Memory, newest: list[Memory]) -> list[Memory]:
    barrier = threading.Barrier(len(newest))

    def grow(newer: Memory) -> Memory:
        with torch.no_grad():
            barrier.wait()
            return past.extend(newer)

    with ThreadPoolExecutor(len(newest)) as pool:
        return list(pool.map(grow, newest))


@torch.no_grad()
def test_a_reordered_memory_goes_on_from_its_own_order() -> None:
    past, beams = memory(3).extend(memory(1)), torch.tensor([1, 0])
    turned = replace(past, k=past.k[beams], v=past.v[beams])
    assert turned.extend(memory(1)).k[..., :4, :].equal(past.k[beams])


@torch.no_grad()
@pytest.mark.parametrize("visible", [True, False])
def test_selected_rows_go_on_in_a_room_of_their_own(visible: bool) -> None:
    past = memory(3, visible=visible).extend(memory(1))
    kept = past.select(torch.tensor([1, 1, 0]))
    assert kept.k.equal(torch.stack((past.k[1], past.k[1], past.k[0])))
    assert kept.v.equal(torch.stack((past.v[1], past.v[1], past.v[0])))
    if past.visible is None:
        assert kept.visible is None
    else:
        assert kept.visible.equal(torch.stack((past.visible[1], past.visible[1], past.visible[0])))
    newer = past.select(torch.tensor([0])).extend(Memory(torch.randn(1, 3, 1, 4), torch.randn(1, 3, 1, 5)))
    own = past.extend(memory(1))
    assert newer.k[..., :4, :].equal(past.k[:1])
    assert not newer.k[..., 4:, :].equal(own.k[:1, :, 4:])


@torch.no_grad()
@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, lambda past: pickle.loads(pickle.dumps(past))])
def test_a_copy_of_what_grew_grows_on_by_itself(duplicate: Callable[[Memory], Memory]) -> None:
    past = memory(3, visible=True).extend(memory(1))
    other = duplicate(past)
    assert duplicate(replace(past, shared=2)).shared == 2
    assert other.k.equal(past.k)
    assert other.v.equal(past.v)
    assert other.visible.equal(past.visible)
    mine, theirs = memory(1), memory(1)
    assert past.extend(mine).k.equal(torch.cat((past.k, mine.k), dim=-2))
    assert other.extend(theirs).k.equal(torch.cat((past.k, theirs.k), dim=-2))


@torch.no_grad()
def test_a_pickle_holds_what_is_remembered_and_not_the_room_behind_it() -> None:
    past = memory(3).extend(memory(1))
    assert len(pickle.dumps(past)) < past.k.untyped_storage().nbytes()


def test_what_grew_in_inference_goes_on_outside_of_it() -> None:
    with torch.inference_mode():
        past = memory(3).extend(memory(1))
    with torch.no_grad():
        assert len(past.extend(memory(1))) == 5


def test_stepwise_training_of_queries_alone() -> None:
    """Only q learns, so neither keys nor values ask for a gradient, and yet what they were must not change."""
    attn = multihead(8, 2)
    for frozen in (attn.k, attn.v):
        frozen.requires_grad_(False)
    past, loss = None, torch.zeros(())
    for word in torch.randn(1, 5, 8).split(1, dim=1):
        past = attn.remember(word, past)
        loss = loss + attn(word, past).square().sum()
    loss.backward()
    assert attn.q.weight.grad is not None


def test_what_does_not_fit_is_told_apart() -> None:
    with pytest.raises(
        ValueError, match=r"keys of batch 1, 3 heads, width 4, .* cannot follow keys of batch 2, 3 heads"
    ):
        memory(3).extend(Memory(torch.randn(1, 3, 1, 4), torch.randn(1, 3, 1, 5)))
    with pytest.raises(ValueError, match=r"torch.bfloat16 on cpu cannot follow .* torch.float32 on cpu"):
        memory(3).extend(Memory(torch.randn(2, 3, 1, 4).bfloat16(), torch.randn(2, 3, 1, 5).bfloat16()))


def test_a_mask_for_all_sentences_alike_can_grow() -> None:
    attn, x = multihead(8, 2), torch.randn(2, 3, 8)
    past = attn.remember(x, visible=torch.tensor([[[[True, True, False]]]]))
    assert attn.remember(x[:, :1], past).visible.tolist() == [[[[True, True, False, True]]]] * 2


@torch.no_grad()
def test_the_past_is_not_copied_at_every_step() -> None:
    past, rooms = memory(1), set()
    for _ in range(1000):
        past = past.extend(memory(1))
        rooms.add(past.k.untyped_storage().data_ptr())
    assert len(past) == 1001
    assert len(rooms) <= 6  # 64, 128, 256, 512, 1024, 2048 places


@pytest.mark.parametrize(("before", "after"), [(True, True), (True, False), (False, True)])
def test_what_is_hidden_stays_hidden(before: bool, after: bool) -> None:
    old, new = memory(3, visible=before), memory(2, visible=after)
    both = old.extend(new).visible
    assert both is not None
    assert both.shape == (2, 1, 1, 5)
    assert both[..., :3].equal(old.visible if old.visible is not None else torch.ones(2, 1, 1, 3).bool())
    assert both[..., 3:].equal(new.visible if new.visible is not None else torch.ones(2, 1, 1, 2).bool())


def test_a_memory_keeps_its_gradient() -> None:
    old, new = memory(3), memory(2)
    new.k.requires_grad_()
    old.extend(new).k.sum().backward()
    assert new.k.grad is not None
