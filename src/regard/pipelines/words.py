"""Words: an expression such as king - man + woman in, the nearest words out, by both rules.

words = regard.load("glove.6B.50d.txt")                  # a file of vectors, or the folder of a model
words("king - man + woman")[0].without_inputs[0].word    # "queen"; .with_inputs has the words of the question too
words.evaluate("analogies")                              # or wordsim, simlex, a file of your own
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from jaxtyping import Bool
from torch import nn

from regard.analysis.reading import Reading
from regard.analysis.scores import Score, accuracy, pearson, spearman
from regard.data import DataError
from regard.data.sets import wordtests
from regard.data.sets.wordtests import Alike, Analogy, Questions
from regard.hub import Checkpoint
from regard.names import unknown
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pipeline import Edits, Evaluation, Pipeline
from regard.progress import Progress
from regard.words import algebra, benchmarks
from regard.words.algebra import Answer, Odd
from regard.words.vectors import Vectors

Q = TypeVar("Q", Analogy, Alike)

ASKED = 30_000  # the most frequent words, which analogies are customarily asked of
SYNTACTIC = "gram"  # what the sections about forms of words begin with


class Table(nn.Module):
    """Vectors from a file as a model: a matrix that is looked up."""

    def __init__(self, vectors: Vectors) -> None:
        super().__init__()
        self.embed = nn.Embedding.from_pretrained(torch.from_numpy(vectors.matrix))


class Words(Pipeline):
    """Words by their vectors. Nothing is computed but directions and their cosines."""

    task, takes, gives = "words", "expression", "words"

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512, vectors: Vectors | None = None) -> None:
        super().__init__(checkpoint, limit=limit)
        self.vectors = Vectors.of(checkpoint) if vectors is None else vectors

    @staticmethod
    def on(vectors: Vectors, *, folder: Path = Path()) -> "Words":
        """The pipeline of vectors that are here already."""
        title = f"{len(vectors):,} words with {vectors.width} numbers each"
        card = {"task": "words", "title": title}
        return Words(Checkpoint(Table(vectors), None, None, card, folder, vectors.name), vectors=vectors)

    @answer_familiar
    def __call__(self, inputs: str | Sequence[str], *, count: int = 10) -> list[Answer]:
        """The nearest words to each expression, by both rules."""
        given = [inputs] if isinstance(inputs, str) else list(inputs)
        return [algebra.solve(self.vectors, each, count=count) for each in given]

    @answer_familiar
    def near(self, word: str, *, count: int = 10) -> Answer:
        """The nearest words to one word."""
        return algebra.near(self.vectors, word, count=count)

    def odd(self, words: Sequence[str]) -> Odd:
        """Which of several words does not belong."""
        return algebra.odd(self.vectors, words)

    @answer_familiar
    def evaluate(
        self,
        data: str,
        *,
        split: str = "",
        limit: int = 0,
        restrict_vocab: int | None = None,
        progress: Progress | None = None,
    ) -> Evaluation:
        """Analogies by section, or how well cosines rank pairs of words as people do; of questions whose words it has.

        `data` is analogies, wordsim, simlex or a file of your own. `restrict_vocab` takes the first so many words
        alone: 30,000 for analogies, if left out, and all of them for pairs.
        """
        questions, name = _questions(data, split)
        questions = questions[: limit or None]
        analogies = isinstance(questions[0], Analogy)
        most = restrict_vocab if restrict_vocab is not None else ASKED if analogies else len(self.vectors)
        vectors = self.vectors.first(most)
        settings = {"restrict_vocab": len(vectors), "compared by": "cosine", "case": "ignored"}
        began = time.perf_counter()
        found: benchmarks.Analogies | benchmarks.Pairs
        if analogies:
            found = benchmarks.analogies(vectors, _of(Analogy, questions), progress=progress)
        else:
            found = benchmarks.pairs(vectors, _of(Alike, questions))
        seconds = time.perf_counter() - began
        if found.known.sum() < 2:
            raise ValueError(
                f"{self.name} has the words of {int(found.known.sum())} of {len(questions)} questions of {data}, and "
                f"2 are measured at least; take vectors of the same language"
            )
        if isinstance(found, benchmarks.Analogies):
            scores, lines = _analogies(found, [each.section for each in _of(Analogy, questions)]), found.answers
        else:
            scores, lines = _pairs(found), tuple(f"{cosine:.6f}" for cosine in found.cosines)
        return Evaluation(self.name, name, "test", len(questions), seconds, scores, settings, lines)

    def attend(self, given: str, *, edits: Edits | None = None) -> Reading:  # noqa: ARG002
        """Nothing looks here, and this says so."""
        raise ValueError(
            f"{self.name} looks up a vector for each word of {str(given)[:40]!r}, and no word looks at another; look "
            f"into a model that reads, such as one of the task fill"
        )


def _questions(data: str, split: str) -> tuple[Questions, str]:
    """The questions of a named test, which may be said as a split of word-tests, or of a file; and their name."""
    tests = wordtests.DATASET.splits
    named = split if data == wordtests.DATASET.name else data
    if named in tests and (data != named or not split):
        return wordtests.read(named), named
    if data == wordtests.DATASET.name or (split and data in tests):
        raise ValueError(f"{data} has no split {split!r}; give one of {', '.join(tests)} in place of {data}")
    path = Path(data)
    if not path.is_file():
        raise DataError(f"{unknown('test of word vectors', data, tests)}, or give a file that is there")
    return wordtests.read_own(path), path.name


def _of(kind: type[Q], questions: Questions) -> list[Q]:
    return [each for each in questions if isinstance(each, kind)]


def _analogies(found: benchmarks.Analogies, every: Sequence[str]) -> dict[str, Score]:
    """What is right of all, of meanings and of forms apart, and of each section; the rule is in the name."""
    sections, scores = np.asarray(found.sections), dict[str, Score]()
    groups = {section: sections == section for section in dict.fromkeys(found.sections)}
    forms = np.char.startswith(sections, SYNTACTIC)
    if forms.any() and not forms.all():
        groups = {"semantic": ~forms, "syntactic": forms} | groups
    rules = {"accuracy": found.without_inputs, "accuracy_with_inputs": found.with_inputs}
    for rule, hits in rules.items():
        scores[rule] = accuracy(hits.tolist())
        scores |= {f"{rule}/{name}": accuracy(hits[inside].tolist()) for name, inside in groups.items()}
    # How often the nearest of all words is one that was asked with, which the first rule leaves out.
    scores["answers_an_input"] = replace(accuracy(found.repeated.tolist()), higher_is_better=False)
    scores["coverage"] = _coverage(found.known)
    for name in dict.fromkeys(every):
        scores[f"coverage/{name}"] = _coverage(found.known[np.asarray(every) == name])
    return scores


def _pairs(found: benchmarks.Pairs) -> dict[str, Score]:
    cosines, right = found.cosines.tolist(), found.scores.tolist()
    return {
        "spearman": spearman(cosines, right),
        "pearson": pearson(cosines, right),
        "coverage": _coverage(found.known),
    }


def _coverage(known: Bool[np.ndarray, " q"]) -> Score:
    """The percentage of questions all of whose words have vectors; the questions are what they are, without chance."""
    return Score(100 * float(known.mean()), count=len(known))


PIPELINE = Words
