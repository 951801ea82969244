"""CKA: how alike what two layers know is, within one network or between two (Kornblith 2019; Raghu 2021; deck 001).

The estimator is unbiased and goes batch by batch (Nguyen 2021, eq. 3), so that few pictures do not make layers look
more alike than they are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.analysis.seeing.streams import streams

LEAST = 8  # pictures in a batch; the estimator divides by n - 3


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """The CKA of each layer of one network with each of another, from about 0 to 1."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cka: Float[np.ndarray, "r c"]
    pictures: int


def cka(
    one: nn.Module,
    other: nn.Module,
    batches: Iterable[Float[Tensor, "b c h w"] | tuple[Float[Tensor, "b c h w"], Float[Tensor, "b d i j"]]],
    *,
    blocks: tuple[Sequence[str], Sequence[str]] = ((), ()),
) -> Alike:
    """Compare the maps behind all blocks of two networks, which may be the same, on the same pictures.

    Networks that read pictures in different sizes are given batches in pairs, one for each.
    """
    total: Tensor | None = None
    own: list[Tensor] = []
    names: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    pictures = 0
    with torch.no_grad():
        for batch in batches:
            pair = (batch, batch) if isinstance(batch, Tensor) else batch
            if (count := len(pair[0])) < LEAST:
                raise ValueError(f"a batch of {count} pictures is too small for CKA; give {LEAST} or more in each")
            sides = []
            for model, seen, chosen in zip((one, other), pair, blocks, strict=True):
                kept, _ = streams(model, seen, blocks=chosen)
                sides.append({name: _gram(each.flatten(1)) for name, each in kept.items()})
            names = (tuple(sides[0]), tuple(sides[1]))
            both = torch.tensor([[_hsic(a, b) for b in sides[1].values()] for a in sides[0].values()])
            selves = [torch.tensor([_hsic(a, a) for a in side.values()]) for side in sides]
            total = both if total is None else total + both
            own = selves if not own else [a + b for a, b in zip(own, selves, strict=True)]
            pictures += count
    if total is None:
        raise ValueError("no pictures tell nothing of networks; give a batch or more")
    scale = (own[0][:, None] * own[1][None]).clamp(min=1e-30).sqrt()
    return Alike(*names, (total / scale).numpy(), pictures)


def _gram(rows: Float[Tensor, "n d"]) -> Float[Tensor, "n n"]:
    """Products of all pairs of pictures, without those of each with itself."""
    rows = rows.double()
    gram = rows @ rows.T
    return gram - gram.diagonal().diag()


def _hsic(k: Float[Tensor, "n n"], m: Float[Tensor, "n n"]) -> float:
    """The unbiased estimate of the Hilbert–Schmidt independence criterion (Song 2012)."""
    n = len(k)
    trace = (k * m).sum()
    means = k.sum() * m.sum() / ((n - 1) * (n - 2))
    crossed = 2 * (k.sum(0) @ m.sum(0)) / (n - 2)
    return float((trace + means - crossed) / (n * (n - 3)))
