"""What claims about CLIP share: pictures of one thing each, what is said of them, and small models that learn both.

A supervised twin has the same eye and learns the same pictures in the same order, by the number of a class in place of
words. Where captions are shuffled, every picture has that of another, so that there is nothing to learn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from regard.chance import Chance
from regard.claims.claim import track
from regard.claims.sights import BATCH, MINIATURE, descend, floats, painted
from regard.data.painted import portraits
from regard.models import clip, resnet
from regard.progress import Progress
from regard.train.contrastive import contrast
from regard.vision.dice import integers
from regard.world import COLOURS, FILLS, KINDS, Scene

CLIP, TWIN, SHUFFLED = "CLIP", "supervised", "shuffled captions"
PAIRS = tuple((colour, kind) for colour in COLOURS for kind in KINDS)
WORDS = ("", "a", *COLOURS, *FILLS, *KINDS)  # the first is padding
ROOM = 4  # words of the longest caption
_EYE = resnet.Config(
    MINIATURE, stem="fast", block="basic", stem_width=16, widths=(16, 32, 64), depths=(1, 1, 1), classes=0
)
_READER = clip.Text(len(WORDS), ROOM, width=48, depth=1, heads=4, hidden=96, activation="gelu")
LR = 5e-3


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """Pictures, and the scene of each."""

    scenes: tuple[Scene, ...]
    pixels: UInt8[np.ndarray, "n h w 3"]

    def __len__(self) -> int:
        return len(self.scenes)

    @property
    def pairs(self) -> Int[Tensor, " n"]:
        """The number of the colour and kind of each thing."""
        things = (scene.things[0] for scene in self.scenes)
        return torch.tensor([PAIRS.index((thing.colour, thing.kind)) for thing in things])

    @property
    def kinds(self) -> Int[Tensor, " n"]:
        return self.pairs % len(KINDS)


@lru_cache(maxsize=4)
def shown(split: str, count: int) -> Shown:
    """So many pictures of one big thing each."""
    some = portraits(split, count)
    return Shown(some, painted(some, MINIATURE))


def read(said: Sequence[Sequence[str]]) -> tuple[Int[Tensor, "t n"], Int[Tensor, " t"]]:
    """Words as ids, side by side, and how many there are of each."""
    rows = [[WORDS.index(word) for word in words] for words in said]
    return torch.tensor([row + [0] * (ROOM - len(row)) for row in rows]), torch.tensor([len(row) for row in rows])


def see(seed: int) -> tuple[clip.CLIP, resnet.ResNet]:
    """A CLIP as it begins to learn, and its eye."""
    torch.manual_seed(seed)
    model = clip.CLIP(clip.Config(_EYE, _READER, joint=48))
    eye: Any = model.image
    return model, eye


def match(seen: Shown, *, seed: int, steps: int, shuffled: bool = False, progress: Progress) -> clip.CLIP:
    """Learn pictures by their captions, which half of the time name colour and kind alone; or by those of others."""
    model, _ = see(seed)

    def lose(step: int) -> Tensor:
        chance = Chance(seed, "batch", step)
        rows = integers(chance, min(BATCH, len(seen)), len(seen))
        others = integers(chance, len(rows), len(seen)) if shuffled else rows
        said = [_caption(seen.scenes[row], bare=chance.happens(0.5)) for row in others.tolist()]
        ids, lengths = read(said)
        keys = torch.tensor([hash(words) for words in said])
        return contrast(model(floats(seen.pixels[rows]), ids, lengths=lengths), keys) / len(rows)

    track(descend(model, lose, steps=steps, lr=LR), steps, progress)
    return model


def supervise(
    seen: Shown, classes: Int[Tensor, " n"], count: int, *, seed: int, steps: int, progress: Progress
) -> nn.Sequential:
    """An eye like CLIP's, with a classifier that learns the class of each picture."""
    _, eye = see(seed)
    model = nn.Sequential(eye, nn.Linear(_EYE.widths[-1], count))

    def lose(step: int) -> Tensor:
        rows = integers(Chance(seed, "batch", step), min(BATCH, len(seen)), len(seen))
        return F.cross_entropy(model(floats(seen.pixels[rows])), classes[torch.from_numpy(rows)])

    track(descend(model, lose, steps=steps, lr=LR), steps, progress)
    return model


@torch.no_grad()
def prompted(model: clip.CLIP) -> Callable[[Float[Tensor, "b 3 h w"]], Float[Tensor, "b c"]]:
    """A classifier of colours and kinds made of words: “a red disc”."""
    classes = model.encode_text(*read([("a", colour, kind) for colour, kind in PAIRS]))
    return lambda image: model.encode_image(image) @ classes.T


@torch.no_grad()
def named_right(
    classify: Callable[[Float[Tensor, "b 3 h w"]], Float[Tensor, "b c"]],
    pixels: UInt8[np.ndarray, "n h w 3"],
    classes: Int[Tensor, " n"],
) -> float:
    """The share of pictures whose class is said."""
    said = [classify(floats(pixels[i : i + 250])).argmax(dim=-1) for i in range(0, len(pixels), 250)]
    return float((torch.cat(said) == classes).float().mean())


def grow(
    kind: str, seen: Shown, *, seed: int, steps: int, progress: Progress
) -> Callable[[Float[Tensor, "b 3 h w"]], Float[Tensor, "b c"]]:
    """A classifier of colours and kinds: by prompts of a CLIP, or by the numbers that a twin has learnt."""
    if kind == TWIN:
        return supervise(seen, seen.pairs, len(PAIRS), seed=seed, steps=steps, progress=progress)
    return prompted(match(seen, seed=seed, steps=steps, shuffled=kind == SHUFFLED, progress=progress))


def _caption(scene: Scene, *, bare: bool) -> tuple[str, ...]:
    thing = scene.things[0]
    return ("a", thing.colour, thing.kind) if bare else ("a", thing.colour, thing.fill, thing.kind)
