"""How much memory attention takes as the text grows, with its weights kept and without: every byte is counted."""

import math
import os
from collections.abc import Callable, Sequence
from itertools import pairwise, product

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention import Look, Partitioned, Window, multihead, record
from regard.claims.claim import Claim, Finding, Numbers, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Line, Panel, figure
from regard.layers import MLP
from regard.progress import Progress

CLAIM = Claim(
    name="memory",
    deck="Hoàng, Comparing RNNs to Transformer; also Najdenkoska & Asano, Pros and cons",
    sentence="Requires a lot of memory: N x M alignment and attention scalers need to be calculated and stored for a "
    "single self-attention head.",
    experiment="Self-attention of width 64 with one head answers texts of 2,048 to 8,192 words, without gradients "
    "and in training. Every allocation of torch is counted, also those inside its fused kernel, and the peak is taken. "
    "The same layer does it three ways: its weights written out as in the lecture, the fused kernel that the library "
    "takes, and that kernel while the layer is being watched. The slope of the logarithms is the exponent.",
    control="The same attention with its weights written out, but inside windows of 64 words; and the MLP of the same "
    "block. Neither has N x M of anything, so their exponents must be 1, or the count is wrong. The three ways must "
    "give the same answers.",
    criterion="The number is the exponent of the peak where the weights are not kept, between neighbouring lengths, "
    "without gradients. Supported if its interval lies above 1.8: then the weights are needed indeed. Refuted if it "
    "lies below 1.2 in training too, while the answers differ by less than 1e-5. Otherwise not at this scale, and so "
    "it is if the exponent of a control is not within 0.1 of 1.",
    measures="is the exponent of attention's memory in words, weights not kept",
    seeds=1,
)

WIDTH, HEADS, SIDE = 64, 1, 8  # windows of SIDE × SIDE words
KEPT, FUSED, WATCHED, WINDOWS, FORWARD = "weights kept", "not kept", "not kept, watched", "kept, in windows", "MLP"
WAYS = (KEPT, FUSED, WATCHED, WINDOWS, FORWARD)
PASSES = ("forward", "training")

Call = Callable[[Float[Tensor, "1 n d"]], Tensor]


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """The peak of each way at each length, and how far the answers of the first three lie apart."""
    # Above the lengths where the kernel takes larger blocks, whose buffers grow by a step there.
    lengths = [256, 512] if quick else [2048, 3072, 4096, 6144, 8192]
    torch.manual_seed(seeds[0])
    calls, each = _calls(), list(product(WAYS, PASSES, lengths))
    peaks = track(
        (
            {"way": way, "pass": during, "n": n, "bytes": _peak(calls[way], torch.randn(1, n, WIDTH), during)}
            for way, during, n in each
        ),
        len(each),
        progress,
    )
    with torch.no_grad():
        x = torch.randn(1, lengths[-1], WIDTH)
        answers = [calls[way](x) for way in (KEPT, FUSED, WATCHED)]
    differ = max(float((one - answers[0]).abs().max()) for one in answers)
    return {"peaks": peaks, "differ": differ}


def judge(numbers: Numbers) -> Finding:
    slopes = {(way, during): student(_slopes(numbers, way, during)) for way in WAYS for during in PASSES}
    number, low, high = slopes[FUSED, "forward"]
    sound = all(abs(slopes[way, during][0] - 1) < 0.1 for way in (WINDOWS, FORWARD) for during in PASSES)
    same = numbers["differ"] < 1e-5
    n = max(point["n"] for point in numbers["peaks"])
    most = {way: _series(numbers, way, "training")[1][-1] / 1e6 for way in WAYS}
    told = "; ".join(f"{way} {slopes[way, 'forward'][0]:.2f} and {slopes[way, 'training'][0]:.2f}" for way in WAYS)
    return Finding(
        verdict(
            supported=sound and low > 1.8,
            refuted=sound and same and high < 1.2 and slopes[FUSED, "training"][2] < 1.2,
        ),
        number,
        (low, high),
        f"Exponents, forward and in training: {told}. Training on {n:,} words takes {most[KEPT]:.0f} MB with the "
        f"weights kept and {most[FUSED]:.1f} MB without; the answers differ by at most {numbers['differ']:.0e}.",
    )


def draw(numbers: Numbers) -> str:
    panels = []
    for during, title in zip(PASSES, ("without gradients", "training, forward and backward"), strict=True):
        lines = [Line(way, *_series(numbers, way, during), dashed=way in (WINDOWS, FORWARD)) for way in WAYS]
        panels.append(Panel(title, "words", "bytes at the peak", lines, log="xy"))
    return figure(
        "Memory against length",
        panels,
        f"Width {WIDTH}, one head, float32, a batch of one; the model itself and its input are not counted.",
    )


def _calls() -> dict[str, Call]:
    """Each way to answer, all by the same weights."""
    attn, mlp = multihead(WIDTH, HEADS), MLP(WIDTH)
    windows = Partitioned(attn, Window(SIDE))

    def kept(x: Tensor) -> Tensor:
        with record(attn, edits={"": Look.weights}):
            y: Tensor = attn(x)
            return y

    def watched(x: Tensor) -> Tensor:
        with record(attn):
            y: Tensor = attn(x)
            return y

    def inside(x: Tensor) -> Tensor:
        with record(windows, edits={"attn": Look.weights}):
            y: Tensor = windows(x.view(1, SIDE, -1, WIDTH))
            return y

    return {KEPT: kept, FUSED: attn, WATCHED: watched, WINDOWS: inside, FORWARD: mlp}


def _peak(call: Call, x: Float[Tensor, "1 n d"], during: str) -> int:
    """The most bytes that were allocated at one time while a call ran."""
    # Torch's profiler, which sees also what a kernel allocates for itself, would announce each start and stop.
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    learns = during == "training"
    for _ in range(2):  # what the first call makes once and for all, such as gradients of weights, does not count
        with torch.autograd.profiler.profile(profile_memory=True) as profiler, torch.set_grad_enabled(learns):
            y = call(x)
            if learns:
                y.sum().backward()
            del y
    assert profiler.kineto_results is not None
    events = [event for event in profiler.kineto_results.events() if event.name() == "[memory]"]
    now = most = 0
    for event in sorted(events, key=lambda one: one.start_ns()):
        now += event.nbytes()
        most = max(most, now)
    return most


def _series(numbers: Numbers, way: str, during: str) -> tuple[list[int], list[int]]:
    points = [point for point in numbers["peaks"] if (point["way"], point["pass"]) == (way, during)]
    return [point["n"] for point in points], [point["bytes"] for point in points]


def _slopes(numbers: Numbers, way: str, during: str) -> Sequence[float]:
    """Of the logarithms, between neighbouring lengths."""
    points = list(zip(*_series(numbers, way, during), strict=True))
    return [math.log(b / a) / math.log(m / n) for (n, a), (m, b) in pairwise(points)]
