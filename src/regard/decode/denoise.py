"""Pictures out of noise: how noise and picture blend, and DDIM, which goes back in few steps (Song 2021).

Time runs from 0, where a picture is clean, to 1, where it is noise alone. At each, x = alpha · picture + sigma · noise
with alpha² + sigma² = 1, and a model says the velocity v = alpha · noise - sigma · picture (Salimans 2022). So x and v
are picture and noise, rotated, and the rotation back gives both.
"""

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

FIRST = 0.008  # the cosine's offset: a little noise at time 0, so that the first steps are no trifle (Nichol 2021)

# The velocity of pictures at their times.
Step = Callable[[Float[Tensor, "b c h w"], Float[Tensor, " b"]], Float[Tensor, "b c h w"]]


class Moment(NamedTuple):
    """Where a denoising stands: the time, the noised pictures, and what a model takes the clean ones to be."""

    time: float
    noised: Float[Tensor, "b c h w"]
    clean: Float[Tensor, "b c h w"]


def cosine(time: Float[Tensor, "*n"]) -> tuple[Float[Tensor, "*n"], Float[Tensor, "*n"]]:
    """alpha and sigma of times: the cosine schedule (Nichol 2021)."""
    angle = (time + FIRST) / (1 + FIRST) * (math.pi / 2)
    return angle.cos(), angle.sin()


def blend(
    clean: Float[Tensor, "b c h w"], noise: Float[Tensor, "b c h w"], time: Float[Tensor, " b"]
) -> tuple[Float[Tensor, "b c h w"], Float[Tensor, "b c h w"]]:
    """Pictures noised up to their times, and the velocity that a model should say of them."""
    alpha, sigma = (each[:, None, None, None] for each in cosine(time))
    return alpha * clean + sigma * noise, alpha * noise - sigma * clean


def part(
    noised: Float[Tensor, "b c h w"], velocity: Float[Tensor, "b c h w"], time: Float[Tensor, " b"]
) -> tuple[Float[Tensor, "b c h w"], Float[Tensor, "b c h w"]]:
    """The picture and the noise that are in a noised picture of known velocity."""
    alpha, sigma = (each[:, None, None, None] for each in cosine(time))
    return alpha * noised - sigma * velocity, sigma * noised + alpha * velocity


def guided(step: Step, guidance: float) -> Step:
    """Classifier-free guidance (Ho 2022): away from what any picture would be, towards what was asked for.

    `step` takes a batch twice: once with what was asked for, then without. A `guidance` of 1 gives what was asked for
    alone, so that the second half is in vain; 0 gives the other; above 1 it goes beyond.
    """

    def towards(noised: Float[Tensor, "b c h w"], time: Float[Tensor, " b"]) -> Float[Tensor, "b c h w"]:
        asked, unasked = step(torch.cat((noised, noised)), torch.cat((time, time))).chunk(2)
        return torch.lerp(unasked, asked, guidance)

    return towards


@torch.no_grad()
def denoise(step: Step, noise: Float[Tensor, "b c h w"], *, steps: int, clip: float | None = 1.0) -> Iterator[Moment]:
    """DDIM: from noise to pictures in a few steps, each of which is told; the last is the picture, at time 0.

    No chance is left behind the noise. What a model takes for the picture is kept within `clip`, which guidance would
    leave; the noise is what remains then.
    """
    if steps < 1:
        raise ValueError(f"{steps} steps take out no noise; give 1 or more, say 30")
    times, x = torch.linspace(1.0, 0.0, steps + 1).tolist(), noise
    for now, then in pairwise(times):
        time = torch.full((len(x),), now, device=x.device)
        clean, left = part(x, step(x, time), time)
        if clip is not None:
            clean = clean.clamp(-clip, clip)
            alpha, sigma = cosine(time[0])
            left = (x - alpha * clean) / sigma
        alpha, sigma = cosine(torch.tensor(then, device=x.device))
        x = alpha * clean + sigma * left if then > 0 else clean
        yield Moment(then, x, clean)


def draw_noise(shape: tuple[int, int, int], generators: list[torch.Generator]) -> Float[Tensor, "b c h w"]:
    """Noise for as many pictures as there are generators, each from its own, whatever else is in the batch."""
    return torch.stack([torch.randn(shape, generator=each) for each in generators])
