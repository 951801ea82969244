"""Named data sets; text, pairs, labels, trees and pictures of your own; token files; batches that resume exactly."""

from regard.data.album import Pictures
from regard.data.annotated import Detections, Objects
from regard.data.batches import Batches
from regard.data.corpus import tokenize
from regard.data.dataset import Dataset, File
from regard.data.errors import DataError
from regard.data.fetch import cache, get, inspect, locate
from regard.data.labelled import Example, labelled
from regard.data.order import Order
from regard.data.padded import Batch, put_side_by_side, token_batches
from regard.data.pairs import pairs
from regard.data.pictures import detections, pictures
from regard.data.rows import Columns, belongs, columns, divide, lines, parallel, table
from regard.data.sets import SETS, find
from regard.data.spans import Documents, divide_span, mask_words
from regard.data.split import split
from regard.data.text import documents, passages, text
from regard.data.tokens import Tokens, write
from regard.data.treebank import brackets, grow, skeleton, treebank
from regard.data.windows import windows

__all__ = [
    "SETS",
    "Batch",
    "Batches",
    "Columns",
    "DataError",
    "Dataset",
    "Detections",
    "Documents",
    "Example",
    "File",
    "Objects",
    "Order",
    "Pictures",
    "Tokens",
    "belongs",
    "brackets",
    "cache",
    "columns",
    "detections",
    "divide",
    "divide_span",
    "documents",
    "find",
    "get",
    "grow",
    "inspect",
    "labelled",
    "lines",
    "locate",
    "mask_words",
    "pairs",
    "parallel",
    "passages",
    "pictures",
    "put_side_by_side",
    "skeleton",
    "split",
    "table",
    "text",
    "token_batches",
    "tokenize",
    "treebank",
    "windows",
    "write",
]
