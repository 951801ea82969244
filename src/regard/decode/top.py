"""The best of many words, and how likely they are: found at the speed of reading their logits."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

BLOCK = 128  # words whose highest is found at once
ROWS = 16  # whose chances are worked out at a time


def top(logits: Float[Tensor, "b v"], count: int) -> Int[Tensor, "b k"]:
    """The `count` best words of each row, best first, as `topk` finds them in several times the time.

    They stand in the blocks with the highest maxima, so only those blocks are sorted; or in the rest behind the last.
    """
    rows, vocab = logits.shape
    even = vocab - vocab % BLOCK
    if even < 4 * count * BLOCK:
        return logits.topk(min(count, vocab), dim=-1).indices
    highest = logits[:, :even].unflatten(-1, (-1, BLOCK)).amax(dim=-1).topk(count, dim=-1).indices
    words = torch.arange(vocab, device=logits.device)
    within = words[:even].view(-1, BLOCK)[highest].flatten(1)
    among = torch.cat((within, words[even:].expand(rows, -1)), dim=-1)
    return among.gather(-1, logits.gather(-1, among).topk(count, dim=-1).indices)


def log_probs(logits: Float[Tensor, "b v"], words: Int[Tensor, "b k"]) -> Float[Tensor, "b k"]:
    """The log probabilities of some words of each row.

    A few rows at a time: an array as large as all the logits would be mapped in afresh at every step.
    """
    pieces = zip(logits.split(ROWS), words.split(ROWS), strict=True)
    return torch.cat([some.log_softmax(dim=-1).gather(-1, chosen) for some, chosen in pieces])
