"""Which positions still work beyond the trained length: every code of sequences that the library has."""

from functools import partial
from itertools import product
from statistics import fmean

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Alibi, Attention, Buckets, Distances, Shaw, causal, disentangled, multihead
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.layers import MLP, Block, Stack
from regard.layers.position import Dynamic, Learned, Rotary, Sinusoidal
from regard.progress import Progress
from regard.train.small import learn

CLAIM = Claim(
    name="longer",
    deck="Hoàng, Positional encoding",
    sentence="Possible desirable properties of pos(.): … Our model should generalize to longer sentences without any "
    "efforts. Its values should be bounded. … Learn a lookup table … Design a fixed function with the desired "
    "properties",
    experiment="Causal Transformers of two layers say of each word of a sequence which word stood right before it. "
    "They learn for 400 steps from sequences of up to 32 random words, and are asked about places up to 128. They "
    "differ in how they know about places: a learned table (which has 128 rows, of which training sees 32), "
    "sinusoids, rotations, rotations that slow down in longer texts, ALiBi, T5's buckets, Shaw's relative keys, "
    "DeBERTa's disentangled distances, or not at all.",
    control="In the same sequences the same models say which word was marked among the first eight. This has nothing "
    "to do with order: where it goes on working, it is not the length as such that is in the way.",
    criterion="The number is how much more often sinusoids are right than a learned table, at places 32 to 64, twice "
    "the trained length. Supported if its interval lies above 0.1 and sinusoids lose less than 0.1 there against "
    "trained places. Refuted if it lies below 0.1, or if sinusoids are right there less than half as often as at "
    "trained places. Otherwise not at this scale.",
    measures="more words are right with sinusoids than with a learned table, at twice the trained length",
    seeds=5,
)

WIDTH, HEADS, WORDS, EARLY = 64, 4, 16, 8  # of WORDS different words, one among the EARLY first is marked
TRAINED, LONGEST, BIN = 32, 128, 16
KINDS = ("sinusoidal", "learned", "none", "rotary", "rotary, dynamic", "ALiBi", "T5 buckets", "Shaw", "disentangled")
QUESTIONS = ("the word before", "the marked word")


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How often each model is right in each stretch of places, by question and seed."""
    runs = []
    for (seed, kind), inner in parts(progress, list(product(seeds, KINDS))):
        torch.manual_seed(seed)
        model, chance = _Model(kind), torch.Generator().manual_seed(seed)
        steps = 2 if quick else 400
        track(learn(model, partial(_loss, model, chance), steps=steps, lr=3e-3), steps, inner)
        right = _right(model, chance, 8 if quick else 100)
        runs.append({"kind": kind, "seed": seed} | dict(zip(QUESTIONS, right, strict=True)))
    return {"runs": runs, "places": [*range(BIN, LONGEST + 1, BIN)]}


def judge(numbers: Numbers) -> Finding:
    before = {kind: _stretches(numbers, kind, QUESTIONS[0]) for kind in KINDS}
    number, low, high = student([s[1] - t[1] for s, t in zip(before["sinusoidal"], before["learned"], strict=True)])
    trained, beyond, far = ({kind: fmean(run[i] for run in before[kind]) for kind in KINDS} for i in range(3))
    marked = fmean(run[1] for run in _stretches(numbers, "sinusoidal", QUESTIONS[1]))
    told = "; ".join(f"{kind} {trained[kind]:.0%}, {beyond[kind]:.0%}, {far[kind]:.0%}" for kind in KINDS)
    own, kept = trained["sinusoidal"], beyond["sinusoidal"]
    return Finding(
        verdict(supported=low > 0.1 and own - kept < 0.1, refuted=high < 0.1 or kept < 0.5 * own),
        number,
        (low, high),
        f"The word before, at trained places, at twice and at four times the length: {told}. "
        f"Sinusoids know the marked word at twice the length {marked:.0%} of the time.",
    )


def draw(numbers: Numbers) -> str:
    asked = [
        (QUESTIONS[0], i, at) for i, at in enumerate(("trained places", "twice the length", "four times the length"))
    ]
    bars = []
    for question, i, at in (*asked, (QUESTIONS[1], 2, "the marked word, four times the length")):
        values = (student([run[i] for run in _stretches(numbers, kind, question)]) for kind in KINDS)
        bars.append(Bars(at, *zip(*values, strict=True)))
    names = [kind.replace(", ", "\n") for kind in KINDS]
    return figure(
        "Beyond the trained length",
        [Panel("", "", "answers about the word before that are right", bars, names, bounds=(0, 1))],
        f"Trained on {TRAINED} words, asked up to place {LONGEST}; one in {WORDS} is right by guessing. Whiskers are "
        "95 % intervals over seeds.",
    )


class _Model(nn.Module):
    """A causal stack with two answers at each place."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.embed = nn.Embedding(2 * WORDS, WIDTH)  # each word plain and marked
        distances = Distances(WIDTH, buckets=None, reach=TRAINED) if kind == "disentangled" else None
        blocks = [Block(WIDTH, _attention(kind, distances), MLP(WIDTH, 2 * WIDTH)) for _ in range(2)]
        position = {"sinusoidal": lambda: Sinusoidal(WIDTH), "learned": lambda: Learned(LONGEST, WIDTH)}.get(kind)
        self.stack, self.norm = Stack(blocks, position), nn.LayerNorm(WIDTH)
        self.distances = distances  # shared by all layers
        self.heads = nn.ModuleList(nn.Linear(WIDTH, WORDS) for _ in QUESTIONS)

    def forward(self, words: Int[Tensor, "b n"]) -> list[Float[Tensor, "b n w"]]:
        y = self.norm(self.stack(self.embed(words), visible=causal(words.shape[1])))
        return [head(y) for head in self.heads]


def _attention(kind: str, distances: Distances | None) -> Attention:
    head = WIDTH // HEADS
    match kind:
        case "rotary":
            return multihead(WIDTH, HEADS, rotary=Rotary(head))
        case "rotary, dynamic":
            return multihead(WIDTH, HEADS, rotary=Rotary(head, scaling=Dynamic(1.0, TRAINED)))
        case "ALiBi":
            return multihead(WIDTH, HEADS, bias=Alibi(HEADS))
        case "T5 buckets":
            return multihead(WIDTH, HEADS, bias=Buckets(HEADS, reach=LONGEST, bidirectional=False))
        case "Shaw":
            return multihead(WIDTH, HEADS, bias=Shaw(head, TRAINED // 2))
        case "disentangled" if distances is not None:
            return disentangled(WIDTH, HEADS, distances)
        case _:
            return multihead(WIDTH, HEADS)


def _sequences(count: int, length: int, chance: torch.Generator) -> tuple[Tensor, list[tuple[Tensor, int]]]:
    """Random words, one of the first marked; and of each question the answers and the first place to be asked."""
    words = torch.randint(WORDS, (count, length), generator=chance)
    place = torch.randint(EARLY, (count, 1), generator=chance)
    marked = words.gather(1, place)
    answers = [(words.roll(1, 1), 1), (marked.expand(-1, length), EARLY)]
    return words.scatter(1, place, marked + WORDS), answers


def _loss(model: _Model, chance: torch.Generator) -> Tensor:
    length = int(torch.randint(EARLY + 1, TRAINED + 1, (), generator=chance))
    words, answers = _sequences(24, length, chance)
    asked = zip(model(words), answers, strict=True)
    losses = [F.cross_entropy(y[:, at:].flatten(0, 1), right[:, at:].flatten()) for y, (right, at) in asked]
    return torch.stack(losses).sum()


@torch.no_grad()
def _right(model: _Model, chance: torch.Generator, count: int) -> list[list[float]]:
    """By question, the share of right answers in each stretch of places."""
    words, answers = _sequences(count, LONGEST, chance)
    found = []
    for y, (answer, at) in zip(model(words), answers, strict=True):
        right = (y.argmax(-1) == answer).float()
        stretches = (right[:, max(start, at) : start + BIN] for start in range(0, LONGEST, BIN))
        found.append([round(float(each.mean()), 3) for each in stretches])
    return found


def _stretches(numbers: Numbers, kind: str, question: str) -> list[tuple[float, float, float]]:
    """Of each run: trained places, those up to twice as far, and the last."""
    bins, half = [run[question] for run in numbers["runs"] if run["kind"] == kind], TRAINED // BIN
    return [(fmean(run[:half]), fmean(run[half : 2 * half]), fmean(run[-half:])) for run in bins]
