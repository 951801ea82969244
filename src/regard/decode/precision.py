"""The same model in fewer bits, to write faster: in bfloat16, or with its matrices in eight bits."""

import warnings
from copy import deepcopy
from typing import Any, Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Attention
from regard.layers.blocks import Block
from regard.layers.tied import Tied

Precision = Literal["float32", "bfloat16", "int8"]


class Int8Linear(nn.Module):
    """A linear with weights in eight bits, packed once as this CPU likes them; what it reads is rounded on the way in.

    Each row of the weights has a scale of its own; what is read has one for the whole batch, so that a sentence may
    come out a little differently in other company.
    """

    def __init__(self, weight: Float[Tensor, "o i"], bias: Float[Tensor, " o"] | None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        scale = weight.abs().amax(dim=1).clamp(min=torch.finfo(torch.float32).tiny) / 127
        zero = torch.zeros(len(scale), dtype=torch.long)
        with warnings.catch_warnings():
            # torch will drop tensors of this type one day. They are needed here only, to pack for products that are
            # faster at the few rows of a step than onednn's, which do without.
            warnings.filterwarnings("ignore", message=".*quantize_per_channel.*")
            rounded = torch.quantize_per_channel(weight.detach(), scale.detach(), zero, 0, torch.qint8)
        self._packed: Any = torch.ops.quantized.linear_prepack(rounded, None if bias is None else bias.detach())

    def forward(self, x: Float[Tensor, "*b i"]) -> Float[Tensor, "*b o"]:
        # Without VNNI the products of two bytes overflow their 16 bits: the range is reduced where that is so.
        y: Tensor = torch.ops.quantized.linear_dynamic.default(x, self._packed, reduce_range=True)
        return y


def quantize(model: nn.Module, precision: Precision) -> nn.Module:
    """A copy of a model that writes in another precision; the model itself stays as it is.

    `int8` is for a CPU: weights of linears take a quarter of the room. All else stays in float32.
    """
    if precision not in get_args(Precision):
        raise ValueError(f"no precision is called {precision!r}; choose {', '.join(get_args(Precision))}")
    copy = deepcopy(model).eval().requires_grad_(False)
    if precision != "int8":
        return copy.to(getattr(torch, precision))
    device = next(copy.parameters()).device
    if device.type != "cpu":
        raise ValueError(f"int8 is for a CPU, and this model is on {device}; move it by .cpu(), or take bfloat16")
    if torch.backends.quantized.engine == "none":
        raise ValueError("this build of torch has no products in int8; take float32 or bfloat16")
    return _packed(copy.float())


def _qkv(attn: Attention) -> Int8Linear | None:
    """The product by which words look at themselves: what they are is rounded once for all that is asked of it."""
    three: list[Any] = [attn.q, attn.k, attn.v]
    if any(type(part) is not nn.Linear for part in three) or len({part.bias is None for part in three}) > 1:
        return None
    bias = None if attn.q.bias is None else torch.cat([part.bias for part in three])
    return Int8Linear(torch.cat([part.weight for part in three]), bias)


def _packed(model: nn.Module) -> nn.Module:
    """Pack every linear inside a module, in place."""
    if isinstance(model, Block) and isinstance(model.attn, Attention):
        model.attn.qkv = _qkv(model.attn)
    for name, part in model.named_children():
        if type(part) is nn.Linear or isinstance(part, Tied):
            setattr(model, name, Int8Linear(part.weight, getattr(part, "bias", None)))
        else:
            _packed(part)
    return model
