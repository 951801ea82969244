"""Opening 400,000 vectors of words, and the first answer from them, beside gensim's KeyedVectors."""

import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np

from bench.clock import Times, console, race, show
from regard.words.files import read_vectors, write_vectors
from regard.words.mapped import kept
from regard.words.vectors import Vectors

COUNT, WIDTH = 400_000, 50  # as in GloVe's smallest set
COPY = "copy.txt"


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:  # noqa: ARG001
    count = 20_000 if quick else COUNT
    dice = np.random.default_rng(0)
    given = Vectors([f"word{i}" for i in range(count)], dice.normal(size=(count, WIDTH)).astype(np.float32))
    try:
        theirs = import_module("gensim.models").KeyedVectors
    except ImportError:
        console.print("gensim is left out: it is not installed.")
        theirs = None
    rows: dict[str, dict[str, Times]] = {}
    with tempfile.TemporaryDirectory() as folder:
        binary, text = Path(folder) / "vectors.bin", Path(folder) / "vectors.txt"
        write_vectors(binary, given, "word2vec-binary")
        write_vectors(text, given, "word2vec")
        for path, is_binary in ((binary, True), (text, False)):
            contestants: dict[str, Callable[[], object]] = {}
            if theirs is not None:
                contestants["gensim"] = partial(theirs.load_word2vec_format, path, binary=is_binary)
            contestants["regard"] = partial(_open, path)
            if not is_binary:
                contestants["regard, the first time"] = partial(_anew, path)
            rows[path.suffix[1:]] = race(contestants, seconds=0, least=3)
        for path in (text, text.with_name(COPY)):
            kept(path).unlink(missing_ok=True)
    return show(f"opening {count:,} × {WIDTH} vectors", rows, reference=next(iter(rows["bin"])))


def _open(path: Path) -> object:
    return read_vectors(path)["word7"]


def _anew(path: Path) -> object:
    """A text that nobody has read before: what is kept of one belongs to its name and date."""
    copy = path.with_name(COPY)
    shutil.copyfile(path, copy)
    return _open(copy)
