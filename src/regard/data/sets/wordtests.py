"""Tests of word vectors: analogies (Mikolov 2013), WordSim-353 (Finkelstein 2001) and SimLex-999 (Hill 2015)."""

from pathlib import Path
from typing import NamedTuple

from regard.data.dataset import Dataset, File
from regard.data.errors import DataError
from regard.data.fetch import get
from regard.data.rows import lines

# fmt: off
DATASET = Dataset(
    name="word-tests",
    kind="words",
    about="analogies by section (Mikolov 2013), and pairs of words with how alike people find them: WordSim-353 "
    "(Finkelstein 2001) and SimLex-999 (Hill 2015)",
    terms="research",
    home="https://github.com/piskvorky/gensim/tree/develop/gensim/test/test_data",
    languages=("en",),
    splits={"analogies": 19_544, "wordsim": 353, "simlex": 999},
    files=(
        File("questions-words.txt.gz", 69_325, "a21b3277dd63dfb4422a994b7801e2b439d50b73cdaa0b838b27b1e43cee8a8c"),
        File("wordsim353.tsv", 7_186, "f92a022fc2537793a15bc3a8c162ebcd74990e033a228bb6388cb71e4c0b1e1d"),
        File("simlex999.txt", 18_126, "d5e0501971478a511430ee880bd0121e94ac701ba86d90544d83e6d2ba3db05d"),
    ),
)
# fmt: on
FILES = dict(zip(DATASET.splits, DATASET.files, strict=True))


class Analogy(NamedTuple):
    """`first` is to `second` as `third` is to `fourth`, which is to be found."""

    section: str
    first: str
    second: str
    third: str
    fourth: str


class Alike(NamedTuple):
    """Two words, and how alike people find them."""

    first: str
    second: str
    score: float


Questions = list[Analogy] | list[Alike]


def read(split: str) -> Questions:
    """The questions of one of the tests."""
    (path,) = get(DATASET, [FILES[split].name])
    return read_own(path)


def read_own(path: Path) -> Questions:
    """Questions of a file: analogies of four words with `: section` above them, or two words and a number a line."""
    told = [(i, line) for i, line in enumerate(lines(path), start=1) if line.strip() and not line.startswith("#")]
    if not told:
        raise DataError(f"{path} asks nothing; give analogies of four words, or two words and a number a line")
    first = told[0][1]
    four = len(first.split()) == 4 and "\t" not in first and "," not in first
    return _analogies(path, told) if four or first.startswith(":") else _pairs(path, told)


def _analogies(path: Path, told: list[tuple[int, str]]) -> list[Analogy]:
    found, section = [], "all"
    for number, line in told:
        words = line.split()
        if line.startswith(":"):
            section = line[1:].strip()
        elif len(words) != 4:
            raise DataError(f"{path}, line {number} has {len(words)} words, and an analogy has 4; mend the line")
        else:
            found.append(Analogy(section, *words))
    if not found:
        raise DataError(f"{path} has sections and no analogies; write four words a line")
    return found


def _pairs(path: Path, told: list[tuple[int, str]]) -> list[Alike]:
    found = []
    between = "\t" if "\t" in told[0][1] else ","
    for number, line in told:
        cells = [cell.strip() for cell in line.split(between)]
        try:
            first, second, score = cells[0], cells[1], float(cells[2])
        except (IndexError, ValueError):
            if number == told[0][0]:
                continue  # the names of the columns
            raise DataError(
                f"{path}, line {number} is no pair of words with a number; divide the three by tabs or commas"
            ) from None
        found.append(Alike(first, second, score))
    if not found:
        raise DataError(f"{path} has no pair of words with a number; divide the three by tabs or commas")
    return found
