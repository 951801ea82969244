"""Each recipe learns something within seconds: a written number that guessing does not reach."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from regard.hub import load
from regard.recipes import parse, recall, sentiment, translate
from regard.train.loop import fit
from regard.train.plan import Plan
from regard.train.run import samples

QUICK: dict[str, Any] = dict(warmup=20, lr=5e-3, tokens=1000, threads=1, precision="float32")


def taught(recipe: Plan, module: Any, folder: Path) -> tuple[float, dict[str, Any]]:
    """The best score of a recipe, and the card of the model it leaves."""
    task, card = module.build(recipe)
    outcome = fit(task, recipe, folder, recipe=module.__name__.rpartition(".")[2], card=card, quiet=True)
    assert outcome.best is not None
    assert load(folder / "model").card == json.loads((folder / "model" / "card.json").read_text())
    return outcome.best, dict(load(folder / "model").card)


def test_translation_of_short_sentences_is_learnt(tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    shape: dict[str, Any] = dict(vocab=500, width=48, depth=1, heads=4, hidden=96, dropout=0.0, label_smoothing=0.0)
    recipe = translate.Recipe(
        data="world", source="it", target="en", length=(3, 4), pairs=2000, steps=150, evaluate=150, **shape, **QUICK
    )
    bleu, card = taught(recipe, translate, tmp_path)
    assert bleu > 10
    assert card["source"] == "it"
    (shown,) = samples(tmp_path)
    assert shown["step"] == 150
    assert [set(each) for each in shown["samples"]] == [{"read", "wanted", "written"}] * translate.SHOWN
    assert all(len(set(each.values())) > 1 and "" not in each.values() for each in shown["samples"])


def test_parsing_of_short_sentences_is_learnt(tmp_path: Path) -> None:
    shape: dict[str, Any] = dict(vocab=500, width=48, depth=1, heads=4, hidden=96, dropout=0.0)
    recipe = parse.Recipe(trees=2000, length=(3, 5), steps=150, evaluate=150, **shape, **QUICK)
    f1, card = taught(recipe, parse, tmp_path)
    assert f1 > 70
    assert card["measured"]["test f1"] > 60
    assert card["measured"]["longest learnt"] == 6  # with the full stop


def test_recall_over_a_few_words_is_learnt(tmp_path: Path) -> None:
    recipe = recall.Recipe(
        model="memnet", distance=4, pairs=2, words=4, items=3000, width=24, steps=200, evaluate=200, **QUICK
    )
    accuracy, card = taught(recipe, recall, tmp_path)
    assert accuracy > 80  # who forgets the keys is right half of the time
    assert set(card["measured"]) == {"at 1", "at 2", "at 4", "at 8"}


def test_praise_and_blame_are_told_apart(tmp_path: Path) -> None:
    words = ("film", "book", "song", "meal", "play"), ("was", "seems", "is"), ("really", "rather", "so", "very")
    verdicts = {"praise": ("good", "great", "fine", "lovely"), "blame": ("bad", "dull", "poor", "ugly")}
    rows = [
        f"the {' '.join(said)} {how}\t{label}\n"
        for label, hows in verdicts.items()
        for how in hows
        for said in product(*words)
    ]
    (tmp_path / "all.tsv").write_text("".join(rows))  # 480, of which a twentieth is for each score
    recipe = sentiment.Recipe(
        data=str(tmp_path / "all.tsv"), width=24, hidden=24, dropout=0.1, steps=40, evaluate=40, **QUICK
    )
    accuracy, card = taught(recipe, sentiment, tmp_path / "run")
    assert accuracy > 80
    assert card["measured"]["test accuracy"] > 80
