"""What models of pictures share: a picture goes in, a map of features comes out, and what a classifier says of it.

Every one of them says how its tokens lie on the picture, so that whatever looks inside serves them all.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn


def check_stages(**given: Sequence[object]) -> None:
    """Refuse a config whose lists, such as widths and depths, are not as long as each other, or empty."""
    if len({len(each) for each in given.values()}) > 1 or not all(given.values()):
        *most, last = [f"{len(each)} {name}" for name, each in given.items()]
        raise ValueError(
            f"{', '.join(most)} and {last} are not those of the same stages; give one of each for every stage"
        )


class VisionModel(nn.Module, ABC):
    """A model that reads pictures "b c h w" and names what they show.

    With `classes=0` in its config there is no classifier, and the model gives the vector that one would read.
    """

    config: Any
    channels_last: ClassVar[bool] = True  # whether a block gives maps "b h w c", or torch's "b c h w"

    @property
    def leading(self) -> tuple[str, ...]:
        """The tokens before those of the picture, by their names, such as [CLS]."""
        return ()

    @property
    def trunk(self) -> list[str]:
        """The names of the blocks that a picture passes one after another, each of which gives a map of features."""
        return [name for part in ("blocks", "stages") if hasattr(self, part) for name in _blocks(self, part)]

    def to_map(self, output: Tensor, height: int, width: int) -> Float[Tensor, "b i j o"]:
        """What a block of the trunk gave for a picture of this size, as a map; leading tokens are left out."""
        if output.ndim == 3:
            return torch.unflatten(output[:, len(self.leading) :], 1, self.grid(height, width))
        return output if self.channels_last else output.permute(0, 2, 3, 1)

    @abstractmethod
    def features(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        """The last map of features, as the classifier reads it; tokens that have no place are left out."""

    @abstractmethod
    def grid(self, height: int, width: int) -> tuple[int, int]:
        """How many rows and columns of tokens the first block sees of a picture of this size."""

    @abstractmethod
    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o"]:
        """Logits of the classes; of none, the vector that a classifier would read."""


def _blocks(model: nn.Module, name: str) -> list[str]:
    """The innermost parts of a list of blocks, or of a list of stages that hold them."""
    part = model.get_submodule(name)
    if isinstance(part, nn.ModuleList | nn.Sequential):
        return [found for i in range(len(part)) for found in _blocks(model, f"{name}.{i}")]
    inside = f"{name}.blocks"
    return _blocks(model, inside) if isinstance(getattr(part, "blocks", None), nn.Module) else [name]


def classifier(width: int, classes: int) -> nn.Module:
    """A linear map to the logits of some classes; of none, nothing."""
    return nn.Linear(width, classes) if classes else nn.Identity()
