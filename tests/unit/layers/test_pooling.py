"""Pooling attention, against its definition written out."""

import pytest
import torch
from torch import Tensor

from regard.attention import record
from regard.layers.pooling import PoolHeads, PoolingAttention


def pooled(pool: PoolHeads, x: Tensor) -> Tensor:
    """The same by torch's own convolution of all heads, one after another: b h cells d."""
    parts = x.permute(0, 3, 1, 2).chunk(pool.heads, dim=1)
    return torch.stack([pool.norm(pool.conv(part).flatten(2).mT) for part in parts], dim=1)


@torch.no_grad()
@pytest.mark.parametrize(("stride", "key_stride"), [(1, 1), (2, 1), (1, 2), (2, 2), (1, 4)])
def test_it_is_attention_between_smaller_maps_and_its_queries_are_added(stride: int, key_stride: int) -> None:
    attn = PoolingAttention(8, 12, 3, side=8, stride=stride, key_stride=key_stride).eval()
    x = torch.randn(2, 8, 8, 8)
    q, k, v = (
        pooled(pool, project(x))
        for pool, project in ((attn.pool_q, attn.q), (attn.pool_k, attn.k), (attn.pool_v, attn.v))
    )
    assert attn.attn.bias is not None
    weights = (q @ k.mT * 4**-0.5 + attn.attn.bias(q, k)).softmax(dim=-1)
    side = 8 // stride
    expected = attn.attn.out((weights @ v + q).transpose(1, 2).flatten(2)).view(2, side, side, 12)
    with record(attn) as trace:
        found = attn(x)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(trace.map("attn"), weights, atol=1e-5, rtol=1e-4)
    layout = trace["attn"][0].layout
    assert layout is not None
    assert (layout.height, layout.width, layout.keys) == (side, side, (8 // key_stride, 8 // key_stride))


def test_heads_share_their_pooling() -> None:
    pool, part = PoolHeads(3, 4, stride=2), torch.randn(2, 5, 5, 4)
    y = pool(part.repeat(1, 1, 1, 3))
    assert y.shape == (2, 3, 3, 3, 4)
    torch.testing.assert_close(y[:, 0], y[:, 2])


def test_a_width_that_heads_do_not_share_is_refused() -> None:
    with pytest.raises(ValueError, match="width 10 does not split into 3 heads; make it a multiple of them"):
        PoolingAttention(8, 10, 3, side=8)
