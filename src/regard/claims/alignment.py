"""Attention finds which word comes from which, and where the order differs, without being told."""

import torch

from regard.analysis.alignment import Links, error
from regard.attention import record
from regard.claims.claim import Claim, Finding, Numbers, Tell, part, ruled
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.translation import Lexicon, batch, batches, taught, words_right
from regard.models.seq2seq import Config, Seq2Seq
from regard.world.language import Pair, pairs

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


def measure(seeds: list[int], quick: bool, tell: Tell) -> Numbers:
    """Error rates, and how often words that change places look at their own, by seed."""
    count, steps, asked = (24, 2, 8) if quick else (12_000, 2000, 300)
    lexicon = Lexicon("it", "en")
    exam = list(pairs("it", "en", split="test")[:asked])
    runs = []
    for i, seed in enumerate(seeds):
        lessons = batches(list(pairs("it", "en", seed=seed)[:count]), lexicon, 600)
        torch.manual_seed(seed)
        model = Seq2Seq(Config(vocab=len(lexicon), target=None, width=64, hidden=96))
        taught(
            model,
            lessons,
            steps=steps,
            rate=3e-3,
            seed=seed,
            tell=part(tell, i, len(seeds), f"seed {seed}"),
        )
        links = _links(model, exam, lexicon, seed)
        gold = [pair.alignment for pair in exam]
        runs.append(
            {
                "seed": seed,
                "right": words_right(model, [batch(exam, lexicon)]),
                "error": {way: error(links[way], gold) for way in WAYS},
                "moved": {way: _moved(links[way], exam) for way in WAYS},
            }
        )
    return {"runs": runs, "sentences": len(exam), "moved": sum(len(_places(pair)) for pair in exam), "steps": steps}


def judge(numbers: Numbers) -> Finding:
    """Attention against the diagonal, with chance far below."""
    errors = {way: student([run["error"][way] for run in numbers["runs"]]) for way in WAYS}
    moved = {way: student([run["moved"][way] for run in numbers["runs"]])[0] for way in WAYS}
    number, low, high = student([run["error"]["diagonal"] - run["error"]["attention"] for run in numbers["runs"]])
    least = min(errors["shuffled"][0], errors["uniform"][0])
    verdict = ruled(
        supported=low > 0.1 and errors["attention"][0] < least and moved["attention"] > 0.5,
        refuted=errors["attention"][0] >= errors["shuffled"][0],
    )
    told = ", ".join(f"{way} {errors[way][0]:.0%}" for way in WAYS)
    return Finding(
        verdict,
        number,
        (low, high),
        f"Alignment error: {told}. Of {numbers['moved']} words that change places with a neighbour, "
        f"{moved['attention']:.0%} look most at their own word, against {moved['diagonal']:.0%} on the diagonal.",
    )


def draw(numbers: Numbers) -> str:
    """Errors, and words that change places."""
    panels = []
    for what, title, y in (
        ("error", "alignment error", "of all words, less is better"),
        ("moved", "words that change places", "share that looks at its own word"),
    ):
        middle, low, high = zip(*(student([run[what][way] for run in numbers["runs"]]) for way in WAYS), strict=True)
        panels.append(Panel(title, "", y, [Bars("looks", middle, low, high)], WAYS, bounds=(0, 1)))
    return figure(
        "Who looks at which word, compared with the truth",
        panels,
        f"Italian to English in the little world, {numbers['sentences']} unseen sentences; whiskers are 95 % intervals "
        "over seeds.",
    )


@torch.no_grad()
def _links(model: Seq2Seq, exam: list[Pair], lexicon: Lexicon, seed: int) -> dict[str, list[Links]]:
    """For every way to look, the source word of each target word."""
    one = batch(exam, lexicon)
    with record(model) as trace:
        model(one.source, one.target[:, :-1], lengths=one.lengths)
    weights = trace.weights("decoder.attn")[:, 0]
    chance = torch.Generator().manual_seed(seed)
    found: dict[str, list[Links]] = {way: [] for way in WAYS}
    for row, pair in enumerate(exam):
        n, m = len(pair.source), len(pair.target)
        looked = weights[row, :m, :n].argmax(-1)
        found["attention"].append(_linked(looked))
        found["diagonal"].append(_linked((torch.arange(m) * (n - 1) / max(m - 1, 1)).round().long()))
        found["shuffled"].append(_linked(looked[torch.randperm(m, generator=chance)]))
        found["uniform"].append(_linked(torch.randint(n, (m,), generator=chance)))
    return found


def _linked(looked: torch.Tensor) -> Links:
    return frozenset((i, j) for j, i in enumerate(looked.tolist()))


def _places(pair: Pair) -> list[tuple[int, int]]:
    """Neighbours in the target, each from one source word, whose sources are neighbours the other way round."""
    sources = [[i for i, j in pair.alignment if j == place] for place in range(len(pair.target))]
    places = set()
    for j in range(len(sources) - 1):
        one, other = sources[j], sources[j + 1]
        if len(one) == len(other) == 1 and one[0] == other[0] + 1:
            places |= {(one[0], j), (other[0], j + 1)}
    return sorted(places)


def _moved(links: list[Links], exam: list[Pair]) -> float:
    wanted = [(link, found) for found, pair in zip(links, exam, strict=True) for link in _places(pair)]
    return sum(link in found for link, found in wanted) / max(len(wanted), 1)
