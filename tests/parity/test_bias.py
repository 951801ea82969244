"""Relative positions against the published code, as transformers carries it."""

import pytest
import torch
from transformers import BloomConfig, SwinConfig, Swinv2Config, T5Config
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.swin.modeling_swin import SwinLayer
from transformers.models.swinv2.modeling_swinv2 import Swinv2SelfAttention
from transformers.models.t5.modeling_t5 import T5Attention

from regard.attention import Alibi, Buckets, Continuous2d, Partitioned, Relative2d, Shifted, Window, multihead
from regard.layers.blocks import Block
from regard.layers.mlp import MLP


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("queries", "keys"), [(40, 40), (1, 40), (300, 300)])
def test_buckets_are_t5s(bidirectional: bool, queries: int, keys: int) -> None:
    config = T5Config(num_heads=4, is_decoder=not bidirectional)
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    ours = Buckets(4, bidirectional=bidirectional)
    ours.table.load_state_dict(theirs.relative_attention_bias.state_dict())
    bias = ours(torch.zeros(1, 4, queries, 8), torch.zeros(1, 4, keys, 8))
    assert bias.equal(theirs.compute_bias(keys, keys)[:, :, -queries:])


@pytest.mark.parametrize("heads", [1, 4, 8, 12])
def test_slopes_are_blooms(heads: int) -> None:
    theirs = build_alibi_tensor(torch.ones(1, 10, dtype=torch.long), BloomConfig(n_head=heads).n_head, torch.float32)
    last = Alibi(heads)(torch.zeros(1, heads, 1, 8), torch.zeros(1, heads, 10, 8))[0, :, 0]
    # Theirs counts from the first key and ours from the query: a constant for each head, which a softmax cannot see.
    torch.testing.assert_close((last - last[:, :1]), theirs[:, 0] - theirs[:, 0, :1])


@pytest.mark.parametrize("shift", [0, 2])
@pytest.mark.parametrize(("height", "width"), [(8, 8), (8, 12), (4, 4)])
def test_a_windowed_block_is_swins_layer(shift: int, height: int, width: int) -> None:
    config = SwinConfig(embed_dim=16, num_heads=[2], depths=[1], window_size=4, drop_path_rate=0.0)
    theirs = SwinLayer(config, dim=16, input_resolution=(height, width), num_heads=2, shift_size=shift).eval()
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    partition = Shifted(4, shift) if shift else Window(4)
    ours = Block(16, Partitioned(multihead(16, 2, bias=Relative2d(4, 2)), partition), MLP(16)).eval()
    # Names as they stand in memory; the checkpoint files' own names are the business of the hub.
    names = {
        "attention.q_proj": "attn.attn.q",
        "attention.k_proj": "attn.attn.k",
        "attention.v_proj": "attn.attn.v",
        "attention.o_proj": "attn.attn.out",
        "attention.relative_position_bias.relative_position_bias_table": "attn.attn.bias.table",
        "layernorm_before": "attn_norm",
        "layernorm_after": "mlp_norm",
        "mlp.fc1": "mlp.up",
        "mlp.fc2": "mlp.down",
    }
    ours.load_state_dict(
        {
            ours_name + name.removeprefix(theirs_name): tensor
            for name, tensor in theirs.state_dict().items()
            for theirs_name, ours_name in names.items()
            if name.startswith(theirs_name)
        }
    )
    x = torch.randn(2, height, width, 16)
    expected = theirs(x.flatten(1, 2), (height, width))[0].view_as(x)
    torch.testing.assert_close(ours(x), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("window", "trained"), [(8, 0), (12, 8)])
def test_the_continuous_bias_is_swin_v2s(window: int, trained: int) -> None:
    theirs = Swinv2SelfAttention(
        Swinv2Config(), dim=8, num_heads=2, window_size=(window, window), pretrained_window_size=(trained, trained)
    )
    ours = Continuous2d(window, 2, trained=trained or window)
    ours.network.load_state_dict(theirs.continuous_position_bias_mlp.state_dict())
    cells = window * window
    table = theirs.continuous_position_bias_mlp(theirs.relative_coords_table).view(-1, 2)
    bias = 16 * table[theirs.relative_position_index.view(-1)].view(cells, cells, 2).permute(2, 0, 1).sigmoid()
    zeros = torch.zeros(1, 2, cells, 4)
    torch.testing.assert_close(ours(zeros, zeros)[0], bias)
