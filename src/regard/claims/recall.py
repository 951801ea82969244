"""Who can still say what was told long ago: recall by distance, for states, convolutions, memories and attention."""

from functools import lru_cache
from itertools import product
from statistics import fmean

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import multihead
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Line, Panel, figure
from regard.layers import MLP, Block, Recurrent, Stack
from regard.layers.position import Sinusoidal
from regard.models import memnet, tcn
from regard.progress import Progress
from regard.train.small import count_parameters, learn
from regard.world.recall import Recall, recalls, vocabulary

CLAIM = Claim(
    name="recall",
    deck="Erdem, Memory in RNNs, and The problem of long-range dependences",
    sentence="By putting the right info in to the hidden state, RNNs can model dependences that are arbitrarily far "
    "apart. … Other methods exist that do directly link old “memories” to future predictions.",
    experiment="A word with its value, then noise, then the word again: what was the value? Six models of about equal "
    "size learn from distances of 1 to 128 words, for equally many steps, and are asked at each distance: a plain RNN, "
    "a GRU and an LSTM, a temporal convolution, a memory network and self-attention.",
    control="Item by item, the same pair is asked for at every distance, so nothing but the distance changes. A gated "
    "state (GRU, LSTM) stands beside the plain one, which cannot hold on to what it holds.",
    criterion="The number is how much more often attention is right than the plain RNN, at the farthest distance. "
    "Supported if its interval lies above 0.2 and some direct link loses less than 0.1 between the nearest and the "
    "farthest distance, where it is still right more than half of the time. Refuted if the interval lies below 0.05. "
    "Otherwise not at this scale.",
    measures="more answers are right with attention than with an RNN",
    seeds=3,
)

PAIRS, KEYS, VALUES, NOISE = 1, 8, 16, 8
VOCAB = vocabulary(KEYS, VALUES, NOISE)
DISTANCES = (1, 4, 16, 64, 128)
KINDS = ("RNN", "GRU", "LSTM", "temporal convolution", "memory network", "attention")
DIRECT = KINDS[3:]


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How often each model is right, by distance and seed."""
    distances, steps, items = (DISTANCES[:2], 3, 32) if quick else (DISTANCES, 400, 2048)
    runs = []
    for (seed, kind), inner in parts(progress, list(product(seeds, KINDS))):
        torch.manual_seed(seed)
        model = _model(kind)
        _train(model, [_items(seed, "train", d, items) for d in distances], seed, steps, inner)
        accuracy = [_accuracy(model, _items(seed, "test", d, 50 if quick else 300)) for d in distances]
        runs.append({"kind": kind, "seed": seed, "parameters": count_parameters(model), "accuracy": accuracy})
    return {"distances": list(distances), "runs": runs, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    runs = {kind: [run["accuracy"] for run in numbers["runs"] if run["kind"] == kind] for kind in KINDS}
    near, far = ({kind: fmean(each[end] for each in some) for kind, some in runs.items()} for end in (0, -1))
    number, low, high = student([a[-1] - r[-1] for a, r in zip(runs["attention"], runs["RNN"], strict=True)])
    kept = [kind for kind in DIRECT if near[kind] - far[kind] < 0.1 and far[kind] > 0.5]
    nearest, farthest = (", ".join(f"{kind} {mean:.0%}" for kind, mean in means.items()) for means in (near, far))
    return Finding(
        verdict(supported=low > 0.2 and bool(kept), refuted=high < 0.05),
        number,
        (low, high),
        f"Asked {numbers['distances'][-1]} words later: {farthest}. At {numbers['distances'][0]}: {nearest}.",
    )


def draw(numbers: Numbers) -> str:
    lines = []
    for kind in KINDS:
        runs = [run["accuracy"] for run in numbers["runs"] if run["kind"] == kind]
        values = zip(*map(student, zip(*runs, strict=True)), strict=True)
        lines.append(Line(kind, numbers["distances"], *values, dashed=kind in DIRECT))
    x, y, guess = "words from the pair to the question", "answers that are right", (1 / VALUES, "guessing")
    return figure(
        "What was told so many words ago?",
        [Panel("", x, y, lines, log="x", bounds=(0, 1), rule=guess)],
        f"Solid: a state that is carried along. Dashed: direct links to the past. {numbers['steps']} steps each; bands "
        "are 95 % intervals over seeds.",
    )


class _Last(nn.Module):
    """Words in, and the answer from what stands at the last of them."""

    def __init__(self, width: int, body: nn.Module) -> None:
        super().__init__()
        self.embed, self.body, self.head = nn.Embedding(VOCAB, width), body, nn.Linear(width, VOCAB)

    def forward(self, ids: Tensor) -> Tensor:
        y = self.body(self.embed(ids))
        answer: Tensor = self.head((y[0] if isinstance(y, tuple) else y)[:, -1])
        return answer


def _model(kind: str) -> nn.Module:
    """About 20,000 to 30,000 weights each."""
    match kind:
        case "RNN" | "GRU" | "LSTM":
            width = {"RNN": 96, "GRU": 60, "LSTM": 52}[kind]
            return _Last(width, Recurrent(width, width, cell=kind.lower()))
        case "temporal convolution":
            # Six blocks of kernel 3 reach 253 words back.
            return tcn.TCN(tcn.Config(vocab=VOCAB, width=24, hidden=26, kernel=3, depth=6, classes=VOCAB))
        case "memory network":
            return memnet.MemoryNetwork(memnet.Config(vocab=VOCAB, width=36, context=DISTANCES[-1] + PAIRS))
        case _:
            blocks = [Block(40, multihead(40, 4), MLP(40, 80)) for _ in range(2)]
            return _Last(40, nn.Sequential(Stack(blocks, Sinusoidal(40)), nn.LayerNorm(40)))


@lru_cache(2 * len(DISTANCES))  # those of one seed, for all models
def _items(seed: int, split: str, distance: int, count: int) -> list[Recall]:
    view = recalls(seed=seed, split=split, distance=distance, pairs=PAIRS, keys=KEYS, values=VALUES, noise=NOISE)
    return list(view[:count])


def _answer(model: nn.Module, items: list[Recall]) -> tuple[Tensor, Tensor]:
    """The logits of the answers, and the right ones."""
    answers = torch.tensor([item.answer for item in items])
    if not isinstance(model, memnet.MemoryNetwork):
        return model(torch.tensor([item.ids for item in items])), answers
    story = [[(*each, 0)[:2] for each in item.story] for item in items]
    return model(torch.tensor(story), torch.tensor([[item.question] for item in items])), answers


def _train(model: nn.Module, distances: list[list[Recall]], seed: int, steps: int, progress: Progress) -> None:
    chance = torch.Generator().manual_seed(seed)

    def pick(below: int, count: int = 1) -> list[int]:
        chosen: list[int] = torch.randint(below, (count,), generator=chance).tolist()
        return chosen

    def loss() -> Tensor:
        items = distances[pick(len(distances))[0]]
        return F.cross_entropy(*_answer(model, [items[i] for i in pick(len(items), 32)]))

    track(learn(model, loss, steps=steps, lr=3e-3), steps, progress)


@torch.no_grad()
def _accuracy(model: nn.Module, items: list[Recall]) -> float:
    scores, answers = _answer(model, items)
    return float((scores.argmax(-1) == answers).float().mean())
