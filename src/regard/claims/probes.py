"""Linear probes: what can be read from the features of a CLIP, of a supervised twin, and from plain pixels."""

from collections.abc import Mapping
from statistics import fmean

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from regard.analysis.probes import linear_probe
from regard.claims import texture
from regard.claims.claim import Claim, Finding, Numbers, parts, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.sights import floats
from regard.claims.spoken import CLIP, SHUFFLED, TWIN, Shown, match, see, shown, supervise
from regard.models.resnet import ResNet
from regard.progress import Progress
from regard.world import COLOURS, FILLS, KINDS

CLAIM = Claim(
    name="probes",
    deck="Najdenkoska & Asano, CLIP: performance of various pre-trained models over 27 datasets",
    sentence="Performance of various pre-trained models over 27 datasets",
    experiment="A small CLIP and a supervised twin with the same eye learn the same 10,000 pictures of the world in "
    "the same order, of 16 pixels and one big thing each: by captions, or by its kind. Their eyes stay as they are, "
    "and logistic regressions on what they see learn five tasks from 1,000 further pictures: the colour, the fill and "
    "the quarter of the thing, and its kind in a strange texture and as a sketch. Scored by accuracy on 1,000 more.",
    control="The same CLIP with the captions of other pictures, and no eye at all: plain pixels.",
    criterion="The number is CLIP's accuracy less that of its twin, the mean over the five tasks, seed by seed. "
    "Supported if its interval lies above zero and CLIP is better on average than plain pixels and than shuffled "
    "captions. Refuted if it lies below zero, or if plain pixels are better on average. Otherwise not at this scale.",
    measures="more read from CLIP's features than from those of a supervised twin",
    seeds=3,
)

PIXELS = "pixels"
EYES = (CLIP, TWIN, SHUFFLED, PIXELS)
STRANGE = {"kind, textures": texture.TEXTURE, "kind, sketch": "sketch"}
TASKS = ("colour", "fill", "quarter", *STRANGE)
STEPS = 1500


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How well each task is read from what each eye sees."""
    seen, count, steps = shown("train", 16 if quick else 10_000), 20 if quick else 1000, 2 if quick else STEPS
    known = shown("test", 2 * count)
    answers, pictures = _answers(known), {name: texture.shown(name, len(known)).pixels for name in STRANGE.values()}
    runs = []
    for seed, whole in parts(progress, seeds):
        for eye, inner in parts(whole, EYES):
            model = _eye(eye, seen, seed, steps, inner)
            read = {name: _features(model, pixels) for name, pixels in (("", known.pixels), *pictures.items())}
            rates = {task: _probe(read[STRANGE.get(task, "")], answers[task], count) for task in TASKS}
            runs.append({"kind": eye, "seed": seed, "accuracy": rates})
            inner(1.0)
    return {"runs": runs, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    means = {eye: _means(numbers, eye) for eye in EYES}
    number, low, high = student([a - b for a, b in zip(means[CLIP], means[TWIN], strict=True)])
    whole = {eye: fmean(each) for eye, each in means.items()}
    told = "; ".join(
        f"{task} " + ", ".join(f"{eye} {fmean(_rates(numbers, eye, task)):.1%}" for eye in EYES) for task in TASKS
    )
    return Finding(
        verdict(
            supported=low > 0 and whole[CLIP] > max(whole[PIXELS], whole[SHUFFLED]),
            refuted=high < 0 or whole[PIXELS] > whole[CLIP],
        ),
        number,
        (low, high),
        f"Read right by a linear probe: {told}. On average CLIP has {100 * number:+.1f} points more than its twin "
        f"({100 * low:+.1f} to {100 * high:+.1f}).",
    )


def draw(numbers: Numbers) -> str:
    bars = [
        Bars(eye, *zip(*(student([100 * x for x in _rates(numbers, eye, task)]) for task in TASKS), strict=True))
        for eye in EYES
    ]
    return figure(
        "Linear probes on what small eyes see",
        [Panel("", "", "read right, %", bars, TASKS)],
        f"Eyes that stay as they are after {numbers['steps']} steps; whiskers are 95 % intervals over seeds.",
    )


def _eye(kind: str, seen: Shown, seed: int, steps: int, progress: Progress) -> ResNet | None:
    if kind == PIXELS:
        return None
    if kind == TWIN:
        classifier = supervise(seen, seen.kinds, len(KINDS), seed=seed, steps=steps, progress=progress)
        found: ResNet = classifier[0]  # type: ignore[assignment] # the eye stands first
        return found
    _, eye = see(seed)
    model = match(seen, seed=seed, steps=steps, shuffled=kind == SHUFFLED, progress=progress)
    eye.load_state_dict(model.image.state_dict())
    return eye.eval()


@torch.no_grad()
def _features(eye: ResNet | None, pixels: UInt8[np.ndarray, "n h w 3"]) -> Float[np.ndarray, "n d"]:
    """The mean of the map that an eye makes; without one, the pixels themselves."""
    image = floats(pixels)
    read: Tensor = image.flatten(1) if eye is None else eye.features(image).mean(dim=(1, 2))
    found: np.ndarray = read.numpy()
    return found


def _answers(known: Shown) -> Mapping[str, Int[np.ndarray, " n"]]:
    things = [scene.things[0] for scene in known.scenes]
    kinds = [KINDS.index(thing.kind) for thing in things]
    found = {
        "colour": [COLOURS.index(thing.colour) for thing in things],
        "fill": [FILLS.index(thing.fill) for thing in things],
        "quarter": [2 * (thing.y > 0.5) + (thing.x > 0.5) for thing in things],
        **dict.fromkeys(STRANGE, kinds),
    }
    return {task: np.asarray(each) for task, each in found.items()}


def _probe(features: Float[np.ndarray, "n d"], classes: Int[np.ndarray, " n"], count: int) -> float:
    """Learnt from the first so many, and asked of the rest."""
    found = linear_probe((features[:count], classes[:count]), (features[count:], classes[count:]))
    return fmean(found.hits)


def _rates(numbers: Numbers, eye: str, task: str) -> list[float]:
    return [run["accuracy"][task] for run in numbers["runs"] if run["kind"] == eye]


def _means(numbers: Numbers, eye: str) -> list[float]:
    return [fmean(run["accuracy"].values()) for run in numbers["runs"] if run["kind"] == eye]
