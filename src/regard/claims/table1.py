"""The table of the Transformer paper, counted: operations, chains of operations, and how far a gradient travels."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import linear_regression
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

from regard.attention import Look, mix
from regard.claims.claim import Claim, Finding, Numbers, verdict
from regard.claims.plot import Line, Panel, figure
from regard.claims.timing import rounds
from regard.progress import Progress
from regard.train.small import count_operations

CLAIM = Claim(
    name="table1",
    deck="Erdem, Table 1 (Vaswani 2017)",
    sentence="Self-Attention O(n²·d), O(1), O(1); Recurrent O(n·d²), O(n), O(n); Convolutional O(k·n·d²), O(1), "
    "O(log_k(n)); Self-Attention (restricted) O(r·n·d), O(1), O(n/r).",
    experiment="Each layer runs over growing n, d, k and r. Its multiplications are counted, and the slope of their "
    "logarithm is the exponent. Every operation is followed to the ones it waits for, which gives the longest chain. "
    "Layers are applied until the gradient of the last output at the first input is no longer zero, which gives the "
    "path. Times are measured besides.",
    control="Each exponent is fitted on its own, with the other sizes held fixed. A convolution that is not dilated is "
    "counted too: the logarithm belongs to dilated ones alone. Attention is counted without its projections, as in "
    "the table.",
    criterion="A cell of the 4 × 3 agrees if every exponent of its complexity is within 0.05, the chain's exponent is "
    "within 0.05 of 0 or 1, and the path equals the formula within one layer at every n. Supported if all 12 agree, "
    "refuted if fewer than 10 do, otherwise not at this scale. Times take no part, since machines are noisy.",
    measures="of 12 cells agree",
    seeds=1,
)

N, D, K, R = 256, 64, 4, 8  # where a size is held fixed
# The exponents of the table: operations in each size, and the longest chain in n.
EXPONENTS: dict[str, dict[str, float]] = {
    "self-attention": {"n": 2, "d": 1},
    "recurrent": {"n": 1, "d": 2},
    "convolutional": {"n": 1, "d": 2, "k": 1},
    "restricted": {"n": 1, "d": 1, "r": 1},
}
CHAINS = {"self-attention": 0, "recurrent": 1, "convolutional": 0, "restricted": 0}

Layer = Callable[[Float[Tensor, "1 n d"]], Float[Tensor, "1 n d"]]


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """Counts over each size, chains and paths over n, and times over n."""
    torch.manual_seed(seeds[0])
    sizes: dict[str, list[int]] = {
        "n": [32, 64, 128] if quick else [64, 128, 256, 512],
        "d": [32, 64, 128],
        "k": [2, 4, 8],
        "r": [4, 8, 16],
    }
    counts, chains, paths = [], [], []
    for i, (name, exponents) in enumerate(EXPONENTS.items()):
        progress(0.6 * i / len(EXPONENTS))
        for size in exponents:
            for value in sizes[size]:
                given = dict(n=N, d=D, k=K, r=R) | {size: value}
                counts.append({"layer": name, "size": size, "value": value, "operations": _operations(name, given)})
        chains += [{"layer": name, "n": n, "chain": _chain(name, dict(n=n, d=D, k=K, r=R))} for n in sizes["n"]]
    far = [16, 32, 64] if quick else [16, 32, 64, 128, 256]
    for name in (*EXPONENTS, "not dilated"):
        progress(0.7)
        paths += [{"layer": name, "n": n, "path": _path(name, n), "table": _formula(name, n)} for n in far]
    lengths = [128, 256] if quick else [512, 1024, 2048, 4096]
    calls = {
        f"{name} {n}": partial(_call, _layer(name, D, K, R), torch.randn(1, n, D))
        for name in EXPONENTS
        for n in lengths
    }
    taken = rounds(calls, 2 if quick else 5, lambda done: progress(0.8 + 0.2 * done))
    times = [{"layer": name, "n": n, "seconds": min(taken[f"{name} {n}"])} for name in EXPONENTS for n in lengths]
    return {"counts": counts, "chains": chains, "paths": paths, "times": times}


def judge(numbers: Numbers) -> Finding:
    wrong = []
    for name, exponents in EXPONENTS.items():
        fitted = {size: _slope(*_series(numbers, "counts", name, "operations", size)) for size in exponents}
        if any(abs(fitted[size] - expected) > 0.05 for size, expected in exponents.items()):
            wrong.append(f"{name}, complexity")
        if abs(_slope(*_series(numbers, "chains", name, "chain")) - CHAINS[name]) > 0.05:
            wrong.append(f"{name}, sequential operations")
        if any(abs(p["path"] - p["table"]) > 1 for p in numbers["paths"] if p["layer"] == name):
            wrong.append(f"{name}, path length")
    agree = 12 - len(wrong)
    furthest = max(numbers["paths"], key=lambda p: p["n"])["n"]
    path = {p["layer"]: p["path"] for p in numbers["paths"] if p["n"] == furthest}
    slopes = ", ".join(f"{name} {_slope(*_series(numbers, 'times', name, 'seconds')):.2f}" for name in EXPONENTS)
    return Finding(
        verdict(supported=agree == 12, refuted=agree < 10),
        float(agree),
        (float(agree), float(agree)),
        f"{agree} of 12 cells agree{': not ' + '; '.join(wrong) if wrong else ''}. Over {furthest} words a gradient "
        f"travels {path['self-attention']} layer of attention, {path['convolutional']} of dilated convolution "
        f"({path['not dilated']} if not dilated), {path['restricted']} of restricted attention, or "
        f"{path['recurrent']} steps of recurrence. Measured exponents of time in n: {slopes}.",
    )


def draw(numbers: Numbers) -> str:
    columns = (
        ("counts", "operations", "complexity", "multiplications and additions", "n"),
        ("chains", "chain", "sequential operations", "longest chain", None),
        ("paths", "path", "path length", "layers, or steps, until the gradient arrives", None),
    )
    panels = []
    for rows, what, title, y, size in columns:
        lines = [Line(name, *_series(numbers, rows, name, what, size)) for name in EXPONENTS]
        panels.append(Panel(title, "n, words", y, lines, log="xy"))
    note = f"d = {D}, kernel {K} (dilated for the path), neighbourhood {R}. Counts are the same on every machine."
    return figure("Table 1, counted", panels, note)


def _layer(name: str, d: int, k: int, r: int) -> Layer:
    """One layer of the table, without what the table leaves out."""
    match name:
        case "self-attention":
            return lambda x: mix(Look(x[:, None], x[:, None]), x[:, None])[:, 0]
        case "restricted":
            return lambda x: _neighbours(x, r)
        case "recurrent":
            loop = nn.RNN(d, d, batch_first=True, bias=False)
            return lambda x: loop(x)[0]
        case _:
            weight = torch.randn(d, d, k) * (d * k) ** -0.5
            return lambda x: F.conv1d(F.pad(x.mT, (k - 1, 0)), weight).mT


def _neighbours(x: Float[Tensor, "1 n d"], r: int) -> Float[Tensor, "1 n d"]:
    """Each word looks at itself and the r - 1 before it: one look for each word, at r keys."""
    near = F.pad(x, (0, 0, r - 1, 0)).unfold(1, r, 1)[0].mT[:, None]  # words × 1 × r × d
    inside = torch.arange(r) >= r - 1 - torch.arange(x.shape[1])[:, None]
    return mix(Look(x[0, :, None, None], near, visible=inside[:, None, None]), near)[:, 0].transpose(0, 1)


def _operations(name: str, sizes: Mapping[str, int]) -> int:
    layer, x = _layer(name, sizes["d"], sizes["k"], sizes["r"]), torch.randn(1, sizes["n"], sizes["d"])
    return count_operations(lambda: layer(x))


class _Chains(TorchDispatchMode):
    """The longest chain of operations that wait for one another."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.length: dict[int, int] = {}
        self.kept: list[Tensor] = []  # or a number that stood for one tensor would come to stand for another

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        given, made = (torch.utils._pytree.tree_leaves(each) for each in ((args, kwargs), result))
        # A view computes nothing, so nothing waits for it.
        costs = 0 if func.is_view else 1
        waited = max((self.length.get(id(x), 0) for x in given if isinstance(x, Tensor)), default=0) + costs
        for x in made:
            if isinstance(x, Tensor):
                self.length[id(x)] = waited
                self.kept.append(x)
        return result


def _chain(name: str, sizes: Mapping[str, int]) -> int:
    layer, x = _layer(name, sizes["d"], sizes["k"], sizes["r"]), torch.randn(1, sizes["n"], sizes["d"])
    with sdpa_kernel(SDPBackend.MATH), torch.no_grad(), _Chains() as chains:
        y = layer(x)
    return int(chains.length[id(y)])


def _path(name: str, n: int) -> int:
    """How often a layer is applied until the last output feels the first input."""
    x = torch.randn(1, n, D, dtype=torch.float64, requires_grad=True)
    y, depth = x, 0
    while True:
        if name == "recurrent":
            # One step of all states at once, each from its own word and the state before it.
            y = torch.tanh(x + F.pad(y if depth else torch.zeros_like(x), (0, 0, 1, 0))[:, :-1])
        elif name in ("convolutional", "not dilated"):
            apart = K**depth if name == "convolutional" else 1
            weight = torch.ones(D, 1, K, dtype=x.dtype) / K
            y = F.conv1d(F.pad(y.mT, ((K - 1) * apart, 0)), weight, dilation=apart, groups=D).mT
        else:
            y = _layer(name, D, K, R)(y)
        depth += 1
        (felt,) = torch.autograd.grad(y[0, -1].sum(), x, retain_graph=True)
        if felt[0, 0].any():
            return depth


def _formula(name: str, n: int) -> int:
    """The formula of the table, with the constants it leaves out."""
    match name:
        case "self-attention":
            return 1
        case "recurrent":
            return n
        case "convolutional":
            return math.ceil(math.log(n, K) - 1e-9)
        case "restricted":
            return math.ceil((n - 1) / (R - 1))
        case _:
            return math.ceil((n - 1) / (K - 1))


def _call(layer: Layer, x: Float[Tensor, "1 n d"]) -> None:
    with torch.no_grad():
        layer(x)


def _series(
    numbers: Numbers, rows: str, name: str, what: str, size: str | None = None
) -> tuple[list[int], list[float | int]]:
    """What was measured of a layer against n, or against another size."""
    points = [p for p in numbers[rows] if p["layer"] == name and p.get("size") == size]
    return [p["n" if size is None else "value"] for p in points], [p[what] for p in points]


def _slope(x: Sequence[float | int], y: Sequence[float | int]) -> float:
    """Of the straight line through the logarithms."""
    return linear_regression([math.log(v) for v in x], [math.log(v) for v in y]).slope
