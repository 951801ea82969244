"""What is not attention: blocks, recurrence, convolution; codes of places are in `regard.layers.position`."""

from regard.layers.blocks import Block, GatedBlock, PostNormBlock
from regard.layers.convolution import Basic, Bottleneck, FeatureAttention, Patches, Stem, Temporal
from regard.layers.dropout import Dropout
from regard.layers.mlp import MLP, GatedMLP
from regard.layers.recurrent import Recurrent, State
from regard.layers.residual import Residual
from regard.layers.stack import Stack

__all__ = [
    "MLP",
    "Basic",
    "Block",
    "Bottleneck",
    "Dropout",
    "FeatureAttention",
    "GatedBlock",
    "GatedMLP",
    "Patches",
    "PostNormBlock",
    "Recurrent",
    "Residual",
    "Stack",
    "State",
    "Stem",
    "Temporal",
]
