"""Words per second of word2vec's training beside gensim's, as many threads as workers, and what both have learnt."""

import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from bench.clock import Times, console, show
from regard.data import wikifil
from regard.data.sets import wordtests
from regard.data.stretch import Stretch, size
from regard.train.hogwild import PIECE, Hogwild, Settings
from regard.words.benchmarks import analogies
from regard.words.counting import Vocabulary, cut_words, number, vocabulary
from regard.words.vectors import Vectors

PIECE_OF_TEXT = 4_000_000  # bytes of the cleaned enwik8, for a first look
FIRST = 30_000  # words that analogies are asked of
THEIRS = "gensim"
Trained = tuple[float, np.ndarray, list[str]]  # seconds, vectors, words


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:  # noqa: ARG001
    path, epochs, threads = wikifil.enwik8(), 1 if quick else 5, torch.get_num_threads()
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
    right: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(2 if quick else 3):  # in turns, so that a slow moment of the machine strikes all of them
        for name, train in contestants.items():
            seconds, vectors, learnt = train()
            times[name].append(seconds)
            right[name].append(_analogies(vectors, learnt))
    for name in contestants:
        speed = ", ".join(f"{words / seconds:,.0f}" for seconds in times[name])
        console.print(
            f"{name}: {speed} words/s; analogies right {median(right[name]):.1%} of the first {FIRST:,} words"
        )
    title = f"word2vec, {words:,} words, {threads} threads, skip-gram, width 100"
    numbers = show(title, {"enwik8": {n: Times(tuple(t)) for n, t in times.items()}}, reference=next(iter(contestants)))
    return [row | {"analogies": median(right[str(row["who"])])} for row in numbers]


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


def _analogies(vectors: np.ndarray, words: list[str]) -> float:
    questions = [each for each in wordtests.read("analogies") if isinstance(each, wordtests.Analogy)]
    found = analogies(Vectors(words, vectors).first(FIRST), questions)
    return float(found.without_inputs.mean()) if len(found.without_inputs) else 0.0
