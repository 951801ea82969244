"""[CLS], or the mean of all patches: does a ViT need the extra token?"""

from typing import cast

from jaxtyping import Float
from torch import Tensor, nn

from regard.claims.claim import Claim, Finding, Numbers, verdict
from regard.claims.contest import bars, gains, percent
from regard.claims.interval import student
from regard.claims.plot import Panel, figure
from regard.claims.sights import VIT, compete, learned, miniatures, seer
from regard.models.vit import ViT
from regard.progress import Progress

CLAIM = Claim(
    name="pooling",
    deck="CNS148, Extra learnable class embedding",
    sentence="Do we need this? GAP - global average pooling only; CLS-Token - include a class token in input.",
    experiment="ViTs of three blocks and width 48 learn to name the kind of the one big thing in pictures of the "
    "world, of 16 pixels in patches of 4. The classifier reads [CLS], or the mean of all patches and there is no such "
    "token. Scored by how many of 1,000 unseen pictures are named right.",
    control="A ViT with [CLS] whose classifier reads the first patch instead: a token that has a place and something "
    "else to do.",
    criterion="The number is how many more pictures are named right with the mean than with [CLS], seed by seed. "
    "Supported (there is no need) if its interval lies within 3 points or above, refuted if all of it lies below -3 "
    "points, otherwise not at this scale; so it is if none learns to name 40 % right.",
    measures="more pictures are named right with the mean of patches than with [CLS]",
    seeds=4,
)

CLS, MEAN, PATCH = "[CLS]", "mean of patches", "first patch"
KINDS = (CLS, MEAN, PATCH)
NEAR, STEPS = 0.03, 600


class FirstPatch(ViT):
    """A ViT whose classifier reads the first patch."""

    def pool(self, states: Float[Tensor, "b n w"]) -> Float[Tensor, "b w"]:
        return states[:, len(self.leading)]


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many pictures are named right, by kind and seed."""
    return compete(KINDS, _model, seeds, of=miniatures, steps=STEPS, quick=quick, progress=progress)


def judge(numbers: Numbers) -> Finding:
    number, low, high = student(gains(numbers, MEAN, CLS))
    other, *_ = student(gains(numbers, PATCH, CLS))
    return Finding(
        verdict(supported=learned(numbers, KINDS) and low > -NEAR, refuted=learned(numbers, KINDS) and high < -NEAR),
        number,
        (low, high),
        f"Pictures named right: {percent(numbers, KINDS)}. The mean gains {100 * number:+.1f} points on [CLS] "
        f"({100 * low:+.1f} to {100 * high:+.1f}), reading a patch {100 * other:+.1f}.",
    )


def draw(numbers: Numbers) -> str:
    return figure(
        "What the classifier of a ViT reads",
        [Panel("", "", "pictures named right, %", [bars(numbers, KINDS)], KINDS)],
        f"Kind of the one thing in unseen pictures of the world; {numbers['steps']} steps each. Whiskers are 95 % "
        "intervals over seeds.",
    )


def _model(kind: str) -> nn.Module:
    model = cast(ViT, seer(VIT, pool="mean" if kind == MEAN else "cls"))
    if kind != PATCH:
        return model
    other = FirstPatch(model.config)
    other.load_state_dict(model.state_dict())
    return other
