"""Captioning models: four ways to write of one picture."""

from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import record
from regard.decode import beam, greedy
from regard.models import build, vit
from regard.models.caption import Caption

WAYS = ("fixed", "soft", "hard", "transformer")
VIT = vit.Config(32, patch=8, width=24, depth=1, heads=2, hidden=32, classes=0)
every_way = pytest.mark.parametrize("way", WAYS)


def model(way: str, **changes: Any) -> Caption:
    made = build("caption-nano", way=way, **changes).eval()
    assert isinstance(made, Caption)
    return made


def batch(count: int = 2) -> tuple[Tensor, Tensor]:
    return torch.randn(count, 3, 32, 32), torch.randint(48, (count, 6))


@every_way
@pytest.mark.parametrize("change", [{}, {"cell": "gru"}, {"depth": 2}, {"encoder": 0, "gate": False}, {"tower": VIT}])
@torch.no_grad()
def test_steps_equal_the_whole(way: str, change: dict[str, Any]) -> None:
    one, (image, target) = model(way, **change), batch()
    whole, state, steps = one(image, target), one.start(image), []
    for word in target.split(1, dim=1):
        logits, state = one.step(word, state)
        steps.append(logits)
    torch.testing.assert_close(torch.cat(steps, dim=1), whole, atol=1e-5, rtol=1e-4)


@every_way
@torch.no_grad()
def test_what_the_tower_saw_serves_as_the_picture_does(way: str) -> None:
    one, (image, target) = model(way), batch()
    seen = one.see(image)
    assert seen.shape[1:3] == one.grid(32, 32)
    assert one(None, target, features=seen).equal(one(image, target))
    torch.testing.assert_close(one(None, target, features=seen.half()), one(image, target), atol=2e-2, rtol=2e-2)
    with pytest.raises(ValueError, match="pictures or of the features of them; give one of the two"):
        one.start(image, features=seen)


@every_way
def test_no_word_knows_what_follows_it(way: str) -> None:
    one, (image, target) = model(way), batch()
    other = target.clone()
    other[:, 4:] = (other[:, 4:] + 7) % 48
    torch.testing.assert_close(one(image, target)[:, :4], one(image, other)[:, :4])


@every_way
@torch.no_grad()
def test_greedy_and_beam_search_write_of_each_picture_as_if_it_were_alone(way: str) -> None:
    one, (image, _) = model(way), batch(3)
    first = torch.ones(3, dtype=torch.long)
    alike = greedy(one.step, one.start(image), first, stop=2, limit=6)
    found = beam(one.step, one.start(image), first, stop=2, limit=6, size=3, count=3)
    assert all(best[0].score >= best[1].score for best in found)
    for i in range(3):
        alone = greedy(one.step, one.start(image[i : i + 1]), first[:1], stop=2, limit=6)
        assert alone[0].words == alike[i].words
        (best,) = beam(one.step, one.start(image[i : i + 1]), first[:1], stop=2, limit=6, size=3, count=3)
        assert [each.words for each in best] == [each.words for each in found[i]]


def test_soft_looks_are_told_with_the_logits_and_are_those_that_a_watcher_sees() -> None:
    one, (image, target) = model("soft"), batch()
    with record(one) as trace:
        told = one.tell(image, target)
    assert told.weights is not None
    assert told.log_prob is None
    torch.testing.assert_close(told.weights.sum(dim=-1), torch.ones(2, 6))
    torch.testing.assert_close(trace.weights("decoder.attn")[:, 0], told.weights)
    assert one.cross_attentions == ("decoder.attn",)
    told.weights[:, :, 0].sum().backward()
    assert one.decoder.attn.q.weight.grad.abs().sum() > 0


def test_hard_looks_are_at_one_cell_and_still_learn() -> None:
    for estimator in ("straight_through", "reinforce"):
        one, (image, target) = model("hard", estimator=estimator).train(), batch()
        told = one.tell(image, target)
        assert told.log_prob is not None
        assert told.log_prob.shape == (2, 6)
        loss = told.logits.square().sum() if estimator == "straight_through" else told.log_prob.sum()
        loss.backward()
        assert one.decoder.attn.k.weight.grad.abs().sum() > 0


@torch.no_grad()
def test_a_hard_look_outside_of_training_is_at_the_likeliest_cell() -> None:
    one, (image, target) = model("hard"), batch()
    assert one(image, target).equal(one(image, target))
    weights = one.tell(image, target).weights
    cells = one.start(image).memory.v[:, 0]
    with record(one) as trace:
        one(image, target)
    assert trace.weights("decoder.attn")[:, 0].argmax(-1).equal(weights.argmax(-1))
    assert cells.shape[1] == weights.shape[-1]


def test_a_frozen_tower_neither_learns_nor_changes_its_norms() -> None:
    one, (image, target) = model("soft", frozen=True).train(), batch()
    before = {name: value.clone() for name, value in one.tower.state_dict().items()}
    one(image, target).sum().backward()
    assert not one.tower.training
    assert all(value.equal(before[name]) for name, value in one.tower.state_dict().items())
    assert all(part.grad is None for part in one.tower.parameters())
    assert one.embed.weight.grad is not None


def test_the_bottleneck_knows_only_the_mean_of_the_map() -> None:
    one, (_, target) = model("fixed", encoder=0), batch()
    seen = torch.randn(2, 4, 4, 24)
    shuffled = seen.flatten(1, 2)[:, torch.randperm(16)].view_as(seen)
    torch.testing.assert_close(one(None, target, features=seen), one(None, target, features=shuffled))
    other = model("soft", encoder=0)
    assert not torch.allclose(other(None, target, features=seen), other(None, target, features=shuffled))
    assert one.cross_attentions == ()


@pytest.mark.usefixtures("as_users_meet_it")
def test_configs_that_write_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="no decoder is called 'loud'; choose one of fixed, soft, hard, transformer"):
        model("loud")
    with pytest.raises(ValueError, match="width 30 does not split into waves"):
        model("soft", width=30)
    with pytest.raises(ValueError, match="depth 0 and encoder 0 write nothing"):
        model("soft", depth=0, encoder=0)


def test_presets_for_the_world_are_small() -> None:
    for way in ("fixed", "soft", "hard", "cnn", "vit"):
        with torch.device("meta"):
            made = build(f"caption-world-{way}")
        assert sum(part.numel() for part in made.parameters()) < 2_000_000
