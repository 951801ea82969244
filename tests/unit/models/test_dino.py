"""DINO: who learns from whom, what centring and sharpening do, and how a collapse is seen."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from regard.models import build, resnet
from regard.models.dino import (
    DINO,
    PRESETS,
    Config,
    disagreement,
    example,
    meters,
    sharpen,
    teacher_momentum,
    teacher_temperature,
)

NANO = PRESETS["dino-nano"]


def made() -> DINO:
    torch.manual_seed(0)
    model = build("dino-nano")
    assert isinstance(model, DINO)
    return model


def weights(model: torch.nn.Module) -> Tensor:
    return torch.cat([each.detach().flatten() for each in model.parameters()])


def test_a_teacher_begins_as_its_student_and_gets_no_gradient() -> None:
    model = made().train()
    assert weights(model.teacher).equal(weights(model.student))
    said = model(**example(NANO))
    disagreement(said.student, sharpen(said.teacher, model.centre, 0.04)).sum().backward()
    assert not said.teacher.requires_grad
    assert all(each.grad is None for each in model.teacher.parameters())
    assert all(each.grad is not None for each in model.student.parameters())
    assert not model.teacher.training


def test_a_teacher_follows_its_student_by_the_share_that_it_does_not_keep() -> None:
    model = made()
    before = weights(model.teacher)
    with torch.no_grad():
        for each in model.student.parameters():
            each.add_(1.0)
    model.follow(0.75)
    torch.testing.assert_close(weights(model.teacher), before + 0.25)
    model.follow(1.0)
    torch.testing.assert_close(weights(model.teacher), before + 0.25)
    model.follow(0.0)
    assert weights(model.teacher).equal(weights(model.student))


def test_the_norms_of_a_teacher_of_convolutions_are_its_students() -> None:
    tower = resnet.PRESETS["resnet-nano"]
    model = DINO(replace(NANO, tower=replace(tower, classes=0), small=16)).train()
    large = torch.randn(4, 2, 3, tower.size, tower.size) + 3
    model(large)
    model.follow(0.9)
    pairs = zip(model.teacher.buffers(), model.student.buffers(), strict=True)
    assert all(mine.equal(theirs) for mine, theirs in pairs)


def test_the_last_layer_may_be_held_while_the_rest_learns() -> None:
    model = made()
    said = model(**example(NANO), hold=True)
    disagreement(said.student, sharpen(said.teacher, None, 0.04)).sum().backward()
    head = model.student.head
    assert head.last.grad is not None
    assert not head.last.grad.any()
    assert head.layers[0].weight.grad.any()


def test_what_is_said_is_a_cosine_for_each_class() -> None:
    model = made()
    said = model(**example(NANO))
    assert said.student.shape == (2, 5, NANO.outputs)  # two large crops and three small ones
    assert said.teacher.shape == (2, 2, NANO.outputs)
    assert said.student.abs().max() <= 1 + 1e-6


def test_cosines_are_exact_where_all_else_is_bfloat16() -> None:
    head, x = made().student.head, torch.randn(3, 16)
    head.layers = torch.nn.ModuleList()  # the bottleneck itself
    with torch.autocast("cpu", dtype=torch.bfloat16):
        said = head(x)
    torch.testing.assert_close(said, head(x))
    assert said.dtype == torch.float32


def test_sharpening_makes_an_answer_surer_and_leaves_its_order() -> None:
    taught = torch.randn(2, 2, 9)
    hot, cold = sharpen(taught, None, 0.1), sharpen(taught, None, 0.04)
    torch.testing.assert_close(cold.sum(dim=-1), torch.ones(2, 2))
    assert (cold.amax(dim=-1) > hot.amax(dim=-1)).all()
    assert cold.argmax(dim=-1).equal(hot.argmax(dim=-1))


def test_centring_takes_away_what_is_said_of_every_picture() -> None:
    model, favourite = made(), torch.zeros(NANO.outputs)
    favourite[3] = 5.0
    taught = torch.randn(64, 2, NANO.outputs) + favourite
    assert (sharpen(taught, None, 0.1).argmax(dim=-1) == 3).all()
    for _ in range(60):
        model.move_centre(taught.mean(dim=(0, 1)))
    torch.testing.assert_close(model.centre, taught.mean(dim=(0, 1)), atol=0.02, rtol=0)
    assert (sharpen(taught, model.centre, 0.1).argmax(dim=-1) == 3).float().mean() < 0.1


def test_a_centre_keeps_its_share() -> None:
    model = made()
    model.move_centre(torch.ones(NANO.outputs), momentum=0.9)
    torch.testing.assert_close(model.centre, torch.full((NANO.outputs,), 0.1))


def test_disagreement_is_the_cross_entropy_with_all_other_crops() -> None:
    student, taught = torch.randn(2, 4, 7), torch.randn(2, 2, 7).softmax(dim=-1)
    said = (student / 0.1).log_softmax(dim=-1)
    for i, found in enumerate(disagreement(student, taught)):
        each = [-(taught[i, v] * said[i, n]).sum() for v in range(2) for n in range(4) if v != n]
        torch.testing.assert_close(found, torch.stack(each).mean())


def test_a_single_crop_has_nobody_to_agree_with() -> None:
    with pytest.raises(ValueError, match="one crop of a picture has no other to agree with"):
        disagreement(torch.randn(2, 1, 7), torch.randn(2, 1, 7).softmax(dim=-1))


@pytest.mark.parametrize(
    ("logits", "entropy", "spread"),
    [
        (torch.eye(8)[:, None] * 50, 0.0, math.log(8)),  # sure of each, and each is another: health
        (torch.eye(8)[:1, None].expand(8, 1, 8) * 50, 0.0, 0.0),  # one class takes all
        (torch.zeros(8, 1, 8), math.log(8), math.log(8)),  # the same for all classes
    ],
    ids=["health", "one class", "all classes"],
)
def test_the_meters_tell_both_collapses_from_health(logits: Tensor, entropy: float, spread: float) -> None:
    found = meters(logits * 0.1, logits.softmax(dim=-1))
    assert found.entropy == pytest.approx(entropy, abs=1e-4)
    assert found.spread == pytest.approx(spread, abs=1e-4)
    assert found.divergence == pytest.approx(0, abs=1e-4)  # the student says the same


def test_a_student_who_says_otherwise_diverges() -> None:
    logits = torch.eye(8)[:, None] * 5
    assert meters(-logits, logits.softmax(dim=-1)).divergence > 1


def test_momentum_rises_to_one_and_a_temperature_warms_up_on_a_line() -> None:
    kept = [teacher_momentum(step, 100) for step in range(101)]
    assert kept[0] == pytest.approx(0.996)
    assert kept[-1] == 1
    assert kept == sorted(kept)
    assert [teacher_temperature(step, 10, 0.04, 0.06) for step in (0, 5, 10, 99)] == pytest.approx(
        [0.04, 0.05, 0.06, 0.06]
    )


def test_a_head_without_layers_is_refused() -> None:
    with pytest.raises(ValueError, match="a head of depth 0 has no bottleneck"):
        DINO(Config(tower=NANO.tower, small=8, depth=0, hidden=8, bottleneck=4, outputs=5))
