"""Scores with their intervals and signatures: BLEU and chrF as sacrebleu computes them, accuracy, perplexity."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int64
from torch import nn

from regard.decode.batching import by_length
from regard.decode.forcing import force

RESAMPLES = 1000
EDGES = (5, 10, 15, 20, 30)  # words of a source; longer ones share the last bin


@dataclass(frozen=True, slots=True)
class Score:
    """A measured number, the signature to cite it by, and the interval that holds it in 95 of 100 resamples."""

    value: float
    signature: str = ""
    interval: tuple[float, float] | None = None
    higher_is_better: bool = True
    count: int | None = None  # of what it was measured on, where it is not everything


def bleu(hypotheses: Sequence[str], references: Sequence[str], *, lower: bool = False, seed: int = 0) -> Score:
    """BLEU of a corpus (Papineni 2002), with an interval from sentences drawn anew, with return (Koehn 2004)."""
    _check_pairs(hypotheses, references)
    return _bleu(_counts(hypotheses, references, lower), _signature(lower), seed)


def bleu_by_length(
    sources: Sequence[str],
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    edges: Sequence[int] = EDGES,
    lower: bool = False,
    seed: int = 0,
) -> dict[str, Score]:
    """BLEU of short and of long sources apart, counted in words between spaces; bins without a sentence are left out.

    An edge is the most words of a bin, and one more is the fewest of the next.
    """
    _check_pairs(hypotheses, references)
    if len(sources) != len(hypotheses):
        raise ValueError(f"{len(sources)} sources do not go with {len(hypotheses)} hypotheses; give one for each")
    counts, signature = _counts(hypotheses, references, lower), _signature(lower)
    words = np.asarray([len(source.split()) for source in sources])
    found = {}
    for below, most in zip((-1, *edges), (*edges, None), strict=True):
        inside = (words > below) if most is None else (words > below) & (words <= most)
        if inside.any():
            name = f"{below + 1} words and more" if most is None else f"{max(below + 1, 1)} to {most} words"
            found[name] = _bleu(counts[inside], signature, seed)
    return found


def chrf(hypotheses: Sequence[str], references: Sequence[str], *, lower: bool = False) -> Score:
    """chrF of a corpus: what character n-grams have in common (Popović 2015)."""
    from sacrebleu.metrics.chrf import CHRF

    _check_pairs(hypotheses, references)
    metric = CHRF(lowercase=lower)
    return Score(metric.corpus_score(hypotheses, [references]).score, str(metric.get_signature()))


def exact(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """The percentage of hypotheses that are their reference, letter by letter."""
    _check_pairs(hypotheses, references)
    return accuracy(list(map(str.__eq__, hypotheses, references)))


def accuracy(hits: Sequence[bool], seed: int = 0) -> Score:
    """The percentage that is right, with an interval from items drawn anew, with return."""
    right, dice = np.asarray(hits, float), np.random.default_rng(seed)
    again = right[dice.integers(len(right), size=(RESAMPLES, len(right)))].mean(axis=1)
    low, high = (100 * np.percentile(again, (2.5, 97.5))).tolist()
    return Score(100 * float(right.mean()), interval=(low, high), count=len(right))


def perplexity(
    model: nn.Module,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    *,
    start: int,
    pad: int = 0,
    tokens: int = 4096,
) -> Score:
    """Among how many next tokens a model hesitates, on average, while it is shown the reference.

    Rows are ids as the model reads them; those of `targets` end with the stop, which is predicted too. Compare only
    models with the same tokenizer.
    """
    if model.training:
        raise ValueError("the model is in training, so dropout would change the number; call model.eval() first")
    surprise = 0.0
    for group in by_length([max(map(len, each)) for each in zip(sources, targets, strict=True)], tokens=tokens):
        gained = force(model, [sources[i] for i in group], [targets[i] for i in group], start=start, pad=pad)
        surprise -= sum(float(row.sum()) for row in gained)
    return Score(math.exp(surprise / sum(map(len, targets))), higher_is_better=False)


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
    again = [_score_counts(counts[dice.integers(len(counts), size=len(counts))]) for _ in range(RESAMPLES)]
    low, high = np.percentile(again, (2.5, 97.5)).tolist()
    return Score(_score_counts(counts), signature, (low, high), count=len(counts))


def _score_counts(counts: Int64[np.ndarray, "n 10"]) -> float:
    """The BLEU of a corpus by the counts of its sentences."""
    from sacrebleu.metrics.bleu import BLEU

    said, wanted, *grams = counts.sum(axis=0).tolist()
    return BLEU.compute_bleu(grams[:4], grams[4:], said, wanted, smooth_method="exp").score


def _signature(lower: bool) -> str:
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(lowercase=lower)
    metric.corpus_score([""], [[""]])  # a metric signs only what it has scored
    return str(metric.get_signature())


def _check_pairs(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    if not hypotheses or len(hypotheses) != len(references):
        raise ValueError(
            f"{len(hypotheses)} hypotheses and {len(references)} references cannot be compared; give equally many, "
            "1 or more"
        )
