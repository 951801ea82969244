"""Recurrence goes step by step and attention all at once: the same words laid out along the length, or as a batch."""

from functools import partial
from statistics import median

import torch
from torch import Tensor, nn

from regard.attention import Attention, multihead
from regard.claims.claim import Claim, Finding, Numbers, parts, verdict
from regard.claims.interval import bootstrap
from regard.claims.plot import Line, Panel, figure
from regard.claims.timing import busy, rounds
from regard.layers import Recurrent
from regard.progress import Progress
from regard.threads import threads
from regard.train.small import count_operations

CLAIM = Claim(
    name="sequential",
    deck="Hoàng, Comparing RNNs to Transformer; also Najdenkoska & Asano, Pros & Cons, and Erdem, Table 1",
    sentence="Sequential computation: subsequent hidden states can only be computed after the previous ones are done.",
    experiment="A GRU and a self-attention take a training step, forward and backward, over the same 512 words of "
    "width 256: as a batch of many short sequences, or as few long ones down to a single one. Time is divided by the "
    "counted multiplications, so that the work is equal. One thread, then two where the machine is not busy otherwise.",
    control="Batch instead of length: both layers have the same words and the same weights at every point, and only "
    "their layout changes. What a layer loses on the way from batch to length, it loses to waiting for itself.",
    criterion="Each layer's time per operation at length 512 is divided by that at length 8; the number is the "
    "recurrence's ratio over the attention's, at one thread. Supported if its interval lies above 2, refuted if it "
    "lies below 1.25, otherwise not at this scale.",
    measures="times what length costs attention",
    seeds=1,
)

WIDTH, HEADS = 256, 4
LAYERS = ("recurrence", "attention")
THREADS = {1: "one thread", 2: "two threads"}


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """Milliseconds per billion operations, round by round, for each layer, layout and number of threads."""
    words, repeats = (64, 2) if quick else (512, 9)
    lengths = [words // 64 * 4**i for i in range(4)]
    torch.manual_seed(seeds[0])
    layers = {"recurrence": Recurrent(WIDTH, WIDTH, cell="gru"), "attention": multihead(WIDTH, HEADS)}
    inputs = {length: torch.randn(words // length, length, WIDTH) for length in lengths}
    calls = {
        f"{name} {length}": partial(_train_step, layer, x)
        for name, layer in layers.items()
        for length, x in inputs.items()
    }
    work = {key: count_operations(call) for key, call in calls.items()}
    points = []
    counts = (1,) if quick or busy() else (1, 2)
    for count, inner in parts(progress, counts):
        with threads(count):
            taken = rounds(calls, repeats, inner)
        for name in layers:
            for length in lengths:
                key = f"{name} {length}"
                costs = [1e12 * seconds / work[key] for seconds in taken[key]]
                points.append({"layer": name, "length": length, "threads": count, "cost": costs, "work": work[key]})
    return {"words": words, "width": WIDTH, "points": points}


def judge(numbers: Numbers) -> Finding:
    number, low, high = bootstrap(_losses(numbers, 1), median)
    alone = {layer: bootstrap(_loss(numbers, layer, 1), median)[0] for layer in LAYERS}
    return Finding(
        verdict(supported=low > 2, refuted=high < 1.25),
        number,
        (low, high),
        f"Laid out as one sequence instead of a batch, the same work takes the recurrence {alone['recurrence']:.1f}× "
        f"as long and the attention {alone['attention']:.1f}×: {number:.1f}× between them. " + _threads(numbers),
    )


def draw(numbers: Numbers) -> str:
    counts = sorted({point["threads"] for point in numbers["points"]})
    lines = {count: [_line(numbers, layer, count) for layer in LAYERS] for count in counts}
    ends = [v for some in lines.values() for line in some for v in (*line.low, *line.high)]
    cost, bounds = "ms per billion operations, forward and backward", (min(ends), max(ends))
    return figure(
        f"The same {numbers['words']} words, as a batch of short sequences or as a long one",
        [
            Panel(THREADS[count], "length of a sequence", cost, some, log="xy", bounds=bounds)
            for count, some in lines.items()
        ],
        "Left ends: many short sequences. Right ends: a single long one. Median and 95 % interval of the rounds.",
    )


def _line(numbers: Numbers, layer: str, count: int) -> Line:
    points = [p for p in numbers["points"] if (p["layer"], p["threads"]) == (layer, count)]
    values = zip(*(bootstrap(p["cost"], median) for p in points), strict=True)
    return Line(layer, [p["length"] for p in points], *values)


def _train_step(layer: nn.Module, x: Tensor) -> None:
    layer.zero_grad(set_to_none=True)
    y = layer(x)
    (y if isinstance(layer, Attention) else y[0]).sum().backward()


def _costs(numbers: Numbers, layer: str, count: int) -> list[list[float]]:
    """Round by round, shortest sequences first."""
    return [p["cost"] for p in numbers["points"] if (p["layer"], p["threads"]) == (layer, count)]


def _loss(numbers: Numbers, layer: str, count: int) -> list[float]:
    costs = _costs(numbers, layer, count)
    return [long / short for short, long in zip(costs[0], costs[-1], strict=True)]


def _losses(numbers: Numbers, count: int) -> list[float]:
    recurrence, attention = (_loss(numbers, layer, count) for layer in LAYERS)
    return [r / a for r, a in zip(recurrence, attention, strict=True)]


def _threads(numbers: Numbers) -> str:
    """What a second thread brings to the single long sequence, by the fastest rounds."""
    if all(point["threads"] == 1 for point in numbers["points"]):
        return "The machine was busy, so a second thread was not tried."
    gains = [min(_costs(numbers, layer, 1)[-1]) / min(_costs(numbers, layer, 2)[-1]) for layer in LAYERS]
    return f"There a second thread speeds up the recurrence {gains[0]:.2f}× and the attention {gains[1]:.2f}×."
