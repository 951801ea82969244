"""t-SNE beside its peers on the same points: exact beside scikit-learn's, and the path through openTSNE beside it."""

from collections.abc import Callable
from importlib import import_module

import numpy as np
import torch

from bench.clock import console, race, show
from regard.analysis.maps import fast_tsne, tsne
from regard.hub import load
from regard.words.vectors import Vectors


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:  # noqa: ARG001
    count, threads = (500 if quick else 2000), torch.get_num_threads()
    points = np.ascontiguousarray(Vectors.of(load("words-en")).matrix[: 2 * count], np.float32)
    return _exact(points[:count], quick=quick) + _fast(points, threads, quick=quick)


def _exact(points: np.ndarray, *, quick: bool) -> list[dict[str, object]]:
    theirs = import_module("sklearn.manifold")
    steps = 250 if quick else 1000
    kl: dict[str, float] = {}

    def ours() -> None:
        kl["regard"] = tsne(points, 30, steps=steps).facts["kl"]

    def others() -> None:
        made = theirs.TSNE(perplexity=30, method="exact", init="random", max_iter=steps, random_state=0)
        made.fit(points)
        kl["scikit-learn"] = float(made.kl_divergence_)

    found = race({"scikit-learn": others, "regard": ours}, seconds=0, least=1 if quick else 2)
    console.print(", ".join(f"{name}: KL {value:.3f}" for name, value in kl.items()))
    title = f"exact t-SNE, {len(points):,} words, {steps} steps, {torch.get_num_threads()} threads"
    return show(title, {"2-D": found}, reference="scikit-learn")


def _fast(points: np.ndarray, threads: int, *, quick: bool) -> list[dict[str, object]]:
    try:
        theirs = import_module("openTSNE")
    except ImportError:
        console.print("openTSNE is left out: it is not installed.")
        return []
    contestants: dict[str, Callable[[], object]] = {
        "openTSNE": lambda: theirs.TSNE(perplexity=30, random_state=0, n_jobs=threads).fit(points),
        "regard, through it": lambda: fast_tsne(points, 30, seed=0, threads=threads),
    }
    found = race(contestants, seconds=0, least=2 if quick else 3)
    return show(f"fast t-SNE, {len(points):,} words, {threads} threads", {"2-D": found}, reference="openTSNE")
