"""Named data sets with their home and checksum, pairs, labels, trees, token files, and batches that resume exactly."""

from regard.data.batches import Batches
from regard.data.dataset import Dataset, File
from regard.data.errors import DataError
from regard.data.fetch import cache, get, inspect, locate
from regard.data.labelled import labelled
from regard.data.order import Order
from regard.data.padded import Batch, token_batches
from regard.data.pairs import pairs
from regard.data.rows import Columns, belongs, columns, divide, lines, parallel, table
from regard.data.sets import SETS, find
from regard.data.split import split
from regard.data.tokens import Tokens, write
from regard.data.treebank import brackets, grow, skeleton, treebank

__all__ = [
    "SETS",
    "Batch",
    "Batches",
    "Columns",
    "DataError",
    "Dataset",
    "File",
    "Order",
    "Tokens",
    "belongs",
    "brackets",
    "cache",
    "columns",
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
    "token_batches",
    "treebank",
    "write",
]
