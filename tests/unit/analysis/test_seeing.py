"""How models of pictures see: each analysis against a picture, or a network, of which the answer is known."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from regard.analysis.pictures import maps_over
from regard.analysis.reading import Reading
from regard.analysis.seeing import (
    attention_distances,
    cka,
    covers,
    deletion,
    feature_colours,
    filter_components,
    gradcam,
    gradients,
    insertion,
    integrated_gradients,
    occlusion,
    points_at,
    position_similarity,
    receptive_field,
    rollout,
    sampling,
    streams,
)
from regard.analysis.seeing.decisive import resize
from regard.attention import record
from regard.layers.deformable import DeformableConv
from regard.layers.vision import VisionModel
from regard.models import build
from regard.models.family import families, family

SEEING = [one.name for one in families().values() if issubclass(one.model, VisionModel)]
every_model = pytest.mark.parametrize("name", SEEING)


def nano(name: str, **changes: Any) -> tuple[Any, Tensor]:
    torch.manual_seed(0)
    one = family(name)
    (preset,) = (each for each in one.presets if each.endswith("-nano"))
    model = build(preset, **changes).eval()
    return model, one.example(model.config)["image"]


def read(model: Any, image: Tensor) -> Reading:
    with torch.no_grad(), record(model) as trace:
        model(image[:1])
    axes, maps = maps_over(trace, model.grid(*image.shape[-2:]), leading=model.leading)
    return Reading("nano", axes, maps, trace)


class Quarter(nn.Module):
    """A network that reads one quarter of the picture: its class is how bright the top left is."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([nn.Conv2d(3, 4, 1)])
        nn.init.ones_(self.blocks[0].weight)
        nn.init.zeros_(self.blocks[0].bias)

    def forward(self, image: Tensor) -> Tensor:
        seen = self.blocks[0](image)[..., : image.shape[-2] // 2, : image.shape[-1] // 2].mean(dim=(1, 2, 3))
        return torch.stack((seen, -seen), dim=-1)


CORNER = np.zeros((8, 8), bool)
CORNER[:4, :4] = True
BRIGHT = torch.full((1, 3, 8, 8), 0.7)


@every_model
def test_every_model_says_its_blocks_and_gives_a_map_behind_each(name: str) -> None:
    model, image = nano(name)
    kept, logits = streams(model, image)
    assert list(kept) == model.trunk
    assert logits.shape == (2, model.config.classes)
    assert all(each.ndim == 4 and len(each) == 2 and each.isfinite().all() for each in kept.values())
    last = list(kept.values())[-1].shape
    assert model.features(image).shape[1:3] == last[1:3]


def test_a_detector_is_seen_through_from_its_backbone_to_its_encoder() -> None:
    model, image = nano("detr")
    assert model.trunk == ["backbone.stages.0.0", "backbone.stages.1.0", "encoder.blocks.0"]
    kept, _ = streams(model, image)
    assert [tuple(each.shape) for each in kept.values()] == [(2, 8, 8, 16), (2, 4, 4, 24), (2, 4, 4, 32)]
    assert [field.block for field in receptive_field(model, image)] == model.trunk
    assert cka(model, model, [torch.randn(8, 3, 32, 32)]).cka.shape == (3, 3)


@every_model
def test_grad_cam_works_on_every_model(name: str) -> None:
    model, image = nano(name)
    found = gradcam(model, image[:1], target=1)
    assert found.min() >= 0
    assert found.max() in (0.0, 1.0)


@every_model
def test_attention_of_every_model_is_rolled_out_over_its_whole_picture(name: str) -> None:
    model, image = nano(name)
    reading = read(model, image)
    if not any(reading.maps):
        pytest.skip("it has no attention")
    total, last, first = rollout(reading)
    assert total.shape == (len(last), len(first))
    np.testing.assert_allclose(total.sum(-1), 1, atol=1e-5)
    for each in attention_distances(reading):
        assert 0 <= each.heads.min() <= each.heads.max() <= 2**0.5


def test_what_decides_is_found_where_it_is() -> None:
    model = Quarter()
    for found in (
        gradcam(model, BRIGHT, target=0, block="blocks.0"),
        gradients(model, BRIGHT, target=0),
        occlusion(model, BRIGHT, patch=2, target=0),
        integrated_gradients(model, BRIGHT, target=0).sum(0).numpy(),
    ):
        assert points_at(found, CORNER)
    assert covers(gradients(model, BRIGHT, target=0), CORNER) == 1.0
    assert covers(1 - CORNER.astype(np.float32), CORNER) == 0.0


def test_integrated_gradients_add_up_to_what_the_model_says_more() -> None:
    model, image = nano("vit")
    with torch.no_grad():
        more = (model(image[:1]) - model(torch.zeros_like(image[:1])))[0, 2]
    found = integrated_gradients(model, image[:1], target=2, steps=100)
    torch.testing.assert_close(found.sum(), more, atol=2e-3, rtol=1e-2)


def test_taking_away_what_decides_loses_the_class_sooner_than_taking_away_the_rest() -> None:
    model, right = Quarter(), CORNER.astype(np.float32)
    assert deletion(model, BRIGHT, right, target=0).area < deletion(model, BRIGHT, 1 - right, target=0).area
    assert insertion(model, BRIGHT, right, target=0).area > insertion(model, BRIGHT, 1 - right, target=0).area


def test_a_convolution_sees_its_neighbours_alone_and_a_vit_everything() -> None:
    class Convolutions(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.ModuleList(nn.Conv2d(3, 3, 3, padding=1) for _ in range(2))

        def forward(self, image: Tensor) -> Tensor:
            for block in self.blocks:
                image = block(image)
            return image.mean(dim=(2, 3))

    near = receptive_field(Convolutions(), torch.randn(2, 3, 15, 15), blocks=("blocks.0", "blocks.1"))
    assert [(each.pixels > 0).sum() for each in near] == [9, 25]
    assert near[0].radius(1.0) < near[1].radius(1.0)
    model, image = nano("vit")
    assert all((each.pixels > 0).all() for each in receptive_field(model, image))


def test_a_convolution_that_is_moved_to_the_right_is_seen_to_read_there() -> None:
    model = nn.Sequential(DeformableConv(3, 2, 3, padding=1))
    (plain,) = sampling(model, torch.randn(1, 3, 8, 16))
    assert (plain.name, plain.moved) == ("0", 0.0)
    np.testing.assert_allclose(plain.places[2, 5, 4], [2.5 / 8, 5.5 / 16])  # the tap in the middle reads its own cell
    assert (plain.weights == 1).all()
    conv = model[0]
    assert isinstance(conv, DeformableConv)
    assert conv.offset.bias is not None
    with torch.no_grad():
        conv.offset.bias[1::2] = 2.0
    (moved,) = sampling(model, torch.randn(1, 3, 8, 16))
    assert moved.moved == 2.0
    np.testing.assert_allclose(moved.places - plain.places, np.broadcast_to([0, 2 / 16], plain.places.shape), atol=1e-6)
    shown = moved.shown(4, 4, side=16)
    assert shown.max(axis=0)[5:8] == pytest.approx([1, 1, 1], abs=0.3)  # columns 3 to 5, two further
    assert shown[:, :3].max() < 0.02
    assert sampling(nn.Sequential(nn.Conv2d(3, 2, 3)), torch.randn(1, 3, 8, 8)) == []


def test_a_network_is_like_itself_and_noise_is_like_nothing() -> None:
    model, _ = nano("vit")
    pictures = [torch.randn(32, 3, 16, 16) for _ in range(4)]
    found = cka(model, model, pictures)
    np.testing.assert_allclose(np.diag(found.cka), 1, atol=1e-6)
    assert found.pictures == 128

    class Noise(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.ModuleList([nn.Identity()])

        def forward(self, image: Tensor) -> Tensor:
            return self.blocks[0](torch.randn(len(image), 500, 1, 1)).flatten(1)

    # The biased estimate of features that have nothing in common is far above 0 with so few pictures.
    assert abs(cka(model, Noise(), pictures, blocks=((), ["blocks.0"])).cka).max() < 0.1
    with pytest.raises(ValueError, match="a batch of 4 pictures is too small for CKA; give 8"):
        cka(model, model, [torch.randn(4, 3, 16, 16)])


def test_cka_does_not_mind_a_rotation_or_a_scale_of_the_features() -> None:
    class Turned(nn.Module):
        def __init__(self, turn: Tensor) -> None:
            super().__init__()
            self.turn, self.blocks = turn, nn.ModuleList([nn.Identity()])

        def forward(self, image: Tensor) -> Tensor:
            return self.blocks[0]((image.flatten(1) @ self.turn)[..., None, None]).flatten(1)

    turn, _ = torch.linalg.qr(torch.randn(12, 12))
    one, other = Turned(torch.eye(12)), Turned(3 * turn)
    found = cka(one, other, [torch.randn(20, 3, 2, 2)], blocks=(["blocks.0"], ["blocks.0"]))
    np.testing.assert_allclose(found.cka, 1, atol=1e-6)


def test_cells_with_equal_features_have_equal_colours() -> None:
    features = torch.randn(1, 1, 4, 8).repeat(1, 2, 1, 1)
    colours = feature_colours(features)
    np.testing.assert_array_equal(colours[0, 0], colours[0, 1])
    assert len(np.unique(colours[0, 0], axis=0)) > 1
    with pytest.raises(ValueError, match="2 cells of 8 features have no three components"):
        feature_colours(features[:, :1, :2])


def test_the_first_component_of_filters_is_what_they_share() -> None:
    shared = torch.randn(1, 3, 4, 4)
    filters = torch.randn(50, 1, 1, 1) * shared + 0.01 * torch.randn(50, 3, 4, 4)
    (first,) = filter_components(filters, 1)
    cosine = np.dot(first.flatten(), shared.flatten().numpy()) / np.linalg.norm(first) / shared.norm().item()
    assert abs(cosine) > 0.99


def test_a_position_is_like_itself_and_like_its_neighbours() -> None:
    from regard.layers.position import WaveCells

    alike = position_similarity(WaveCells(64, leading=1)(5, 5), 5, 5)
    assert alike.shape == (5, 5, 5, 5)
    assert np.unravel_index(alike[2, 3].argmax(), (5, 5)) == (2, 3)
    assert alike[2, 2, 2, 3] > alike[2, 2, 0, 4]
    with pytest.raises(ValueError, match="9 positions are too few for 5×5 cells"):
        position_similarity(torch.randn(9, 4), 5, 5)


def test_a_rollout_of_a_network_that_passes_everything_by_is_the_picture_itself() -> None:
    model, image = nano("vit")
    total, _, _ = rollout(read(model, image), stream=0.999999)
    np.testing.assert_allclose(total, np.eye(len(total)), atol=1e-4)
    assert np.abs(rollout(read(model, image), discard=0.9)[0] - rollout(read(model, image))[0]).max() > 0
    with pytest.raises(ValueError, match=r"a stream of 1\.0 and a discard of 0\.0 are no shares"):
        rollout(read(model, image), stream=1.0)


def test_distance_of_heads_that_look_evenly_is_that_of_looking_evenly() -> None:
    model, image = nano("vit")
    for block in model.blocks:
        nn.init.zeros_(block.attn.q.weight)
        nn.init.zeros_(block.attn.q.bias)
    for each in attention_distances(read(model, image)):
        np.testing.assert_allclose(each.heads, each.even, rtol=1e-5)


def test_a_model_of_strangers_is_seen_through_a_grid_given_by_hand() -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.ViTConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, image_size=16, patch_size=4
    )
    model = transformers.ViTForImageClassification(config).eval()
    image = torch.randn(1, 3, 16, 16)
    found = gradcam(model, image, block="vit.layers.0", grid=(4, 4), leading=1)
    assert found.shape == (4, 4)
    with pytest.raises(ValueError, match=r"17 tokens lie on no map that is known; give grid="):
        gradcam(model, image, block="vit.layers.0")
    with pytest.raises(ValueError, match="does not say which blocks it has"):
        gradcam(model, image)
    with torch.no_grad(), record(model) as trace:
        model(image)
    axes, maps = maps_over(trace, (4, 4), leading=["[CLS]"])
    reading = Reading("theirs", axes, maps, trace)
    assert len(attention_distances(reading)) == 2
    assert rollout(reading)[0].shape == (17, 17)


def test_a_map_is_resized_to_what_lies_below_it() -> None:
    found = resize(np.array([[0.0, 1.0]], np.float32), 4, 8)
    assert found.shape == (4, 8)
    assert found[0, 0] == 0
    assert found[0, -1] == 1
    np.testing.assert_allclose(resize(np.arange(4, dtype=np.float32).reshape(2, 2), 1, 1), [[1.5]])
