"""Without the root of the width, the softmax peaks and gradients vanish: measured at the start, and in training."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Attention, Dot, weigh
from regard.claims.claim import Claim, Finding, Numbers, Tell, part, ruled
from regard.claims.interval import student
from regard.claims.lesson import learn
from regard.claims.plot import Line, Panel, figure

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


def measure(seeds: list[int], quick: bool, tell: Tell) -> Numbers:
    """Scores, entropies and gradients by width; and what was learned, by width, score, rate and seed."""
    widths = [4, 16, 64] if quick else [4, 8, 16, 32, 64, 128, 256, 512, 1024]
    looks = [
        {"width": width, "score": score, "seed": seed} | _looked(width, score, seed)
        for width in widths
        for score in SCORES
        for seed in seeds
    ]
    # A first run trained seeds 0 to 2 alone: at width 1024 the scale was worth +12 points with an interval from -18 to
    # +41, which tells nothing. So every seed learns, and the stored result is of seeds that were not seen then.
    taught, rates = [16] if quick else [16, 256, 1024], (1e-3,) if quick else (1e-3, 4e-3)
    plans = [(w, score, rate, seed) for w in taught for score in SCORES for rate in rates for seed in seeds]
    lessons = []
    for i, (width, score, rate, seed) in enumerate(plans):
        now = part(tell, i, len(plans), f"{score}, width {width}, rate {rate}, seed {seed}")
        right = _learned(width, score, rate, seed, 10 if quick else 200, now)
        lessons.append({"width": width, "score": score, "rate": rate, "seed": seed, "right": right})
    return {"keys": KEYS, "looks": looks, "lessons": lessons}


def judge(numbers: Numbers) -> Finding:
    """The gradient that is left, and whether training misses the rest."""
    widest = max(look["width"] for look in numbers["looks"])
    ratio, low, high = student(_ratios(numbers, "gradient", widest))
    mean = student(_ratios(numbers, "mean gradient", widest))[0]
    entropy = student(_of(numbers, "entropy", widest, SCORES[1]))[0]
    taught = sorted({lesson["width"] for lesson in numbers["lessons"]})
    gaps = {width: student(_gaps(numbers, width)) for width in taught}
    worse = [width for width, (_, least, _) in gaps.items() if least > 0 and width >= min(256, taught[-1])]
    holds = high < 0.1 and entropy < 0.5
    verdict = ruled(supported=bool(worse), refuted=not holds)
    gap, gap_low, gap_high = gaps[taught[-1]]
    return Finding(
        verdict,
        ratio,
        (low, high),
        f"At width {widest}, the median gradient of the unscaled softmax is {ratio:.2g} of the scaled one's, though "
        f"the mean is {mean:.2g}, since near ties stay steep. Its entropy is {entropy:.0%} of the largest. Trained at "
        f"width {taught[-1]}, the scale is worth {100 * gap:+.0f} points of answers ({100 * gap_low:+.0f} to "
        f"{100 * gap_high:+.0f}).",
    )


def draw(numbers: Numbers) -> str:
    """What width does to scores and gradients, and to learning."""
    widths = sorted({look["width"] for look in numbers["looks"]})
    taught = sorted({lesson["width"] for lesson in numbers["lessons"]})

    def lines(what: str) -> list[Line]:
        return [_line(score, widths, [_of(numbers, what, width, score) for width in widths]) for score in SCORES]

    learned = [_line(score, taught, [_best(numbers, width, score) for width in taught]) for score in SCORES]
    return figure(
        "Dot products with and without the scale",
        [
            Panel(
                "entropy of the weights", "width d", "share of the largest", lines("entropy"), log="x", bounds=(0, 1)
            ),
            Panel("gradient of the softmax", "width d", "median norm of the Jacobian", lines("gradient"), log="xy"),
            Panel(
                "learning to look up",
                "width d",
                "questions answered, best of the rates",
                learned,
                log="x",
                bounds=(0, 1),
                rule=(1 / FACTS, "guessing"),
            ),
        ],
        f"{numbers['keys']} random keys; {len({look['seed'] for look in numbers['looks']})} seeds. Bands are 95 % "
        "intervals.",
    )


def _looked(width: int, score: str, seed: int) -> dict[str, float]:
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

    def forward(self, keys: Tensor, values: Tensor, asked: Tensor) -> Tensor:
        told = self.norm(self.keys(keys) + self.values(values))
        question = self.norm(self.keys(asked))[:, None]
        answer: Tensor = self.head(self.attn(question, self.attn.remember(told))[:, 0])
        return answer


def _learned(width: int, score: str, rate: float, seed: int, steps: int, tell: Tell) -> float:
    torch.manual_seed(seed)
    model, chance = _Lookup(width, score), torch.Generator().manual_seed(seed)

    def facts(count: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        keys = torch.rand(count, WORDS, generator=chance).argsort(dim=1)[:, :FACTS]
        values = torch.randint(WORDS, (count, FACTS), generator=chance)
        asked = torch.randint(FACTS, (count, 1), generator=chance)
        return keys, values, keys.gather(1, asked)[:, 0], values.gather(1, asked)[:, 0]

    def loss() -> Tensor:
        keys, values, asked, answers = facts(32)
        return F.cross_entropy(model(keys, values, asked), answers)

    learn(model, loss, steps=steps, rate=rate, tell=tell)
    with torch.no_grad():
        keys, values, asked, answers = facts(1000)
        return float((model(keys, values, asked).argmax(-1) == answers).float().mean())


def _of(numbers: Numbers, what: str, width: int, score: str) -> list[float]:
    return [look[what] for look in numbers["looks"] if (look["width"], look["score"]) == (width, score)]


def _ratios(numbers: Numbers, what: str, width: int) -> list[float]:
    scaled, plain = (_of(numbers, what, width, score) for score in SCORES)
    return [p / s for p, s in zip(plain, scaled, strict=True)]


def _best(numbers: Numbers, width: int, score: str) -> list[float]:
    """Seed by seed, at the rate that is best on average."""
    mine = [lesson for lesson in numbers["lessons"] if (lesson["width"], lesson["score"]) == (width, score)]
    by_rate: dict[float, list[float]] = {}
    for one in mine:
        by_rate.setdefault(one["rate"], []).append(one["right"])
    return max(by_rate.values(), key=sum)


def _gaps(numbers: Numbers, width: int) -> list[float]:
    scaled, plain = (_best(numbers, width, score) for score in SCORES)
    return [s - p for s, p in zip(scaled, plain, strict=True)]


def _line(label: str, x: list[int], runs: list[list[float]]) -> Line:
    y, low, high = zip(*(student(values) for values in runs), strict=True)
    return Line(label, x, y, low, high)
