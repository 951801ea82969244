"""Fill: a text with hidden words in, guesses at each of them out.

fill = regard.load("hub:google-bert/bert-base-uncased")
fill(["Paris is the [MASK] of France."])[0].guesses[0][0].word
"""

import math
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, repeat
from pathlib import Path

from jaxtyping import Float, Int
from torch import Tensor

from regard.analysis.reading import Reading
from regard.analysis.scores import Score, accuracy
from regard.attention import Packed
from regard.data import SETS, documents, labelled, lines
from regard.hub import Checkpoint
from regard.pipelines.encoder import Encoder, Given
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pipeline import Edits, Evaluation, TooLongError
from regard.progress import Progress
from regard.text.template import Window

HIDDEN = re.compile(r"\[MASK\]|<mask>|(?<!\w)_+(?!\w)")  # how a hidden word may be written
TABLES = (".tsv", ".csv", ".jsonl", ".parquet", ".tsv.gz", ".csv.gz", ".jsonl.gz")
ALL = "all"  # lines of a file, and no split of it
TOGETHER = 128  # hidden pieces that are scored at once


@dataclass(frozen=True, slots=True)
class Guess:
    """A word that may be hidden, and how likely it is."""

    word: str
    chance: float


@dataclass(frozen=True, slots=True)
class Known:
    """What does stand at a hidden place, how likely it is there, and how many are likelier."""

    word: str
    chance: float
    rank: int


@dataclass(frozen=True, slots=True)
class Filled:
    """The text with the likeliest words in it, and the guesses at each hidden word, the likeliest first.

    `own` is what stands at each of these places, where that is known.
    """

    text: str
    guesses: tuple[tuple[Guess, ...], ...]
    own: tuple[Known | None, ...] = ()


class Fill(Encoder):
    """A model that was trained to guess hidden words."""

    task, takes, gives = "fill", "text with [MASK]", "words"
    needs = ("masked", "pretraining")

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(checkpoint, limit=limit)
        self._spoken = False  # whether a mask in a text is read as one, and not as plain text
        if self.tokenizer is None:
            return
        if self.tokenizer.mask is None:
            raise ValueError(f"the tokenizer of {self.name} has no entry for hidden words; train it with mask=True")
        (said,) = self.tokenizer.encode([self.tokenizer.entry(self.tokenizer.mask)], start=False, stop=False)
        self._spoken = said == [self.tokenizer.mask]

    @answer_familiar
    def __call__(self, inputs: Sequence[str], *, top: int = 5, progress: Progress | None = None) -> list[Filled]:
        """The `top` guesses at each hidden word, which is written as [MASK], <mask> or _."""
        self.check_tokenizer()
        given = [inputs] if isinstance(inputs, str) else list(inputs)
        if not 1 <= top <= self.tokenizer.vocab:
            raise ValueError(f"{top} guesses cannot be given; ask for 1 to {self.tokenizer.vocab}")
        rows = [self._hide(index, text) for index, text in enumerate(given)]
        chances = self.ask(rows, self._guess, progress=progress)
        return [self._fill(text, each, top) for text, each in zip(given, chances, strict=True)]

    @answer_familiar
    def evaluate(self, data: str, *, split: str = "", limit: int = 0, progress: Progress | None = None) -> Evaluation:
        """Every piece of every sentence is hidden alone: how often it is guessed, and the pseudo-perplexity.

        Pseudo-perplexity is of Salazar 2020. `data` is a named set, a file or a folder of text, or a table of texts. Of
        a file of text all lines are read, unless a `split` of it is asked for.
        """
        split = split or (ALL if Path(data).is_file() and not data.endswith(TABLES) else "test")
        texts = list(islice(_sentences(data, split), limit or None))
        if not texts:
            raise ValueError(f"{data} has no sentence in its split {split!r}; choose other data")
        began, ranks, surprise = time.perf_counter(), list[int](), 0.0
        rows = self.rows(texts, cut=True)  # what is too long is cut, as it was in training
        hidden = [(row, i) for row in rows for i in self._said(row)]
        for start in range(0, len(hidden), TOGETHER):
            some = hidden[start : start + TOGETHER]
            answers = self.ask([_without(row, i, self.tokenizer.mask) for row, i in some], self._guess)
            for (row, i), chances in zip(some, answers, strict=True):
                right = chances[0, row.ids[i]]
                surprise -= float(right.clamp(min=1e-30).log())
                ranks.append(int((chances[0] > right).sum()))
            if progress is not None:
                progress(min(1.0, (start + TOGETHER) / len(hidden)))
        if not ranks:
            raise ValueError(f"{data}, {split}, has no piece to hide; choose other data")
        named = {
            "top 1": accuracy([rank < 1 for rank in ranks]),
            "top 5": accuracy([rank < 5 for rank in ranks]),
            "pseudo-perplexity": Score(math.exp(surprise / len(ranks)), higher_is_better=False, count=len(ranks)),
        }
        seconds = time.perf_counter() - began
        return Evaluation(self.name, data, split, len(texts), seconds, named, {"hidden": "one piece at a time"})

    @answer_familiar
    def attend(
        self, given: Given, *, edits: Edits | None = None, top: int = 5, own: Sequence[str | None] = ()
    ) -> Reading:
        """Which words each word looks at while the hidden ones are guessed, in a text or in two.

        `own` names what each of them hides, where that is known: a word of several pieces hides as many places, and how
        likely it is there is part of the output.
        """
        self.check_tokenizer()
        texts = [given] if isinstance(given, str) else list(given)
        text, pieces = "\t".join(texts), self._pieces("\t".join(texts), own)
        row = self._hide(0, given, [len(each) for each in pieces])

        def then(ids: Tensor, segments: Tensor) -> Filled:
            chances = self._guess(ids, segments, None)[0]
            known = [piece for each in pieces for piece in each]
            found = self._fill(text, chances, top, [len(each) for each in pieces])
            return replace(found, own=tuple(map(self._know, known, chances))) if own else found

        output, axes, maps, trace = self.watch(row, then, edits)
        return Reading(self.name, axes, maps, trace, output, f"“{text}” → “{output.text}”")

    def _pieces(self, text: str, own: Sequence[str | None]) -> list[list[int | None]]:
        """The pieces that each hidden word of a text hides; one that nobody knows, where none are told."""
        found: list[list[int | None]] = []
        for place, match in enumerate(HIDDEN.finditer(text)):
            word = own[place] if place < len(own) else None
            # A byte-level piece begins with the space before it.
            inside = self.tokenizer.kind == "bytes" and text[: match.start()].endswith(" ")
            ids = [] if not word else self.tokenizer.encode([f"{' ' * inside}{word}"], start=False, stop=False)[0]
            found.append(list(ids) or [None])
        return found

    def _know(self, piece: int | None, chances: Float[Tensor, " v"]) -> Known | None:
        if piece is None:
            return None
        return Known(self._say(piece), float(chances[piece]), int((chances > chances[piece]).sum()))

    def _guess(
        self, ids: Int[Tensor, "1 n"], segments: Int[Tensor, "1 n"], texts: Packed | None
    ) -> list[Float[Tensor, "_ v"]]:
        """The probability of each entry at each hidden place, text by text."""
        hidden = ids[0] == self.tokenizer.mask
        # The product with the vocabulary costs as much as a small encoder, so that it is made where it is asked for.
        logits = self.model.head.words(self.read(ids, segments, texts)[hidden]).float()
        lengths = [ids.shape[1]] if texts is None else list(texts.lengths)
        return list(logits[:, : self.tokenizer.vocab].softmax(-1).split([int(n.sum()) for n in hidden.split(lengths)]))

    def _fill(self, text: str, chances: Float[Tensor, "m v"], top: int, counts: Sequence[int] = ()) -> Filled:
        """The text with its guesses, some of which may be for several pieces of one word."""
        best = chances.topk(top)
        guesses = tuple(
            tuple(Guess(self._say(i), chance) for i, chance in zip(ids, values, strict=True))
            for ids, values in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        )
        first = iter([some[0].word for some in guesses])
        several = chain(counts, repeat(1))
        said = lambda _: "".join(islice(first, next(several))).replace("##", "")  # noqa: E731
        return Filled(HIDDEN.sub(said if counts else lambda _: next(first), text), guesses)

    def _say(self, i: int) -> str:
        """A piece as it stands in a text; one that goes on with a word begins with ##."""
        if i in self.tokenizer.specials:
            return str(self.tokenizer.entry(i))
        inside = self.tokenizer.kind == "pieces" and self.tokenizer.entry(i).startswith("##")
        return f"{'##' if inside else ''}{self.tokenizer.words([i]).labels[0]}"

    def _hide(self, index: int, given: Given, counts: Sequence[int] = ()) -> Window:
        """The row of a text, or of two, with hidden words, which hide `counts` pieces, or one each."""
        texts = [given] if isinstance(given, str) else list(given)
        if not all(isinstance(text, str) for text in texts):
            raise TypeError(f"text {index} is {type(given).__name__}; give a text, or two that belong together")
        if not any(map(HIDDEN.search, texts)):
            raise ValueError("it hides no word; write [MASK], <mask> or _ where one is to be guessed")
        several = chain(counts, repeat(1))
        if self._spoken:
            row: Window
            mask = self.tokenizer.entry(self.tokenizer.mask)
            ((row,),) = self.tokenizer.windows(
                [tuple(HIDDEN.sub(lambda _: mask * next(several), text) for text in texts)]
            )
        else:
            row = self._joined([HIDDEN.split(text) for text in texts], several)
        if len(row.ids) > self.limit:
            raise TooLongError(index, len(row.ids), self.limit)
        return row

    def _joined(self, texts: Sequence[Sequence[str]], several: Iterator[int]) -> Window:
        """A row in which a special that a text spells out, as of a tokenizer trained here, would be plain text."""
        ids, segments = [self.tokenizer.start], [0]
        for number, parts in enumerate(texts):
            # A byte-level piece begins with the space before it, and so does the hidden one.
            ended = [part.removesuffix(" ") for part in parts[:-1]] if self.tokenizer.kind == "bytes" else parts[:-1]
            first, *pieces = self.tokenizer.encode([*ended, parts[-1]], start=False, stop=False)
            ids += first
            for more in pieces:
                ids += [*[self.tokenizer.mask] * next(several), *more]
            ids.append(self.tokenizer.stop)
            segments += [number] * (len(ids) - len(segments))
        return Window(ids, segments, [None] * len(ids))

    def _said(self, row: Window) -> list[int]:
        """The places of a row where words stand."""
        return [i for i, each in enumerate(row.ids) if each not in self.tokenizer.specials]


def _without(row: Window, i: int, mask: int) -> Window:
    return replace(row, ids=[*row.ids[:i], mask, *row.ids[i + 1 :]])


def _sentences(data: str, split: str) -> Iterable[str]:
    """The lines of a file, the sentences of a text, or the texts of a table."""
    if split == ALL:
        return (line.strip() for line in lines(Path(data)) if line.strip())
    if (data in SETS and data != "world" and SETS[data].kind != "text") or data.endswith(TABLES):
        return dict.fromkeys(text for texts, _ in labelled(data, split) for text in texts)
    return (sentence for document in documents(data, split) for sentence in document)


PIPELINE = Fill
