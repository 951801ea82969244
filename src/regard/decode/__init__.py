"""Writing word by word: greedily, by sampler, or by beam search, as functions over one step of any model.

`Translator` goes from text to text, and `quantize` gives a model in fewer bits.
"""

from regard.decode.beam import beam
from regard.decode.generate import Choice, argmax, generate, greedy, sampler
from regard.decode.hypothesis import Hypothesis, State, Step, looks
from regard.decode.precision import Precision, quantize
from regard.decode.translate import Translation, Translator

__all__ = [
    "Choice",
    "Hypothesis",
    "Precision",
    "State",
    "Step",
    "Translation",
    "Translator",
    "argmax",
    "beam",
    "generate",
    "greedy",
    "looks",
    "quantize",
    "sampler",
]
