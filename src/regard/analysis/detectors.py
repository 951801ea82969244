"""Heads that do something with a name: to look at the previous word, at an equal one, or at what followed it last time.

They are scored on random words said twice, where nothing else could be a reason to look there (Olsson 2022, appendix):
the score of a head is how much of its attention lies at the place that the definition names, on average.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.analysis.anatomy import feed, vocab_of
from regard.analysis.reading import find_kind
from regard.attention import record
from regard.attention.edits import uniform
from regard.decode.forcing import evaluating

Kind = Literal["previous", "duplicate", "induction"]
KINDS: dict[Kind, str] = {
    "previous": "the word before",
    "duplicate": "the same word, said before",
    "induction": "what followed the same word before",
}
LEAST = 0.4  # of its attention makes a head one of a kind


@dataclass(frozen=True, slots=True, eq=False)
class Detected:
    """How much each head of each self-attention is of each kind; NaN where a model cannot have it or has no such head.

    `chance` is what a head would score that looks at everything it may see alike.
    """

    attentions: tuple[str, ...]
    scores: Mapping[Kind, Float[np.ndarray, "l h"]]
    chance: Mapping[Kind, Float[np.ndarray, " l"]]

    def found(self, kind: Kind, *, least: float = LEAST) -> list[tuple[int, int, float]]:
        """The heads of a kind, as layer, head and score, the clearest first."""
        scores = self.scores[kind]
        at = [(int(layer), int(head)) for layer, head in np.argwhere(np.nan_to_num(scores) >= least)]
        return sorted(((layer, head, float(scores[layer, head])) for layer, head in at), key=lambda one: -one[2])


@torch.no_grad()
def detect(
    model: nn.Module,
    *,
    words: Int[Tensor, " w"] | None = None,
    start: int | None = None,
    length: int = 25,
    rows: int = 8,
    seed: int = 0,
) -> Detected:
    """Score every self-attention head on `rows` texts of `length` random words, each said twice.

    `words` are the ids to draw from, all of the vocabulary if left out; a `start` id stands in front where the model
    was trained with one. Induction is asked of heads that see no future alone.
    """
    crossing = getattr(model, "cross_attentions", ())
    ids = repeat(model, words=words, start=start, length=length, rows=rows, seed=seed)
    with evaluating(model), record(model) as trace:
        model(**feed(model, ids))
    first, kept = 0 if start is None else 1, dict[str, tuple[Tensor, Tensor, bool]]()
    for name in trace:
        for run, look in enumerate(trace[name]):  # a layer that is shared looks several times
            weights = look.weights().float()
            kind = find_kind(name, weights[0].cpu().numpy())
            if kind != "cross" and name not in crossing and weights.shape[-1] == ids.shape[1]:
                called = f"{name}, run {run}" if len(trace[name]) > 1 else name
                kept[called] = weights, uniform(look).float(), kind == "causal"
    if not kept:
        raise ValueError(f"a {type(model).__name__} has no self-attention whose heads could be scored")
    most = max(weights.shape[1] for weights, _, _ in kept.values())
    scores: dict[Kind, np.ndarray] = {kind: np.full((len(kept), most), np.nan, np.float32) for kind in KINDS}
    chance: dict[Kind, np.ndarray] = {kind: np.full(len(kept), np.nan, np.float32) for kind in KINDS}
    for layer, (weights, even, causal) in enumerate(kept.values()):
        for named in KINDS:
            if named != "induction" or causal:
                scores[named][layer, : weights.shape[1]] = _mass(weights, named, length, first).cpu().numpy()
                chance[named][layer] = _mass(even, named, length, first).mean().item()
    return Detected(tuple(kept), scores, chance)


def repeat(
    model: nn.Module,
    *,
    words: Int[Tensor, " w"] | None = None,
    start: int | None = None,
    length: int = 25,
    rows: int = 8,
    seed: int = 0,
) -> Int[Tensor, "b n"]:
    """Random words, said twice; in each row no word is drawn twice where there are enough of them."""
    if length < 3 or rows < 1:
        raise ValueError(f"{rows} texts of {length} words show nothing; give 1 text or more, of 3 words or more")
    vocab = vocab_of(model)
    if words is None and vocab is None:
        raise ValueError(f"a {type(model).__name__} does not say how many words it knows; give words=torch.arange(…)")
    known = torch.arange(vocab or 0) if words is None else words.cpu()
    dice = torch.Generator().manual_seed(seed)
    drawn = [
        torch.randperm(len(known), generator=dice)[:length]
        if length <= len(known)
        else torch.randint(len(known), (length,), generator=dice)
        for _ in range(rows)
    ]
    said = known[torch.stack(drawn)].repeat(1, 2)
    front = said.new_full((rows, 0 if start is None else 1), 0 if start is None else start)
    return torch.cat((front, said), dim=1).to(next(model.parameters()).device)


def _mass(weights: Float[Tensor, "b h n n"], kind: Kind, length: int, first: int) -> Float[Tensor, " h"]:
    """The attention of the second saying at the place of a kind."""
    back = {"previous": 1, "duplicate": length, "induction": length - 1}[kind]
    queries = torch.arange(first + length, first + 2 * length, device=weights.device)
    return weights[:, :, queries, queries - back].mean(dim=(0, 2))
