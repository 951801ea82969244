"""The losses of pictures and texts that belong together, over the batches of all processes (CLIP, SigLIP)."""

from typing import Any, Literal

import torch
import torch.distributed as dist
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.models.clip import Matched

Loss = Literal["softmax", "sigmoid"]


def contrast(
    matched: Matched, keys: Int[Tensor, " b"] | None = None, *, loss: Loss = "softmax", gathered: bool = False
) -> Float[Tensor, ""]:
    """The summed loss of pairs: picture i and text i belong together, and all others do not.

    `softmax` chooses the text of each picture and the picture of each text among all, and takes the mean of both
    (Radford 2021); `sigmoid` asks of each pair alone whether it belongs together (Zhai 2023). Pairs with equal `keys`,
    such as those with the same caption, are no wrong answers to each other. With `gathered`, the pairs of all processes
    are told apart, and each process has the loss of its own.
    """
    image, text = matched.image.float(), matched.text.float()
    several = gathered and dist.is_initialized() and dist.get_world_size() > 1
    if several and keys is None:
        raise ValueError("pairs of several processes need keys, by which they are known; give a number for each")
    keys = torch.arange(len(image), device=image.device) if keys is None else keys
    images, texts, every, first = image, text, keys, 0
    if several:
        sizes = _sizes(len(image), image.device)
        first = sum(sizes[: dist.get_rank()])
        images, texts, every = _gather(image, sizes), _gather(text, sizes), _gather_keys(keys, sizes)
    own = torch.arange(first, first + len(image), device=image.device)
    alike = keys[:, None] == every
    if loss == "sigmoid":
        return _sigmoid(matched, image, texts, alike.scatter(1, own[:, None], True))
    others = alike.scatter(1, own[:, None], False)
    ways = ((image, texts), (text, images))
    lost = [_softmax(matched.scale * here @ there.T, others, own) for here, there in ways]
    return (lost[0] + lost[1]) / 2


def choose_each_other(logits: Float[Tensor, "b b"], keys: Int[Tensor, " b"]) -> Float[Tensor, ""]:
    """The same by softmax, of a model that compares pairs in its own way: row i and column i belong together."""
    own = torch.arange(len(logits), device=logits.device)
    others = (keys[:, None] == keys).fill_diagonal_(False)
    return (_softmax(logits.float(), others, own) + _softmax(logits.float().T, others, own)) / 2


def _softmax(logits: Float[Tensor, "b n"], others: Bool[Tensor, "b n"], own: Int[Tensor, " b"]) -> Float[Tensor, ""]:
    return F.cross_entropy(logits.masked_fill(others, -torch.inf), own, reduction="sum")


def _sigmoid(matched: Matched, image: Tensor, texts: Tensor, together: Bool[Tensor, "b n"]) -> Float[Tensor, ""]:
    logits = matched.scale * image @ texts.T
    logits = logits if matched.bias is None else logits + matched.bias
    return -F.logsigmoid(torch.where(together, logits, -logits)).sum()


def _sizes(count: int, device: torch.device) -> list[int]:
    """How many pairs each process has."""
    found = [torch.zeros(1, dtype=torch.int64, device=device) for _ in range(dist.get_world_size())]
    dist.all_gather(found, torch.tensor([count], device=device))
    return [int(each) for each in found]


def _gather(rows: Float[Tensor, "b j"], sizes: list[int]) -> Float[Tensor, "n j"]:
    """The rows of all processes; gradients find the way back to each."""
    padded = F.pad(rows, (0, 0, 0, max(sizes) - len(rows)))
    parts: Tensor = _Gather.apply(padded)  # type: ignore[no-untyped-call]
    return torch.cat([part[:size] for part, size in zip(parts, sizes, strict=True)])


class _Gather(torch.autograd.Function):
    """What every process has; the gradient of one's own is the sum of what it is worth to all."""

    @staticmethod
    def forward(_: Any, mine: Tensor) -> Tensor:
        parts = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, mine.contiguous())
        return torch.stack(parts)

    @staticmethod
    @once_differentiable
    def backward(_: Any, upstream: Tensor) -> Tensor:
        total = upstream.contiguous()
        dist.all_reduce(total)
        return total[dist.get_rank()]


def _gather_keys(keys: Int[Tensor, " b"], sizes: list[int]) -> Int[Tensor, " n"]:
    padded = F.pad(keys, (0, max(sizes) - len(keys)))
    parts = [torch.empty_like(padded) for _ in sizes]
    dist.all_gather(parts, padded)
    return torch.cat([part[:size] for part, size in zip(parts, sizes, strict=True)])
