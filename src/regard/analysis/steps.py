"""A trace of a model that ran in steps over the same tokens, as a denoiser does: each attention as the mean of them."""

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention import Trace


class Averaged(Trace):
    """What was watched of several steps; the weights of an attention are the mean of all its looks, or one `look`."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace._aliases, trace._attentions)
        self._looks, self.called = trace._looks, trace.called

    @torch.no_grad()
    def weights(self, name: str, look: int | None = None) -> Float[Tensor, "b h q k"]:
        looks = self[name]
        if look is not None:
            return looks[look].weights()
        total = looks[0].weights().clone()
        for each in looks[1:]:
            total += each.weights()
        return total / len(looks)
