"""Quantization: the same model in fewer bits, to run faster; in bfloat16, or with its matrices in int8."""

import warnings
from copy import deepcopy
from typing import Any, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Attention
from regard.layers.blocks import Block
from regard.layers.tied import Tied
from regard.names import Dtype

# Inputs take 7 of their 8 bits: without VNNI instructions, sums of two products of bytes would overflow 16 bits.
STEPS, ZERO = 63, 64


class Int8Linear(nn.Module):
    """A linear layer with int8 weights, one scale per row, whose inputs are quantized on the way in.

    Inputs have one scale per row too, so that a row comes out the same to the last bit in any company.
    """

    def __init__(self, weight: Float[Tensor, "o i"], bias: Float[Tensor, " o"] | None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        scale = weight.detach().abs().amax(dim=1).clamp(min=torch.finfo(torch.float32).tiny) / 127
        zero = torch.zeros(len(scale), dtype=torch.long)
        with warnings.catch_warnings():
            # torch will drop tensors of this type one day. They are needed here only, to pack for products that are
            # faster at the few rows of a step than onednn's, which do without.
            warnings.filterwarnings("ignore", message=".*quantize_per_channel.*")
            rounded = torch.quantize_per_channel(weight.detach(), scale, zero, 0, torch.qint8)
        self._packed: Any = torch.ops.quantized.linear_prepack(rounded, None)
        self.register_buffer("bias", torch.zeros(()) if bias is None else bias.detach().clone(), persistent=False)

    def forward(self, x: Float[Tensor, "*b i"]) -> Float[Tensor, "*b o"]:
        scale = x.abs().amax(dim=-1, keepdim=True).clamp(min=torch.finfo(torch.float32).tiny)
        product = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32.default
        return torch.addcmul(self.get_buffer("bias"), product(x / scale, 1 / STEPS, ZERO, self._packed), scale)


def quantize(model: nn.Module, dtype: Dtype) -> nn.Module:
    """A copy of a model in another dtype, for inference; the model itself stays as it is.

    `int8` is for a CPU: weights of linear layers take a quarter of the memory. All else stays in float32.
    """
    if dtype not in get_args(Dtype):
        raise ValueError(f"dtype is {dtype!r}; choose {', '.join(get_args(Dtype))}")
    copy = deepcopy(model).eval().requires_grad_(False)
    if dtype != "int8":
        return copy.to(getattr(torch, dtype))
    device = next(copy.parameters()).device
    if device.type != "cpu":
        raise ValueError(f"int8 is for a CPU, and this model is on {device}; move it by .cpu(), or take bfloat16")
    if torch.backends.quantized.engine == "none":
        raise ValueError("this build of torch has no products in int8; take float32 or bfloat16")
    return _pack(copy.float())


def _pack(model: nn.Module) -> nn.Module:
    """Pack every linear layer inside a module, in place."""
    if isinstance(model, Block) and isinstance(model.attn, Attention):
        model.attn.qkv = _pack_qkv(model.attn)
    for name, part in model.named_children():
        if type(part) is nn.Linear or isinstance(part, Tied):
            setattr(model, name, Int8Linear(part.weight, getattr(part, "bias", None)))
        else:
            _pack(part)
    return model


def _pack_qkv(attn: Attention) -> Int8Linear | None:
    """The three products of self-attention as one, so that what they read is quantized once."""
    three: list[Any] = [attn.q, attn.k, attn.v]
    if any(type(part) is not nn.Linear for part in three) or len({part.bias is None for part in three}) > 1:
        return None
    bias = None if attn.q.bias is None else torch.cat([part.bias for part in three])
    return Int8Linear(torch.cat([part.weight for part in three]), bias)
