"""One vector for a whole sentence, or a look at each of its words: translation by length of the source."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import product
from statistics import fmean

import torch

from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import bootstrap
from regard.claims.plot import Line, Panel, figure
from regard.claims.translation import Lexicon, batch, batches, train, translate
from regard.models.seq2seq import Config, Kind, Seq2Seq
from regard.progress import Progress
from regard.train.small import count_parameters
from regard.world.language import pairs, vocabulary

CLAIM = Claim(
    name="bottleneck",
    deck="Najdenkoska & Asano, Issue of seq2seq models; also Hoàng (not bottlenecked through single vector)",
    sentence="The context vector c is seen as a bottleneck. … The attention mechanism overcomes the bottleneck issue "
    "of encoder-decoder.",
    experiment="Two recurrent translators of equal size, one with a fixed context and one with additive attention, "
    "learn the world's Italian into English from sentences of 4 to 60 words, for equally many steps. The longer the "
    "sentences the fewer, so that about as many words are met in short ones as in long ones. Scored on unseen "
    "sentences of each length, by BLEU and by sentences that are right to the last word.",
    control="A fixed context of twice the width: if the vector were merely too small, this would help most.",
    criterion="For each way, the loss is BLEU on sentences of up to 10 words less BLEU on those of more than 40. The "
    "number is the loss of the fixed context less that of attention. Supported if its interval, by drawing sentences "
    "again, lies above 10 BLEU; refuted if it lies below 0; otherwise not at this scale.",
    measures="BLEU more is what length costs a fixed context",
    seeds=1,
)

EDGES = ((4, 10), (11, 20), (21, 30), (31, 40), (41, 60))
ROUNDS = 400  # BLEU is slow to count
# Of each sentence: its words and those of the reference, n-grams that both have, and whether it is right.
COLUMNS = ("said", "reference", "1-grams", "2-grams", "3-grams", "4-grams", "exact")
KINDS = ("attention", "fixed context", "fixed context, twice as wide")


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """What BLEU counts in each sentence, by model and length."""
    count, steps, each, edges = (24, 2, 4, EDGES[:1]) if quick else (10_000, 2000, 100, EDGES)
    lexicon = Lexicon(vocabulary("it"), vocabulary("en"))
    runs = []
    for (seed, kind), inner in parts(progress, list(product(seeds, KINDS))):
        lengths = [pairs("it", "en", seed=seed, length=edge)[: count >> place] for place, edge in enumerate(edges)]
        some = [each for length in lengths for each in batches(list(length), lexicon, 900)]
        torch.manual_seed(seed)
        model = _model(kind, len(lexicon))
        losses = track(train(model, some, steps=steps, lr=3e-3, seed=seed), steps, inner)
        bins = []
        for fewest, most in edges:
            tests = list(pairs("it", "en", split="test", length=(fewest, most))[:each])
            said = translate(model, batch(tests, lexicon), lexicon)
            counts = [_counts(ours, pair.target) for ours, pair in zip(said, tests, strict=True)]
            bins.append(
                {"fewest": fewest, "most": most, "counts": dict(zip(COLUMNS, zip(*counts, strict=True), strict=True))}
            )
        loss = fmean(losses[-max(1, steps // 10) :])
        runs.append({"kind": kind, "seed": seed, "parameters": count_parameters(model), "loss": loss, "bins": bins})
    return {"runs": runs, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    ends = [_items(numbers, kind, place) for kind in ("fixed context", "attention") for place in (0, -1)]
    number, low, high = bootstrap(list(zip(*ends, strict=True)), _cost, rounds=ROUNDS)
    costs = "; ".join(
        f"{kind} {_bleu(_items(numbers, kind, 0)):.0f} to {_bleu(_items(numbers, kind, -1)):.0f}" for kind in KINDS
    )
    return Finding(
        verdict(supported=low > 10, refuted=high < 0),
        number,
        (low, high),
        f"BLEU from the shortest sentences to the longest: {costs}. Length costs the fixed context {number:.0f} BLEU "
        "more than attention.",
    )


def draw(numbers: Numbers) -> str:
    bins = numbers["runs"][0]["bins"]
    middles = [(each["fewest"] + each["most"]) / 2 for each in bins]
    bleu, exact = list[Line](), list[Line]()
    for kind in KINDS:
        items = [_items(numbers, kind, place) for place in range(len(bins))]
        for lines, of in ((bleu, _bleu), (exact, _exact)):
            values = zip(*(bootstrap(some, of, rounds=ROUNDS) for some in items), strict=True)
            lines.append(Line(kind, middles, *values))
    x = "words in the English sentence"
    return figure(
        "Translation by length of the source",
        [
            Panel("BLEU", x, "of whole sentences, greedy", bleu, bounds=(0, 100)),
            Panel("right to the last word", x, "share of sentences", exact, bounds=(0, 1)),
        ],
        f"Italian to English in the little world; {numbers['steps']} steps each. Bands are 95 % intervals over "
        "sentences.",
    )


def _model(kind: str, vocab: int) -> Seq2Seq:
    """The fixed context gets the state that makes its model as large as the one with attention."""
    hidden = {"attention": 128, "fixed context": 138, "fixed context, twice as wide": 276}[kind]
    attention: Kind = "additive" if kind == "attention" else "none"
    return Seq2Seq(Config(vocab=vocab, target=None, width=64, hidden=hidden, attention=attention))


def _counts(said: tuple[str, ...], reference: tuple[str, ...]) -> tuple[int, ...]:
    """What BLEU counts in a sentence, so that sentences can be drawn again."""
    hits = []
    for n in range(1, 5):
        ours, theirs = (Counter(words[i : i + n] for i in range(len(words) - n + 1)) for words in (said, reference))
        hits.append((ours & theirs).total())
    return len(said), len(reference), *hits, int(said == reference)


def _bleu(items: Sequence[tuple[int, ...]]) -> float:
    """BLEU of a corpus (Papineni 2002), from 0 to 100."""
    said, reference, *hits, _ = map(sum, zip(*items, strict=True))
    if not all(hits):
        return 0.0
    totals = [sum(max(0, item[0] - n) for item in items) for n in range(4)]
    precisions = [math.log(hit / total) for hit, total in zip(hits, totals, strict=True)]
    return 100 * math.exp(min(0.0, 1 - reference / said) + sum(precisions) / 4)


def _exact(items: Sequence[tuple[int, ...]]) -> float:
    return fmean(item[-1] for item in items)


def _items(numbers: Numbers, kind: str, place: int) -> list[tuple[int, ...]]:
    bins = [run["bins"][place]["counts"] for run in numbers["runs"] if run["kind"] == kind]
    return [item for counts in bins for item in zip(*(counts[name] for name in COLUMNS), strict=True)]


def _cost(sentences: Sequence[tuple[tuple[int, ...], ...]]) -> float:
    """What length costs one model less what it costs another: of each, a short sentence and a long one."""
    short, long, other_short, other_long = (_bleu(items) for items in zip(*sentences, strict=True))
    return (short - long) - (other_short - other_long)
