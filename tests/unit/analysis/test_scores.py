"""Scores are sacrebleu's own, their intervals hold the truth, and perplexity is what one computes by hand."""

import math
import random
from collections.abc import Callable

import pytest
import sacrebleu
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from torch import Tensor

from regard.analysis.scores import accuracy, bleu, bleu_by_length, chrf, exact, perplexity
from regard.models import build

PAD, START, STOP, UNKNOWN = range(4)

REFERENCES = ["The dog runs into the old house .", "A red bird sings.", "Anna sees that the apple is sweet, today."]
HYPOTHESES = ["The dog runs in the old house .", "a red bird sings.", "Anna sees that an apple was sweet."]

sentences = st.lists(st.sampled_from(["a", "b", "C", "d", "the", "The", ".", "x,y"]), max_size=9).map(" ".join)


@settings(max_examples=15)
@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=6), st.booleans())
def test_bleu_and_chrf_are_those_of_sacrebleu(pairs: list[tuple[str, str]], lower: bool) -> None:
    hypotheses, references = map(list, zip(*pairs, strict=True))
    assert bleu(hypotheses, references, lower=lower).value == pytest.approx(
        sacrebleu.corpus_bleu(hypotheses, [references], lowercase=lower).score, abs=1e-9
    )
    assert chrf(hypotheses, references, lower=lower).value == pytest.approx(
        CHRF(lowercase=lower).corpus_score(hypotheses, [references]).score, abs=1e-9
    )


def test_a_signature_says_whether_case_counts() -> None:
    version = f"version:{sacrebleu.__version__}"
    cased, lowered = (bleu(HYPOTHESES, REFERENCES, lower=lower) for lower in (False, True))
    assert cased.signature == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|{version}"
    assert lowered.signature == f"nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|{version}"
    assert cased.value < lowered.value
    assert chrf(HYPOTHESES, REFERENCES).signature == f"nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|{version}"
    assert chrf(HYPOTHESES, REFERENCES, lower=True).value > chrf(HYPOTHESES, REFERENCES).value


def noisy(count: int) -> tuple[list[str], list[str]]:
    dice = random.Random(0)
    references = [" ".join(dice.choices("abcdefgh", k=10)) for _ in range(count)]
    garbled = [" ".join(w if dice.random() < 0.8 else "x" for w in line.split()) for line in references]
    return garbled, references


def test_an_interval_is_seeded_holds_the_score_and_narrows_with_more_sentences() -> None:
    widths = []
    for count in (20, 180):
        score = bleu(*noisy(count))
        assert score.interval is not None
        low, high = score.interval
        assert low < score.value < high
        widths.append(high - low)
    assert widths[1] == pytest.approx(widths[0] / 3, rel=0.35)  # nine times the sentences
    assert bleu(*noisy(20)) == bleu(*noisy(20)) != bleu(*noisy(20), seed=1)


def test_the_interval_is_that_of_sacrebleu() -> None:
    hypotheses, references = noisy(100)
    theirs = BLEU().corpus_score(hypotheses, [references], n_bootstrap=1000)
    ours = bleu(hypotheses, references).interval
    assert ours is not None
    assert (ours[1] - ours[0]) / 2 == pytest.approx(theirs._ci, rel=0.1)


def test_a_perfect_translation_leaves_no_doubt() -> None:
    assert bleu(REFERENCES, REFERENCES).interval == pytest.approx((100, 100))
    assert exact(REFERENCES, REFERENCES).value == 100.0


def test_exact_counts_whole_sentences_letter_by_letter() -> None:
    assert exact(["a b", "A b", "a b "], ["a b", "a b", "a b"]).value == pytest.approx(100 / 3)


def test_lengths_are_scored_apart() -> None:
    sources = ["w " * words for words in (1, 5, 6, 10, 40)]
    references = ["one two three four five"] * 5
    bins = bleu_by_length(sources, [*references[:2], "six seven eight", "nine", "ten"], references)
    counts = {name: score.count for name, score in bins.items()}
    assert counts == {"1 to 5 words": 2, "6 to 10 words": 2, "31 words and more": 1}
    assert [score.value > 99 for score in bins.values()] == [True, False, False]
    assert bins["6 to 10 words"].value == bleu(["six seven eight", "nine"], references[2:4]).value


@pytest.mark.parametrize("score", [bleu, chrf, exact])
def test_what_cannot_be_compared_is_refused(score: Callable[[list[str], list[str]], object]) -> None:
    for hypotheses, references in ((["a"], []), ([], []), (["a"], ["a", "b"])):
        with pytest.raises(ValueError, match=r"hypotheses and \d references cannot be compared"):
            score(hypotheses, references)
    with pytest.raises(ValueError, match="1 sources do not go with 2 hypotheses"):
        bleu_by_length(["a"], ["a", "b"], ["a", "b"])


@pytest.mark.parametrize("name", ["transformer-nano", "seq2seq-nano"])
def test_perplexity_is_that_of_each_sentence_alone(name: str) -> None:
    model = build(name).eval()
    sources = [[5, 6, 7, STOP], [9, STOP], [11, 12, STOP]]
    targets = [[8, STOP], [9, 10, 11, STOP], [STOP]]
    surprise, count = 0.0, 0
    for source, target in zip(sources, targets, strict=True):
        log_probs = model(torch.tensor([source]), torch.tensor([[START, *target[:-1]]])).detach().log_softmax(-1)[0]
        surprise -= sum(float(log_probs[i, word]) for i, word in enumerate(target))
        count += len(target)
    for tokens in (4, 12, 4096):
        found = perplexity(model, sources, targets, start=START, tokens=tokens)
        assert found.value == pytest.approx(math.exp(surprise / count), rel=1e-4)


def test_who_knows_nothing_hesitates_among_all() -> None:
    class Clueless(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.where = torch.nn.Parameter(torch.zeros(()))

        def forward(self, source: Tensor, target: Tensor, *, lengths: Tensor) -> Tensor:
            return torch.zeros(*target.shape, 37)

    assert perplexity(Clueless().eval(), [[5]], [[6, STOP]], start=START).value == pytest.approx(37)


def test_a_model_that_is_learning_is_not_measured() -> None:
    with pytest.raises(ValueError, match=r"call model.eval\(\) first"):
        perplexity(build("transformer-nano"), [[5]], [[6, STOP]], start=START)


def test_accuracy_is_a_percentage_whose_interval_holds_it() -> None:
    score = accuracy([True] * 30 + [False] * 10)
    assert (score.value, score.count) == (75.0, 40)
    assert score.interval is not None
    assert 55 < score.interval[0] < 75 < score.interval[1] < 92
