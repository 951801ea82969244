"""Words per second of word2vec's training beside gensim's, as many threads as workers, and what both have learnt.

Then how fast vectors are opened (`opening.py`) and put on a map (`maps.py`).
"""

import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from bench import maps, opening
from bench.clock import Times, console, show
from regard.analysis.scores import spearman
from regard.data import wikifil
from regard.data.sets import wordtests
from regard.data.stretch import Stretch, size
from regard.train.hogwild import PIECE, Hogwild, Settings
from regard.words.benchmarks import analogies, pairs
from regard.words.counting import Vocabulary, cut_words, number, vocabulary
from regard.words.vectors import Vectors

PIECE_OF_TEXT = 4_000_000  # bytes of the cleaned enwik8, for a first look
FIRST = 30_000  # words that analogies are asked of
THEIRS = "gensim"
Learnt = dict[str, float]  # scores by name
Trained = tuple[float, np.ndarray, list[str]]  # seconds, vectors, words


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:
    path, epochs, threads = wikifil.enwik8(), 1, torch.get_num_threads()
    end = min(PIECE_OF_TEXT, size(path)) if quick else size(path)
    lines = list(cut_words(Stretch(path, 0, end).blocks(), "spaces"))
    known = vocabulary("enwik8", lines, min_count=5)
    with tempfile.TemporaryDirectory() as folder:
        ids = np.array(number(lines, known, Path(folder) / "ids"))
    contestants: dict[str, Callable[[], Trained]] = {
        "regard": lambda: _ours(ids, known, epochs, threads, shared=True),
        "regard, each pair its own negatives": lambda: _ours(ids, known, epochs, threads, shared=False),
    }
    try:
        gensim = import_module("gensim.models")
        contestants = {THEIRS: lambda: _theirs(gensim, lines, epochs, threads)} | contestants
    except ImportError:
        console.print("gensim is left out: it is not installed.")
    words = epochs * int(known.counts.sum())
    times: dict[str, list[float]] = {name: [] for name in contestants}
    learnt: dict[str, list[Learnt]] = {name: [] for name in contestants}
    for _ in range(2):  # in turns, so that a slow moment of the machine strikes all of them
        for name, train in contestants.items():
            seconds, vectors, order = train()
            times[name].append(seconds)
            learnt[name].append(_scores(Vectors(order, vectors)))
    for name in contestants:
        speed = ", ".join(f"{words / seconds:,.0f}" for seconds in times[name])
        told = ", ".join(f"{what} {median(each[what] for each in learnt[name]):.3f}" for what in learnt[name][0])
        console.print(f"{name}: {speed} words/s; {told}")
    title = f"word2vec, {words:,} words, {threads} threads, skip-gram, width 100"
    numbers = show(title, {"enwik8": {n: Times(tuple(t)) for n, t in times.items()}}, reference=next(iter(contestants)))
    scored = [
        row | {what: median(each[what] for each in learnt[str(row["who"])]) for what in learnt[str(row["who"])][0]}
        for row in numbers
    ]
    return [*scored, *opening.run(quick=quick, bfloat16=bfloat16), *maps.run(quick=quick, bfloat16=bfloat16)]


def _ours(ids: np.ndarray, known: Vocabulary, epochs: int, threads: int, *, shared: bool) -> Trained:
    trained = Hogwild(ids, known.counts, Settings(epochs=epochs, shared=shared), threads=threads)
    began = time.perf_counter()
    while trained.step < trained.steps:
        trained.advance()
    return time.perf_counter() - began, np.ascontiguousarray(trained.vectors), list(known.words)


def _theirs(gensim: Any, lines: list[list[str]], epochs: int, workers: int) -> Trained:
    model = gensim.Word2Vec(vector_size=100, window=5, negative=5, sample=1e-3, min_count=5, sg=1, workers=workers)
    pieces = [line[place : place + PIECE] for line in lines for place in range(0, len(line), PIECE)]
    model.build_vocab(pieces)
    began = time.perf_counter()
    model.train(pieces, total_examples=len(pieces), epochs=epochs)
    return time.perf_counter() - began, model.wv.vectors, model.wv.index_to_key


def _scores(vectors: Vectors) -> Learnt:
    """Of analogies among the most frequent words, how many are right; of pairs, Spearman's correlation with people."""
    questions = [each for each in wordtests.read("analogies") if isinstance(each, wordtests.Analogy)]
    found = {"analogies": float(analogies(vectors.first(FIRST), questions).without_inputs.mean())}
    for name in ("wordsim", "simlex"):
        asked = pairs(vectors, [each for each in wordtests.read(name) if isinstance(each, wordtests.Alike)])
        found[name] = spearman(asked.cosines.tolist(), asked.scores.tolist()).value
    return found
