"""A multi-head layer with relative positions expresses any convolution (Cordonnier 2020, theorem 1)."""

import pytest
import torch
import torch.nn.functional as F
from einops import rearrange
from torch import Tensor, nn

from regard.attention import Attention, Quadratic2d, record


def as_attention(kernel: Tensor, window: tuple[int, int]) -> Attention:
    """One head for each cell of the kernel: it looks at exactly that offset, and its share of W_o is that cell."""
    outputs, inputs, size, _ = kernel.shape
    heads = size * size
    bias = Quadratic2d(window, heads, sharpness=200.0)
    cells = torch.arange(size) - size // 2
    bias.centre.data = torch.cartesian_prod(cells, cells).view(-1, 2).float()
    attn = Attention(
        q=nn.Linear(inputs, heads),
        k=nn.Linear(inputs, heads),
        v=nn.Linear(inputs, heads * inputs, bias=False),
        out=nn.Linear(heads * inputs, outputs, bias=False),
        heads=heads,
        bias=bias,
    )
    for linear in (attn.q, attn.k):  # positions alone decide where to look
        nn.init.zeros_(linear.weight)
    attn.v.weight.data = torch.eye(inputs).repeat(heads, 1)
    attn.out.weight.data = rearrange(kernel, "o i h w -> o (h w i)")
    return attn


@pytest.mark.parametrize("size", [1, 3, 5])
@torch.no_grad()
def test_constructed_attention_equals_the_convolution(size: int) -> None:
    kernel, x = torch.randn(6, 4, size, size), torch.randn(2, 4, 7, 9)
    margin = size // 2
    padded = F.pad(x, (margin,) * 4)
    height, width = padded.shape[-2:]
    attn = as_attention(kernel, (height, width))
    y = rearrange(attn(rearrange(padded, "b c h w -> b (h w) c")), "b (h w) c -> b c h w", h=height)
    inside = y[..., margin : height - margin, margin : width - margin]
    torch.testing.assert_close(inside, F.conv2d(x, kernel, padding=margin), atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_each_head_of_it_looks_at_one_offset() -> None:
    attn = as_attention(torch.randn(1, 1, 3, 3), (5, 5))
    with record(attn) as trace:
        attn(torch.randn(1, 25, 1))
    middle = trace.weights("")[0, :, 12].view(9, 5, 5)  # where the pixel in the middle looks, head by head
    assert [divmod(int(cell), 5) for cell in middle.flatten(1).argmax(dim=1)] == [
        (row, column) for row in (1, 2, 3) for column in (1, 2, 3)
    ]
    assert middle.amax(dim=(1, 2)).eq(1.0).all()


@torch.no_grad()
def test_without_sharp_centres_it_is_no_convolution() -> None:
    kernel, x = torch.randn(6, 4, 3, 3), torch.randn(1, 4, 7, 7)
    attn = as_attention(kernel, (7, 7))
    attn.bias.sharpness.data.fill_(1.0)
    y = rearrange(attn(rearrange(x, "b c h w -> b (h w) c")), "b (h w) c -> b c h w", h=7)
    assert not y[..., 1:-1, 1:-1].isclose(F.conv2d(x, kernel), atol=1e-2).all()
