"""A linear layer for inference with its matrix in int8, on a CPU."""

import warnings
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from regard.decode import rows
from regard.decode.prepared import Prepared

MOST = 127  # of a weight in our loop, where inputs have 13 to 16 bits
# fbgemm has bytes for both. Without VNNI instructions a sum of two products passes 16 bits unless one of them gives up
# a bit: weights do, since a row of them has no such outliers as the stream of a language model has.
FEWER, STEPS, ZERO = 63, 127, 128


class Int8Linear(Prepared):
    """A linear layer with int8 weights, one scale per row, whose inputs are rounded on the way in.

    Inputs have one scale per row too, so that a row comes out the same to the last bit in any company.
    """

    def __init__(
        self,
        weight: Float[Tensor, "o i"],
        bias: Float[Tensor, " o"] | None,
        *,
        stored: Sequence[str] = ("weight", "bias"),
    ) -> None:
        super().__init__(weight, bias, stored=stored)
        weight = weight.detach().float()
        self._looped = rows.way(1, weight.numel(), int8=True) == "loop"
        most = MOST if self._looped else FEWER
        scale = weight.abs().amax(dim=1).clamp(min=torch.finfo(torch.float32).tiny) / most
        self._scale, self._constants = scale, torch.zeros_like(scale) if self.bias is None else self.bias
        if self._looped:
            self._packed: Any = rows.loops().pack_int8((weight / scale[:, None]).round().to(torch.int8))
            return
        with warnings.catch_warnings():
            # torch will drop tensors of this type one day. They are needed here only, to pack for products that are
            # faster at the few rows of a step than onednn's, which do without.
            warnings.filterwarnings("ignore", message=".*quantize_per_channel.*")
            none = torch.zeros(len(scale), dtype=torch.long)
            self._packed = torch.ops.quantized.linear_prepack(
                torch.quantize_per_channel(weight, scale, none, 0, torch.qint8), None
            )

    @property
    def weight(self) -> Float[Tensor, "o i"]:
        if not self._looped:
            found: Tensor = torch.ops.quantized.linear_unpack(self._packed)[0].dequantize()
            return found
        rounded: Tensor = self._packed.transpose(1, 2).flatten(2).flatten(0, 1)[: self.out_features, : self.in_features]
        return rounded * self._scale[:, None]

    def forward(self, x: Float[Tensor, "*b i"]) -> Float[Tensor, "*b o"]:
        if self._looped:
            y: Tensor = rows.loops().multiply_int8(x, self._packed, self._scale, self._constants, self.out_features)
            return y
        scale = x.abs().amax(dim=-1, keepdim=True).clamp(min=torch.finfo(torch.float32).tiny)
        product = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32.default
        return torch.addcmul(self._constants, product(x / scale, 1 / STEPS, ZERO, self._packed), scale)
