"""Named by a prompt: what a CLIP calls things whose colour and kind it has never seen together."""

from statistics import fmean

from regard.claims.claim import Claim, Finding, Numbers, parts, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.spoken import CLIP, PAIRS, SHUFFLED, TWIN, grow, named_right, shown
from regard.progress import Progress

CLAIM = Claim(
    name="prompts",
    deck="Najdenkoska & Asano, Multimodal Transformer architecture: CLIP",
    sentence="At inference time: CLIP shows zero-shot classification abilities. Predicting labels which were never "
    "observed during training. It uses the names of all the classes in the dataset as the set of potential text "
    "pairings: a prompt template “A photo of a {label}.”",
    experiment="A small CLIP learns 10,000 pictures of the world, of 16 pixels and one big thing each, by captions "
    "such as “a red striped disc”. Eight of the 64 pairs of colour and kind never occur. Pictures of these alone are "
    "then named by the prompt “a red disc” among all 64. Scored by how many of 1,000 are named right.",
    control="The same CLIP with the captions of other pictures, which leaves nothing to learn; and a supervised twin "
    "with the same eye, whose 64 classes include those that never occur.",
    criterion="The number is the share of never observed pairs that is named right. Supported if its interval lies "
    "above 0.5, and that with shuffled captions lies below 0.1. Refuted if its interval lies below 0.1 although half "
    "of the pairs that were seen are named right. Otherwise not at this scale.",
    measures="of never observed classes named right by a prompt",
    seeds=3,
)

KINDS = (CLIP, TWIN, SHUFFLED)
SEEN, NOVEL = "seen together", "never together"
STEPS, WELL, BADLY = 1500, 0.5, 0.1


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many pictures are named right, of pairs that occur and of those that never do."""
    seen, steps = shown("train", 16 if quick else 10_000), 2 if quick else STEPS
    tests = {SEEN: shown("test", 20 if quick else 1000), NOVEL: shown("novel", 20 if quick else 1000)}
    runs = []
    for seed, whole in parts(progress, seeds):
        for kind, inner in parts(whole, KINDS):
            classify = grow(kind, seen, seed=seed, steps=steps, progress=inner)
            rates = {name: named_right(classify, some.pixels, some.pairs) for name, some in tests.items()}
            runs.append({"kind": kind, "seed": seed, "accuracy": rates})
    return {"runs": runs, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    number, low, high = student(_rates(numbers, CLIP, NOVEL))
    _, _, most = student(_rates(numbers, SHUFFLED, NOVEL))
    known = fmean(_rates(numbers, CLIP, SEEN)) >= WELL
    told = "; ".join(
        f"{kind} " + ", ".join(f"{fmean(_rates(numbers, kind, name)):.1%} {name}" for name in (SEEN, NOVEL))
        for kind in KINDS
    )
    return Finding(
        verdict(supported=low > WELL and most < BADLY, refuted=known and high < BADLY),
        number,
        (low, high),
        f"Pictures named right among {len(PAIRS)} pairs of colour and kind: {told}.",
    )


def draw(numbers: Numbers) -> str:
    bars = [
        Bars(name, *zip(*(student([100 * x for x in _rates(numbers, kind, name)]) for kind in KINDS), strict=True))
        for name in (SEEN, NOVEL)
    ]
    return figure(
        "Pairs of colour and kind, named by a prompt",
        [Panel("", "", "pictures named right, %", bars, KINDS, rule=(100 / len(PAIRS), "chance"))],
        f"One big thing in pictures of 16 pixels; {numbers['steps']} steps each. Whiskers are 95 % intervals over "
        "seeds.",
    )


def _rates(numbers: Numbers, kind: str, name: str) -> list[float]:
    return [run["accuracy"][name] for run in numbers["runs"] if run["kind"] == kind]
