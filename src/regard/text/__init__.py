"""Text to ids and back, without torch."""

from regard.text.tokenizer import Tokenizer
from regard.text.words import Words

__all__ = ["Tokenizer", "Words"]
