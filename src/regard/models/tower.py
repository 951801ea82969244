"""The part of a larger model that sees: a model of pictures without its classifier, chosen by its config."""

from typing import Any

from torch import nn

from regard.layers.vision import VisionModel
from regard.models import efficientnet, resnet, vit

Tower = vit.Config | resnet.Config | efficientnet.Config


def make_tower(config: Tower) -> VisionModel:
    """A fresh model of pictures, which gives a map of features."""
    if config.classes:
        raise ValueError(f"a tower with {config.classes} classes has a head that nothing reads; give 0")
    if isinstance(config, vit.Config):
        return vit.ViT(config)
    return resnet.ResNet(config) if isinstance(config, resnet.Config) else efficientnet.EfficientNet(config)


def width_of(config: Tower) -> int:
    """How many numbers a cell of its map has."""
    if isinstance(config, vit.Config):
        return config.width
    return config.widths[-1] if isinstance(config, resnet.Config) else config.last_width


def eye_of(model: nn.Module) -> Any:
    """The model of pictures in one that was made to learn by it, such as a masked autoencoder; others are their own."""
    return getattr(model, "eye", model)
