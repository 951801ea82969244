"""A masked autoencoder does not see what is hidden, keeps what was seen, and knows places on the ground."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from regard.models import build, vit
from regard.models.mae import MAE, PRESETS, Config, Painted, cut, join, lost, restored

NANO = PRESETS["mae-nano"]
IMAGE = torch.randn(2, 3, 16, 16, generator=torch.Generator().manual_seed(1))
NOISE = torch.rand(2, 16, generator=torch.Generator().manual_seed(2))


def made(config: Config = NANO) -> MAE:
    torch.manual_seed(0)
    return MAE(config).eval()


def over_patches(hidden: Tensor) -> Tensor:
    """Which pixels patches cover."""
    return join(hidden[..., None].expand(-1, -1, 48).float(), 4, (4, 4)).bool()


@torch.no_grad()
def test_what_is_hidden_is_never_seen() -> None:
    model = made()
    painted = model(IMAGE, NOISE)
    assert painted.hidden.sum(dim=1).tolist() == [12, 12]
    other = torch.where(over_patches(painted.hidden), torch.randn_like(IMAGE), IMAGE)
    assert model(other, NOISE).patches.equal(painted.patches)


@torch.no_grad()
def test_every_patch_that_is_seen_matters_to_every_one_that_is_painted() -> None:
    model = made()
    painted = model(IMAGE, NOISE)
    seen = int((~painted.hidden[0]).nonzero()[0])
    other = IMAGE.clone()
    other.view(2, 3, 4, 4, 4, 4)[0, :, seen // 4, :, seen % 4] += 1
    changed = (model(other, NOISE).patches != painted.patches).any(dim=-1)
    assert changed[0].all()
    assert not changed[1].any()


@torch.no_grad()
def test_with_all_patches_the_encoder_is_its_eye() -> None:
    model = made()
    torch.testing.assert_close(model.encode(IMAGE), model.eye.read(IMAGE))
    everything = torch.arange(16).expand(2, -1)
    torch.testing.assert_close(model.encode(IMAGE, everything), model.eye.read(IMAGE))
    assert model.eye(IMAGE).shape == (2, 32)


@pytest.mark.parametrize("position", ["learned", "learned2d", "sinusoidal", "sinusoidal2d"])
@torch.no_grad()
def test_the_order_in_which_patches_are_kept_does_not_matter(position: vit.Position) -> None:
    model = made(replace(NANO, tower=replace(NANO.tower, position=position, registers=2), ground=False))
    kept = torch.tensor([[3, 7, 8, 14]]).expand(2, -1)
    there, back = model.encode(IMAGE, kept), model.encode(IMAGE, kept.flip(1))
    torch.testing.assert_close(there[:, 3:], back[:, 3:].flip(1))
    torch.testing.assert_close(
        model.decoder(there[:, :3], there[:, 3:], kept, (4, 4)),
        model.decoder(back[:, :3], back[:, 3:], kept.flip(1), (4, 4)),
    )


def test_cutting_and_joining_are_each_others_inverse() -> None:
    patches = cut(IMAGE, 4)
    assert patches.shape == (2, 16, 48)
    assert patches[0, 1, 2 * 3 + 1] == IMAGE[0, 1, 0, 6]  # of the second patch, the green of its third pixel
    assert join(patches, 4, (4, 4)).equal(IMAGE)


@pytest.mark.parametrize("normalized", [True, False])
def test_what_was_seen_is_kept_and_the_truth_costs_nothing(normalized: bool) -> None:
    config = replace(NANO, normalized=normalized)
    _, hidden = made(config).choose(NOISE)
    wanted = cut(IMAGE, 4)
    if normalized:
        wanted = (wanted - wanted.mean(dim=-1, keepdim=True)) / (wanted.var(dim=-1, keepdim=True) + 1e-6).sqrt()
    torch.testing.assert_close(lost(Painted(wanted, hidden), IMAGE, config), torch.zeros(2))
    torch.testing.assert_close(restored(Painted(wanted, hidden), IMAGE, config), IMAGE)
    wrong = restored(Painted(wanted + 1, hidden), IMAGE, config)
    assert (wrong != IMAGE).equal(over_patches(hidden))


def test_only_hidden_patches_cost() -> None:
    config = replace(NANO, normalized=False)
    _, hidden = made(config).choose(NOISE)
    wanted = cut(IMAGE, 4)
    off = wanted + 100 * ~hidden[..., None] + 2 * hidden[..., None]
    torch.testing.assert_close(lost(Painted(off, hidden), IMAGE, config), torch.full((2,), 4.0))


@torch.no_grad()
def test_one_field_has_the_same_code_from_two_heights() -> None:
    """A cell of a picture from twice as high covers two, and begins where the second but next of the lower begins."""
    ground, nothing = made().ground, torch.zeros(1, 4, 4, 32)
    assert ground is not None
    low, high = ground(nothing, torch.tensor([1.0])), ground(nothing, torch.tensor([2.0]))
    torch.testing.assert_close(high[:, :2, :2], low[:, ::2, ::2])
    assert not high.isclose(low).all()


@torch.no_grad()
def test_at_distance_one_positions_on_the_ground_are_the_usual_ones() -> None:
    model = made()
    usual, same = model(IMAGE, NOISE), model(IMAGE, NOISE, distance=torch.ones(2))
    torch.testing.assert_close(same.patches, usual.patches)
    other = model(IMAGE, NOISE, distance=torch.tensor([1.0, 2.0]))
    torch.testing.assert_close(other.patches[0], usual.patches[0])
    assert not other.patches[1].isclose(usual.patches[1]).all()


def test_without_noise_chance_hides() -> None:
    model = made()
    assert not model(IMAGE).hidden.equal(model(IMAGE).hidden)


def test_what_cannot_be_hidden_or_painted_is_refused() -> None:
    with pytest.raises(ValueError, match="a masked autoencoder hides patches of a ViT without a head"):
        Config(tower=vit.Config(position="sinusoidal2d"))
    with pytest.raises(ValueError, match="position='rotary' does not go with patches that are hidden"):
        Config(tower=replace(NANO.tower, position="rotary"))
    with pytest.raises(ValueError, match=r"position='learned' does not go .* give 'sinusoidal2d'"):
        replace(NANO, tower=replace(NANO.tower, position="learned"))
    with pytest.raises(ValueError, match=r"masked=1\.0 leaves nothing to see"):
        replace(NANO, masked=1.0)
    with pytest.raises(ValueError, match="pictures of 18 pixels are not cut into patches of 4"):
        replace(NANO, tower=replace(NANO.tower, size=18))
    with pytest.raises(ValueError, match="a distance is given, and positions are not on the ground"):
        build("mae-nano", ground=False)(IMAGE, NOISE, distance=torch.ones(2))
