"""A memory is a value, though it grows in place."""

import pytest
import torch

from regard.attention import Memory


def memory(n: int, *, visible: bool = False) -> Memory:
    mask = torch.rand(2, 1, 1, n) < 0.5 if visible else None
    return Memory(torch.randn(2, 3, n, 4), torch.randn(2, 3, n, 5), mask)


def test_extending_joins_keys_and_values() -> None:
    old, new = memory(3), memory(2)
    both = old.extend(new)
    assert len(both) == 5
    assert both.k.equal(torch.cat((old.k, new.k), dim=-2))
    assert both.v.equal(torch.cat((old.v, new.v), dim=-2))


def test_two_continuations_of_one_past_do_not_disturb_each_other() -> None:
    past = memory(3).extend(memory(1))
    one, other = memory(1), memory(1)
    left, right = past.extend(one), past.extend(other)
    further = left.extend(memory(1))
    assert left.k[..., -1:, :].equal(one.k)
    assert right.k[..., -1:, :].equal(other.k)
    assert further.k[..., :5, :].equal(left.k)


def test_the_past_is_not_copied_at_every_step() -> None:
    past, rooms = memory(1), set()
    for _ in range(1000):
        past = past.extend(memory(1))
        rooms.add(past.k.data_ptr())
    assert len(past) == 1001
    assert len(rooms) <= 6  # 64, 128, 256, 512, 1024, 2048 places


@pytest.mark.parametrize(("before", "after"), [(True, True), (True, False), (False, True)])
def test_what_is_hidden_stays_hidden(before: bool, after: bool) -> None:
    old, new = memory(3, visible=before), memory(2, visible=after)
    both = old.extend(new).visible
    assert both is not None
    assert both.shape == (2, 1, 1, 5)
    assert both[..., :3].equal(old.visible if old.visible is not None else torch.ones(2, 1, 1, 3).bool())


def test_a_memory_keeps_its_gradient() -> None:
    old, new = memory(3), memory(2)
    new.k.requires_grad_()
    old.extend(new).k.sum().backward()
    assert new.k.grad is not None
