"""Looking within windows instead of everywhere: what it saves, and what it costs."""

from collections.abc import Mapping, Sequence
from statistics import fmean

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Partition, Partitioned, Shifted, Window, multihead
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.contest import accuracies, bars, gains, percent
from regard.claims.interval import student
from regard.claims.plot import Line, Panel, figure
from regard.claims.sights import CLASSES, FAST, LEAST, USUAL, operations, portrayed, score, teach
from regard.layers.blocks import Block
from regard.layers.convolution import PatchEmbed
from regard.layers.language import draw_weights
from regard.layers.mimetic import mimetic
from regard.layers.mlp import MLP
from regard.layers.position import LearnedCells
from regard.layers.vision import VisionModel, classifier
from regard.progress import Progress
from regard.train.small import count_parameters

CLAIM = Claim(
    name="windows",
    deck="Zimmermann, Attention used for images; Najdenkoska & Asano, Swin Transformer: add hierarchy back in?",
    sentence="Global attention in early layers can be replaced by local attention. Idea: mostly looking at “local” "
    "neighborhood, so can save some computation (remember attention is O(n²)).",
    experiment="ViTs of four blocks and width 32, equal in every weight, learn to name the kind of the one big thing "
    "in pictures of the world, of 48 pixels in 12 × 12 patches of 4. Each patch looks at all; or within windows of "
    "4 × 4 that are shifted by half in every other block, as in Swin; or so in the first two blocks and at all in the "
    "last two. Their operations are counted, at larger pictures too. Scored by how many of 1,000 unseen pictures are "
    "named right.",
    control="Windows that are never shifted, so that nothing is joined before the mean of all patches. If they did as "
    "well, looking beyond a window would be of no use here, and windows could not lose anything.",
    criterion="The number is how many more pictures are named right with shifted windows than with full attention, "
    "seed by seed. Supported if they save a fifth of the operations and its interval lies within 3 points or above. "
    "Refuted if all of it lies below -3 points, or if they save nothing. Otherwise not at this scale; so it is if full "
    "attention does not learn to name 40 % right.",
    measures="more pictures are named right with shifted windows than with full attention",
    seeds=3,
)

FULL, SHIFTED, EARLY, STILL = "full", "shifted windows", "windows, then full", "still windows"
KINDS = (FULL, EARLY, SHIFTED, STILL)
SIDE, PATCH, WINDOW = 48, 4, 4  # pixels, pixels, patches
WIDTH, HEADS = 32, 2
STEPS = 250
NEAR, SAVED = 0.03, 0.2


class Cut(VisionModel):
    """A ViT each of whose blocks looks within the groups of a partition; they differ in nothing but that."""

    def __init__(self, partitions: Sequence[Partition], side: int = SIDE) -> None:
        super().__init__()
        cells = side // PATCH
        self.stem = PatchEmbed(3, PATCH, WIDTH)
        self.position = LearnedCells(cells, cells, WIDTH)
        self.blocks = nn.ModuleList(
            Block(WIDTH, Partitioned(multihead(WIDTH, HEADS), each), MLP(WIDTH, 2 * WIDTH)) for each in partitions
        )
        self.norm, self.head = nn.LayerNorm(WIDTH), classifier(WIDTH, CLASSES)
        draw_weights(self)
        mimetic(self)

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o"]:
        logits: Tensor = self.head(self.features(image).mean(dim=(1, 2)))
        return logits

    def features(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        x = self.stem(image)
        x = x + self.position(*x.shape[1:3]).view(x.shape[1:])
        for block in self.blocks:
            x = block(x)
        states: Tensor = self.norm(x)
        return states

    def grid(self, height: int, width: int) -> tuple[int, int]:
        return height // PATCH, width // PATCH


def contest(
    models: Mapping[str, Sequence[Partition]], seeds: list[int], *, steps: int, quick: bool, progress: Progress
) -> tuple[Numbers, dict[tuple[str, int], Cut]]:
    """How many unseen pictures are named right with each choice of partitions, by seed; and the models themselves."""
    steps = 1 if quick else steps
    seen, tests = portrayed("train", 40 if quick else 10_000, SIDE), portrayed("test", 20 if quick else 1000, SIDE)
    runs, kept = [], {}
    for seed, whole in parts(progress, seeds):
        for kind, inner in parts(whole, list(models)):
            torch.manual_seed(seed)
            model = kept[kind, seed] = Cut(models[kind])
            track(teach(model, seen, steps=steps, seed=seed, recipe=USUAL, lr=FAST), steps, inner)
            size = {"parameters": count_parameters(model), "operations": operations(model, SIDE)}
            runs.append({"kind": kind, "seed": seed, "accuracy": score(model, tests)} | size)
    return {"runs": runs, "steps": steps}, kept


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many pictures are named right, by kind and seed; and operations by the size of pictures."""
    models = {kind: _partitions(kind, SIDE) for kind in KINDS}
    numbers, _ = contest(models, seeds, steps=STEPS, quick=quick, progress=progress)
    sides = [SIDE] if quick else [SIDE, 2 * SIDE, 4 * SIDE]
    counts = [
        {"kind": kind, "side": side, "operations": operations(Cut(_partitions(kind, side), side), side)}
        for kind in KINDS
        for side in sides
    ]
    return numbers | {"counts": counts}


def judge(numbers: Numbers) -> Finding:
    number, low, high = student(gains(numbers, SHIFTED, FULL))
    others = {kind: student(gains(numbers, kind, FULL))[0] for kind in (EARLY, STILL)}
    learned = fmean(accuracies(numbers, FULL)) >= LEAST
    side = max(each["side"] for each in numbers["counts"])
    saved, early, later = (
        _saved(numbers, kind, size) for kind, size in ((SHIFTED, SIDE), (EARLY, SIDE), (SHIFTED, side))
    )
    return Finding(
        verdict(
            supported=learned and saved >= SAVED and low > -NEAR,
            refuted=saved <= 0 or (learned and high < -NEAR),
        ),
        number,
        (low, high),
        f"Pictures named right: {percent(numbers, KINDS)}. Shifted windows gain {100 * number:+.1f} points on full "
        f"attention ({100 * low:+.1f} to {100 * high:+.1f}) and save {saved:.0%} of its operations ({later:.0%} at "
        f"{side} pixels); windows in the first half alone gain {100 * others[EARLY]:+.1f} and save {early:.0%}; "
        f"windows that are never shifted gain {100 * others[STILL]:+.1f}.",
    )


def draw(numbers: Numbers) -> str:
    lines = []
    for kind in KINDS[:3]:  # the last counts as many as the third
        points = [each for each in numbers["counts"] if each["kind"] == kind]
        lines.append(Line(kind, [each["side"] for each in points], [each["operations"] / 1e6 for each in points]))
    names = [kind.replace(", ", ",\n").replace(" windows", "\nwindows") for kind in KINDS]
    return figure(
        "Full attention, or windows",
        [
            Panel("48 pixels", "", "pictures named right, %", [bars(numbers, KINDS)], names),
            Panel("larger ones", "side of the picture, pixels", "million operations a picture", lines, log="xy"),
        ],
        f"Kind of the one thing in unseen pictures of the world; {numbers['steps']} steps each. Whiskers are 95 % "
        "intervals over seeds.",
    )


def _partitions(kind: str, side: int) -> Sequence[Partition]:
    everywhere, still, moved = Window(side // PATCH), Window(WINDOW), Shifted(WINDOW, WINDOW // 2)
    return {
        FULL: [everywhere] * 4,
        EARLY: [still, moved, everywhere, everywhere],
        SHIFTED: [still, moved] * 2,
        STILL: [still] * 4,
    }[kind]


def _saved(numbers: Numbers, kind: str, side: int) -> float:
    """The share of the operations of full attention that are not needed."""
    count = {each["kind"]: each["operations"] for each in numbers["counts"] if each["side"] == side}
    return float(1 - count[kind] / count[FULL])
