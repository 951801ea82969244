"""Without the root of the width, the softmax peaks and gradients vanish: measured at the start, and in training."""

from itertools import product
from statistics import fmean

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Attention, Dot, weigh
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Line, Panel, figure
from regard.progress import Progress
from regard.train.small import learn

CLAIM = Claim(
    name="scale",
    deck="Najdenkoska & Asano, Scaled Dot-Product Attention; also Hoàng (softmax to peak) and CNS148",
    sentence="For large values of d_k, the dot products grow large in magnitude, pushing the softmax function into "
    "regions where it has extremely small gradients.",
    experiment="Random queries look at 64 random keys of width 4 to 1024, with and without the scale: variance of the "
    "scores, entropy of the weights, and the gradient of the softmax, as the norm of its Jacobian. Then a small "
    "attention learns to look up one of 8 facts, with either score: the model has width 64 throughout, and only its "
    "queries and keys are wider or narrower.",
    control="The same queries, keys and starting weights, with the scale. In training each score takes the best of "
    "two learning rates, since a scale can also be learned away.",
    criterion="Let the ratio be the median gradient without the scale over that with it, at width 1024. The mechanism "
    "holds if the ratio's interval lies below 0.1 and the entropy without the scale is below half of the largest. "
    "Supported if it holds and training without the scale answers worse at some width of 256 or more, with an "
    "interval above zero; refuted if the mechanism fails; otherwise not at this scale.",
    measures="of the gradient is left without the scale",
    seeds=5,
)

KEYS, QUERIES = 64, 512
FACTS, WORDS, MODEL = 8, 16, 64  # shown at once, to choose from, and the width of all but queries and keys
SCORES = ("with √d", "without √d")


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """Scores, entropies and gradients by width, and the accuracy of each training."""
    widths = [4, 16, 64] if quick else [4, 8, 16, 32, 64, 128, 256, 512, 1024]
    looks = [
        {"width": width, "score": score, "seed": seed} | _look(width, score, seed)
        for width, score, seed in product(widths, SCORES, seeds)
    ]
    # A first run trained seeds 0 to 2 alone: at width 1024 the scale was worth +12 points with an interval from -18 to
    # +41, which tells nothing. So every seed learns, and the stored result is of seeds that were not seen then.
    trained, lrs, steps = ([16], (1e-3,), 10) if quick else ([16, 256, 1024], (1e-3, 4e-3), 200)
    runs = []
    for (width, score, lr, seed), inner in parts(progress, list(product(trained, SCORES, lrs, seeds))):
        accuracy = _train(width, score, lr, seed, steps, inner)
        runs.append({"width": width, "score": score, "lr": lr, "seed": seed, "accuracy": accuracy})
    return {"keys": KEYS, "looks": looks, "runs": runs}


def judge(numbers: Numbers) -> Finding:
    widest = max(look["width"] for look in numbers["looks"])
    ratio, low, high = student(_ratios(numbers, "gradient", widest))
    mean = fmean(_ratios(numbers, "mean gradient", widest))
    entropy = fmean(_of(numbers, "entropy", widest, SCORES[1]))
    trained = sorted({run["width"] for run in numbers["runs"]})
    gaps = {width: student(_gaps(numbers, width)) for width in trained}
    worse = [width for width, (_, least, _) in gaps.items() if least > 0 and width >= min(256, trained[-1])]
    gap, gap_low, gap_high = gaps[trained[-1]]
    return Finding(
        verdict(supported=bool(worse), refuted=high >= 0.1 or entropy >= 0.5),
        ratio,
        (low, high),
        f"At width {widest}, the median gradient of the unscaled softmax is {ratio:.2g} of the scaled one's, though "
        f"the mean is {mean:.2g}, since near ties stay steep. Its entropy is {entropy:.0%} of the largest. Trained at "
        f"width {trained[-1]}, the scale is worth {100 * gap:+.0f} points of answers ({100 * gap_low:+.0f} to "
        f"{100 * gap_high:+.0f}).",
    )


def draw(numbers: Numbers) -> str:
    widths = sorted({look["width"] for look in numbers["looks"]})
    trained = sorted({run["width"] for run in numbers["runs"]})

    def line(score: str, x: list[int], runs: list[list[float]]) -> Line:
        return Line(score, x, *zip(*map(student, runs), strict=True))

    def lines(what: str) -> list[Line]:
        return [line(score, widths, [_of(numbers, what, width, score) for width in widths]) for score in SCORES]

    answers = [line(score, trained, [_best(numbers, width, score) for width in trained]) for score in SCORES]
    x, y, guess = "width d", "questions answered, best of the rates", (1 / FACTS, "guessing")
    return figure(
        "Dot products with and without the scale",
        [
            Panel("entropy of the weights", x, "share of the largest", lines("entropy"), log="x", bounds=(0, 1)),
            Panel("gradient of the softmax", x, "median norm of the Jacobian", lines("gradient"), log="xy"),
            Panel("learning to look up", x, y, answers, log="x", bounds=(0, 1), rule=guess),
        ],
        f"{numbers['keys']} random keys; {len({look['seed'] for look in numbers['looks']})} seeds. Bands are 95 % "
        "intervals.",
    )


def _look(width: int, score: str, seed: int) -> dict[str, float]:
    chance = torch.Generator().manual_seed(seed)
    q, k = (torch.randn(1, 1, n, width, generator=chance) for n in (QUERIES, KEYS))
    scores = _score(score)(q, k)
    weights = weigh(scores)
    entropy = -(weights * weights.clamp(min=1e-30).log()).sum(-1) / torch.tensor(float(KEYS)).log()
    jacobian = _jacobian(weights)
    return {
        "variance": float(scores.var()),
        "entropy": float(entropy.mean()),
        "gradient": float(jacobian.median()),
        "mean gradient": float(jacobian.mean()),
    }


def _jacobian(weights: Float[Tensor, "*b k"]) -> Float[Tensor, "*b"]:
    """The norm of diag(w) - w wᵀ, without the matrix."""
    weights = weights.double()
    squares = (weights**2).sum(-1)
    # Rounding can leave a little less than nothing.
    return (squares - 2 * (weights**3).sum(-1) + squares**2).clamp(min=0).sqrt().float()


def _score(name: str) -> Dot:
    return Dot() if name == SCORES[0] else Dot(1.0)


class _Lookup(nn.Module):
    """One attention over facts: a key and a value are one word, and the question is a key."""

    def __init__(self, width: int, score: str) -> None:
        super().__init__()
        self.keys, self.values = nn.Embedding(WORDS, MODEL), nn.Embedding(WORDS, MODEL)
        self.attn = Attention(
            q=nn.Linear(MODEL, width, bias=False),
            k=nn.Linear(MODEL, width, bias=False),
            v=nn.Linear(MODEL, MODEL, bias=False),
            out=nn.Linear(MODEL, MODEL, bias=False),
            score=_score(score),
        )
        self.norm = nn.LayerNorm(MODEL)
        self.head = nn.Linear(MODEL, WORDS)

    def forward(self, keys: Tensor, values: Tensor, question: Tensor) -> Tensor:
        facts = self.norm(self.keys(keys) + self.values(values))
        query = self.norm(self.keys(question))[:, None]
        answer: Tensor = self.head(self.attn(query, self.attn.remember(facts))[:, 0])
        return answer


def _train(width: int, score: str, lr: float, seed: int, steps: int, progress: Progress) -> float:
    torch.manual_seed(seed)
    model, chance = _Lookup(width, score), torch.Generator().manual_seed(seed)

    def facts(count: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        keys = torch.rand(count, WORDS, generator=chance).argsort(dim=1)[:, :FACTS]
        values = torch.randint(WORDS, (count, FACTS), generator=chance)
        place = torch.randint(FACTS, (count, 1), generator=chance)
        return keys, values, keys.gather(1, place)[:, 0], values.gather(1, place)[:, 0]

    def loss() -> Tensor:
        *inputs, answers = facts(32)
        return F.cross_entropy(model(*inputs), answers)

    track(learn(model, loss, steps=steps, lr=lr), steps, progress)
    with torch.no_grad():
        *inputs, answers = facts(1000)
        return float((model(*inputs).argmax(-1) == answers).float().mean())


def _of(numbers: Numbers, what: str, width: int, score: str) -> list[float]:
    return [look[what] for look in numbers["looks"] if (look["width"], look["score"]) == (width, score)]


def _ratios(numbers: Numbers, what: str, width: int) -> list[float]:
    scaled, plain = (_of(numbers, what, width, score) for score in SCORES)
    return [p / s for p, s in zip(plain, scaled, strict=True)]


def _best(numbers: Numbers, width: int, score: str) -> list[float]:
    """Seed by seed, at the learning rate that is best on average."""
    by_lr: dict[float, list[float]] = {}
    for run in numbers["runs"]:
        if (run["width"], run["score"]) == (width, score):
            by_lr.setdefault(run["lr"], []).append(run["accuracy"])
    return max(by_lr.values(), key=sum)


def _gaps(numbers: Numbers, width: int) -> list[float]:
    scaled, plain = (_best(numbers, width, score) for score in SCORES)
    return [s - p for s, p in zip(scaled, plain, strict=True)]
