"""Named data sets with their home and checksum, pairs, labels, trees, token files, and batches that resume exactly."""

from regard.data.batches import Batch, Batches
from regard.data.errors import DataError
from regard.data.fetch import cache, get, inspect, locate
from regard.data.labelled import labelled
from regard.data.pairs import belongs, divide, lines, pairs, parallel, table
from regard.data.sets import SETS, Dataset, File, find
from regard.data.split import split
from regard.data.tokens import Tokens, write
from regard.data.treebank import brackets, grow, skeleton, treebank

__all__ = [
    "SETS",
    "Batch",
    "Batches",
    "DataError",
    "Dataset",
    "File",
    "Tokens",
    "belongs",
    "brackets",
    "cache",
    "divide",
    "find",
    "get",
    "grow",
    "inspect",
    "labelled",
    "lines",
    "locate",
    "pairs",
    "parallel",
    "skeleton",
    "split",
    "table",
    "treebank",
    "write",
]
