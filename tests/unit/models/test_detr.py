"""DETR: a set of objects, found by queries, whatever pads the picture."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from regard.attention import record
from regard.models import build
from regard.models.detr import DETR, PRESETS, waves
from regard.models.efficientnet import PRESETS as EFFICIENTNETS
from regard.models.resnet import Config as ResNetConfig
from regard.train.detection import Objects, detection_loss

NANO = PRESETS["detr-nano"]


def test_the_published_model_has_as_many_parameters_as_published() -> None:
    with torch.device("meta"):
        model = build("detr-resnet-50")
    norms = sum(each.numel() for name, each in model.named_buffers() if name.endswith((".weight", ".bias")))
    assert sum(each.numel() for each in model.parameters()) + norms == pytest.approx(41.5e6, rel=0.005)  # table 1: 41M


@torch.no_grad()
def test_every_query_says_a_class_and_a_box_and_so_it_would_have_after_each_block() -> None:
    model = DETR(NANO).eval()
    found = model(torch.randn(3, 3, 40, 56))
    assert found.logits.shape == (3, 5, 5)  # four classes, and none
    assert found.boxes.shape == (3, 5, 4)
    assert ((found.boxes > 0) & (found.boxes < 1)).all()
    assert len(found.auxiliary) == NANO.decoder_depth - 1
    assert [tuple(each.shape) for each in found.auxiliary[0]] == [(3, 5, 5), (3, 5, 4)]


@torch.no_grad()
def test_looks_go_over_the_grid_that_the_model_says() -> None:
    model = DETR(NANO).eval()
    with record(model) as trace:
        model(torch.randn(1, 3, 40, 60))
    cells = model.grid(40, 60)
    assert cells == (5, 8)
    assert trace.weights("encoder.blocks.0.attn").shape == (1, 4, 40, 40)
    assert trace.weights("decoder.1.cross").shape == (1, 4, 5, 40)
    assert trace.weights("decoder.1.attn").shape == (1, 4, 5, 5)


@torch.no_grad()
def test_nobody_looks_at_padding_and_what_lies_there_changes_nothing() -> None:
    model = DETR(NANO).eval()
    image, visible = torch.randn(1, 3, 64, 64), torch.ones(1, 64, 64, dtype=torch.bool)
    visible[:, 32:], visible[:, :, 40:] = False, False
    with record(model) as trace:
        model(image, visible)
    hidden = torch.ones(8, 8, dtype=torch.bool)
    hidden[:4, :5] = False
    for name in ("encoder.blocks.0.attn", "decoder.0.cross"):
        assert trace.weights(name)[..., hidden.flatten()].sum() == 0
    # Convolutions reach over the edge, so that only padding beyond their reach may be anything.
    other = image.clone()
    other[..., 56:, 60:] = 100.0
    torch.testing.assert_close(model(other, visible).boxes, model(image, visible).boxes)


@torch.no_grad()
def test_a_picture_without_padding_is_seen_as_one_that_is_visible_everywhere() -> None:
    model, image = DETR(NANO).eval(), torch.randn(2, 3, 32, 48)
    every = torch.ones(2, 32, 48, dtype=torch.bool)
    torch.testing.assert_close(model(image).logits, model(image, every).logits)


def test_positions_are_counted_within_the_picture_and_not_its_padding() -> None:
    whole = waves(torch.ones(1, 4, 6, dtype=torch.bool), 32)
    padded = torch.zeros(1, 9, 7, dtype=torch.bool)
    padded[:, :4, :6] = True
    torch.testing.assert_close(waves(padded, 32)[:, :4, :6], whole)
    cells = whole.flatten(0, 2)
    assert (torch.cdist(cells, cells) + torch.eye(24) > 0.05).all()  # no two are the same
    assert whole[0, :, :, :16].diff(dim=1).abs().max() == 0  # rows first, then columns
    assert whole[0, :, :, 16:].diff(dim=0).abs().max() == 0


@torch.no_grad()
def test_queries_are_a_set() -> None:
    """In another order they say the same in that order."""
    model, image, order = DETR(NANO).eval(), torch.randn(1, 3, 32, 32), torch.tensor([3, 0, 4, 2, 1])
    before = model(image)
    model.queries.copy_(model.queries[order])
    torch.testing.assert_close(model(image).boxes, before.boxes[:, order])
    torch.testing.assert_close(model(image).logits, before.logits[:, order])


@torch.no_grad()
def test_another_backbone_serves_as_well() -> None:
    model = DETR(replace(NANO, backbone=replace(EFFICIENTNETS["efficientnet-nano"], classes=0))).eval()
    assert model(torch.randn(2, 3, 32, 48)).boxes.shape == (2, 5, 4)
    assert model.grid(32, 48) == (4, 6)


def test_a_frozen_backbone_keeps_its_norms() -> None:
    model = DETR(replace(NANO, frozen=True)).train()
    assert not any(isinstance(each, nn.BatchNorm2d) for each in model.modules())
    assert any(isinstance(each, nn.BatchNorm2d) for each in DETR(NANO).modules())


def test_a_backbone_with_a_head_is_refused() -> None:
    with pytest.raises(ValueError, match="a tower with 10 classes has a head that nothing reads; give 0"):
        DETR(replace(NANO, backbone=ResNetConfig(classes=10)))
    with pytest.raises(ValueError, match="0 queries in a decoder of depth 2 find nothing; give 1 or more"):
        replace(NANO, queries=0)


def test_it_learns_where_a_few_squares_are() -> None:
    torch.manual_seed(0)
    model = DETR(replace(NANO, dropout=0.0, inner_dropout=0.0))
    image, targets = torch.zeros(4, 3, 32, 32), []
    for i, (x, y, kind) in enumerate([(4, 6, 0), (18, 4, 1), (6, 20, 2), (20, 18, 0)]):
        image[i, kind, y : y + 8, x : x + 8] = 1.0
        box = torch.tensor([[(x + 4) / 32, (y + 4) / 32, 0.25, 0.25]])
        targets.append(Objects(torch.tensor([kind]), box))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(70):
        optimizer.zero_grad()
        loss = detection_loss(model(image), targets)
        loss.total.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
    found = model(image)
    best = found.logits.softmax(-1)[..., :-1].amax(-1).argmax(-1)
    rows = torch.arange(4)
    assert found.logits[rows, best].argmax(-1).tolist() == [0, 1, 2, 0]
    real = torch.cat([each.boxes for each in targets])
    assert (found.boxes[rows, best] - real).abs().max() < 0.08


@torch.no_grad()
def test_an_anchored_query_looks_with_the_waves_of_its_place_and_measures_its_box_from_there() -> None:
    model = DETR(replace(NANO, anchored=True, turns=4.0)).eval()
    model.to_box[-1].weight.zero_()
    model.to_box[-1].bias.zero_()
    model.queries.copy_(torch.tensor([[0.25, 0.75]]).logit())  # a quarter down, three quarters across
    assert torch.allclose(model(torch.randn(1, 3, 32, 32)).boxes[0, 0], torch.tensor([0.75, 0.25, 0.5, 0.5]))
    every_cell = waves(torch.ones(1, 4, 4, dtype=torch.bool), NANO.width, 4.0)
    assert torch.allclose(model._objects()[0], every_cell[0, 0, 2], atol=1e-4)  # that ends there
