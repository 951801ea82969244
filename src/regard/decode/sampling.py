"""Words by chance: among all, among the likeliest few, or among those that hold a share of the probability."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.chance import Chance
from regard.decode.generate import Choice, argmax

FEW = (64, 1024)  # words that may hold a share of the probability; only where they do not, all are sorted

# One for all rows, or one for each; None is torch's own.
Generators = torch.Generator | Sequence[torch.Generator] | None


def sampler(
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    generator: Generators = None,
) -> Choice:
    """Sampling: among the `top_k` likeliest words, or top-p (nucleus), the fewest that hold this much probability.

    With `min_p`, a word must have that share of the likeliest word's probability. A `temperature` below 1 makes the
    likely likelier; 0 is greedy. For top-p see Holtzman 2020, for min-p Nguyen 2024. A row that has a `generator` of
    its own draws the same words in every batch.
    """
    if temperature < 0.0:
        raise ValueError(f"temperature {temperature} is below 0; give 0 for the likeliest word, 1 for fair chances")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k is {top_k}; give 1 word or more")
    if top_p is not None and not 0.0 < top_p <= 1.0:
        raise ValueError(f"top_p is {top_p}; give a probability above 0 and up to 1")
    if min_p is not None and not 0.0 <= min_p <= 1.0:
        raise ValueError(f"min_p is {min_p}; give a share of the likeliest word's probability, 0 to 1")
    return argmax if temperature == 0.0 else _Sampler(temperature, top_k, top_p, min_p, generator)


def seeded(seed: int, count: int) -> list[torch.Generator]:
    """The generators of so many samples of one prompt; they do not depend on what else is in a batch."""
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed is {seed}; give 0 to {2**63 - 1}")
    return [torch.Generator().manual_seed(Chance(seed, "sample", i).bits() >> 1) for i in range(count)]


def narrow(
    logits: Float[Tensor, "b v"], *, top_k: int | None = None, top_p: float | None = None, min_p: float | None = None
) -> Float[Tensor, "b v"]:
    """The logits of words that may be drawn; those of the others are -inf. Words that tie stay together."""
    floors: list[Tensor] = []
    best = None if top_k is None or top_k >= logits.shape[-1] else logits.topk(top_k, dim=-1).values
    if best is not None:
        floors.append(best[:, -1:])
    if top_p is not None and top_p < 1.0:
        floors.append(_least_of_share(logits if best is None else best, top_p))
    if min_p is not None and min_p > 0.0:
        floors.append(logits.amax(dim=-1, keepdim=True) + math.log(min_p))
    if not floors:
        return logits
    return logits.masked_fill(logits < torch.cat(floors, dim=-1).amax(dim=-1, keepdim=True), -torch.inf)


@dataclass(frozen=True, slots=True, eq=False)
class _Sampler:
    temperature: float
    top_k: int | None
    top_p: float | None
    min_p: float | None
    generator: Generators

    def __call__(self, logits: Float[Tensor, "b v"]) -> Int[Tensor, " b"]:
        kept = narrow(logits.float() / self.temperature, top_k=self.top_k, top_p=self.top_p, min_p=self.min_p)
        # In the order of the vocabulary, where a rounding moves a border by as much and no word changes its place.
        heaped = kept.softmax(dim=-1).cumsum(dim=-1)
        total = heaped[:, -1:]
        aim = self._uniform(len(logits)).to(heaped)[:, None] * total
        # Rounded up to the very end, it would hit no word.
        aim = aim.minimum(torch.nextafter(total, torch.zeros_like(total)))
        return torch.searchsorted(heaped, aim, right=True)[:, 0]

    def _uniform(self, rows: int) -> Float[Tensor, " b"]:
        own = self.generator
        if own is None or isinstance(own, torch.Generator):
            return torch.rand(rows, generator=own, device=None if own is None else own.device)
        if len(own) != rows:
            raise ValueError(f"{len(own)} generators do not go with {rows} rows; give one for all, or one for each")
        return torch.cat([torch.rand(1, generator=each) for each in own])

    def select(self, rows: Int[Tensor, " r"]) -> "_Sampler":
        own = self.generator
        if own is None or isinstance(own, torch.Generator):
            return self
        return replace(self, generator=[own[row] for row in rows.tolist()])


def _least_of_share(logits: Float[Tensor, "b v"], share: float) -> Float[Tensor, "b 1"]:
    """The lowest logit among the fewest words that hold a share of the probability."""
    total = logits.logsumexp(dim=-1, keepdim=True)
    vocab = logits.shape[-1]
    for count in (*(few for few in FEW if few < vocab), vocab):
        ordered = logits.topk(count, dim=-1).values
        chances = (ordered - total).exp()
        # A word belongs to the share if those before it do not fill it yet, so the first always does.
        inside = chances.cumsum(dim=-1) - chances < share
        if not inside[:, -1].any():
            break
    return ordered.gather(-1, inside.sum(dim=-1, keepdim=True) - 1)
