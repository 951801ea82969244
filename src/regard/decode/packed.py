"""A linear layer for inference in float32, whose matrix is packed once for the products that suit few rows."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from regard.decode import rows
from regard.decode.prepared import Prepared

ROWS = 32  # that oneDNN packs for; it packs for 2 to 2048 in the same way


class PackedLinear(Prepared):
    """The same numbers as `nn.Linear` but for rounding. The matrix is held once, packed; `relu` is part of the product.

    On a GPU, in another dtype or where a gradient passes through, it is an ordinary linear layer that does not learn.
    """

    def __init__(
        self,
        weight: Float[Tensor, "o i"],
        bias: Float[Tensor, " o"] | None,
        *,
        relu: bool = False,
        stored: Sequence[str] = ("weight", "bias"),
    ) -> None:
        super().__init__(weight, bias, stored=stored)
        self.relu = relu
        self._hold(weight.detach())

    @property
    def weight(self) -> Float[Tensor, "o i"]:
        return self._matrix.to_dense() if self._matrix.is_mkldnn else self._matrix

    def forward(self, x: Float[Tensor, "*b i"]) -> Float[Tensor, "*b o"]:
        if not self._matrix.is_mkldnn or x.dtype != torch.float32 or (x.requires_grad and torch.is_grad_enabled()):
            y = F.linear(x, self.weight.to(x.dtype), self.bias)
        elif self._address and rows.way(x.numel() // self.in_features, self._size) == "loop":
            y = rows.loops().multiply(x, self._address, self._constants, self.out_features)
        else:
            activation = "relu" if self.relu else "none"
            packed: Tensor = torch.ops.mkldnn._linear_pointwise(x, self._matrix, self.bias, activation, [], "")
            return packed
        return y.relu() if self.relu else y

    def _hold(self, weight: Tensor) -> None:
        self._size, self._matrix, self._address = weight.numel(), weight, 0
        self._constants = torch.zeros(self.out_features) if self.bias is None else self.bias
        if weight.device.type != "cpu" or weight.dtype != torch.float32 or rows.way(ROWS, self._size) != "packed":
            return
        self._matrix = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), ROWS)
        compiled = rows.loops()
        if compiled is not None:
            address, size = torch.ops.mkldnn.data_ptr(self._matrix), torch.ops.mkldnn._nbytes(self._matrix)
            if compiled.lies_in_blocks(weight, address, size):
                self._address = address

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "PackedLinear":
        """Move, or change the dtype: what is packed is unpacked, and packed again if it may be."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self._hold(fn(self.weight))
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "PackedLinear":
        copy = PackedLinear(self.weight, self.bias, relu=self.relu, stored=self.stored).train(self.training)
        memo[id(self)] = copy
        return copy
