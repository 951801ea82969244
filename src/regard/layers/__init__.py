"""What is not attention: blocks, recurrence, convolution; position encodings are in `regard.layers.position`."""

from regard.layers.blocks import Block, GatedBlock, PostNormBlock
from regard.layers.convolution import BasicBlock, Bottleneck, ConvStem, FeatureAttention, PatchEmbed, TemporalConv
from regard.layers.decoder import DecoderState
from regard.layers.dropout import Dropout
from regard.layers.mlp import MLP, GatedMLP
from regard.layers.recurrent import Recurrent, RecurrentState
from regard.layers.residual import Residual
from regard.layers.stack import Stack
from regard.layers.tied import Tied

__all__ = [
    "MLP",
    "BasicBlock",
    "Block",
    "Bottleneck",
    "ConvStem",
    "DecoderState",
    "Dropout",
    "FeatureAttention",
    "GatedBlock",
    "GatedMLP",
    "PatchEmbed",
    "PostNormBlock",
    "Recurrent",
    "RecurrentState",
    "Residual",
    "Stack",
    "TemporalConv",
    "Tied",
]
