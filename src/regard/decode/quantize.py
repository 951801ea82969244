"""Preparing a model for inference: its matrices packed in float32, or in fewer bits, to run faster.

What is prepared runs, can be watched, edited and copied, and does not learn. Large matrices alone are packed in
float32, and only those of models that write: a model that reads has many rows at once, where torch is as fast. No
matrix is held twice but that of an output layer which is the embedding too.
"""

from copy import deepcopy
from typing import Any, get_args

import torch
from torch import Tensor, nn

from regard.attention import Attention
from regard.decode import rows
from regard.decode.int8 import Int8Linear
from regard.decode.packed import PackedLinear
from regard.decode.prepared import Part, Prepared
from regard.layers.blocks import Block
from regard.layers.mlp import MLP
from regard.layers.tied import Tied
from regard.names import Dtype


def quantize(model: nn.Module, dtype: Dtype, *, in_place: bool = False) -> nn.Module:
    """A copy of a model in a dtype, prepared for inference; the model itself stays as it is.

    `float32` gives the same numbers but for rounding. `int8` is for a CPU: weights of linear layers take a quarter of
    the memory, and all else stays in float32. `in_place` changes the model itself, which then is never held twice; in
    float32, one that would gain nothing stays as it is.
    """
    if dtype not in get_args(Dtype):
        raise ValueError(f"dtype is {dtype!r}; choose {', '.join(get_args(Dtype))}")
    device = next(model.parameters()).device
    packs = device.type == "cpu" and hasattr(model, "step") and any(map(_gains, model.modules()))
    if dtype == "float32" and in_place and not packs:
        return model
    copy = (model if in_place else deepcopy(model)).eval().requires_grad_(False)
    if dtype == "bfloat16":
        return copy.bfloat16()
    if dtype == "float32":
        return _prepare(copy.float(), int8=False) if packs else copy.float()
    if device.type != "cpu":
        raise ValueError(f"int8 is for a CPU, and this model is on {device}; move it by .cpu(), or take bfloat16")
    if torch.backends.quantized.engine == "none" and rows.loops() is None:
        raise ValueError("this build of torch has no products in int8; take float32 or bfloat16")
    return _prepare(copy.float(), int8=True)


def _prepare(model: nn.Module, *, int8: bool) -> nn.Module:
    """Replace every linear layer inside a module, one after another."""
    if isinstance(model, Block) and isinstance(model.attn, Attention):
        _join_qkv(model.attn, int8=int8)
    for name, part in model.named_children():
        if type(part) is nn.Linear or isinstance(part, Tied):
            relu = type(model) is MLP and name == "up" and type(model.activation) is nn.ReLU and not int8
            stored = ("bias",) if isinstance(part, Tied) else ("weight", "bias")
            layer = _packed(part.weight, getattr(part, "bias", None), int8=int8, relu=relu, stored=stored)
            if layer is not None:
                setattr(model, name, layer)
                if relu:
                    model.activation = nn.Identity()
        else:
            _prepare(part, int8=int8)
    return model


def _gains(part: nn.Module) -> bool:
    """Whether this is a layer that runs faster packed in float32."""
    return (type(part) is nn.Linear or isinstance(part, Tied)) and rows.way(2, part.weight.numel()) == "packed"


def _packed(
    weight: Tensor, bias: Tensor | None, *, int8: bool, relu: bool = False, stored: tuple[str, ...]
) -> Prepared | None:
    """A matrix prepared, or None where that would gain nothing."""
    if int8:
        return Int8Linear(weight, bias, stored=stored)
    if rows.way(2, weight.numel()) != "packed":
        return None
    return PackedLinear(weight, bias, relu=relu, stored=stored)


def _join_qkv(attn: Attention, *, int8: bool) -> None:
    """Make the three products of self-attention one: the more a product has to do, the better it does it."""
    three: list[Any] = [attn.q, attn.k, attn.v]
    if any(type(part) is not nn.Linear for part in three) or len({part.bias is None for part in three}) > 1:
        return
    bias = None if attn.q.bias is None else torch.cat([part.bias for part in three])
    joined = _packed(torch.cat([part.weight for part in three]), bias, int8=int8, stored=())
    if joined is None:
        return
    start = 0
    for name, part in zip("qkv", three, strict=True):
        setattr(attn, name, Part(joined, start, start + part.out_features))
        start += part.out_features
    attn.qkv = joined
