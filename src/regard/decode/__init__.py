"""Writing word by word: greedily, by chance, or by beam search, as functions over one step of any model.

`Translator` goes from text to text, and `lowered` gives a model in fewer bits.
"""

from regard.decode.beam import beam
from regard.decode.precision import Precision, lowered
from regard.decode.translate import Translation, Translator
from regard.decode.walk import Choice, chance, greedy, likeliest, walk
from regard.decode.written import State, Step, Written, looks

__all__ = [
    "Choice",
    "Precision",
    "State",
    "Step",
    "Translation",
    "Translator",
    "Written",
    "beam",
    "chance",
    "greedy",
    "likeliest",
    "looks",
    "lowered",
    "walk",
]
