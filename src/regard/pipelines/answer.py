"""Answer: a question and a text in, the part of the text that answers it out.

answer = regard.load("hub:deepset/tinyroberta-squad2")
answer([("Who sleeps?", "The dog runs and the cat sleeps.")])[0].text
"""

import re
import string
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.analysis.reading import Reading
from regard.analysis.scores import mean
from regard.attention import Packed
from regard.data.questions import questions
from regard.pipelines.encoder import Encoder, Given
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pipeline import Edits, Evaluation
from regard.progress import Progress
from regard.text.template import Window

LONGEST = 30  # pieces of an answer
OVERLAP = 128  # pieces that two windows of a long text share


@dataclass(frozen=True, slots=True)
class Answer:
    """A part of the text from one character to before another, how likely it is, and that there is no answer at all."""

    text: str
    start: int
    end: int
    score: float
    none: float
    alternatives: tuple["Answer", ...] = ()


class Answers(Encoder):
    """A model that finds the span of a text which answers a question; long texts are read in windows that overlap."""

    task, takes, gives = "answer", "question, tab, text", "part of the text"
    needs = ("spans",)

    @answer_familiar
    def __call__(self, inputs: Sequence[Given], *, top: int = 1, progress: Progress | None = None) -> list[Answer]:
        """The best answer to each pair of question and text, with the next best as its `alternatives`.

        A pair is a tuple, or one string with a tab between.
        """
        if top < 1:
            raise ValueError(f"{top} answers cannot be given; ask for 1 or more")
        pairs = [_pair(each) for each in ([inputs] if isinstance(inputs, str) else inputs)]
        return self._answer(pairs, top, progress)

    def _answer(self, pairs: Sequence[tuple[str, str]], top: int, progress: Progress | None) -> list[Answer]:
        self.check_tokenizer()
        windows = self.tokenizer.windows(pairs, limit=self.limit, overlap=min(OVERLAP, self.limit // 4))
        chances = iter(self.ask([row for rows in windows for row in rows], self._take, progress=progress))
        return [
            self._choose(text, [(row, next(chances)) for row in rows], top)
            for (_, text), rows in zip(pairs, windows, strict=True)
        ]

    @answer_familiar
    def evaluate(self, data: str, *, split: str = "", limit: int = 0, progress: Progress | None = None) -> Evaluation:
        """Exact match and the F1 of words, as SQuAD computes them; `data` is a file in its form, without splits."""
        asked = questions(data)[: limit or None]
        if not asked:
            raise ValueError(f"{data} has no question; choose other data")
        began = time.perf_counter()
        found = self._answer([(each.question, each.context) for each in asked], 1, progress)
        seconds = time.perf_counter() - began
        texts = ["" if each.none > each.score else each.text for each in found]
        named = {
            "exact": mean([_best(_exact, text, each.answers) for text, each in zip(texts, asked, strict=True)]),
            "f1": mean([_best(_overlap, text, each.answers) for text, each in zip(texts, asked, strict=True)]),
        }
        return Evaluation(self.name, data, split, len(asked), seconds, named, {}, texts)

    @answer_familiar
    def attend(self, given: Given, *, edits: Edits | None = None) -> Reading:
        """Which words each word looks at, in question and text, as far as they fit into one window."""
        question, text = _pair(given)
        (row,) = self.rows([(question, text)])

        def then(ids: Tensor, segments: Tensor) -> Answer:
            return self._choose(text, [(row, self._take(ids, segments, None)[0])], 1)

        output, axes, maps, trace = self.watch(row, then, edits)
        return Reading(self.name, axes, maps, trace, output, f"“{question}” → “{output.text}”")

    def _take(
        self, ids: Int[Tensor, "1 n"], segments: Int[Tensor, "1 n"], texts: Packed | None
    ) -> list[Float[Tensor, "_ 2"]]:
        """How much each piece is like the first and the last of an answer, window by window."""
        logits = self.run(ids, segments, texts).logits[0].float()
        return list(logits.split([ids.shape[1]] if texts is None else list(texts.lengths)))

    def _choose(self, text: str, windows: Sequence[tuple[Window, Float[Tensor, "_ 2"]]], top: int) -> Answer:
        """The likeliest spans of all windows; the first token of a window stands for no answer (Devlin 2019, §4.3)."""
        found: dict[tuple[int, int], float] = {}
        none = 1.0
        for row, logits in windows:
            real = torch.tensor([place is not None for place in row.places], device=logits.device)
            allowed = real.clone()
            allowed[0] = True
            first, last = logits.masked_fill(~allowed[:, None], -torch.inf).softmax(dim=0).unbind(-1)
            none = min(none, float(first[0] * last[0]))
            both = (first * real)[:, None] * (last * real)
            both = both.triu().tril(LONGEST - 1)
            best = both.flatten().topk(min(top, both.numel()))
            for chance, cell in zip(best.values.tolist(), best.indices.tolist(), strict=True):
                begin, end = row.places[cell // len(row.ids)], row.places[cell % len(row.ids)]
                if begin is not None and end is not None:
                    place = _trim(text, begin[0], end[1])
                    found[place] = max(chance, found.get(place, 0.0))
        best_first = sorted(found.items(), key=lambda item: -item[1])[:top] or [((0, 0), 0.0)]
        answers = [Answer(text[start:end], start, end, chance, none) for (start, end), chance in best_first]
        one = answers[0]
        return Answer(one.text, one.start, one.end, one.score, none, tuple(answers[1:]))


def _pair(given: Given) -> tuple[str, str]:
    question, tab, text = given.partition("\t") if isinstance(given, str) else (given[0], "\t", given[-1])
    if not tab or not question.strip() or not text.strip():
        raise ValueError("it is no question and text; give both, with a tab between them")
    return question, text


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The place of a part without the spaces around it."""
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    return start, start + len(part.strip())


def _best(score: Callable[[str, str], float], text: str, answers: Sequence[str]) -> float:
    return max(score(text, each) for each in answers or ("",))


def _words(text: str) -> list[str]:
    """Words as SQuAD compares them: in lower case, without punctuation and articles."""
    plain = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", plain).split()


def _exact(text: str, right: str) -> float:
    return float(_words(text) == _words(right))


def _overlap(text: str, right: str) -> float:
    said, wanted = Counter(_words(text)), Counter(_words(right))
    if not said or not wanted:
        return float(said == wanted)
    same = (said & wanted).total()
    return 2 * same / (said.total() + wanted.total())


PIPELINE = Answers
