"""A context for each word: how far it moves from step to step, and what it costs to read another one."""

from collections.abc import Callable
from functools import partial
from statistics import fmean
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention import record
from regard.attention.core import Edit, Look
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import bootstrap
from regard.claims.plot import Bars, Panel, figure
from regard.decode import force
from regard.hub import load
from regard.progress import Progress
from regard.world.language import pairs, text

CLAIM = Claim(
    name="contexts",
    deck="Hoàng, Sequence to Sequence with RNNs and Attention",
    sentence="Use a different context vector in each timestep of decoder. At each timestep of decoder, context vector "
    "“looks at” different parts of the input sequence.",
    experiment="Two bundled recurrent translators of the world's Italian, with additive attention before the step and "
    "behind it, are made to write unseen translations. The distance between the contexts of two steps in a row is "
    "measured in parts of the distance between two states of the encoder in the same sentence; a fixed context has 0. "
    "Then each step reads another context than its own, and how likely the right words are is compared.",
    control="Contexts that are different without being needed would cost nothing to exchange. So all steps read one "
    "fixed context, the mean of those of the sentence; or each step reads that of the step before, which is just as "
    "varied, but belongs to another word.",
    criterion="The number is the mean distance between the contexts of two steps in a row, of the translator with "
    "additive attention before the step, as in the lecture. Supported if its interval, by drawing sentences again, "
    "lies above 0.5, and in both translators a word becomes less likely by either exchange, intervals above zero. "
    "Refuted if the interval lies below 0.1, or if an exchange costs nothing. Otherwise not at this scale.",
    measures="times the distance between two words of the source lies between the contexts of two steps in a row",
    seeds=1,
)

MODELS = {"attention before the step": "world-it-en-additive", "attention behind the step": "world-it-en-concat"}
LECTURE = next(iter(MODELS))
FIXED, LATE = "one for all steps", "that of the step before"
EXCHANGES: dict[str, Callable[[Float[Tensor, "m n"]], Float[Tensor, "m n"]]] = {
    FIXED: lambda weights: weights.mean(dim=0, keepdim=True).expand_as(weights),
    LATE: lambda weights: torch.cat((weights[:1], weights[:-1])),
}


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """Of each sentence and translator: how far contexts move, and the log probability of a word, by what is read."""
    asked, runs = 4 if quick else 200, []
    tests = [(text(pair.source), text(pair.target)) for pair in pairs("it", "en", seed=seeds[0], split="test")[:asked]]
    for kind, inner in parts(progress, list(MODELS)):
        with torch.no_grad():
            sentences = track(map(partial(_read, load(MODELS[kind])), tests), asked, inner)
        runs.append({"kind": kind, **{name: [each[name] for each in sentences] for name in sentences[0]}})
    return {"runs": runs}


def judge(numbers: Numbers) -> Finding:
    found = {run["kind"]: run for run in numbers["runs"]}
    number, low, high = bootstrap(found[LECTURE]["moved"])
    costs = {(kind, way): bootstrap(run[way]) for kind, run in found.items() for way in EXCHANGES}
    said = "; ".join(
        f"{kind} {fmean(run['moved']):.2f}, and a word costs {costs[kind, FIXED][0]:.2f} nats more with one context "
        f"for all steps and {costs[kind, LATE][0]:.2f} with that of the step before"
        for kind, run in found.items()
    )
    return Finding(
        verdict(
            supported=low > 0.5 and all(cost[1] > 0 for cost in costs.values()),
            refuted=high < 0.1 or any(cost[2] < 0 for cost in costs.values()),
        ),
        number,
        (low, high),
        f"From step to step contexts move so many times the distance between two words of the source: {said}.",
    )


def draw(numbers: Numbers) -> str:
    runs, kinds = numbers["runs"], [run["kind"] for run in numbers["runs"]]
    names = [kind.replace(" the step", "\nthe step") for kind in kinds]
    moved = Bars("contexts of two steps in a row", *zip(*(bootstrap(run["moved"]) for run in runs), strict=True))
    costs = [Bars(way, *zip(*(bootstrap(run[way]) for run in runs), strict=True)) for way in EXCHANGES]
    return figure(
        "Each step reads a context of its own",
        [
            Panel("distance", "", "in parts of that between two words of the source", [moved], names),
            Panel("reading another context costs", "", "nats a word", costs, names),
        ],
        f"Italian to English in the little world, {len(runs[0]['moved'])} unseen sentences; whiskers are 95 % "
        "intervals over them.",
    )


def _read(stored: Any, pair: tuple[str, str]) -> dict[str, float]:
    """One sentence: how far its contexts move, and how many nats a word costs more with another context."""
    model, tokenizer = stored.model, stored.tokenizer
    (source, target), special = tokenizer.encode(pair, stop=True), tokenizer.special
    written = partial(force, model, [source], [target], start=special("start"), pad=special("pad"))
    with record(model) as trace:
        own = written()[0].mean()
    (name,) = model.cross_attentions
    weights = trace.weights(name)[0, 0]
    words = model.start(torch.tensor([source])).memory.v[0, 0]
    contexts = weights @ words
    apart = torch.pdist(words).mean()
    found = {"moved": float((contexts[1:] - contexts[:-1]).norm(dim=-1).mean() / apart)}
    for way, exchange in EXCHANGES.items():
        with record(model, edits={name: _instead(exchange(weights))}):
            found[way] = float(own - written()[0].mean())
    return found


def _instead(weights: Float[Tensor, "m n"]) -> Edit:
    """These looks in place of the own ones, whether the model asks step by step or all at once."""
    rows = iter(weights)

    def edit(look: Look) -> Float[Tensor, "1 1 q k"]:
        return torch.stack([next(rows) for _ in range(look.q.shape[-2])])[None, None]

    return edit
