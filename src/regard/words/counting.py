"""The words of a text that need not fit in memory: cut into lines of words, counted, and numbered on the disk.

lines = partial(lines_of_words, ...)          a text that can be read again from the start
known = vocabulary("my.txt", lines(), min_count=5)
ids = number(lines(), known, Path("my.ids"))   int32, mapped; -1 ends each line
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypeVar

import numpy as np
import tokenizers
from jaxtyping import Int32, Int64
from tokenizers import models, pre_tokenizers

from regard.data import DataError
from regard.files import replacing
from regard.text import Tokenizer

Cut = Literal["letters", "spaces"]
T = TypeVar("T")

END = -1  # between two lines of a numbered text
UNKNOWN = "<unk>"
LARGEST = 20_000_000  # different things that are counted at once; beyond, the rarest are forgotten
BLOCK = 1 << 20  # words that are numbered together
_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """Words that were met often enough, the most frequent first, and how often."""

    words: tuple[str, ...]
    counts: Int64[np.ndarray, " n"]
    total: int  # words of the text, rare ones too

    def __len__(self) -> int:
        return len(self.words)


def cut_words(blocks: Iterable[str], cut: Cut = "letters") -> Iterator[list[str]]:
    """The lines of a text as words; a line that is longer than a block comes in pieces.

    By `letters`, words are runs of them in lower case, an apostrophe inside included; by `spaces`, whatever stands
    between spaces, as in word2vec's own program.
    """
    rest = ""
    for block in blocks:
        text = rest + block
        end = max(text.rfind(" "), text.rfind("\n")) + 1
        if not end and len(text) < BLOCK:
            rest = text
            continue
        end = end or len(text)  # a million letters without a space are no word
        rest = text[end:]
        yield from _lines(text[:end], cut)
    yield from _lines(rest, cut)


def _lines(text: str, cut: Cut) -> Iterator[list[str]]:
    for line in text.split("\n"):
        if found := line.split() if cut == "spaces" else _LETTERS.findall(line.lower()):
            yield found


def count(groups: Iterable[Iterable[T]], *, largest: int = LARGEST) -> Counter[T]:
    """How often each thing is met; where there are too many different ones, the rarest so far are forgotten."""
    found = Counter[T]()
    for group in groups:
        found.update(group)
        if len(found) > largest:
            floor = 1
            while len(found) > largest // 2:  # half, so that it is not done again soon
                found = Counter({each: times for each, times in found.items() if times > floor})
                floor += 1
    return found


def vocabulary(name: str, lines: Iterable[Sequence[str]], min_count: int, *, largest: int = LARGEST) -> Vocabulary:
    """The words that are met at least `min_count` times; `name` is that of the text, for whoever reads an error."""
    found = count(lines, largest=largest)
    total = found.total()
    if not found:
        raise DataError(f"{name} holds no word to learn from; give some text")
    if len(found) == 1:
        (only,) = found
        raise DataError(
            f"{name} holds one word alone, {only[:40]!r}; words are learnt from their neighbours: give others"
        )
    kept = sorted((word for word, times in found.items() if times >= min_count), key=lambda word: (-found[word], word))
    if len(kept) < 2:
        most = sorted(found.values())[-2]
        raise DataError(
            f"{name} has {len(found):,} different words, and {len(kept) or 'none'} of them is met {min_count} times; "
            f"give more text, or --min-count {most}"
        )
    return Vocabulary(tuple(kept), np.asarray([found[word] for word in kept], np.int64), total)


def number(
    lines: Iterable[Sequence[str]], known: Vocabulary, path: Path, told: Callable[[int], object] = lambda _: None
) -> Int32[np.ndarray, " n"]:
    """The text as the places of its words, on the disk; words that are not in the vocabulary are not there at all."""
    places = {word: place for place, word in enumerate(known.words)}
    with replacing(path) as beside, beside.open("wb") as out:
        row, done = list[int](), 0
        for line in lines:
            row += [places[word] for word in line if word in places]
            row.append(END)
            if len(row) >= BLOCK:
                np.asarray(row, np.int32).tofile(out)
                done += len(row)
                told(done)
                row = []
        np.asarray(row, np.int32).tofile(out)
    return open_numbers(path)


def open_numbers(path: Path) -> Int32[np.ndarray, " n"]:
    """A numbered text, mapped into memory."""
    return np.memmap(path, np.int32, mode="r")


def tokenizer_of(words: Sequence[str]) -> Tokenizer:
    """A tokenizer whose ids are the places of words; one entry more, the last, is for what it does not know."""
    known = {word: place for place, word in enumerate(words)}
    known.setdefault(UNKNOWN, len(known))
    inner = tokenizers.Tokenizer(models.WordLevel(known, unk_token=UNKNOWN))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        inner.save(str(path), pretty=False)
        return Tokenizer.load(path)
