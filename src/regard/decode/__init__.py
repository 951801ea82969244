"""Decoding: greedy, sampled or by beam search, as functions over one step of any model; and models in fewer bits."""

from regard.decode.beam import beam
from regard.decode.forcing import evaluating, force
from regard.decode.generate import Choice, Turn, argmax, generate, greedy, stream
from regard.decode.hypothesis import Hypothesis, State, Step, looks
from regard.decode.int8 import Int8Linear
from regard.decode.packed import PackedLinear
from regard.decode.penalty import repetition_penalty
from regard.decode.prompt import begin, weigh_choices
from regard.decode.quantize import quantize
from regard.decode.sampling import sampler, seeded
from regard.decode.search import search
from regard.decode.spell import Speller
from regard.decode.surprise import surprise

__all__ = [
    "Choice",
    "Hypothesis",
    "Int8Linear",
    "PackedLinear",
    "Speller",
    "State",
    "Step",
    "Turn",
    "argmax",
    "beam",
    "begin",
    "evaluating",
    "force",
    "generate",
    "greedy",
    "looks",
    "quantize",
    "repetition_penalty",
    "sampler",
    "search",
    "seeded",
    "stream",
    "surprise",
    "weigh_choices",
]
