"""Fill: a text with hidden words in, guesses at each of them out.

fill = regard.load("hub:google-bert/bert-base-uncased")
fill(["Paris is the [MASK] of France."])[0].guesses[0][0].word
"""

import math
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from jaxtyping import Float, Int
from torch import Tensor

from regard.analysis.reading import Reading
from regard.analysis.scores import Score, accuracy
from regard.attention import Packed
from regard.data import SETS, documents, labelled, lines
from regard.hub import Checkpoint
from regard.pipelines.encoder import Encoder
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
class Filled:
    """The text with the likeliest words in it, and the guesses at each hidden word, the likeliest first."""

    text: str
    guesses: tuple[tuple[Guess, ...], ...]


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
    def attend(self, given: str, *, edits: Edits | None = None, top: int = 5) -> Reading:
        """Which words each word looks at while the hidden ones are guessed."""
        self.check_tokenizer()
        row = self._hide(0, given)

        def then(ids: Tensor, segments: Tensor) -> Filled:
            return self._fill(given, self._guess(ids, segments, None)[0], top)

        output, axes, maps, trace = self.watch(row, then, edits)
        return Reading(self.name, axes, maps, trace, output, f"“{given}” → “{output.text}”")

    def _guess(
        self, ids: Int[Tensor, "1 n"], segments: Int[Tensor, "1 n"], texts: Packed | None
    ) -> list[Float[Tensor, "_ v"]]:
        """The probability of each entry at each hidden place, text by text."""
        hidden = ids[0] == self.tokenizer.mask
        # The product with the vocabulary costs as much as a small encoder, so that it is made where it is asked for.
        logits = self.model.head.words(self.read(ids, segments, texts)[hidden]).float()
        lengths = [ids.shape[1]] if texts is None else list(texts.lengths)
        return list(logits[:, : self.tokenizer.vocab].softmax(-1).split([int(n.sum()) for n in hidden.split(lengths)]))

    def _fill(self, text: str, chances: Float[Tensor, "m v"], top: int) -> Filled:
        best = chances.topk(top)
        guesses = tuple(
            tuple(Guess(self._say(i), chance) for i, chance in zip(ids, values, strict=True))
            for ids, values in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        )
        first = iter(guesses)
        return Filled(HIDDEN.sub(lambda _: next(first)[0].word, text), guesses)

    def _say(self, i: int) -> str:
        """A piece as it stands in a text; one that goes on with a word begins with ##."""
        if i in self.tokenizer.specials:
            return str(self.tokenizer.entry(i))
        inside = self.tokenizer.kind == "pieces" and self.tokenizer.entry(i).startswith("##")
        return f"{'##' if inside else ''}{self.tokenizer.words([i]).labels[0]}"

    def _hide(self, index: int, text: str) -> Window:
        """The row of a text with hidden words."""
        if not isinstance(text, str):
            raise TypeError(f"text {index} is {type(text).__name__}, and hidden words are guessed in one text alone")
        parts = HIDDEN.split(text)
        if len(parts) == 1:
            raise ValueError("it hides no word; write [MASK], <mask> or _ where one is to be guessed")
        if self._spoken:
            row: Window
            ((row,),) = self.tokenizer.windows([(self.tokenizer.entry(self.tokenizer.mask).join(parts),)])
        else:
            row = self._joined(parts)
        if len(row.ids) > self.limit:
            raise TooLongError(index, len(row.ids), self.limit)
        return row

    def _joined(self, parts: Sequence[str]) -> Window:
        """A row in which a special that a text spells out, as of a tokenizer trained here, would be plain text."""
        # A byte-level piece begins with the space before it, and so does the hidden one.
        ended = [part.removesuffix(" ") for part in parts[:-1]] if self.tokenizer.kind == "bytes" else parts[:-1]
        pieces = self.tokenizer.encode([*ended, parts[-1]], start=False, stop=False)
        ids = [self.tokenizer.start, *pieces[0]]
        for more in pieces[1:]:
            ids += [self.tokenizer.mask, *more]
        ids.append(self.tokenizer.stop)
        return Window(ids, [0] * len(ids), [None] * len(ids))

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
