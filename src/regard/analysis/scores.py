"""Scores with their intervals and signatures: BLEU and chrF as sacrebleu computes them, accuracy, perplexity.

What is made of classes is a function of their confusion matrix (`confusion.py`); shares and correlations are percent.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int64
from torch import nn

from regard.analysis.confusion import Confusion
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
    return mean([float(hit) for hit in hits], seed)


def mean(values: Sequence[float], seed: int = 0) -> Score:
    """The mean of what each item is worth, from 0 to 1, in percent, with an interval from items drawn anew."""
    worth, dice = np.asarray(values, float), np.random.default_rng(seed)
    again = [worth[dice.integers(len(worth), size=len(worth))].mean() for _ in range(RESAMPLES)]
    low, high = (100 * np.percentile(again, (2.5, 97.5))).tolist()
    return Score(100 * float(worth.mean()), interval=(low, high), count=len(worth))


def f1(found: Sequence[str], right: Sequence[str], *, label: str | None = None, seed: int = 0) -> Score:
    """The F1 of one label, or the mean of all that the truth has (macro F1), with an interval from items drawn anew."""
    return _of_classes(Confusion.of(found, right), lambda one: one.f1(label), seed)


def matthews(found: Sequence[str], right: Sequence[str], *, seed: int = 0) -> Score:
    """Matthews' correlation of any number of classes (Gorodkin 2004), with an interval from items drawn anew."""
    return _of_classes(Confusion.of(found, right), Confusion.matthews, seed)


def pearson(found: Sequence[float], right: Sequence[float], *, seed: int = 0) -> Score:
    """How well numbers lie on a line with the right ones, with an interval from items drawn anew."""
    return _correlation(np.asarray(found, float), np.asarray(right, float), seed, lambda x: x)


def spearman(found: Sequence[float], right: Sequence[float], *, seed: int = 0) -> Score:
    """How well numbers rank as the right ones do; equal ones share their rank."""
    return _correlation(np.asarray(found, float), np.asarray(right, float), seed, _ranks)


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


def _of_classes(confusion: Confusion, score: Callable[[Confusion], float], seed: int) -> Score:
    low, high = np.percentile([score(each) for each in confusion.resampled(RESAMPLES, seed)], (2.5, 97.5)).tolist()
    return Score(100 * score(confusion), interval=(100 * low, 100 * high), count=confusion.count)


def _correlation(
    found: Float[np.ndarray, " n"],
    right: Float[np.ndarray, " n"],
    seed: int,
    rank: Callable[[np.ndarray], np.ndarray],
) -> Score:
    if len(found) != len(right) or len(found) < 2:
        raise ValueError(f"{len(found)} numbers do not correlate with {len(right)}; give equally many, 2 or more")

    def score(rows: np.ndarray) -> float:
        x, y = (each - each.mean() for each in (rank(found[rows]), rank(right[rows])))
        spread = math.sqrt(float((x * x).sum() * (y * y).sum()))
        return float((x * y).sum()) / spread if spread else 0.0  # what never changes says nothing

    dice = np.random.default_rng(seed)
    again = [score(dice.integers(len(found), size=len(found))) for _ in range(RESAMPLES)]
    low, high = np.percentile(again, (2.5, 97.5)).tolist()
    return Score(100 * score(np.arange(len(found))), interval=(100 * low, 100 * high), count=len(found))


def _ranks(numbers: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    _, which, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    return (counts.cumsum() - (counts - 1) / 2)[which]


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
