"""What trainings on pictures with captions share: a tower that is trained already, and pictures that vary with them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor, nn

    from regard.chance import Chance
    from regard.vision import Processor


def trained_tower(name: str, *, pickle: bool = False) -> Any:
    """A trained model of pictures that can be the tower of another model, as `--tower` names it."""
    from regard.data import DataError
    from regard.hub import CheckpointError, load
    from regard.models import efficientnet, resnet, vit

    try:
        found = load(name, pickle=pickle)
    except CheckpointError as error:
        raise DataError(f"--tower {name} cannot be read: {error}") from None
    found = with_eye(found)
    if not isinstance(getattr(found.model, "config", None), vit.Config | resnet.Config | efficientnet.Config):
        raise ValueError(f"--tower {name} is no ViT, ResNet or EfficientNet; give one of them")
    return found


def with_eye(found: Any) -> Any:
    """A checkpoint with the model of pictures in it, where that is but a part of what was trained."""
    from regard.models.family import family
    from regard.models.tower import eye_of

    eye = eye_of(found.model)
    if eye is found.model:
        return found
    return replace(found, model=eye, family=family(type(eye).__module__.rpartition(".")[2]))


def without_head(model: "nn.Module") -> "dict[str, Tensor]":
    """The weights of a trained model that another takes for its tower."""
    return {name: tensor for name, tensor in model.state_dict().items() if not name.startswith("head.")}


def usual_processor(size: int, tower: Any = None) -> "Processor":
    """Squares of this size, in the colours that a trained tower is used to, or in ImageNet's."""
    from regard.recipes.pictured import MEAN, STD
    from regard.vision import Processor, Size

    usual = Processor(size=Size(height=size, width=size), image_mean=MEAN, image_std=STD)
    own = None if tower is None else tower.processor
    return usual if own is None else replace(usual, image_mean=own.image_mean, image_std=own.image_std)


def vary(
    pixels: "np.ndarray",
    said: "list[list[int]]",
    mirrored: "Sequence[list[int]]",
    chance: "Chance",
    *,
    mirror: bool,
    move: int,
) -> "np.ndarray":
    """Pictures "b h w 3" as they are met in training; of those in a mirror, what is `said` becomes what fits there."""
    from regard.vision import pad_and_crop

    if mirror:
        for i in range(len(pixels)):
            if chance.happens(0.5):
                pixels[i], said[i] = pixels[i, :, ::-1].copy(), mirrored[i]
    return pad_and_crop(pixels, chance, move, mode="reflect") if move else pixels


def plain_name(data: str) -> str:
    """What data are called in the name of a file."""
    return " ".join("".join(each if each.isalnum() else " " for each in data).split())[-40:] or "own"


def count_learning(model: "nn.Module") -> str:
    """How much of a model learns."""
    learning = sum(each.numel() for each in model.parameters() if each.requires_grad)
    return f"{learning:,} of {sum(each.numel() for each in model.parameters()):,} parameters learn"
