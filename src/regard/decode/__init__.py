"""Writing word by word: greedily, by chance, or by beam search, as functions over one step of any model."""

from regard.decode.beam import beam
from regard.decode.translate import Translation, Translator
from regard.decode.walk import Choice, chance, greedy, likeliest, walk
from regard.decode.written import State, Step, Written, looks

__all__ = [
    "Choice",
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
    "walk",
]
