"""The loss of a choice among many words, without a second copy of their logits."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

ROWS = 1 << 22  # numbers of a piece: small enough for the cache of a CPU, large enough for a GPU


def cross_entropy(
    logits: Float[Tensor, "*n v"], words: Int[Tensor, "*n"], *, label_smoothing: float = 0.0, ignore_index: int = -100
) -> Float[Tensor, ""]:
    """The summed cross entropy of the right words, where they are not `ignore_index`, with label smoothing.

    Equal to torch's with `reduction="sum"`. The gradient is made together with the loss, piece by piece: beside the
    logits there is one array of their size and kind, where torch keeps log probabilities in float32 too.
    """
    loss: Tensor = _CrossEntropy.apply(logits.flatten(0, -2), words.flatten(), label_smoothing, ignore_index)  # type: ignore[no-untyped-call]
    return loss


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, words: Tensor, smoothing: float, ignore_index: int) -> Tensor:
        learns = logits.requires_grad
        gradient = torch.empty_like(logits) if learns else None
        exact = torch.promote_types(logits.dtype, torch.float32)
        loss = torch.zeros((), dtype=exact, device=logits.device)
        vocab = logits.shape[-1]
        rows = max(1, ROWS // vocab)
        for start in range(0, len(logits), rows):
            piece = slice(start, start + rows)
            chances = logits[piece].log_softmax(dim=-1, dtype=exact)
            counts = (words[piece, None] != ignore_index).to(exact)
            word = words[piece, None].masked_fill(counts == 0, 0)  # -100 is no word
            right = chances.gather(-1, word)
            loss -= ((1 - smoothing) * right * counts).sum()
            if smoothing:
                loss -= smoothing / vocab * (chances.sum(dim=-1, keepdim=True) * counts).sum()
            if gradient is not None:
                # d loss / d logits = softmax - what was wanted.
                wanted = chances.exp_().sub_(smoothing / vocab)
                wanted.scatter_add_(-1, word, torch.full_like(right, smoothing - 1)).mul_(counts)
                gradient[piece] = wanted
        ctx.save_for_backward(*(() if gradient is None else (gradient,)))
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * upstream.to(gradient.dtype), None, None, None
