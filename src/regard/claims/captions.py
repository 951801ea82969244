"""Attention in captions: does looking at places help to say what is there, and is it looked at what is named?"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import fmean
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from regard.analysis.described import points_into
from regard.chance import Chance
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.sights import BATCH, SIDE, descend, floats
from regard.models import caption, resnet
from regard.progress import Progress
from regard.vision.dice import integers
from regard.world import COLOURS, KINDS, Scene, render_batch, scenes

CLAIM = Claim(
    name="captions",
    deck="Najdenkoska & Asano, Paying attention in vision; also Hoàng, Image Captioning with Attention",
    sentence="Example in vision: image captioning, where the input is image, and the output is a description of the "
    "image. Examples of attending to the correct object (white indicates the attended regions, underlines indicated "
    "the corresponding word)",
    experiment="Two models with the same eye write captions such as “a red disc and a blue star”, from left to "
    "right, of 10,000 pictures of the world with two things, of 32 pixels: one from a single vector of the picture "
    "(Vinyals 2015), one that looks at a mixture of its places before each word (Xu 2015). Scored on 500 unseen "
    "pictures by how many colours and kinds are right, and by how often a colour or kind is written while looking "
    "most at its thing.",
    control="The same looks over other pictures: each word keeps the look that it had at the picture before. A model "
    "that looked at a place whatever is there would point as well.",
    criterion="The number is what attention gains in colours and kinds that are right, seed by seed. Supported if "
    "its interval lies above zero, and pointing with the looks of its own picture is better than with those of "
    "another, with an interval above 0.2. Refuted if the number's interval lies below zero, or that of pointing below "
    "0.05. Otherwise not at this scale; so it is if neither has 40 % right.",
    measures="more colours and kinds right by looking at places",
    seeds=3,
)

FIXED, SOFT = "one vector", "attention"
WAYS: dict[str, Any] = {FIXED: "fixed", SOFT: "soft"}
STOP, START = 0, 1
WORDS = ("", "", "a", "and", *COLOURS, *KINDS)
NAMED = (1, 2, 5, 6)  # the places of colours and kinds in “a red disc and a blue star”, and whose they are
OWNERS = (0, 0, 1, 1)
STEPS, LEAST, MARGIN, NEVER = 1500, 0.4, 0.2, 0.05
_EYE = resnet.Config(SIDE, stem="fast", block="basic", stem_width=16, widths=(16, 32), depths=(1, 1), classes=0)


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many words are right, and how often they point at what they name."""
    train, test = duets("train", 16 if quick else 10_000), duets("test", 8 if quick else 500)
    pixels, steps, runs = painted(train), 2 if quick else STEPS, []
    for seed, whole in parts(progress, seeds):
        for kind, inner in parts(whole, tuple(WAYS)):
            torch.manual_seed(seed)
            model = caption.Caption(_config(WAYS[kind]))
            track(descend(model, _loss(model, train, pixels, seed), steps=steps, lr=5e-3), steps, inner)
            runs.append({"kind": kind, "seed": seed, **_score(model, test)})
    return {"runs": runs, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    right = {kind: _values(numbers, kind, "right") for kind in WAYS}
    number, low, high = student([a - b for a, b in zip(right[SOFT], right[FIXED], strict=True)])
    own, other = (_values(numbers, SOFT, name) for name in ("points", "points elsewhere"))
    gained, least, most = student([a - b for a, b in zip(own, other, strict=True)])
    known = max(fmean(each) for each in right.values()) >= LEAST
    return Finding(
        verdict(
            supported=known and low > 0 and least > MARGIN,
            refuted=known and (high < 0 or most < NEVER),
        ),
        number,
        (low, high),
        f"Colours and kinds right: {FIXED} {fmean(right[FIXED]):.1%}, {SOFT} {fmean(right[SOFT]):.1%}. They point at "
        f"their thing in {fmean(own):.1%}, with the looks of another picture in {fmean(other):.1%}: a difference of "
        f"{100 * gained:+.1f} points ({100 * least:+.1f} to {100 * most:+.1f}).",
    )


def draw(numbers: Numbers) -> str:
    right = [student([100 * x for x in _values(numbers, kind, "right")]) for kind in WAYS]
    names = ("its own looks", "those of another")
    point = [student([100 * x for x in _values(numbers, SOFT, name)]) for name in ("points", "points elsewhere")]
    return figure(
        "Captions with and without attention",
        [
            Panel(
                "What is written", "", "colours and kinds right, %", [Bars("", *zip(*right, strict=True))], tuple(WAYS)
            ),
            Panel(
                "Where is looked",
                "",
                "words that point at their thing, %",
                [Bars("", *zip(*point, strict=True))],
                names,
            ),
        ],
        f"Two things in unseen pictures of {SIDE} pixels; {numbers['steps']} steps each. Whiskers are 95 % intervals "
        "over seeds.",
    )


@lru_cache(maxsize=2)
def duets(split: str, count: int) -> tuple[Scene, ...]:
    """Scenes of two things, one in either half, so big that 32 pixels tell their kinds."""
    view, made = scenes(split=split, things=2), []
    for i in range(count):
        scene, chance = view[i], Chance(i, f"duet {split}")
        things = []
        for half, thing in enumerate(sorted(scene.things, key=lambda thing: thing.x)):
            size = chance.uniform(0.18, 0.23)
            x, y = chance.uniform(1.02 * size, 0.5 - size), chance.uniform(1.02 * size, 1 - 1.02 * size)
            things.append(replace(thing, size=size, x=x + half / 2, y=y, fill="plain"))
        made.append(replace(scene, things=tuple(things)))
    return tuple(made)


def painted(shown: Sequence[Scene]) -> UInt8[np.ndarray, "n s s 3"]:
    return np.concatenate([render_batch(shown[i : i + 256], SIDE)["rgb"] for i in range(0, len(shown), 256)])


def caption_of(scene: Scene) -> list[int]:
    """“a red disc and a blue star” as ids, between start and stop."""
    (one, other) = scene.things
    words = ("a", one.colour, one.kind, "and", "a", other.colour, other.kind)
    return [START, *(WORDS.index(word) for word in words), STOP]


def _config(way: Any) -> caption.Config:
    return caption.Config(
        len(WORDS), _EYE, frozen=False, way=way, width=48, hidden=96, cell="gru", heads=4, dropout=0.0
    )


def _loss(model: caption.Caption, shown: Sequence[Scene], pixels: UInt8[np.ndarray, "n s s 3"], seed: int) -> Any:
    targets = torch.tensor([caption_of(scene) for scene in shown])

    def lose(step: int) -> Tensor:
        rows = integers(Chance(seed, "batch", step), min(BATCH, len(shown)), len(shown))
        target = targets[torch.from_numpy(rows)]
        logits = model(floats(pixels[rows]), target[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())

    return lose


@torch.no_grad()
def _score(model: caption.Caption, shown: Sequence[Scene]) -> dict[str, float]:
    """Words that are right, where each is written behind what the model wrote before; and where it looked for them."""
    image = floats(painted(shown))
    wanted = torch.tensor([caption_of(scene) for scene in shown])
    written = torch.full((len(shown), 1), START)
    state = model.start(image)
    for _ in range(wanted.shape[1] - 1):
        logits, state = model.step(written[:, -1:], state)
        written = torch.cat((written, logits[:, -1:].argmax(dim=-1)), dim=1)
    places = [place + 1 for place in NAMED]  # behind the start
    found = {"right": float((written[:, places] == wanted[:, places]).float().mean())}
    weights = model.tell(image, wanted[:, :-1]).weights
    if weights is None:
        return found
    maps = weights[:, list(NAMED)].unflatten(-1, model.grid(SIDE, SIDE)).numpy()
    things = render_batch(shown, SIDE, outputs=("instance",))["instance"]
    masks = np.stack([things == owner for owner in OWNERS], axis=1)
    return found | {"points": _pointed(maps, masks), "points elsewhere": _pointed(np.roll(maps, 1, axis=0), masks)}


def _pointed(maps: Float[np.ndarray, "n w i j"], masks: Bool[np.ndarray, "n w s s"]) -> float:
    """How often a look is strongest on the thing that the word names; those that are hidden are left out."""
    pairs = [(maps[i, w], masks[i, w]) for i in range(len(maps)) for w in range(len(NAMED)) if masks[i, w].any()]
    return fmean(points_into(weights, mask) for weights, mask in pairs)


def _values(numbers: Numbers, kind: str, name: str) -> list[float]:
    return [run[name] for run in numbers["runs"] if run["kind"] == kind]
