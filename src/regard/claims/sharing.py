"""Separate queries, keys and values, or one projection for several of them: at equal width, and at equal size."""

from torch import nn

from regard.attention import Attention
from regard.claims.claim import Claim, Finding, Numbers, verdict
from regard.claims.contest import compete, gains, percent, settings
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.models.transformer import Transformer
from regard.progress import Progress

CLAIM = Claim(
    name="sharing",
    deck="CNS148, Why three different representations?; also Hoàng, General attention layer",
    sentence="Why three different representations? Main answer: It worked better, other types of attentions have been "
    "explored, this worked the best.",
    experiment="Transformers of width 72 with one layer on either side learn to translate short sentences of the "
    "world from Italian into English. In all their attentions, queries, keys and values have projections of their own, "
    "or queries share that of the keys, or keys that of the values, or all three are one. What sharing saves is given "
    "back as wider heads, so that all have the same number of weights. Scored by how often the next word is right on "
    "unseen sentences, given the right words before it.",
    control="The same three ways to share at equal width, where nothing is given back and up to half of attention's "
    "weights are gone. If sharing lost there and not at equal size, the weights would be missed and not the roles.",
    criterion="The number is how much more often separate projections are right than the best way to share at equal "
    "size, seed by seed. Supported if its interval lies above zero, refuted if it lies below zero, otherwise not at "
    "this scale.",
    measures="more next words are right with separate projections than with the best shared ones",
    seeds=4,
)

WIDTH, HEADS = 72, 4
SEPARATE, TIES = "separate", ("q = k", "k = v", "q = k = v")
SIZE, NARROW = "equal size", "equal width"
KINDS = (SEPARATE, *(f"{tie}, {at}" for at in (SIZE, NARROW) for tie in TIES))


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How often the next word is right, by kind and seed."""
    return compete(KINDS, _model, seeds, steps=300, quick=quick, progress=progress)


def judge(numbers: Numbers) -> Finding:
    rivals = {tie: student(gains(numbers, SEPARATE, f"{tie}, {SIZE}")) for tie in TIES}
    best = min(rivals, key=lambda tie: rivals[tie][0])
    number, low, high = rivals[best]
    return Finding(
        verdict(supported=low > 0, refuted=high < 0),
        number,
        (low, high),
        f"Next words that are right: {percent(numbers, KINDS)}. The best way to share at equal size is {best}; "
        f"separate projections gain {100 * number:+.1f} points on it ({100 * low:+.1f} to {100 * high:+.1f}).",
    )


def draw(numbers: Numbers) -> str:
    bars = []
    for at in (SIZE, NARROW):
        lost = [[-100 * gain for gain in gains(numbers, SEPARATE, f"{tie}, {at}")] for tie in TIES]
        bars.append(Bars(f"at {at}", *zip(*map(student, lost), strict=True)))
    y = f"points above separate projections, which are right {percent(numbers, [SEPARATE]).split()[-1]} of the time"
    return figure(
        "One projection for several roles",
        [Panel("", "", y, bars, TIES)],
        f"Next words of unseen sentences, Italian to English; {numbers['steps']} steps each. Whiskers are 95 % "
        "intervals over seeds.",
    )


def _model(kind: str, vocab: int) -> Transformer:
    tie, _, at = kind.partition(", ")
    model = Transformer(settings(vocab, WIDTH, HEADS))
    # Four matrices of attention, one or two less by sharing: the others grow by 4/3, or by 2.
    wide = WIDTH if at != SIZE else 2 * WIDTH if tie == TIES[2] else 4 * WIDTH // 3
    for module in [each for each in model.modules() if isinstance(each, Attention)]:
        module.q, module.k, module.v = (_linear(WIDTH, wide) for _ in range(3))
        module.out = _linear(wide, WIDTH)
        if tie in (TIES[0], TIES[2]):
            module.q = module.k
        if tie in TIES[1:]:
            module.v = module.k
    return model


def _linear(given: int, made: int) -> nn.Linear:
    """Initialised as the Transformer's are."""
    linear = nn.Linear(given, made)
    nn.init.xavier_uniform_(linear.weight)
    nn.init.zeros_(linear.bias)
    return linear
