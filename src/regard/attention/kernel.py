"""How the equation is computed: torch's fused kernel or two plain products, and keys that several rows share."""

from functools import cache

import torch
import torch.nn.functional as F
from jaxtyping import Float, Shaped
from torch import Tensor

from regard.attention.masks import Causal, Visible, draw


def fused(
    q: Float[Tensor, "b h q d"],
    k: Float[Tensor, "s g k d"],
    v: Float[Tensor, "s g k e"],
    scale: float | None,
    visible: Visible | None,
    bias: Float[Tensor, "*#bh #q #k"] | None,
    dropout: float,
) -> Float[Tensor, "b h q e"]:
    """Torch's kernel for the dot score, which never holds the weights."""
    shared = q.shape[0] != v.shape[0]
    # The kernel's own causality lines up the first query with the first key, so it is right for a square alone.
    square = isinstance(visible, Causal) and visible.queries == visible.keys and visible.window is None
    causal = bool(square and bias is None and not shared)
    mask = None if causal else draw(visible, q.device)
    blind = None
    if isinstance(visible, Tensor):
        # Kernels differ on rows that see nothing; letting them see everything and zeroing the answer is right on all.
        blind = ~visible.any(dim=-1, keepdim=True)
        mask = visible | blind
    if bias is not None:
        mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)
    if mask is not None and shared:
        mask = join_rows(mask.expand(*q.shape[:-1], k.shape[-2]), v.shape[0])
    y = F.scaled_dot_product_attention(
        join_rows(q, v.shape[0]),
        k,
        v,
        attn_mask=mask,
        dropout_p=dropout,
        is_causal=causal,
        scale=scale,
        enable_gqa=q.shape[1] != k.shape[1],
    )
    y = part_rows(y, q.shape[0])
    return y if blind is None else y.masked_fill(blind, 0.0)


def written_out_is_faster(q: Tensor, k: Tensor, visible: Visible | None, dropout: float) -> bool:
    """Where two plain products beat the fused kernel. `make bench` prints the table that these numbers come from."""
    if q.device.type != "cpu":
        return False
    if dropout > 0.0:
        return True  # torch's CPU kernel has no dropout and falls back to something slower
    if q.dtype == torch.bfloat16:
        longest = 1024 if cpu_multiplies_bfloat16() else 0
    elif torch.is_grad_enabled() and q.requires_grad and not isinstance(visible, Causal):
        longest = 128  # the kernel's backward pass is its weak side, and it skips half of a causal look
    else:
        longest = 16
    if not torch.compiler.is_compiling():
        return q.shape[-2] > 1 and max(q.shape[-2], k.shape[-2]) <= longest
    # A graph for all lengths must not ask which one it is: the answer would tie it to lengths that answer alike.
    from torch.fx.experimental.symbolic_shapes import statically_known_true

    short = statically_known_true(q.shape[-2] <= longest) and statically_known_true(k.shape[-2] <= longest)
    return short and statically_known_true(q.shape[-2] > 1)


@cache
def cpu_multiplies_bfloat16() -> bool:
    """Without an instruction for it, a CPU multiplies bfloat16 hundreds of times slower than float32."""
    return torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def product(x: Float[Tensor, "b h m i"], y: Float[Tensor, "b g i n"]) -> Float[Tensor, "b h m n"]:
    """The matrix product head by head, where each head of y serves h/g neighbouring heads of x."""
    heads, groups = x.shape[1], y.shape[1]
    if heads == groups:
        return x @ y
    return (torch.unflatten(x, 1, (groups, heads // groups)) @ y[:, :, None]).flatten(1, 2)


def join_rows(x: Shaped[Tensor, "b h q d"], rows: int) -> Shaped[Tensor, "s h n d"]:
    """Neighbouring rows that share a memory, as more queries of one row."""
    return x if x.shape[0] == rows else torch.unflatten(x, 0, (rows, -1)).transpose(1, 2).flatten(2, 3)


def part_rows(x: Float[Tensor, "s h n d"], rows: int) -> Float[Tensor, "b h q d"]:
    """Each row by itself again."""
    if x.shape[0] == rows:
        return x
    return torch.unflatten(x, 2, (rows // x.shape[0], -1)).transpose(1, 2).flatten(0, 1)
