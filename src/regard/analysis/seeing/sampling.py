"""Where deformable convolutions read: the places of their taps, which what is seen moves (Dai 2017, figure 5)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.deformable import DeformableConv


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """Where the taps of each cell of one convolution read, in shares of the picture's height and width.

    What lies below 0 or above 1 is beyond the edge, where there is nothing. `weights` are what taps count: 1 each until
    something is learnt, 2 at most.
    """

    name: str
    places: Float[np.ndarray, "i j taps 2"]
    weights: Float[np.ndarray, "i j taps"]
    moved: float  # how far taps lie from where a plain convolution reads, on average, in cells of the map that is read

    def shown(self, row: int, column: int, side: int = 64) -> Float[np.ndarray, "{side} {side}"]:
        """The taps of one cell as dots on a square that stands for the picture, from 0 to 1, which is the heaviest."""
        middle = (np.arange(side) + 0.5) / side
        down, across = self.places[row, column].T[:, :, None]
        near = [np.exp(-(((middle - at) * side) ** 2) / 2) for at in (down, across)]
        dots: np.ndarray = self.weights[row, column][:, None, None] * near[0][:, :, None] * near[1][:, None, :]
        heaviest = max(float(self.weights[row, column].max()), 1e-12)
        shown: np.ndarray = (dots.max(axis=0) / heaviest).astype(np.float32)
        return shown


def sampling(model: nn.Module, image: Float[Tensor, "1 c h w"]) -> list[Sampled]:
    """Where each deformable convolution of a model reads while it sees a picture; none if it has none."""
    read: dict[str, Tensor] = {}

    def keep(name: str) -> Callable[[nn.Module, tuple[Any, ...]], None]:
        def hook(_: nn.Module, given: tuple[Any, ...]) -> None:
            read[name] = given[0]

        return hook

    convs = {name: each for name, each in model.named_modules() if isinstance(each, DeformableConv)}
    handles = [each.register_forward_pre_hook(keep(name)) for name, each in convs.items()]
    try:
        with torch.no_grad():
            model(image)
            return [_sampled(name, convs[name], x) for name, x in read.items()]
    finally:
        for handle in handles:
            handle.remove()


def _sampled(name: str, conv: DeformableConv, x: Float[Tensor, "1 c h w"]) -> Sampled:
    places, sides = conv.places(x)[0], torch.tensor(x.shape[2:], device=x.device)
    weights = (
        x.new_ones(places.shape[:3]) if conv.strength is None else 2 * conv.strength(x)[0].permute(1, 2, 0).sigmoid()
    )
    moved = torch.linalg.vector_norm(conv.offset(x)[0].unflatten(0, (-1, 2)), dim=1).mean()
    shares = (places + 0.5) / sides
    return Sampled(name, shares.float().cpu().numpy(), weights.float().cpu().numpy(), float(moved))
