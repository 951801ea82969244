"""Cells are given to groups, each to one; and films are compared with texts in three ways."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from regard.analysis.segmenting import mean_iou
from regard.models import build
from regard.models.clip4clip import CLIP4Clip
from regard.models.groupvit import PRESETS, Config, GroupViT


def nano() -> GroupViT:
    torch.manual_seed(0)
    model = build("groupvit-nano")
    assert isinstance(model, GroupViT)
    return model


def test_every_cell_belongs_to_one_group_through_all_stages() -> None:
    for model in (nano().eval(), nano().train()):
        chosen = model.see(torch.randn(2, 3, 16, 16)).chosen
        assert chosen.shape == (2, 3, 16)
        torch.testing.assert_close(chosen.sum(dim=1), torch.ones(2, 16))
        torch.testing.assert_close(chosen, chosen.round(), atol=1e-5, rtol=0)


def test_gradients_pass_the_hard_choice() -> None:
    model = nano().train()
    model.encode_image(torch.randn(2, 3, 16, 16)).square().sum().backward()
    gradient = model.groupings[0].q.weight.grad
    assert gradient is not None
    assert gradient.abs().max() > 0


@torch.no_grad()
def test_pixels_get_the_class_of_their_group_or_none() -> None:
    model, image = nano().eval(), torch.randn(2, 3, 16, 16)
    classes = F.normalize(torch.randn(5, 16), dim=-1)
    found = model.segment(image, classes)
    assert found.shape == (2, 16, 16)
    assert 0 <= found.min() <= found.max() < 5
    assert found.unique().numel() <= 6
    assert model.segment(image, classes, least=2.0).unique().tolist() == [-1]


def test_stages_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="give one more depth than groups"):
        Config(depths=(1,), groups=(8,))
    assert "groupvit-world" in PRESETS


def test_miou_is_the_mean_over_classes_that_occur() -> None:
    right = np.array([[0, 0], [1, -1]])
    assert mean_iou([(right, right)], 3)["miou"].value == 100
    half = mean_iou([(np.array([[0, 1], [1, -1]]), right)], 3)
    assert half["miou"].value == pytest.approx(100 * (1 / 2 + 1 / 2 + 1) / 3)
    assert half["things"].value == pytest.approx(50)


@torch.no_grad()
@pytest.mark.parametrize("way", ["mean", "sequential", "tight"])
def test_films_are_compared_with_all_texts_as_with_their_own(way: str) -> None:
    torch.manual_seed(0)
    model = build("clip4clip-nano", similarity=way).eval()
    assert isinstance(model, CLIP4Clip)
    film, ids = torch.randn(3, 4, 3, 16, 16), torch.randint(48, (3, 5))
    found = model(film, ids)
    logits = model.compare(found.frames, found.text)
    assert logits.shape == (3, 3)
    torch.testing.assert_close(logits.diagonal(), found.logits, atol=1e-5, rtol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("way", ["mean", "sequential", "tight"])
def test_the_order_of_frames_counts_where_they_are_looked_over(way: str) -> None:
    torch.manual_seed(0)
    model = build("clip4clip-nano", similarity=way).eval()
    for parameter in model.parameters():  # fresh ones are so small that nothing would be seen
        torch.nn.init.normal_(parameter, std=0.3)
    film, ids = torch.randn(1, 4, 3, 16, 16), torch.randint(48, (1, 5))
    change = (model(film, ids).logits - model(film.flip(1), ids).logits).abs().item()
    assert (change > 1e-3) == (way != "mean")
