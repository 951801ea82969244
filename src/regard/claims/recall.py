"""Who can still say what was told long ago: recall by distance, for states, convolutions, memories and attention."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import multihead
from regard.claims.claim import Claim, Finding, Numbers, Tell, part, ruled
from regard.claims.interval import student
from regard.claims.lesson import learn, weight
from regard.claims.plot import Line, Panel, figure
from regard.layers import MLP, Block, Recurrent, Stack
from regard.layers.position import Sinusoidal
from regard.models import memnet, tcn
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


def measure(seeds: list[int], quick: bool, tell: Tell) -> Numbers:
    """How often each model is right, by distance and seed."""
    distances, steps, items = (DISTANCES[:2], 3, 32) if quick else (DISTANCES, 400, 2048)
    plans = [(kind, seed) for seed in seeds for kind in KINDS]
    runs, drawn = [], {}
    for i, (kind, seed) in enumerate(plans):
        if seed not in drawn:
            drawn = {seed: [_items(seed, "train", d, items) for d in distances]}
        torch.manual_seed(seed)
        model = _model(kind)
        _taught(model, drawn[seed], seed, steps, part(tell, i, len(plans), f"{kind}, seed {seed}"))
        right = [_right(model, _items(seed, "test", d, 50 if quick else 300)) for d in distances]
        runs.append({"kind": kind, "seed": seed, "weight": weight(model), "right": right})
    return {"distances": list(distances), "runs": runs, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    """Attention against the plain state, where it is hardest."""
    far = {kind: [run["right"][-1] for run in numbers["runs"] if run["kind"] == kind] for kind in KINDS}
    near = {kind: [run["right"][0] for run in numbers["runs"] if run["kind"] == kind] for kind in KINDS}
    number, low, high = student([a - r for a, r in zip(far["attention"], far["RNN"], strict=True)])
    kept = [
        kind for kind in DIRECT if student(near[kind])[0] - student(far[kind])[0] < 0.1 and student(far[kind])[0] > 0.5
    ]
    verdict = ruled(supported=low > 0.2 and bool(kept), refuted=high < 0.05)
    says = ", ".join(f"{kind} {student(far[kind])[0]:.0%}" for kind in KINDS)
    return Finding(
        verdict,
        number,
        (low, high),
        f"Asked {numbers['distances'][-1]} words later: {says}. At {numbers['distances'][0]}: "
        + ", ".join(f"{kind} {student(near[kind])[0]:.0%}" for kind in KINDS)
        + ".",
    )


def draw(numbers: Numbers) -> str:
    """Accuracy against distance."""
    lines = []
    for kind in KINDS:
        runs = [run["right"] for run in numbers["runs"] if run["kind"] == kind]
        y, low, high = zip(*(student(values) for values in zip(*runs, strict=True)), strict=True)
        lines.append(Line(kind, numbers["distances"], y, low, high, dashed=kind in DIRECT))
    guess = (1 / VALUES, "guessing")
    return figure(
        "What was told so many words ago?",
        [
            Panel(
                "",
                "words from the pair to the question",
                "answers that are right",
                lines,
                log="x",
                bounds=(0, 1),
                rule=guess,
            )
        ],
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


def _items(seed: int, split: str, distance: int, count: int) -> list[Recall]:
    view = recalls(seed=seed, split=split, distance=distance, pairs=PAIRS, keys=KEYS, values=VALUES, noise=NOISE)
    return list(view[:count])


def _asked(model: nn.Module, items: list[Recall]) -> tuple[Tensor, Tensor]:
    answers = torch.tensor([item.answer for item in items])
    if not isinstance(model, memnet.MemoryNetwork):
        return model(torch.tensor([item.ids for item in items])), answers
    told = [[(*each, 0)[:2] for each in item.story] for item in items]
    return model(torch.tensor(told), torch.tensor([[item.question] for item in items])), answers


def _taught(model: nn.Module, lessons: list[list[Recall]], seed: int, steps: int, tell: Tell) -> None:
    chance = torch.Generator().manual_seed(seed)

    def pick(below: int, count: int = 1) -> list[int]:
        chosen: list[int] = torch.randint(below, (count,), generator=chance).tolist()
        return chosen

    def loss() -> Tensor:
        items = lessons[pick(len(lessons))[0]]
        return F.cross_entropy(*_asked(model, [items[i] for i in pick(len(items), 32)]))

    learn(model, loss, steps=steps, rate=3e-3, tell=tell)


@torch.no_grad()
def _right(model: nn.Module, items: list[Recall]) -> float:
    scores, answers = _asked(model, items)
    return float((scores.argmax(-1) == answers).float().mean())
