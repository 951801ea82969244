"""How likely a model finds a long text: read in windows that overlap, so that every word has a past."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.progress import Progress

LOGITS = 2**24  # worked out at a time


@torch.no_grad()
def surprise(
    model: Any,
    ids: Int[Tensor, " n"],
    *,
    context: int,
    stride: int,
    batch: int = 8,
    progress: Progress | None = None,
) -> Float[Tensor, " m"]:
    """The log probability of each id of a text but the first, given up to `context` ids before it.

    A window reads `context` ids, and the next one begins `stride` ids further and says only what is new: so every id
    but those of the first window is predicted from more than context - stride ids. A stride of 1 gives all of them
    the whole context, a stride of `context` is the cheapest.
    """
    if not 1 <= stride <= context:
        raise ValueError(f"a stride of {stride} does not go with a context of {context}; give 1 to {context}")
    if len(ids) < 2:
        raise ValueError(f"a text of {len(ids)} tokens has nothing to predict; give 2 or more")
    ids = ids.to(next(model.parameters()).device)
    whole = len(ids) - 1
    context = min(context, whole)
    ends = [*range(context, whole, stride), whole]  # where the ids that a window reads end
    found = []
    for first in range(0, len(ends), batch):
        some = ends[first : first + batch]
        hidden = model.read(torch.stack([ids[end - context : end] for end in some]))
        for row, end in enumerate(some, start=first):
            new = end - (ends[row - 1] if row else 0)
            found.append(log_probs_of(model, hidden[row - first, context - new :], ids[end - new + 1 : end + 1]))
        if progress is not None:
            progress(min(1.0, (first + batch) / len(ends)))
    return torch.cat(found)


def log_probs_of(model: Any, hidden: Float[Tensor, "m w"], wanted: Int[Tensor, " m"]) -> Float[Tensor, " m"]:
    """The log probability of what follows each state; a few at a time, since a vocabulary is wider than a model."""
    few = max(1, LOGITS // model.config.vocab)
    parts = []
    for states, words in zip(hidden.split(few), wanted.split(few), strict=True):
        logits = model.to_vocab(states).float()
        parts.append(logits.gather(-1, words[:, None])[:, 0] - logits.logsumexp(dim=-1))
    return torch.cat(parts)
