"""A context encoder does not see the hole it paints, and its adversary learns from it but not with it."""

from dataclasses import replace

import pytest
import torch

from regard.models import build
from regard.models.inpaint import PRESETS, ChannelWise, Config, ContextEncoder

NANO = PRESETS["inpaint-nano"]  # pictures of 16, a hole of 8, a rim of 1
IMAGE = torch.randn(4, 3, 16, 16, generator=torch.Generator().manual_seed(1))


def made() -> ContextEncoder:
    torch.manual_seed(0)
    model = build("inpaint-nano").eval()
    assert isinstance(model, ContextEncoder)
    return model


@torch.no_grad()
def test_what_is_in_the_hole_is_never_seen_and_its_rim_is() -> None:
    model = made()
    inside, rim = IMAGE.clone(), IMAGE.clone()
    inside[..., 5:11, 5:11] = 7.0
    rim[..., 4, 4] = 7.0
    assert model(inside).hole.equal(model(IMAGE).hole)
    assert not model(rim).hole.equal(model(IMAGE).hole)


@torch.no_grad()
def test_a_filled_picture_is_painted_where_it_was_hidden_and_nowhere_else() -> None:
    model = made()
    filled = model.filled(IMAGE)
    hidden = torch.zeros(16, 16, dtype=torch.bool)
    hidden[5:11, 5:11] = True
    assert filled[..., ~hidden].equal(IMAGE[..., ~hidden])
    assert filled[..., 5:11, 5:11].equal(model(IMAGE).hole[..., 1:7, 1:7])
    assert model.hidden(filled).equal(filled[..., 5:11, 5:11])
    assert not model.hidden(model.hide(IMAGE)).any()


@torch.no_grad()
def test_the_true_hole_costs_nothing_and_the_rim_costs_ten_times_as_much() -> None:
    model, true = made(), IMAGE[..., 4:12, 4:12]
    assert not model.off(true, IMAGE).any()
    rim, inside = true.clone(), true.clone()
    rim[..., 0, 0] += 1
    inside[..., 3, 3] += 1
    torch.testing.assert_close(model.off(rim, IMAGE), 10 * model.off(inside, IMAGE))


def test_every_place_tells_every_other_within_its_channel() -> None:
    join, x = ChannelWise(3, 16), torch.randn(1, 3, 4, 4, requires_grad=True)
    torch.nn.init.dirac_(join.mix.weight)
    torch.nn.init.ones_(join.weight[1])
    x.data.abs_()
    join(x)[0, 1, 0, 0].backward()
    assert x.grad is not None
    assert x.grad[0, 1].all()
    assert not x.grad[0, [0, 2]].any()


def test_painter_and_adversary_learn_each_in_its_own_interest() -> None:
    model = made()
    assert model.adversary is not None
    hole = model(IMAGE).hole
    believed, told_apart = model.contest(hole, IMAGE)
    mine, its = [*model.paint.parameters()], [*model.adversary.parameters()]
    assert all(each is None for each in torch.autograd.grad(believed.sum(), its, retain_graph=True, allow_unused=True))
    assert any(each.any() for each in torch.autograd.grad(believed.sum(), mine, retain_graph=True))
    assert all(
        each is None for each in torch.autograd.grad(told_apart.sum(), mine, retain_graph=True, allow_unused=True)
    )
    assert all(each.any() for each in torch.autograd.grad(told_apart.sum(), its))


def test_an_adversary_learns_to_tell_painted_holes_from_true_ones() -> None:
    model = made()
    assert model.adversary is not None
    optimizer = torch.optim.Adam(model.adversary.parameters(), lr=1e-2)
    hole = model(IMAGE).hole.detach()
    for _ in range(30):
        optimizer.zero_grad()
        model.contest(hole, IMAGE)[1].mean().backward()
        optimizer.step()
    assert (model.adversary(hole) < 0).all()
    assert (model.adversary(IMAGE[..., 4:12, 4:12]) > 0).all()
    believed, told_apart = model.contest(hole, IMAGE)
    assert told_apart.mean() < 0.3
    assert believed.mean() > 1


def test_without_an_adversary_there_is_no_contest() -> None:
    model = build("inpaint-nano", judge=0)
    said = model(IMAGE)
    assert said.judged is None
    with pytest.raises(ValueError, match="judge is 0, so that there is no adversary"):
        model.contest(said.hole, IMAGE)


def test_holes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="a hole of 16 with a rim of 1 does not lie in a picture of 16"):
        replace(NANO, hole=16)
    with pytest.raises(ValueError, match="a hole of 8 with a rim of 4 does not lie"):
        replace(NANO, rim=4)
    with pytest.raises(ValueError, match="a map of 4×4 does not double to a hole of 6; give 4"):
        ContextEncoder(replace(NANO, hole=6))


@pytest.mark.parametrize("name", ["inpaint-cifar", "inpaint-world"])
def test_small_presets_hide_the_middle_half(name: str) -> None:
    config: Config = PRESETS[name]
    model = build(name)
    assert model(torch.randn(1, 3, config.size, config.size)).hole.shape[-1] == config.hole == config.size // 2
