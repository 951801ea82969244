"""Several heads or one, at equal size: small Transformers that differ in nothing else learn to translate."""

from itertools import product
from statistics import fmean

import torch
from torch import nn

from regard.attention import Attention
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.translation import Lexicon, accuracy, batches, train
from regard.models.transformer import Config, Transformer
from regard.progress import Progress
from regard.train.small import count_parameters
from regard.world.language import pairs, vocabulary

CLAIM = Claim(
    name="heads",
    deck="Najdenkoska & Asano, Multi-head attention; also CNS148 (“It worked better in their paper.”)",
    sentence="It is beneficial to linearly project the Q, K and V, h times with different, linear projections … This "
    "increases the learning capacity of the model.",
    experiment="Transformers of width 64 and depth 2 with 1, 2, 4, 8 and 16 heads, which all have the same number of "
    "weights, learn to translate the world's Italian into English. Scored by how often the next word is right on "
    "unseen sentences, given the right words before it.",
    control="One head that is wider: queries, keys and values of width 128, twice the weights of attention. If width "
    "were all, it would do as well as several heads.",
    criterion="The number is how much more often 8 heads are right than 1, seed by seed. Supported if its interval "
    "lies above zero, refuted if it lies below zero, otherwise not at this scale.",
    measures="more next words are right with 8 heads than with 1",
    seeds=3,
)

WIDTH = 64
KINDS = ("1", "2", "4", "8", "16", "1, wider")


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How often the next word is right, by heads and seed."""
    count, steps = (24, 2) if quick else (12_000, 600)
    lexicon = Lexicon(vocabulary("it"), vocabulary("en"))
    tests = batches(list(pairs("it", "en", split="test")[: count // 12 + 8]), lexicon, 600)
    runs = []
    for (seed, kind), inner in parts(progress, list(product(seeds, KINDS))):
        some = batches(list(pairs("it", "en", seed=seed)[:count]), lexicon, 600)
        torch.manual_seed(seed)
        model = _model(kind, len(lexicon))
        losses = track(train(model, some, steps=steps, lr=2e-3, seed=seed), steps, inner)
        measured = {"loss": fmean(losses[-max(1, steps // 10) :]), "accuracy": accuracy(model, tests)}
        runs.append({"kind": kind, "seed": seed, "parameters": count_parameters(model)} | measured)
    return {"runs": runs, "steps": steps, "pairs": count}


def judge(numbers: Numbers) -> Finding:
    number, low, high = student(_gains(numbers, "8"))
    wider = student(_gains(numbers, "1, wider"))
    means = ", ".join(f"{kind} {fmean(_accuracies(numbers, kind)):.1%}" for kind in KINDS)
    return Finding(
        verdict(supported=low > 0, refuted=high < 0),
        number,
        (low, high),
        f"Next words that are right, by heads: {means}. Eight heads against one: {100 * number:+.1f} points "
        f"({100 * low:+.1f} to {100 * high:+.1f}); one wider head against one: {100 * wider[0]:+.1f} "
        f"({100 * wider[1]:+.1f} to {100 * wider[2]:+.1f}).",
    )


def draw(numbers: Numbers) -> str:
    others = KINDS[1:]
    gains = [[100 * g for g in _gains(numbers, kind)] for kind in others]
    bars = Bars("", *zip(*map(student, gains), strict=True))
    y = f"points above one head, which is right {fmean(_accuracies(numbers, '1')):.1%} of the time"
    return figure(
        "Heads at equal size",
        [Panel("", "heads", y, [bars], others)],
        f"Next words of unseen sentences, Italian to English; {numbers['steps']} steps each. Whiskers are 95 % "
        "intervals over seeds.",
    )


def _model(kind: str, vocab: int) -> Transformer:
    heads = int(kind.partition(",")[0])
    model = Transformer(
        Config(vocab=vocab, width=WIDTH, depth=2, heads=heads, hidden=2 * WIDTH, dropout=0.0, norm_first=True)
    )
    if "wider" in kind:
        for module in model.modules():
            for name, child in module.named_children():
                if isinstance(child, Attention):
                    setattr(module, name, _wide())
    return model


def _wide() -> Attention:
    """One head of twice the width, initialised as the Transformer is."""
    q, k, v, out = (nn.Linear(*widths) for widths in [(WIDTH, 2 * WIDTH)] * 3 + [(2 * WIDTH, WIDTH)])
    for linear in (q, k, v, out):
        nn.init.xavier_uniform_(linear.weight)
        nn.init.zeros_(linear.bias)
    return Attention(q, k, v, out)


def _accuracies(numbers: Numbers, kind: str) -> list[float]:
    return [run["accuracy"] for run in numbers["runs"] if run["kind"] == kind]


def _gains(numbers: Numbers, kind: str) -> list[float]:
    """Above one head, seed by seed: both met the same words in the same order."""
    return [several - one for several, one in zip(*(_accuracies(numbers, each) for each in (kind, "1")), strict=True)]
