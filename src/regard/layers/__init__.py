"""What is not attention: blocks, recurrence, convolution; codes of places are in `regard.layers.position`."""

from regard.layers.blocks import Block, GatedBlock, PostNormBlock
from regard.layers.convolution import BasicBlock, Bottleneck, ConvStem, FeatureAttention, PatchEmbed, TemporalConv
from regard.layers.dropout import Dropout
from regard.layers.mlp import MLP, GatedMLP
from regard.layers.recurrent import Recurrent, State
from regard.layers.residual import Residual
from regard.layers.stack import Stack

__all__ = [
    "MLP",
    "BasicBlock",
    "Block",
    "Bottleneck",
    "ConvStem",
    "Dropout",
    "FeatureAttention",
    "GatedBlock",
    "GatedMLP",
    "PatchEmbed",
    "PostNormBlock",
    "Recurrent",
    "Residual",
    "Stack",
    "State",
    "TemporalConv",
]
