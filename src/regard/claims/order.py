"""Self-attention does not see the order of its inputs, and positions show it: an exact test, and a task about order."""

from functools import partial
from itertools import product
from statistics import fmean

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import multihead
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.layers import MLP, Block, Stack
from regard.layers.position import Sinusoidal
from regard.progress import Progress
from regard.train.small import learn

CLAIM = Claim(
    name="order",
    deck="Hoàng, Self attention layer; also Najdenkoska & Asano, Positional encodings, and Erdem, Permutation",
    sentence="Self-attention layer doesn't care about the orders of the inputs!",
    experiment="A stack of two Transformer blocks, in double precision, gets 32 random words and the same words "
    "shuffled: without positions its outputs must be shuffled alike, with them they must not. Then a small encoder "
    "learns to say which of two marked words comes first, with and without positions.",
    control="A question that order has no part in, which of two marked words there are more of, for the same models: "
    "the one without positions must be able to learn something.",
    criterion="Supported if shuffling moves no output without positions by more than 1e-12, moves outputs with "
    "positions by more than 0.01, and the encoder is right at most 55 % of the time without positions and at least "
    "90 % with them. Refuted if outputs move by more than 1e-6 without positions, or it is right more than 60 % of the "
    "time without them. Otherwise not at this scale.",
    measures="more answers are right with positions",
    seeds=3,
)

WIDTH, HEADS, WORDS, VOCAB = 32, 4, 16, 12
KINDS = ("without positions", "with positions")
QUESTIONS = ("which comes first?", "which is more frequent?")


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How far shuffling moves the outputs, and how often the encoder is right."""
    moved = [{"kind": kind, "seed": seed, "moved": _movement(kind, seed)} for kind in KINDS for seed in seeds]
    runs = []
    for (kind, question, seed), inner in parts(progress, list(product(KINDS, QUESTIONS, seeds))):
        accuracy = _train(kind, question, seed, 4 if quick else 250, inner)
        runs.append({"kind": kind, "question": question, "seed": seed, "accuracy": accuracy})
    return {"moved": moved, "runs": runs}


def judge(numbers: Numbers) -> Finding:
    still, free = (max(one["moved"] for one in numbers["moved"] if one["kind"] == kind) for kind in KINDS)
    accuracies = [_accuracies(numbers, kind, QUESTIONS[0]) for kind in KINDS]
    blind, seeing = map(fmean, accuracies)
    number, low, high = student([s - b for b, s in zip(*accuracies, strict=True)])
    control = fmean(_accuracies(numbers, KINDS[0], QUESTIONS[1]))
    return Finding(
        verdict(
            supported=still <= 1e-12 and free > 0.01 and blind <= 0.55 and seeing >= 0.9,
            refuted=still > 1e-6 or blind > 0.6,
        ),
        number,
        (low, high),
        f"Shuffling moves no output without positions by more than {still:.0e}, and by {free:.2g} with them. Asked "
        f"which of two words comes first, the encoder is right {blind:.0%} of the time without positions and "
        f"{seeing:.0%} with them; asked which is more frequent, {control:.0%} without.",
    )


def draw(numbers: Numbers) -> str:
    marks = []
    for kind in KINDS:
        values = zip(*(student(_accuracies(numbers, kind, question)) for question in QUESTIONS), strict=True)
        marks.append(Bars(kind, *values))
    panel = Panel("", "", "answers that are right", marks, QUESTIONS, bounds=(0, 1), rule=(0.5, "guessing"))
    still = max(one["moved"] for one in numbers["moved"] if one["kind"] == KINDS[0])
    return figure(
        "Without positions, attention cannot know what comes first",
        [panel],
        f"Whiskers are 95 % intervals over seeds. Without positions, shuffling moves outputs by at most {still:.0e}.",
    )


def _stack(kind: str) -> Stack:
    blocks = [Block(WIDTH, multihead(WIDTH, HEADS), MLP(WIDTH, 2 * WIDTH)) for _ in range(2)]
    return Stack(blocks, Sinusoidal(WIDTH) if kind == KINDS[1] else None)


@torch.no_grad()
def _movement(kind: str, seed: int) -> float:
    torch.manual_seed(seed)
    stack, x, shuffled = _stack(kind).double().eval(), torch.randn(4, 32, WIDTH).double(), torch.randperm(32)
    return float((stack(x[:, shuffled]) - stack(x)[:, shuffled]).abs().max())


class _Encoder(nn.Module):
    def __init__(self, kind: str) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.stack, self.norm, self.head = _stack(kind), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 2)

    def forward(self, words: Tensor) -> Tensor:
        answer: Tensor = self.head(self.norm(self.stack(self.embed(words)).mean(dim=1)))
        return answer


def _questions(question: str, count: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
    """Words 0 and 1 are the marked ones: one of each where order is asked for, 1 to 4 of each, never alike, else."""
    draw = partial(torch.randint, generator=chance)
    words = draw(2, VOCAB, (count, WORDS))
    places = torch.rand(count, WORDS, generator=chance).argsort(dim=1)
    if question == QUESTIONS[0]:
        words.scatter_(1, places[:, :1], 0).scatter_(1, places[:, 1:2], 1)
        return words, (places[:, 0] > places[:, 1]).long()
    few, more, answer = draw(1, 3, (count, 1)), draw(3, 5, (count, 1)), draw(0, 2, (count, 1))
    rank = torch.arange(WORDS).expand(count, -1)
    marked = torch.where(rank < more, answer, torch.where(rank < more + few, 1 - answer, -1))
    return torch.where(marked >= 0, marked, words).gather(1, places), answer[:, 0]


def _train(kind: str, question: str, seed: int, steps: int, progress: Progress) -> float:
    torch.manual_seed(seed)
    model, chance = _Encoder(kind), torch.Generator().manual_seed(seed)

    def loss() -> Tensor:
        words, answers = _questions(question, 48, chance)
        return F.cross_entropy(model(words), answers)

    track(learn(model, loss, steps=steps, lr=3e-3), steps, progress)
    with torch.no_grad():
        words, answers = _questions(question, 1000, chance)
        return float((model(words).argmax(-1) == answers).float().mean())


def _accuracies(numbers: Numbers, kind: str, question: str) -> list[float]:
    return [run["accuracy"] for run in numbers["runs"] if (run["kind"], run["question"]) == (kind, question)]
