"""How good translations are: BLEU and chrF as sacrebleu computes them, and how much a reference surprises a model."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor, nn

from regard.data import token_batches

RESAMPLES = 1000
EDGES = (5, 10, 15, 20, 30)  # words of a source; longer ones share the last bin


@dataclass(frozen=True, slots=True)
class Score:
    """A score from 0 to 100, the signature to cite it by, and the interval that holds it in 95 of 100 resamples."""

    value: float
    signature: str
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Bin:
    """The sentences whose sources have `fewest` to `most` words, and their BLEU; None is without end."""

    fewest: int
    most: int | None
    count: int
    bleu: Score


def bleu(hypotheses: Sequence[str], references: Sequence[str], *, lower: bool = False, seed: int = 0) -> Score:
    """BLEU of a corpus (Papineni 2002), with an interval from sentences drawn anew, with return (Koehn 2004)."""
    _paired(hypotheses, references)
    return _bleu(_counts(hypotheses, references, lower), _signature(lower), seed)


def by_length(
    sources: Sequence[str],
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    edges: Sequence[int] = EDGES,
    lower: bool = False,
    seed: int = 0,
) -> list[Bin]:
    """BLEU of short and of long sources apart, counted in words between spaces; bins without a sentence are left out.

    An edge is the most words of a bin, and one more is the fewest of the next.
    """
    _paired(hypotheses, references)
    if len(sources) != len(hypotheses):
        raise ValueError(f"{len(sources)} sources do not go with {len(hypotheses)} hypotheses; give one for each")
    counts, signature = _counts(hypotheses, references, lower), _signature(lower)
    words = np.asarray([len(source.split()) for source in sources])
    found = []
    for below, most in zip((-1, *edges), (*edges, None), strict=True):
        inside = (words > below) if most is None else (words > below) & (words <= most)
        if inside.any():
            found.append(Bin(below + 1, most, int(inside.sum()), _bleu(counts[inside], signature, seed)))
    return found


def chrf(hypotheses: Sequence[str], references: Sequence[str], *, lower: bool = False) -> Score:
    """chrF of a corpus: what character n-grams have in common (Popović 2015)."""
    from sacrebleu.metrics.chrf import CHRF

    _paired(hypotheses, references)
    metric = CHRF(lowercase=lower)
    return Score(metric.corpus_score(hypotheses, [references]).score, str(metric.get_signature()))


def exact(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """The share of hypotheses that are their reference, letter by letter."""
    _paired(hypotheses, references)
    return sum(map(str.__eq__, hypotheses, references)) / len(references)


@torch.no_grad()
def perplexity(
    model: nn.Module, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], *, tokens: int = 4096
) -> float:
    """Among how many next tokens a model hesitates, on average, while it is shown the reference.

    Rows are ids as the model reads them; those of `targets` begin with the start token, which is not predicted, and
    end with the stop, which is. Compare only models with the same tokenizer.
    """
    if model.training:
        raise ValueError("the model is learning, so chance would change the number; call model.eval() first")
    longest = max(map(len, (*sources, *targets)), default=0)
    surprise, predicted = 0.0, 0
    for batch in token_batches(sources, targets, tokens=max(tokens, longest)).once():
        (source, target), (lengths, ends) = (map(torch.from_numpy, each) for each in (batch.sides, batch.lengths))
        logits = model(source, target[:, :-1], lengths=lengths)
        surprise += _surprise(logits, target[:, 1:], ends - 1)
        predicted += int((ends - 1).sum())
    return math.exp(surprise / predicted)


def _surprise(logits: Float[Tensor, "b m v"], target: Int64[Tensor, "b m"], lengths: Int64[Tensor, " b"]) -> float:
    within = torch.arange(target.shape[1]) < lengths[:, None]
    return float(F.cross_entropy(logits[within].float(), target[within], reduction="sum"))


def _counts(hypotheses: Sequence[str], references: Sequence[str], lower: bool) -> Int64[np.ndarray, "n 10"]:
    """All that BLEU needs of each sentence: both lengths, and for n-grams of each order those right and those said."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(lowercase=lower, effective_order=True)  # one sentence is asked for at a time; counts are the same
    scores: list[Any] = [
        metric.sentence_score(hypothesis, [reference])
        for hypothesis, reference in zip(hypotheses, references, strict=True)
    ]
    return np.asarray([[each.sys_len, each.ref_len, *each.counts, *each.totals] for each in scores], np.int64)


def _bleu(counts: Int64[np.ndarray, "n 10"], signature: str, seed: int) -> Score:
    dice = np.random.default_rng(seed)
    again = [_of(counts[dice.integers(len(counts), size=len(counts))]) for _ in range(RESAMPLES)]
    low, high = np.percentile(again, (2.5, 97.5)).tolist()
    return Score(_of(counts), signature, (low, high))


def _of(counts: Int64[np.ndarray, "n 10"]) -> float:
    """The BLEU of a corpus by the counts of its sentences."""
    from sacrebleu.metrics.bleu import BLEU

    said, wanted, *grams = counts.sum(axis=0).tolist()
    return BLEU.compute_bleu(grams[:4], grams[4:], said, wanted, smooth_method="exp").score


def _signature(lower: bool) -> str:
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(lowercase=lower)
    metric.corpus_score([""], [[""]])  # a metric signs only what it has scored
    return str(metric.get_signature())


def _paired(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    if not hypotheses or len(hypotheses) != len(references):
        raise ValueError(
            f"{len(hypotheses)} hypotheses and {len(references)} references cannot be compared; give equally many, "
            "1 or more"
        )
