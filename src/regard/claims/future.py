"""A mask lets all words of a sentence be learned in one pass, and none of them sees what it has to predict."""

from collections.abc import Callable
from functools import partial
from statistics import median

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import causal, multihead
from regard.claims.claim import Claim, Finding, Numbers, parts, verdict
from regard.claims.interval import bootstrap
from regard.claims.plot import Line, Panel, figure
from regard.claims.timing import rounds
from regard.layers import MLP, Block, Stack
from regard.layers.position import Sinusoidal
from regard.progress import Progress

CLAIM = Claim(
    name="future",
    deck="Hoàng, Masked self-attention layer; also Zimmermann, Masked self-attention",
    sentence="Allows us to parallelize attention across time … Prevent vectors from looking at future vectors.",
    experiment="A causal stack of two blocks: the gradient of every output at every later input, which must be zero to "
    "the last bit. Then a training step on a sentence of 16 to 64 words: one masked pass that predicts every next "
    "word, against one pass for each prefix. Both must give the same gradient of the weights.",
    control="The same stack without the mask, which must leak. For the time, also steps with a memory of what came "
    "before, which compute nothing twice and still wait for one another.",
    criterion="The number is how many times longer the prefixes take than the masked pass, at 64 words. Supported if "
    "the leak is exactly zero, the gradients agree within 1e-4 of their size, and the interval lies above 2. Refuted "
    "if anything leaks, the gradients differ, or the interval lies below 1. Otherwise not at this scale.",
    measures="times as long, prefix by prefix",
    seeds=3,
)

WIDTH, HEADS, VOCAB = 64, 4, 64
WAYS = ("one masked pass", "steps with a memory", "a pass for each prefix")


class _Writer(nn.Module):
    """A decoder alone: what follows each word."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        blocks = [Block(WIDTH, multihead(WIDTH, HEADS), MLP(WIDTH, 2 * WIDTH)) for _ in range(2)]
        self.stack, self.norm = Stack(blocks, Sinusoidal(WIDTH)), nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, words: Tensor) -> Tensor:
        logits: Tensor = self.head(self.norm(self.stack(self.embed(words), visible=causal(words.shape[1]))))
        return logits


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """Leaks, agreement of the gradients, and seconds of a training step, round by round."""
    lengths, repeats = ([4, 8], 2) if quick else ([16, 32, 64], 7)
    leaks = [{"seed": seed, "masked": _leak(seed, masked=True), "open": _leak(seed, masked=False)} for seed in seeds]
    torch.manual_seed(seeds[0])
    model, points = _Writer(), []
    for length, inner in parts(progress, lengths):
        words = torch.randint(VOCAB, (4, length + 1))
        ways = dict(zip(WAYS, (_masked_loss, _cached_loss, _prefix_loss), strict=True))
        gradients = {name: _gradient(way, model, words) for name, way in ways.items()}
        size = gradients[WAYS[0]].norm()
        differ = max(float((gradients[name] - gradients[WAYS[0]]).norm() / size) for name in WAYS[1:])
        calls = {name: partial(_gradient, way, model, words) for name, way in ways.items()}
        taken = rounds(calls, repeats, inner)
        points.append({"length": length, "differ": differ, "seconds": taken})
    return {"leaks": leaks, "points": points}


def judge(numbers: Numbers) -> Finding:
    leak, opened = (max(one[kind] for one in numbers["leaks"]) for kind in ("masked", "open"))
    differ = max(point["differ"] for point in numbers["points"])
    point = min(numbers["points"], key=lambda p: abs(p["length"] - 64))
    number, low, high = bootstrap(_times_longer(point, WAYS[2]), median)
    steps = bootstrap(_times_longer(point, WAYS[1]), median)[0]
    return Finding(
        verdict(supported=low > 2 and opened > 0, refuted=leak > 0 or differ > 1e-4 or high < 1),
        number,
        (low, high),
        f"The gradient of an output at any later input is {leak:g} with the mask, and up to {opened:.2g} without. At "
        f"{point['length']} words the same training step takes {number:.1f}× as long prefix by prefix, and "
        f"{steps:.1f}× in steps with a memory; the gradients differ by {differ:.0e}.",
    )


def draw(numbers: Numbers) -> str:
    lengths = [point["length"] for point in numbers["points"]]
    lines = []
    for way in WAYS:
        runs = [bootstrap([1e3 * s for s in point["seconds"][way]], median) for point in numbers["points"]]
        lines.append(Line(way, lengths, *zip(*runs, strict=True)))
    leak, opened = (max(one[kind] for one in numbers["leaks"]) for kind in ("masked", "open"))
    return figure(
        "Learning to predict every next word",
        [Panel("", "words in a sentence", "ms for a training step of 4 sentences", lines, log="xy")],
        f"All three give the same gradient. At later inputs it is {leak:g} with the mask, up to {opened:.2g} without. "
        "Median and 95 % interval.",
    )


def _leak(seed: int, *, masked: bool, words: int = 24) -> float:
    """The largest gradient of an output at an input after it."""
    torch.manual_seed(seed)
    stack, x = _Writer().stack, torch.randn(1, words, WIDTH, requires_grad=True)
    y = stack(x, visible=causal(words) if masked else None)
    felt = [torch.autograd.grad(y[0, t].sum(), x, retain_graph=True)[0][0, t + 1 :] for t in range(words - 1)]
    return max(float(each.abs().max()) for each in felt)


def _masked_loss(model: _Writer, words: Tensor) -> Tensor:
    return F.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())


def _prefix_loss(model: _Writer, words: Tensor) -> Tensor:
    length = words.shape[1] - 1
    losses = [F.cross_entropy(model(words[:, : t + 1])[:, -1], words[:, t + 1]) for t in range(length)]
    return torch.stack(losses).mean()


def _cached_loss(model: _Writer, words: Tensor) -> Tensor:
    past, losses = None, []
    for t in range(words.shape[1] - 1):
        x, past = model.stack.step(model.embed(words[:, t : t + 1]), past)
        losses.append(F.cross_entropy(model.head(model.norm(x))[:, -1], words[:, t + 1]))
    return torch.stack(losses).mean()


def _gradient(way: Callable[[_Writer, Tensor], Tensor], model: _Writer, words: Tensor) -> Tensor:
    found = torch.autograd.grad(way(model, words), list(model.parameters()))
    return torch.cat([each.flatten() for each in found])


def _times_longer(point: Numbers, way: str) -> list[float]:
    return [slow / fast for slow, fast in zip(point["seconds"][way], point["seconds"][WAYS[0]], strict=True)]
