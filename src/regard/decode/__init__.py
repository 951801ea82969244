"""Decoding: greedy, sampled or by beam search, as functions over one step of any model; and models in fewer bits."""

from regard.decode.beam import beam
from regard.decode.forcing import evaluating, force
from regard.decode.generate import Choice, argmax, generate, greedy, sampler
from regard.decode.hypothesis import Hypothesis, State, Step, looks
from regard.decode.quantize import Int8Linear, quantize
from regard.decode.search import search

__all__ = [
    "Choice",
    "Hypothesis",
    "Int8Linear",
    "State",
    "Step",
    "argmax",
    "beam",
    "evaluating",
    "force",
    "generate",
    "greedy",
    "looks",
    "quantize",
    "sampler",
    "search",
]
