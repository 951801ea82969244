"""How good captions are that have several references: BLEU-1 to 4, CIDEr-D and a METEOR of words and stems.

Words are compared, as COCO's scorer does it: in small letters and without punctuation. Every score has an interval from
pictures drawn anew, with return.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Int64

from regard.analysis.scores import RESAMPLES, Score

ORDERS = 4  # the longest n-grams
SIGMA = 6.0  # of CIDEr-D: how far a length may be off
CIDER = "CIDEr-D, 4-grams, sigma 6, idf from these references, times 100"
METEOR = "METEOR of 2005: words and their stems, no synonyms, best reference"

References = Sequence[Sequence[str]]  # those of each picture


def words(text: str) -> list[str]:
    """The words of a caption, in small letters and without punctuation."""
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.lower())


def score(hypotheses: Sequence[str], references: References, *, seed: int = 0) -> dict[str, Score]:
    """Every score of some captions: bleu1 to bleu4, cider and meteor."""
    found = bleu(hypotheses, references, seed=seed)
    return found | {
        "cider": cider(hypotheses, references, seed=seed),
        "meteor": meteor(hypotheses, references, seed=seed),
    }


def bleu(hypotheses: Sequence[str], references: References, *, seed: int = 0) -> dict[str, Score]:
    """BLEU of n-grams up to 1, 2, 3 and 4 words with several references (Papineni 2002), counted by sacrebleu."""
    _check(hypotheses, references)
    table, most = _counts(hypotheses, references), max(map(len, references))
    rows = _resampled(len(table), seed)
    signature = f"nrefs:{most}|case:lc|tok:words|smooth:exp|version:{_version()}"
    found = {}
    for order in range(1, ORDERS + 1):
        again = [_bleu(table[drawn], order) for drawn in rows]
        low, high = np.percentile(again, (2.5, 97.5)).tolist()
        found[f"bleu{order}"] = Score(_bleu(table, order), signature, (low, high), count=len(table))
    return found


def corpus_bleu(hypotheses: Sequence[str], references: References, order: int = ORDERS) -> float:
    """BLEU without its interval, for a look in between."""
    _check(hypotheses, references)
    return _bleu(_counts(hypotheses, references), order)


def gain(
    one: Sequence[str],
    other: Sequence[str],
    references: References,
    *,
    order: int = ORDERS,
    seed: int = 0,
) -> Score:
    """By how much the BLEU of one model is above that of another on the same pictures (paired, Koehn 2004)."""
    _check(one, references)
    _check(other, references)
    first, second = _counts(one, references), _counts(other, references)
    again = [_bleu(first[rows], order) - _bleu(second[rows], order) for rows in _resampled(len(first), seed)]
    low, high = np.percentile(again, (2.5, 97.5)).tolist()
    return Score(_bleu(first, order) - _bleu(second, order), f"paired BLEU-{order}", (low, high), count=len(first))


def cider(hypotheses: Sequence[str], references: References, *, seed: int = 0) -> Score:
    """CIDEr-D, times 100 (Vedantam 2015): n-grams in common, of which those count more that few pictures have."""
    return _mean(ciders(hypotheses, references), CIDER, seed)


def ciders(hypotheses: Sequence[str], references: References) -> list[float]:
    """The CIDEr-D of each caption, up to 10, as the paper scales it."""
    _check(hypotheses, references)
    known = [[_grams(words(text)) for text in some] for some in references]
    pictures = Counter[tuple[str, ...]]()  # how many of them have an n-gram in any reference
    for some in known:
        pictures.update({gram for grams in some for gram in grams})
    whole = math.log(max(len(references), 1))

    def weigh(grams: Counter[tuple[str, ...]]) -> list[dict[tuple[str, ...], float]]:
        found: list[dict[tuple[str, ...], float]] = [{} for _ in range(ORDERS)]
        for gram, count in grams.items():
            found[len(gram) - 1][gram] = count * (whole - math.log(max(1, pictures[gram])))
        return found

    scores = []
    for hypothesis, some in zip(hypotheses, known, strict=True):
        grams = _grams(words(hypothesis))
        said, total = weigh(grams), 0.0
        for other in some:
            away = _pairs(grams) - _pairs(other)
            alike = sum(map(_similar, said, weigh(other))) / ORDERS
            total += alike * math.exp(-(away**2) / (2 * SIGMA**2))
        scores.append(10 * total / len(some))
    return scores


def meteor(hypotheses: Sequence[str], references: References, *, seed: int = 0) -> Score:
    """METEOR as first published (Banerjee 2005), of words and stems alone: not the number of the Java program.

    Words are aligned to those of a reference, first as they stand, then by their stems; recall counts nine times as
    much as precision, and matches that are torn into pieces cost up to half. The best reference counts.
    """
    _check(hypotheses, references)
    return _mean(
        [
            max(align(words(hypothesis), words(text)) for text in some)
            for hypothesis, some in zip(hypotheses, references, strict=True)
        ],
        METEOR,
        seed,
    )


def align(said: Sequence[str], right: Sequence[str]) -> float:
    """The METEOR of one sentence against another, from 0 to 1."""
    matched = dict[int, int]()  # places of what was said, and of the reference
    for form in (str, stem):
        free: dict[str, list[int]] = {}
        for j, word in enumerate(right):
            if j not in matched.values():
                free.setdefault(form(word), []).append(j)
        for i, word in enumerate(said):
            places = free.get(form(word), [])
            if i not in matched and places:
                # The place that goes on from the word before, which tears nothing; else the first.
                after = matched.get(i - 1, -2) + 1
                matched[i] = places.pop(places.index(after) if after in places else 0)
    if not matched:
        return 0.0
    precision, recall = len(matched) / len(said), len(matched) / len(right)
    chunks = sum(matched[i] != matched.get(i - 1, -2) + 1 for i in matched)
    return 10 * precision * recall / (recall + 9 * precision) * (1 - 0.5 * (chunks / len(matched)) ** 3)


def stem(word: str) -> str:
    """An English word without its ending: plain rules for -s, -ed, -ing and -ly, which err now and then."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    for end in ("ing", "ed", "ly"):
        if word.endswith(end) and len(word) - len(end) >= 3 and re.search("[aeiouy]", word[: -len(end)]):
            word = word[: -len(end)]
            if len(word) > 2 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            return word.removesuffix("e")
    if len(word) > 3 and word.endswith("es") and word[-3] in "sxzh":
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and word[-2] not in "su":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


def _grams(text: Sequence[str]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(text[i : i + n]) for n in range(1, ORDERS + 1) for i in range(len(text) - n + 1))


def _pairs(grams: Counter[tuple[str, ...]]) -> int:
    """The length of a caption as the published scorer takes it: its pairs of neighbours."""
    return sum(count for gram, count in grams.items() if len(gram) == 2)


def _similar(said: dict[tuple[str, ...], float], right: dict[tuple[str, ...], float]) -> float:
    """The cosine of two captions, where saying a thing more often than the reference wins nothing."""
    sizes = math.sqrt(sum(x * x for x in said.values())) * math.sqrt(sum(x * x for x in right.values()))
    shared = sum(min(value, right[gram]) * right[gram] for gram, value in said.items() if gram in right)
    return shared / sizes if sizes else 0.0


def _counts(hypotheses: Sequence[str], references: References) -> Int64[np.ndarray, "n 10"]:
    """All that BLEU needs of each caption: both lengths, and for n-grams of each order those right and those said."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(tokenize="none", effective_order=True, force=True)
    scores: list[Any] = [
        metric.sentence_score(" ".join(words(hypothesis)), [" ".join(words(text)) for text in known])
        for hypothesis, known in zip(hypotheses, references, strict=True)
    ]
    return np.asarray([[each.sys_len, each.ref_len, *each.counts, *each.totals] for each in scores], np.int64)


def _bleu(counts: Int64[np.ndarray, "n 10"], order: int) -> float:
    from sacrebleu.metrics.bleu import BLEU

    said, wanted, *grams = counts.sum(axis=0).tolist()
    right, total = grams[:ORDERS][:order], grams[ORDERS:][:order]
    return BLEU.compute_bleu(right, total, said, wanted, smooth_method="exp", max_ngram_order=order).score


def _mean(values: Sequence[float], signature: str, seed: int) -> Score:
    worth = 100 * np.asarray(values, float)
    low, high = np.percentile([worth[rows].mean() for rows in _resampled(len(worth), seed)], (2.5, 97.5)).tolist()
    return Score(float(worth.mean()), signature, (low, high), count=len(worth))


def _resampled(count: int, seed: int) -> list[Int64[np.ndarray, " n"]]:
    dice = np.random.default_rng(seed)
    return [dice.integers(count, size=count) for _ in range(RESAMPLES)]


def _version() -> str:
    from importlib.metadata import version

    return version("sacrebleu")


def _check(hypotheses: Sequence[str], references: References) -> None:
    if not hypotheses or len(hypotheses) != len(references):
        raise ValueError(
            f"{len(hypotheses)} captions and references of {len(references)} pictures cannot be compared; give equally "
            "many, 1 or more"
        )
    if not all(references):
        raise ValueError("a picture without a reference cannot be scored; leave it out")
