"""Language models learn within seconds: what comes next, what is hidden, and what a teacher knows."""

from math import exp
from pathlib import Path
from typing import Any

import pytest
from tests.learn.test_recipes import taught

import regard
from regard.recipes import distill, language, pretrain

SHAPE = ("width=48", "depth=2", "heads=4", "hidden=96")
QUICK: dict[str, Any] = dict(warmup=20, lr=5e-3, tokens=1000, threads=1, precision="float32")


def test_a_language_model_learns_stories_and_goes_on_with_one(tmp_path: Path) -> None:
    shape = (*SHAPE, "context=64", "dropout=0", "attn_dropout=0")
    recipe = language.Recipe(data="world", vocab=500, texts=300, set=shape, steps=100, evaluate=100, **QUICK)
    loss, card = taught(recipe, language, tmp_path)
    assert exp(loss) < 60  # of 500 words
    assert (card["task"], card["rows"]) == ("generate", "lines")
    assert card["measured"]["test_perplexity_kneser_ney_5"] < card["measured"]["test_perplexity"] < 90
    generate: Any = regard.load(tmp_path)
    (written,) = generate(["A teacher"], max_new_tokens=12)
    assert written.text.strip()


def test_characters_of_a_file_are_learnt_as_one_stream(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("the cat sat on the mat.\n" * 400)
    shape = (*SHAPE, "context=32", "dropout=0", "attn_dropout=0")
    recipe = language.Recipe(
        data=str(tmp_path / "text.txt"), tokenizer="characters", set=shape, steps=60, evaluate=60, **QUICK
    )
    loss, card = taught(recipe, language, tmp_path / "run")
    assert loss < 1.0  # the first letters of a window cannot be known
    assert card["rows"] == "stream"


def test_an_encoder_learns_hidden_words_and_its_student_keeps_most_of_it(tmp_path: Path) -> None:
    shape = (*SHAPE, "dropout=0")
    teacher = pretrain.Recipe(
        data="world", vocab=500, documents=300, set=shape, limit=48, steps=120, evaluate=120, **QUICK
    )
    right, card = taught(teacher, pretrain, tmp_path / "teacher")
    assert right > 15
    assert card["task"] == "fill"
    assert 30 < card["measured"]["second_accuracy"] < 100
    student = distill.Recipe(teacher=str(tmp_path / "teacher"), documents=300, limit=48, steps=30, evaluate=30, **QUICK)
    _, card = taught(student, distill, tmp_path / "student")
    assert card["trained_with"]["config"]["depth"] == 1
    assert card["measured"]["of_teacher"] > 40
    with pytest.raises(ValueError, match="--vocab is decided by the teacher"):
        distill.build(distill.Recipe(teacher=str(tmp_path / "teacher"), vocab=99))


def test_an_encoder_goes_on_with_longer_passages(tmp_path: Path) -> None:
    shape = (*SHAPE, "dropout=0")
    given: dict[str, Any] = dict(data="world", documents=200, steps=20, evaluate=20, **QUICK)
    taught(pretrain.Recipe(vocab=500, set=shape, limit=32, **given), pretrain, tmp_path / "first")
    task = pretrain.build(pretrain.Recipe(begin=str(tmp_path / "first"), limit=48, **given))
    before, after = regard.hub.load(tmp_path / "first").model.state_dict(), task.model.state_dict()
    assert after["position.table"].shape == (48, 48)
    assert after["position.table"][:32].equal(before["position.table"])
    assert all(after[name].equal(before[name]) for name in before if name != "position.table")
    with pytest.raises(ValueError, match=r"--vocab is that of .*first; leave it out, or begin anew"):
        pretrain.build(pretrain.Recipe(begin=str(tmp_path / "first"), vocab=99, **given))
