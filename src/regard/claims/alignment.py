"""Attention finds which word comes from which, and where the order differs, without being told."""

from statistics import fmean

import torch

from regard.analysis.alignment import Links, error
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.translation import Lexicon, accuracy, attend, batch, batches, train
from regard.models.seq2seq import Config, Seq2Seq
from regard.progress import Progress
from regard.world.language import Pair, pairs, vocabulary

CLAIM = Claim(
    name="alignment",
    deck="Hoàng, English to French translation; also Najdenkoska & Asano, Attention",
    sentence="Attention figures out different word orders.",
    experiment="A recurrent translator with additive attention learns the world's Italian into English from sentences "
    "alone. On unseen sentences each English word is linked to the Italian word it looked at most, and the links are "
    "compared with the world's own by the alignment error rate. Neighbours that change places, such as a noun and its "
    "adjective, are counted besides.",
    control="The same looks dealt out among the words of the sentence by chance; looks that are uniform, which link by "
    "chance too; and the diagonal, which is right wherever both languages keep the same order.",
    criterion="The number is the error of the diagonal less that of attention. Supported if its interval lies above "
    "0.1, attention errs less than shuffled and uniform looks, and among the words that change places more than half "
    "look at their own. Refuted if attention errs no less than shuffled looks. Otherwise not at this scale.",
    measures="less alignment error than the diagonal",
    seeds=3,
)

WAYS = ("attention", "diagonal", "shuffled", "uniform")


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """Error rates, and how often words that change places look at their own, by seed."""
    count, steps, asked = (24, 2, 8) if quick else (12_000, 2000, 300)
    lexicon = Lexicon(vocabulary("it"), vocabulary("en"))
    tests = list(pairs("it", "en", split="test")[:asked])
    gold = [pair.alignment for pair in tests]
    runs = []
    for seed, inner in parts(progress, seeds):
        some = batches(list(pairs("it", "en", seed=seed)[:count]), lexicon, 600)
        torch.manual_seed(seed)
        model = Seq2Seq(Config(vocab=len(lexicon), target=None, width=64, hidden=96))
        track(train(model, some, steps=steps, lr=3e-3, seed=seed), steps, inner)
        links = _links(model, tests, lexicon, seed)
        runs.append(
            {
                "seed": seed,
                "accuracy": accuracy(model, [batch(tests, lexicon)]),
                "error": {way: error(links[way], gold) for way in WAYS},
                "swapped": {way: _swap(links[way], tests) for way in WAYS},
            }
        )
    swaps = sum(len(_swaps(pair)) for pair in tests)
    return {"runs": runs, "sentences": len(tests), "swapped": swaps, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    errors = {way: student([run["error"][way] for run in numbers["runs"]]) for way in WAYS}
    swapped = {way: fmean(run["swapped"][way] for run in numbers["runs"]) for way in WAYS}
    number, low, high = student([run["error"]["diagonal"] - run["error"]["attention"] for run in numbers["runs"]])
    least = min(errors["shuffled"][0], errors["uniform"][0])
    means = ", ".join(f"{way} {errors[way][0]:.0%}" for way in WAYS)
    return Finding(
        verdict(
            supported=low > 0.1 and errors["attention"][0] < least and swapped["attention"] > 0.5,
            refuted=errors["attention"][0] >= errors["shuffled"][0],
        ),
        number,
        (low, high),
        f"Alignment error: {means}. Of {numbers['swapped']} words that change places with a neighbour, "
        f"{swapped['attention']:.0%} look most at their own word, against {swapped['diagonal']:.0%} on the diagonal.",
    )


def draw(numbers: Numbers) -> str:
    panels = []
    for what, title, y in (
        ("error", "alignment error", "of all words, less is better"),
        ("swapped", "words that change places", "share that looks at its own word"),
    ):
        values = zip(*(student([run[what][way] for run in numbers["runs"]]) for way in WAYS), strict=True)
        panels.append(Panel(title, "", y, [Bars("looks", *values)], WAYS, bounds=(0, 1)))
    return figure(
        "Who looks at which word, compared with the truth",
        panels,
        f"Italian to English in the little world, {numbers['sentences']} unseen sentences; whiskers are 95 % intervals "
        "over seeds.",
    )


def _links(model: Seq2Seq, tests: list[Pair], lexicon: Lexicon, seed: int) -> dict[str, list[Links]]:
    """For every way to look, the source word of each target word."""
    chance = torch.Generator().manual_seed(seed)
    found: dict[str, list[Links]] = {way: [] for way in WAYS}
    for pair, weights in zip(tests, attend(model, tests, lexicon), strict=True):
        n, m = len(pair.source), len(pair.target)
        strongest = weights.argmax(-1)
        ways = (
            strongest,
            (torch.arange(m) * (n - 1) / max(m - 1, 1)).round().long(),
            strongest[torch.randperm(m, generator=chance)],
            torch.randint(n, (m,), generator=chance),
        )
        for way, places in zip(WAYS, ways, strict=True):
            found[way].append(frozenset((i, j) for j, i in enumerate(places.tolist())))
    return found


def _swaps(pair: Pair) -> list[tuple[int, int]]:
    """Links of neighbours in the target, each from one source word, whose sources are neighbours in the other order."""
    sources = [[i for i, j in pair.alignment if j == place] for place in range(len(pair.target))]
    swaps = set()
    for j in range(len(sources) - 1):
        one, other = sources[j], sources[j + 1]
        if len(one) == len(other) == 1 and one[0] == other[0] + 1:
            swaps |= {(one[0], j), (other[0], j + 1)}
    return sorted(swaps)


def _swap(links: list[Links], tests: list[Pair]) -> float:
    """The share of swapped words that are linked to their own."""
    hits = [link in found for found, pair in zip(links, tests, strict=True) for link in _swaps(pair)]
    return sum(hits) / max(len(hits), 1)
