"""Where and what: how well the place of a patch, and the thing on it, are read from the features of each block."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.analysis.seeing import streams
from regard.claims.claim import Claim, Finding, Numbers, parts, verdict
from regard.claims.interval import student
from regard.claims.near_and_far import AFTER, BEFORE, STEPS, learned, unseen
from regard.claims.plot import Line, Panel, figure
from regard.claims.sights import LEAST, SIDE, VIT, portrayed, score
from regard.data.painted import portraits
from regard.layers.vision import VisionModel
from regard.progress import Progress
from regard.world import KINDS, render_batch

CLAIM = Claim(
    name="parts",
    deck="Najdenkoska & Asano, PCA Visualization (Amir 2021)",
    sentence="We find that early layers contain positionally biased representations, that gradually become more "
    "semantic in deeper layers.",
    experiment="ViTs of six blocks learn to name the kind of the one big thing in pictures of the world, of 32 pixels "
    "in patches of 4. From the features of the patches of 300 unseen pictures behind each block, and from their first "
    "three principal components, a linear map reads the row and the column of a patch, and how much of it each kind "
    "of thing, or none, takes up. Scored by the share of the variance that is read right, on 300 other pictures.",
    control="The same networks before they learn anything, in which whatever can be read is in the patches and their "
    "positions already; and the same reading after places and things are dealt out among the patches by chance.",
    criterion="The number is how much less of the place is read from the first three components of the last block than "
    "of the first, seed by seed. Supported if its interval lies above zero, and of the thing more is read from those "
    "of the last block than of the first. Refuted if either lies on the other side of zero. Otherwise not at this "
    "scale; so it is if the networks do not learn to name 40 % of the pictures right.",
    measures="less of the place of a patch is read from three components of the last block than of the first",
    seeds=3,
)

PLACE, THING = "place", "thing"
WHAT = (PLACE, THING)
ALL, FIRST = "all features", "three components"
SHUFFLED = "shuffled"
COMPONENTS = 3
LITTLE = 1e-3  # of the features' variance, which keeps the reading steady where they are nearly dependent


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """The share of place and thing that is read from each block, before and after it learns."""
    count = 20 if quick else 600
    image, wanted, tests = unseen(count), _wanted(count), portrayed("test", 20 if quick else 1000)
    runs, scores = [], []
    for seed, inner in parts(progress, seeds):
        states = learned(VIT, seed, quick=quick, progress=inner)
        scores.append(score(states[AFTER], tests))
        for state, model in states.items():
            for block, features in enumerate(cells(model, image)):
                about = {"state": state, "seed": seed, "block": block + 1}
                runs += [about | {"what": what, **read(features, wanted[what], seed)} for what in WHAT]
    return {"runs": runs, "accuracy": scores, "pictures": count // 2, "steps": 2 if quick else STEPS}


def judge(numbers: Numbers) -> Finding:
    falls, rises = _change(numbers, PLACE, -1), _change(numbers, THING, 1)
    number, low, high = student(falls)
    rise, risen, most = student(rises)
    learnt = student(numbers["accuracy"])[0]
    ends = {
        (what, way, state): _ends(numbers, what, way, state)
        for what in WHAT
        for way in (FIRST, ALL)
        for state in (AFTER, BEFORE)
    }
    place, thing = ends[PLACE, FIRST, AFTER], ends[THING, FIRST, AFTER]
    chance = fmean(run[SHUFFLED] for run in numbers["runs"])
    return Finding(
        verdict(
            supported=learnt >= LEAST and low > 0 and risen > 0,
            refuted=learnt >= LEAST and (high < 0 or most < 0),
        ),
        number,
        (low, high),
        f"From three components, {place[0]:.0%} of the place of a patch is read behind the first block and "
        f"{place[1]:.0%} behind the last ({_both(ends[PLACE, FIRST, BEFORE])} untrained), and of the thing on it "
        f"{thing[0]:.0%} and {thing[1]:.0%} ({_both(ends[THING, FIRST, BEFORE])} untrained), {100 * rise:+.0f} points "
        f"({100 * risen:+.0f} to {100 * most:+.0f}). From all features: place {_both(ends[PLACE, ALL, AFTER])}, thing "
        f"{_both(ends[THING, ALL, AFTER])}. Dealt out by chance, {chance:.1%} on average. The networks name "
        f"{learnt:.1%} of unseen pictures right.",
    )


def draw(numbers: Numbers) -> str:
    panels = [
        Panel(way, "block", "share that is read, %", _lines(numbers, way), bounds=(0, 100)) for way in (FIRST, ALL)
    ]
    return figure(
        "Where a patch lies, and what lies on it",
        panels,
        f"Read by a linear map from patches of {numbers['pictures']} unseen pictures after {numbers['steps']} steps. "
        "Bands are 95 % intervals over seeds.",
    )


def _wanted(count: int) -> dict[str, Float[np.ndarray, "n i j k"]]:
    """Row and column of each patch, and the share of it that each kind of thing, or none, takes up."""
    seen = render_batch(portraits("test", count), SIDE, outputs=("instance",))["instance"] >= 0
    kind = np.where(seen, 1 + portrayed("test", count).targets[:, None, None], 0)  # 0 is none
    side = SIDE // 4
    shares = np.eye(1 + len(KINDS))[kind].reshape(count, side, 4, side, 4, -1).mean(axis=(2, 4))
    places = np.moveaxis(np.indices((side, side)), 0, -1).astype(float)
    return {PLACE: np.broadcast_to(places, (count, side, side, 2)), THING: shares}


@torch.no_grad()
def cells(model: VisionModel, image: Float[Tensor, "n c h w"]) -> list[Float[np.ndarray, "n i j k"]]:
    """The features of patches behind each block."""
    kept = [list(streams(model, some)[0].values()) for some in image.split(100)]
    return [torch.cat(each).double().numpy() for each in zip(*kept, strict=True)]


def read(features: Float[np.ndarray, "n i j k"], wanted: Float[np.ndarray, "n i j m"], seed: int) -> dict[str, float]:
    """The share of the variance that a linear map reads on the second half of the pictures, fitted on the first."""
    half, size = len(features) // 2, features.shape[-1]
    fit, test = (each.reshape(-1, size) for each in (features[:half], features[half:]))
    right, tests = (each.reshape(-1, wanted.shape[-1]) for each in (wanted[:half], wanted[half:]))
    mean = fit.mean(axis=0)
    _, axes = np.linalg.eigh((fit - mean).T @ (fit - mean))
    few = axes[:, ::-1][:, :COMPONENTS]
    dealt = np.random.default_rng(seed).permutation(len(right))
    return {
        ALL: _share(fit - mean, right, test - mean, tests),
        FIRST: _share((fit - mean) @ few, right, (test - mean) @ few, tests),
        SHUFFLED: _share(fit - mean, right[dealt], test - mean, tests),
    }


def _share(fit: np.ndarray, right: np.ndarray, test: np.ndarray, tests: np.ndarray) -> float:
    mean = right.mean(axis=0)
    gram = fit.T @ fit
    gram += LITTLE * np.trace(gram) / len(gram) * np.eye(len(gram))
    found = test @ np.linalg.solve(gram, fit.T @ (right - mean)) + mean
    return float(1 - ((tests - found) ** 2).sum() / ((tests - tests.mean(axis=0)) ** 2).sum())


def _series(numbers: Numbers, what: str, way: str, state: str, block: int) -> list[float]:
    rows = (run for run in numbers["runs"] if (run["what"], run["state"], run["block"]) == (what, state, block))
    return [run[way] for run in rows]


def _last(numbers: Numbers) -> int:
    return max(int(run["block"]) for run in numbers["runs"])


def _change(numbers: Numbers, what: str, sign: int) -> list[float]:
    """How much more, or with -1 less, is read from the components of the last block than of the first, by seed."""
    first, last = (_series(numbers, what, FIRST, AFTER, block) for block in (1, _last(numbers)))
    return [sign * (b - a) for a, b in zip(first, last, strict=True)]


def _ends(numbers: Numbers, what: str, way: str, state: str) -> tuple[float, float]:
    """What is read behind the first block, and behind the last."""
    first, last = (student(_series(numbers, what, way, state, block))[0] for block in (1, _last(numbers)))
    return first, last


def _both(ends: Sequence[float]) -> str:
    return f"{ends[0]:.0%} and {ends[1]:.0%}"


def _lines(numbers: Numbers, way: str) -> list[Line]:
    lines = []
    for state in (AFTER, BEFORE):
        for what in WHAT:
            blocks = list(range(1, _last(numbers) + 1))
            found = [student([100 * each for each in _series(numbers, what, way, state, block)]) for block in blocks]
            name = what if state == AFTER else f"{what}, {BEFORE}"
            lines.append(Line(name, blocks, *zip(*found, strict=True), dashed=state == BEFORE))
    return lines
