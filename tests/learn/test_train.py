"""The shared loop learns something real in seconds."""

from pathlib import Path

import pytest

from regard.recipes import translate
from regard.recipes.translate import Recipe, build
from regard.train.loop import fit
from regard.train.run import metrics


def test_a_small_transformer_begins_to_translate_the_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = translate.held_out
    monkeypatch.setattr(translate, "held_out", lambda recipe: held(recipe, 20))
    recipe = Recipe(
        data="world", source="de", target="en", pairs=400, length=(3, 5), vocab=300,
        set=("width=32", "depth=1", "heads=2", "hidden=64", "dropout=0"), label_smoothing=0.0,
        steps=60, tokens=800, lr=1e-2, warmup=5, evaluate=60, save=60, precision="float32",
    )  # fmt: skip
    fit(build(recipe), recipe, tmp_path, recipe="translate", quiet=True)
    scores = list(metrics(tmp_path))[-1]
    assert scores["val_loss"] < 3.0  # log 300 = 5.7 at first
