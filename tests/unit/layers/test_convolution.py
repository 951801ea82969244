"""Convolutions make tokens of images, see as far as they say, and never into the future."""

import re
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from transformers.models.resnet.modeling_resnet import ResNetBasicLayer, ResNetBottleNeckLayer

from regard.attention import Partitioned, Window, multihead, record
from regard.layers.convolution import (
    BasicBlock,
    Bottleneck,
    ConvStem,
    FeatureAttention,
    PatchEmbed,
    TemporalConv,
)

# --- from an image to tokens


@given(patch=st.integers(1, 4), rows=st.integers(1, 3), columns=st.integers(1, 3))
def test_a_patch_becomes_a_token_by_one_linear_map_of_its_pixels(patch: int, rows: int, columns: int) -> None:
    patches = PatchEmbed(3, patch, 8)
    image = torch.randn(2, 3, rows * patch, columns * patch)
    pixels = F.unfold(image, patch, stride=patch).mT  # b n (c p p)
    tokens = F.linear(pixels, patches.project.weight.flatten(1), patches.project.bias)
    torch.testing.assert_close(patches(image), tokens.view(2, rows, columns, 8))


def test_changing_one_pixel_changes_one_token() -> None:
    patches, image = PatchEmbed(3, 4, 8), torch.randn(1, 3, 12, 8)
    before = patches(image)
    image[0, 1, 9, 2] += 1.0
    changed = (patches(image) != before).any(dim=-1)[0]
    assert changed.nonzero().tolist() == [[2, 0]]


def test_an_image_that_does_not_divide_is_told_the_sizes_that_would() -> None:
    with pytest.raises(ValueError, match=r"an image of 225×224 .* its height 224 or 240 and its width 224"):
        PatchEmbed(3, 16, 8)(torch.randn(1, 3, 225, 224))
    with pytest.raises(ValueError, match=r"an image of 7×0 .* its height 16 and its width 16"):
        PatchEmbed(3, 16, 8)(torch.randn(1, 3, 7, 0))


def test_tokens_of_an_image_go_into_a_windowed_attention() -> None:
    image = torch.randn(1, 3, 32, 48)
    for stem in (PatchEmbed(3, 16, 8), ConvStem(3, 8)):
        tokens = stem(image)
        assert tokens.shape == (1, 2, 3, 8)
        assert Partitioned(multihead(8, 2), Window(2))(tokens).shape == tokens.shape


def test_a_stem_doubles_its_channels_while_it_halves_the_map() -> None:
    stem = ConvStem(3, 192, depth=4)
    widths = [m.out_channels for m in stem.modules() if isinstance(m, nn.Conv2d)]
    assert widths == [24, 48, 96, 192, 192]  # the stem of ViT_C-1GF (Xiao 2021)
    assert stem(torch.randn(2, 3, 64, 33)).shape == (2, 4, 3, 192)


def test_a_token_of_a_stem_sees_beyond_its_own_pixels() -> None:
    image = torch.randn(1, 3, 48, 48, requires_grad=True)
    (grad,) = torch.autograd.grad(ConvStem(3, 16).eval()(image)[0, 1, 1].sum(), image)
    seen = grad.abs().sum(dim=(0, 1)).nonzero()
    # Four strided 3×3 convolutions see 31 pixels, which begin 15 before the patch at 16.
    assert seen.min(dim=0).values.tolist() == [1, 1]
    assert seen.max(dim=0).values.tolist() == [31, 31]


def test_a_stem_width_that_does_not_halve_is_told_the_near_ones() -> None:
    with pytest.raises(ValueError, match="width 100 does not halve 3 times, as a stem of depth 4 asks; try 96 or 104"):
        ConvStem(3, 100)


# --- the blocks of a ResNet


@pytest.mark.parametrize("block", [BasicBlock, Bottleneck])
def test_a_block_initialised_with_zeros_starts_as_its_shortcut(block: type[BasicBlock | Bottleneck]) -> None:
    x = torch.randn(2, 8, 6, 6)
    assert block(8, 8)(x).equal(x.relu())
    narrower = block(8, 16, stride=2)
    assert narrower(x).equal(narrower.shortcut(x).relu())
    assert not torch.allclose(block(8, 8, zero_init=False)(x), x.relu())


@pytest.mark.parametrize("block", [BasicBlock, Bottleneck])
@pytest.mark.parametrize(("width", "stride"), [(8, 2), (16, 1), (16, 2)])
def test_a_shortcut_projects_only_when_the_shape_changes(
    block: type[BasicBlock | Bottleneck], width: int, stride: int
) -> None:
    changing = block(8, width, stride=stride)
    assert changing(torch.randn(2, 8, 7, 6)).shape == (2, width, -(-7 // stride), 6 // stride)
    assert list(changing.shortcut.parameters())
    assert not list(block(8, 8).shortcut.parameters())


def test_a_bottleneck_strides_on_its_3x3_convolution() -> None:
    strides = {
        m.kernel_size: m.stride for m in Bottleneck(8, 16, stride=2).branch.modules() if isinstance(m, nn.Conv2d)
    }
    assert strides == {(1, 1): (1, 1), (3, 3): (2, 2)}


def test_a_bottleneck_that_cannot_narrow_is_told_the_near_widths() -> None:
    with pytest.raises(ValueError, match="18 channels do not reduce by 4; try 16 or 20 channels"):
        Bottleneck(8, 18)


@pytest.mark.parametrize(("block", "theirs"), [(BasicBlock, ResNetBasicLayer), (Bottleneck, ResNetBottleNeckLayer)])
@pytest.mark.parametrize(("width", "stride"), [(8, 1), (8, 2), (16, 1), (16, 2)])
@pytest.mark.parametrize("training", [True, False])
def test_a_block_equals_that_of_transformers_with_its_weights(
    block: type[BasicBlock | Bottleneck], theirs: Callable[..., nn.Module], width: int, stride: int, training: bool
) -> None:
    ours, other = block(8, width, stride=stride).train(training), theirs(8, width, stride=stride).train(training)
    for tensor in other.state_dict().values():
        if tensor.is_floating_point():
            tensor.uniform_(0.1, 1.0)  # norms and their statistics too, which would start as zeros and ones
    ours.load_state_dict({_our_name(name): tensor for name, tensor in other.state_dict().items()})
    x = torch.randn(4, 8, 6, 6, requires_grad=True)
    y, expected = ours(x), other(x)
    torch.testing.assert_close(y, expected)
    mine, their = (torch.autograd.grad(z.square().mean(), x) for z in (y, expected))
    torch.testing.assert_close(mine, their)


def _our_name(name: str) -> str:
    name = name.replace("convolution", "0").replace("normalization", "1")
    return re.sub(r"layer\.(\d)", lambda found: f"branch.{2 * int(found[1])}", name)  # activations stand between


# --- attention over a feature map


def test_the_projections_of_feature_attention_are_1x1_convolutions() -> None:
    module, x = FeatureAttention(16, reduction=4), torch.randn(2, 16, 5, 3)
    nn.init.ones_(module.gate)
    q, k, v = (
        F.conv2d(x, linear.weight[:, :, None, None]).flatten(2)
        for linear in (module.attn.q, module.attn.k, module.attn.v)
        if isinstance(linear, nn.Linear)
    )
    scores = torch.einsum("bci,bcj->bij", q, k)  # SAGAN's eq. 1, unscaled
    mixed = torch.einsum("bij,bcj->bci", torch.exp(scores) / torch.exp(scores).sum(-1, keepdim=True), v)
    assert isinstance(module.attn.out, nn.Linear)
    seen = F.conv2d(mixed.view(2, 4, 5, 3), module.attn.out.weight[:, :, None, None])
    torch.testing.assert_close(module(x), x + seen)


@pytest.mark.parametrize("heads", [1, 2])
def test_feature_attention_starts_as_the_identity(heads: int) -> None:
    module, x = FeatureAttention(16, heads), torch.randn(2, 16, 5, 3)
    assert module(x).equal(x)
    nn.init.ones_(module.gate)
    assert not torch.allclose(module(x), x)


def test_feature_attention_can_be_watched() -> None:
    cnn = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), FeatureAttention(16, heads=2))
    image = torch.randn(2, 3, 5, 4)
    with record(cnn) as trace:
        watched = cnn(image)
    assert trace.names == ["1.attn"]
    weights = trace.weights("1.attn")
    assert weights.shape == (2, 2, 20, 20)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 2, 20))
    assert watched.equal(cnn(image))


def test_feature_attention_learns_what_the_trained_cnn_around_it_cannot() -> None:
    """The task is to know the mean colour of the whole image at each place, out of reach of a small kernel."""
    image = torch.randn(16, 8, 4, 4) + torch.randn(16, 8, 1, 1)
    goal = image.mean(dim=(2, 3), keepdim=True).expand_as(image)
    first, last = nn.Conv2d(8, 8, 1), nn.Conv2d(8, 8, 1)

    def fit(model: nn.Module, steps: int) -> Tensor:
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        for _ in range(steps):
            optimizer.zero_grad()
            F.mse_loss(model(image), goal).backward()
            optimizer.step()
        return F.mse_loss(model(image), goal).detach()

    plain = nn.Sequential(first, last)
    before = fit(plain, 200)
    module = FeatureAttention(8, reduction=1)
    joined = nn.Sequential(first, module, last)
    assert joined(image).equal(plain(image))
    after = fit(joined, 100)
    assert module.gate.item() != 0.0
    assert after < before / 2


def test_feature_attention_is_told_what_does_not_split() -> None:
    with pytest.raises(ValueError, match="20 channels do not reduce by 8; try 16 or 24 channels"):
        FeatureAttention(20)
    with pytest.raises(ValueError, match="16 channels reduced by 8 are 2, which do not split into 3 heads"):
        FeatureAttention(16, heads=3)


# --- the past of a sequence


@given(words=st.integers(1, 20), place=st.data(), kernel=st.integers(1, 4), depth=st.integers(1, 3))
def test_a_convolution_over_the_past_does_not_see_the_future(
    words: int, place: st.DataObject, kernel: int, depth: int
) -> None:
    t = place.draw(st.integers(0, words - 1))
    temporal = TemporalConv(3, 5, kernel=kernel, depth=depth)
    x = torch.randn(2, words, 3)
    before = temporal(x)
    x[:, t:] = torch.randn(2, words - t, 3)
    after = temporal(x)
    assert after.shape == (2, words, 5)
    assert after[:, :t].equal(before[:, :t])
    assert not after[:, t:].equal(before[:, t:])


@pytest.mark.parametrize(("kernel", "depth", "field"), [(3, 1, 5), (3, 4, 61), (2, 3, 15), (5, 2, 25), (1, 3, 1)])
def test_a_convolution_over_the_past_sees_exactly_as_far_as_it_says(kernel: int, depth: int, field: int) -> None:
    temporal = TemporalConv(3, 4, kernel=kernel, depth=depth)
    assert temporal.receptive_field == field
    # Positive weights and words keep every ReLU open, so that no path is closed by chance.
    with torch.no_grad():
        for parameter in temporal.parameters():
            parameter.abs_()
    x = torch.rand(1, field + 3, 3, requires_grad=True)
    (grad,) = torch.autograd.grad(temporal(x)[0, -1].sum(), x)
    assert not grad[0, :3].any()
    assert grad[0, 3:].all()


def test_a_sequence_alone_reads_as_it_does_in_a_batch() -> None:
    temporal, x = TemporalConv(3, 4, depth=2), torch.randn(3, 6, 3)
    for i in range(3):
        torch.testing.assert_close(temporal(x[i : i + 1]), temporal(x)[i : i + 1])


def test_dropout_over_the_past_is_for_training_only() -> None:
    temporal, x = TemporalConv(3, 4, dropout=0.5), torch.randn(2, 6, 3)
    assert not temporal(x).equal(temporal(x))
    temporal.eval()
    assert temporal(x).equal(temporal(x))
