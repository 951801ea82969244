"""Text to numbers and back, without torch."""

from regard.text.tokenizer import PAD, SPECIALS, START, STOP, UNKNOWN, Pieces, Tokenizer

__all__ = ["PAD", "SPECIALS", "START", "STOP", "UNKNOWN", "Pieces", "Tokenizer"]
