"""Whether training is steadier with several heads: how the loss jumps from step to step, and spreads over seeds."""

import math
from statistics import fmean, stdev

import torch
import torch.nn.functional as F

from regard.claims.claim import Claim, Finding, Numbers, parts, verdict
from regard.claims.contest import LR, lexicon, sentences, settings
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.translation import PAD, Batch, train
from regard.models.transformer import Transformer
from regard.progress import Progress

CLAIM = Claim(
    name="steadier",
    deck="CNS148, MHA Intuition",
    sentence="Why multiple heads? It worked better in their paper. The real answer is more nuanced and has to do with "
    "training stability.",
    experiment="Transformers of width 64 with one layer on either side, with 1, 2, 4 and 8 heads and the same number "
    "of weights, learn to translate short sentences of the world. After each step the loss of the same unseen "
    "sentences is taken. Its logarithm is compared with the line between the steps before and after, which takes the "
    "trend away; the root mean square of what is left, after the warmup, says how unsteady a training is. The spread "
    "of the last losses from seed to seed is taken besides.",
    control="One head at three times the learning rate, which must be less steady, or the measure sees nothing. Within "
    "a seed, all trainings meet the same batches in the same order, so that none has the harder ones.",
    criterion="The number is how unsteady 8 heads are as a multiple of 1 head, seed by seed. Supported if its interval "
    "lies below 1 and the last losses of 8 heads spread less from seed to seed. Refuted if its interval lies above 1. "
    "Otherwise not at this scale, and so it is if one head at three times the rate is not found less steady.",
    measures="times as unsteady is training with 8 heads as with 1",
    seeds=5,
)

WIDTH, HEADS, HASTE = 64, (1, 2, 4, 8), 3
HASTY = "1, hasty"
KINDS = (*map(str, HEADS), HASTY)


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How unsteady each training is, and where it ends, by heads and seed."""
    count, steps, asked = (24, 6, 8) if quick else (8000, 240, 40)
    known, runs = lexicon(), []
    (test, *_) = sentences(known, asked, split="test")
    for seed, whole in parts(progress, seeds):
        some = sentences(known, count, seed=seed)
        for kind, inner in parts(whole, KINDS):
            torch.manual_seed(seed)
            model = Transformer(settings(len(known), WIDTH, int(kind.partition(",")[0])))
            losses, lr = [], LR * (HASTE if kind == HASTY else 1)
            for _ in train(model, some, steps=steps, lr=lr, seed=seed):
                losses.append(_loss(model, test))
                inner(len(losses) / steps)
            last = math.exp(fmean(map(math.log, losses[-10:])))
            runs.append({"kind": kind, "seed": seed, "unsteady": _unsteady(losses[steps // 10 :]), "last": last})
    return {"runs": runs, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    number, low, high = _times(numbers, KINDS[3])
    hasty, sees, most = _times(numbers, HASTY)
    spread = {kind: _spread(numbers, kind) for kind in KINDS}
    last = ", ".join(f"{kind} {fmean(_all(numbers, 'last', kind)):.2f}" for kind in KINDS)
    told = ", ".join(f"{kind} {fmean(_all(numbers, 'unsteady', kind)):.2%}" for kind in KINDS)
    return Finding(
        verdict(
            supported=sees > 1 and high < 1 and spread[KINDS[3]] < spread[KINDS[0]],
            refuted=sees > 1 and low > 1,
        ),
        number,
        (low, high),
        f"From step to step the loss jumps, by heads: {told}. Eight heads against one: {number:.2f} times ({low:.2f} "
        f"to {high:.2f}); one head at {HASTE} times the rate: {hasty:.2f} times ({sees:.2f} to "
        f"{most:.2f}). Last losses: {last}; their spread over seeds: "
        f"{', '.join(f'{kind} {value:.1%}' for kind, value in spread.items())}.",
    )


def draw(numbers: Numbers) -> str:
    jumps = [[100 * each for each in _all(numbers, "unsteady", kind)] for kind in KINDS]
    last = [_all(numbers, "last", kind) for kind in KINDS]
    names = [kind.replace(", ", "\n") for kind in KINDS]
    return figure(
        "Is training steadier with more heads?",
        [
            Panel("jumps from step to step", "heads", "% of the loss", [Bars("", *_bars(jumps))], names),
            Panel("where it ends", "heads", "loss of unseen sentences", [Bars("", *_bars(last))], names),
        ],
        f"{numbers['steps']} steps each; whiskers are 95 % intervals over seeds. “Hasty” has {HASTE} times the "
        "learning rate.",
    )


@torch.no_grad()
def _loss(model: Transformer, some: Batch) -> float:
    logits = model(some.source, some.target[:, :-1], lengths=some.lengths)
    return F.cross_entropy(logits.flatten(0, 1), some.target[:, 1:].flatten(), ignore_index=PAD).item()


def _unsteady(losses: list[float]) -> float:
    """How far the logarithms lie from the line between their neighbours."""
    logs = [math.log(loss) for loss in losses]
    bends = [b - (a + c) / 2 for a, b, c in zip(logs, logs[1:], logs[2:], strict=False)]
    return math.sqrt(fmean(bend**2 for bend in bends))


def _times(numbers: Numbers, kind: str) -> tuple[float, float, float]:
    """How unsteady a kind is as a multiple of one head, seed by seed."""
    ratios = zip(_all(numbers, "unsteady", kind), _all(numbers, "unsteady", KINDS[0]), strict=True)
    mean, low, high = map(math.exp, student([math.log(several / one) for several, one in ratios]))
    return mean, low, high


def _spread(numbers: Numbers, kind: str) -> float:
    """How far the last losses lie apart from seed to seed, as a share of them."""
    last = [math.log(loss) for loss in _all(numbers, "last", kind)]
    return stdev(last) if len(last) > 1 else 0.0


def _all(numbers: Numbers, what: str, kind: str) -> list[float]:
    return [run[what] for run in numbers["runs"] if run["kind"] == kind]


def _bars(values: list[list[float]]) -> tuple[list[float], list[float], list[float]]:
    means, lows, highs = zip(*map(student, values), strict=True)
    return list(means), list(lows), list(highs)
