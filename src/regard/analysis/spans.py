"""Words with tags as spans, and the F1 of spans as conlleval counts them (Tjong Kim Sang 2003)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.analysis.scores import RESAMPLES, Score

BEGIN, END = ("B", "S", "U"), ("E", "L", "S", "U")  # of the schemes IOB2, IOBES and BILOU


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Words from `first` to `last` that belong together, and what they are."""

    first: int
    last: int
    label: str


def prefixed(labels: Sequence[str]) -> bool:
    """Whether tags mark spans, as B-PER and I-PER do, or name what each word is."""
    return "O" in labels or any(label[:2] in ("B-", "I-") for label in labels)


def spans(tags: Sequence[str]) -> list[Span]:
    """The spans that tags mark: B- begins one, I- goes on, and so do tags without a prefix; O is outside of all."""
    found: list[Span] = []
    goes_on = ""  # the label that the next word may go on with
    for place, tag in enumerate(tags):
        mark, dash, label = tag.partition("-")
        if not dash:
            mark, label = "I", tag
        if tag == "O":
            goes_on = ""
            continue
        if label == goes_on and mark not in BEGIN:
            found[-1] = Span(found[-1].first, place, label)
        else:
            found.append(Span(place, place, label))
        goes_on = "" if mark in END else label
    return found


def span_f1(found: Sequence[Sequence[str]], right: Sequence[Sequence[str]], *, seed: int = 0) -> Score:
    """The F1 of spans that are found whole and with their label, with an interval from sentences drawn anew."""
    if not right or len(found) != len(right):
        raise ValueError(f"tags of {len(found)} sentences do not go with those of {len(right)}; give one for each")
    pairs = [(set(spans(a)), set(spans(b))) for a, b in zip(found, right, strict=True)]
    counts = np.asarray([(2 * len(a & b), len(a) + len(b)) for a, b in pairs], float)
    dice = np.random.default_rng(seed)
    again = counts[dice.integers(len(counts), size=(RESAMPLES, len(counts)))].sum(axis=1)
    low, high = np.percentile([_ratio(hits, all_) for hits, all_ in again.tolist()], (2.5, 97.5)).tolist()
    value = _ratio(*counts.sum(axis=0).tolist())
    return Score(value, interval=(low, high), count=sum(len(b) for _, b in pairs))


def _ratio(hits: float, of: float) -> float:
    return 100 * hits / of if of else 0.0
