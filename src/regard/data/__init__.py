"""Named data sets with their home and checksum, sentence pairs, token files, and batches that resume exactly."""

from regard.data.batches import Batch, Batches
from regard.data.errors import DataError
from regard.data.fetch import cache, get, inspect, locate
from regard.data.pairs import divide, lines, pairs, parallel, table
from regard.data.sets import SETS, Dataset, File, find
from regard.data.tokens import Tokens, write

__all__ = [
    "SETS",
    "Batch",
    "Batches",
    "DataError",
    "Dataset",
    "File",
    "Tokens",
    "cache",
    "divide",
    "find",
    "get",
    "inspect",
    "lines",
    "locate",
    "pairs",
    "parallel",
    "table",
    "write",
]
