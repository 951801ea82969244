"""Positions added to the words or laid beside them, at equal size: does it matter?"""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.claims.claim import Claim, Finding, Numbers, verdict
from regard.claims.contest import compete, gains, percent, settings
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.layers.position import Sinusoidal
from regard.models.transformer import Transformer
from regard.progress import Progress

CLAIM = Claim(
    name="joining",
    deck="Hoàng, Positional encoding",
    sentence="Concatenate or add special positional encoding p_j to each input vector x_j",
    experiment="Transformers with one layer on either side learn to translate short sentences of the world from "
    "Italian into English. Sinusoidal positions are added to words of width 64, or 20 channels of positions lie beside "
    "52 of words, which makes a model of the same number of weights. Scored by how often the next word is right on "
    "unseen sentences, given the right words before it.",
    control="No positions at all, which must do worse, or the task could not tell. And 20 channels of positions beside "
    "44 of words: the same width as adding, and a sixth of the weights less.",
    criterion="The sentence leaves the choice open, so it says that either will do. The number is how much more often "
    "the next word is right with positions added than concatenated at equal size, seed by seed. Supported if its "
    "interval lies within 2 points of zero and both do better than no positions, refuted if it lies beyond 2 points "
    "on either side, otherwise not at this scale.",
    measures="more next words are right with positions added than concatenated",
    seeds=5,
)

WIDTH, BESIDE, HEADS = 64, 20, 4
ADDED, SIZE, NARROW, NONE = "added", "concatenated, equal size", "concatenated, equal width", "no positions"
KINDS = (ADDED, SIZE, NARROW, NONE)
MARGIN = 0.02


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How often the next word is right, by kind and seed."""
    return compete(KINDS, _model, seeds, steps=300, quick=quick, progress=progress)


def judge(numbers: Numbers) -> Finding:
    number, low, high = student(gains(numbers, ADDED, SIZE))
    needed = [student(gains(numbers, kind, NONE))[1] > 0 for kind in (ADDED, SIZE)]
    return Finding(
        verdict(
            supported=low > -MARGIN and high < MARGIN and all(needed),
            refuted=low > MARGIN or high < -MARGIN,
        ),
        number,
        (low, high),
        f"Next words that are right: {percent(numbers, KINDS)}. Added against concatenated at equal size: "
        f"{100 * number:+.1f} points ({100 * low:+.1f} to {100 * high:+.1f}).",
    )


def draw(numbers: Numbers) -> str:
    others = KINDS[1:]
    behind = [[100 * gain for gain in gains(numbers, kind, ADDED)] for kind in others]
    bars = Bars("", *zip(*map(student, behind), strict=True))
    y = f"points above added positions, which are right {percent(numbers, [ADDED]).split()[-1]} of the time"
    return figure(
        "Positions added or concatenated",
        [Panel("", "", y, [bars], others, rule=(-100 * MARGIN, "as good as alike"))],
        f"Next words of unseen sentences, Italian to English; {numbers['steps']} steps each. Whiskers are 95 % "
        "intervals over seeds.",
    )


class _Unplaced(nn.Module):
    """No position at all."""

    def forward(self, x: Float[Tensor, "b n w"], start: int = 0) -> Float[Tensor, "b n w"]:  # noqa: ARG002
        return x


class _Narrow(nn.Module):
    """Logits by the matrix that embeds the words, from the channels that were words when they came in."""

    def __init__(self, embed: nn.Embedding) -> None:
        super().__init__()
        self._embed = (embed,)  # in a tuple: the matrix belongs to the embedding

    def forward(self, x: Float[Tensor, "b n w"]) -> Float[Tensor, "b n v"]:
        words = self._embed[0].weight
        return F.linear(x[..., : words.shape[1]], words)


def _model(kind: str, vocab: int) -> Transformer:
    width = WIDTH + 8 if kind == SIZE else WIDTH
    model = Transformer(settings(vocab, width, HEADS))
    if kind == NONE:
        model.position = _Unplaced()  # type: ignore[assignment]
    elif kind != ADDED:
        model.embed = nn.Embedding(vocab, width - BESIDE)
        nn.init.normal_(model.embed.weight, std=width**-0.5)
        model.position = Sinusoidal(BESIDE, how="concatenate")
        model.to_vocab = _Narrow(model.embed)  # type: ignore[assignment]
    return model
