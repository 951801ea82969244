"""Forty thousand lines of Shakespeare's plays, letter by letter (Karpathy 2015)."""

from collections.abc import Iterator

from regard.data.dataset import Dataset, File
from regard.data.fetch import get
from regard.data.stretch import Stretch

EDGE, END = 1_003_854, 1_115_394  # nine tenths of the characters, all of one byte; then the rest

DATASET = Dataset(
    name="shakespeare",
    kind="text",
    about="forty thousand lines of Shakespeare's plays, known as tiny Shakespeare (Karpathy 2015)",
    terms="public domain",
    home="https://github.com/karpathy/char-rnn",
    languages=("en",),
    splits={"train": EDGE, "val": END - EDGE, "test": END - EDGE},  # characters; val and test are the same
    files=(File("input.txt", END, "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"),),
    folder="https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare",
)


def read(split: str) -> Iterator[str]:
    (path,) = get(DATASET)
    return (Stretch(path, 0, EDGE) if split == "train" else Stretch(path, EDGE, END)).blocks()
