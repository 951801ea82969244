"""Words as vectors: read and write them, calculate with them, and measure how good they are."""

from regard.words.algebra import Answer, Near, Odd, near, odd, parse, solve
from regard.words.benchmarks import analogies, pairs
from regard.words.files import read_vectors, write_vectors
from regard.words.vectors import Vectors

__all__ = [
    "Answer",
    "Near",
    "Odd",
    "Vectors",
    "analogies",
    "near",
    "odd",
    "pairs",
    "parse",
    "read_vectors",
    "solve",
    "write_vectors",
]
