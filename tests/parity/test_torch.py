"""Our parts against torch's own, with the weights copied over."""

import pytest
import torch
from torch import Tensor, nn

from regard.attention import Attention, causal, multihead, padding, record
from regard.layers.blocks import Block, PostNormBlock
from regard.layers.mlp import MLP


def copy_attention(ours: Attention, theirs: nn.MultiheadAttention) -> None:
    if theirs.in_proj_weight is None:  # another width for the keys: three matrices of their own
        weights = theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight
    else:
        weights = theirs.in_proj_weight.chunk(3)
    for linear, weight, offset in zip((ours.q, ours.k, ours.v), weights, theirs.in_proj_bias.chunk(3), strict=True):
        linear.load_state_dict({"weight": weight, "bias": offset})
    ours.out.load_state_dict(theirs.out_proj.state_dict())


def randomised(module: nn.Module) -> nn.Module:
    """Torch starts offsets at zero, where mistakes with them would not show."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.3)
    return module.eval()


def close(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("n", [6, 150])
@pytest.mark.parametrize("masked", [False, True])
def test_multihead_answers_as_torch_with_the_same_weights(n: int, masked: bool) -> None:
    theirs, ours = nn.MultiheadAttention(32, 4, batch_first=True), multihead(32, 4)
    randomised(theirs)
    copy_attention(ours, theirs)
    x = torch.randn(3, n, 32)
    lengths = torch.tensor([n, n - 1, 1])
    visible = padding(lengths, n) if masked else None
    # Torch's masks say True where looking is forbidden; ours are turned over at this border.
    forbidden = None if visible is None else ~visible[:, 0, 0]
    with record(ours) as trace:
        answer = ours(x, visible=visible)
    expected, weights = theirs(x, x, x, key_padding_mask=forbidden, average_attn_weights=False)
    close(answer, expected)
    close(trace.weights(""), weights)


def test_cross_attention_of_another_width_answers_as_torch() -> None:
    theirs, ours = nn.MultiheadAttention(32, 4, kdim=20, vdim=20, batch_first=True), multihead(32, 4, context=20)
    randomised(theirs)
    copy_attention(ours, theirs)
    x, context = torch.randn(2, 5, 32), torch.randn(2, 7, 20)
    close(ours(x, ours.remember(context)), theirs(x, context, context)[0])


def test_gradients_are_those_of_torch() -> None:
    theirs, ours = nn.MultiheadAttention(32, 4, batch_first=True), multihead(32, 4)
    randomised(theirs)
    copy_attention(ours, theirs)
    x = torch.randn(2, 9, 32)
    ours(x, visible=causal(9)).square().sum().backward()
    theirs(x, x, x, attn_mask=~causal(9).draw())[0].square().sum().backward()
    assert theirs.in_proj_weight.grad is not None
    for linear, gradient in zip((ours.q, ours.k, ours.v), theirs.in_proj_weight.grad.chunk(3), strict=True):
        torch.testing.assert_close(linear.weight.grad, gradient, atol=1e-3, rtol=1e-4)


def mlp() -> MLP:
    return MLP(32, 48, activation=nn.ReLU)


@pytest.mark.parametrize("first", [True, False])
def test_an_encoder_block_is_torchs_encoder_layer(first: bool) -> None:
    theirs = randomised(nn.TransformerEncoderLayer(32, 4, 48, batch_first=True, norm_first=first))
    ours = (Block if first else PostNormBlock)(32, multihead(32, 4), mlp()).eval()
    copy_attention(ours.attn, theirs.self_attn)
    ours.mlp.up.load_state_dict(theirs.linear1.state_dict())
    ours.mlp.down.load_state_dict(theirs.linear2.state_dict())
    ours.attn_norm.load_state_dict(theirs.norm1.state_dict())
    ours.mlp_norm.load_state_dict(theirs.norm2.state_dict())
    x = torch.randn(2, 7, 32)
    close(ours(x), theirs(x))
    close(ours(x, visible=causal(7)), theirs(x, src_mask=~causal(7).draw()))


@pytest.mark.parametrize("first", [True, False])
def test_a_decoder_block_is_torchs_decoder_layer_and_can_go_step_by_step(first: bool) -> None:
    theirs = randomised(nn.TransformerDecoderLayer(32, 4, 48, batch_first=True, norm_first=first))
    ours = (Block if first else PostNormBlock)(32, multihead(32, 4), mlp(), cross=multihead(32, 4)).eval()
    copy_attention(ours.attn, theirs.self_attn)
    copy_attention(ours.cross, theirs.multihead_attn)
    ours.mlp.up.load_state_dict(theirs.linear1.state_dict())
    ours.mlp.down.load_state_dict(theirs.linear2.state_dict())
    for norm, their_norm in (("attn_norm", "norm1"), ("cross_norm", "norm2"), ("mlp_norm", "norm3")):
        getattr(ours, norm).load_state_dict(getattr(theirs, their_norm).state_dict())
    x, encoded = torch.randn(2, 7, 32), torch.randn(2, 5, 32)
    context = ours.cross.remember(encoded)
    expected = theirs(x, encoded, tgt_mask=~causal(7).draw())
    close(ours(x, context, visible=causal(7)), expected)
    past, steps = None, []
    for word in x.split(1, dim=1):
        y, past = ours.step(word, past, context)
        steps.append(y)
    close(torch.cat(steps, dim=1), expected)
