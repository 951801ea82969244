"""Words get vectors from their neighbours alone: those that are used alike come to lie near each other."""

from pathlib import Path

import pytest

from regard.hub import load
from regard.recipes import words
from regard.words.algebra import near
from regard.words.vectors import Vectors
from regard.world import COLOURS
from regard.world.language import sentences, text

pytest.importorskip("numba")


def share_of_colours_near_colours(vectors: Vectors) -> float:
    """How many of the three nearest words of a colour are colours too."""
    found = [each.word for colour in COLOURS for each in near(vectors, colour, count=3).without_inputs]
    return sum(word in COLOURS for word in found) / len(found)


def test_colours_come_to_lie_near_colours(tmp_path: Path) -> None:
    told = tmp_path / "told.txt"
    told.write_text("\n".join(text(each.words) for each in sentences("en")[:6000]), encoding="utf-8")
    recipe = words.Recipe(data=str(told), width=24, epochs=12, lr=0.05, window=2, sample=0.0, threads=1)
    outcome = words.run(recipe, tmp_path / "run", quiet=True)
    assert outcome.best is not None
    learnt = Vectors.of(load(tmp_path / "run/model"))
    assert share_of_colours_near_colours(learnt) > 0.4, "by chance it would be 8 of 449"
