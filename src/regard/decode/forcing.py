"""Teacher forcing: a model is given the words it should write, and says how likely each of them was."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.decode.batching import pad_rows


@torch.no_grad()
def force(
    model: Any, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], *, start: int, pad: int = 0
) -> list[Float[Tensor, " m"]]:
    """The log probability of each id of each target, given its source and the ids before it; one batch.

    Targets have no start token and, as a rule, end with the stop. What the model looks at meanwhile is seen by a
    `record` scope around the call: row i of an attention is the look that predicts id i.
    """
    device = next(model.parameters()).device
    source, lengths = pad_rows(sources, pad, device)
    read, _ = pad_rows([[start, *target[:-1]] for target in targets], pad, device)
    wanted, _ = pad_rows(targets, pad, device)
    logits = model(source, read, lengths=lengths).float()
    gained = logits.log_softmax(dim=-1).gather(-1, wanted[..., None])[..., 0]
    return [row[: len(target)] for row, target in zip(gained, targets, strict=True)]


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Without dropout while the scope lasts; the parts that were in training go on afterwards, and no others."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True
