"""Linear layers that are prepared for inference: what they have in common, and those that are parts of a joined one."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Prepared(nn.Module):
    """A linear layer whose matrix is packed and does not learn.

    It has no parameters. A state dict has what is `stored` of it, unpacked, under the names that it had before.
    """

    bias: Tensor | None

    def __init__(
        self,
        weight: Float[Tensor, "o i"],
        bias: Float[Tensor, " o"] | None,
        *,
        stored: Sequence[str] = ("weight", "bias"),
    ) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        self.stored = tuple(stored)
        self.register_buffer("bias", None if bias is None else bias.detach().clone(), persistent=False)

    @property
    def weight(self) -> Float[Tensor, "o i"]:
        """The matrix, unpacked anew each time."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}"

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:  # noqa: ARG002
        for name in self.stored:
            tensor = getattr(self, name)
            if tensor is not None:
                destination[prefix + name] = tensor


class Part(Prepared):
    """Some outputs of a joined layer, as a layer: q, k or v of the one product that makes all three.

    It holds nothing itself. Asked alone, it computes the whole and gives its part, which self-attention never does.
    """

    def __init__(self, joined: Prepared, start: int, end: int) -> None:
        super().__init__(torch.empty(end - start, joined.in_features, device="meta"), None)
        self._joined = (joined,)  # in a tuple: it belongs to the attention
        self._outputs = slice(start, end)

    @property
    def weight(self) -> Float[Tensor, "o i"]:
        return self._joined[0].weight[self._outputs]

    def forward(self, x: Float[Tensor, "*b i"]) -> Float[Tensor, "*b o"]:
        y: Tensor = self._joined[0](x)[..., self._outputs]
        return y

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:  # noqa: ARG002
        destination[f"{prefix}weight"] = self.weight
        bias = self._joined[0].bias
        if bias is not None:
            destination[f"{prefix}bias"] = bias[self._outputs]
