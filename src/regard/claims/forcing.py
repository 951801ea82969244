"""Teacher forcing trains, free running tests: a translator behind the right words, and behind its own."""

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.contest import WORDS, lexicon
from regard.claims.interval import student
from regard.claims.plot import Bars, Line, Panel, figure
from regard.claims.translation import PAD, STOP, Batch, batches, train
from regard.models.seq2seq import Config, Seq2Seq
from regard.progress import Progress
from regard.train.small import learn
from regard.world.language import pairs

CLAIM = Claim(
    name="forcing",
    deck="Hoàng, Sequence to Sequence with RNNs: during training, during test-time",
    sentence="Often, we use the “correct” token even if the model is wrong. Called teacher forcing. During test-time: "
    "we sample from the model's outputs until we sample [STOP].",
    experiment="A recurrent translator with additive attention learns the world's Italian into English with teacher "
    "forcing. On unseen sentences of up to 12 words its likeliest next word is taken, once behind the right words and "
    "once behind its own, and the share of words that are wrong is counted: place by place behind the right ones, by "
    "the edit distance of the whole behind its own, which forgives a word too many.",
    control="The same translator is trained on its own words from the first step on, as it will be used, for as many "
    "steps. It has no gap to expect; if it wrote better, the teacher would be of no use.",
    criterion="The number is how much larger a share of words is wrong behind its own words than behind the right "
    "ones, after teacher forcing, seed by seed. Supported (training looks better than use, and teaches use better all "
    "the same) if its interval lies above zero, and so does that of how many fewer words are wrong in use after "
    "teacher forcing than after training on own words. Refuted if either lies below zero. Otherwise not at this scale.",
    measures="more of the words are wrong behind a model's own words than behind the right ones",
    seeds=3,
)

TEACHER, ALONE = "teacher forcing", "own words"
TRAININGS = (TEACHER, ALONE)
TESTS = ("the right words", "its own words")
LENGTHS = (4, 12)  # words of an English sentence
STEPS = 600


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """The share of wrong words, by training, test and seed; and which places of sentences are wrong."""
    known, (count, steps, asked) = lexicon(), (24, 2, 8) if quick else (8000, STEPS, 400)
    tests = batches(list(pairs("it", "en", split="test", length=LENGTHS)[:asked]), known, 4 * WORDS)
    runs = []
    for (seed, training), inner in parts(progress, list(product(seeds, TRAININGS))):
        some = batches(list(pairs("it", "en", seed=seed, length=LENGTHS)[:count]), known, WORDS)
        torch.manual_seed(seed)
        model = Seq2Seq(Config(vocab=len(known), target=None, width=64, hidden=96))
        learning = train(model, some, steps=steps, lr=3e-3, seed=seed) if training == TEACHER else None
        track(learning or _train_alone(model, some, steps=steps, seed=seed), steps, inner)
        runs.append({"training": training, "seed": seed} | _mistakes(model, tests))
    return {"runs": runs, "steps": steps, "sentences": asked}


def judge(numbers: Numbers) -> Finding:
    wrong = {(training, test): _wrong(numbers, training, test) for training in TRAININGS for test in TESTS}
    gap = [_less(wrong[training, TESTS[1]], wrong[training, TESTS[0]]) for training in TRAININGS]
    gain = _less(wrong[ALONE, TESTS[1]], wrong[TEACHER, TESTS[1]])
    number, low, high = gap[0]
    means = {key: student(values)[0] for key, values in wrong.items()}
    return Finding(
        verdict(supported=low > 0 and gain[1] > 0, refuted=high < 0 or gain[2] < 0),
        number,
        (low, high),
        f"After teacher forcing {means[TEACHER, TESTS[0]]:.1%} of the words are wrong behind the right words and "
        f"{means[TEACHER, TESTS[1]]:.1%} behind its own; after training on own words {means[ALONE, TESTS[0]]:.1%} and "
        f"{means[ALONE, TESTS[1]]:.1%}. In use, teacher forcing has {100 * gain[0]:.1f} points fewer wrong words "
        f"({100 * gain[1]:.1f} to {100 * gain[2]:.1f}).",
    )


def draw(numbers: Numbers) -> str:
    bars = [
        Bars(f"behind {test}", *zip(*(student(_wrong(numbers, each, test)) for each in TRAININGS), strict=True))
        for test in TESTS
    ]
    lines = []
    for test in TESTS:
        rows = zip(*(run["places"][test] for run in _runs(numbers, TEACHER)), strict=True)
        found = [student([wrong / max(all_, 1) for wrong, all_ in row]) for row in rows][::2]
        lines.append(Line(f"behind {test}", list(range(1, 2 * len(found), 2)), *zip(*found, strict=True)))
    names = [f"trained by\n{training}" for training in TRAININGS]
    return figure(
        "What is wrong behind the right words, and behind one's own",
        [
            Panel("all words", "", "share that is wrong", bars, names),
            Panel("place by place, after teacher forcing", "word of the sentence", "share that is wrong", lines),
        ],
        f"Italian to English in the little world, {numbers['sentences']} unseen sentences, {numbers['steps']} steps; "
        "whiskers and bands are 95 % intervals over seeds.",
    )


def edits(said: Sequence[int], right: Sequence[int]) -> int:
    """The least number of words to put in, take out or exchange (Levenshtein 1966)."""
    row = list(range(len(right) + 1))
    for i, ours in enumerate(said, 1):
        before, row = row, [i]
        for j, theirs in enumerate(right, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (ours != theirs)))
    return row[-1]


def _train_alone(model: Seq2Seq, some: Sequence[Batch], *, steps: int, seed: int) -> Iterator[float]:
    """Learn as `train` does, but each word is guessed behind the model's own guesses."""
    chance = Random(seed)

    def loss() -> Tensor:
        each = chance.choice(some)
        return F.cross_entropy(_alone(model, each).flatten(0, 1), each.target[:, 1:].flatten(), ignore_index=PAD)

    return learn(model, loss, steps=steps, lr=3e-3)


def _alone(model: Seq2Seq, some: Batch) -> Tensor:
    """The logits of as many words as the target has, each behind what the model said before."""
    words, state, found = some.target[:, :1], model.start(some.source, lengths=some.lengths), []
    for _ in range(some.target.shape[1] - 1):
        logits, state = model.step(words, state)
        words = logits.argmax(dim=-1)
        found.append(logits)
    return torch.cat(found, dim=1)


@torch.no_grad()
def _mistakes(model: Seq2Seq, tests: Sequence[Batch]) -> Numbers:
    """Shares of wrong words, and for each place of a sentence how many are wrong there and how many there are."""
    total, wrong = 0, dict.fromkeys(TESTS, 0)
    places = {test: [[0, 0] for _ in range(LENGTHS[1] + 1)] for test in TESTS}
    for some in tests:
        forced = model(some.source, some.target[:, :-1], lengths=some.lengths)
        for test, logits in zip(TESTS, (forced, _alone(model, some)), strict=True):
            for said, right in zip(logits.argmax(dim=-1).tolist(), some.target[:, 1:].tolist(), strict=True):
                length = right.index(STOP) + 1
                for place in range(min(length, len(places[test]))):
                    places[test][place][0] += said[place] != right[place]
                    places[test][place][1] += 1
                if test == TESTS[0]:
                    total += length
                    wrong[test] += sum(a != b for a, b in zip(said[:length], right[:length], strict=True))
                else:
                    wrong[test] += edits(_until_stop(said), right[:length])
    return {"wrong": {test: wrong[test] / total for test in TESTS}, "places": places}


def _until_stop(said: list[int]) -> list[int]:
    return said[: said.index(STOP) + 1] if STOP in said else said


def _runs(numbers: Numbers, training: str) -> list[Numbers]:
    return [run for run in numbers["runs"] if run["training"] == training]


def _wrong(numbers: Numbers, training: str, test: str) -> list[float]:
    return [run["wrong"][test] for run in _runs(numbers, training)]


def _less(some: Sequence[float], others: Sequence[float]) -> tuple[float, float, float]:
    return student([a - b for a, b in zip(some, others, strict=True)])
