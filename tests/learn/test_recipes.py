"""Each recipe learns something within seconds: a written number that guessing does not reach."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from regard.hub import load
from regard.recipes import classify, embed, parse, recall, tag, translate, writer
from regard.train.loop import fit
from regard.train.plan import Plan
from regard.train.run import samples

SHAPE = ("width=48", "depth=1", "heads=4", "hidden=96", "dropout=0")
QUICK: dict[str, Any] = dict(warmup=20, lr=5e-3, tokens=1000, threads=1, precision="float32")


def taught(recipe: Plan, module: Any, folder: Path) -> tuple[float, dict[str, Any]]:
    """The best score of a recipe, and the card of the model it leaves."""
    outcome = fit(module.build(recipe), recipe, folder, recipe=module.__name__.rpartition(".")[2], quiet=True)
    assert outcome.best is not None
    assert load(folder / "model").card == json.loads((folder / "model" / "card.json").read_text())
    return outcome.best, dict(load(folder / "model").card)


def test_translation_of_short_sentences_is_learnt(tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    shape: dict[str, Any] = dict(vocab=500, set=SHAPE, label_smoothing=0.0)
    recipe = translate.Recipe(
        data="world", source="it", target="en", length=(3, 4), pairs=2000, steps=150, evaluate=150, **shape, **QUICK
    )
    bleu, card = taught(recipe, translate, tmp_path)
    assert bleu > 10
    assert card["languages"] == {"source": ["it"], "target": ["en"]}
    assert card["task"] == "translate"
    (shown,) = samples(tmp_path)
    assert shown["step"] == 150
    assert [set(each) for each in shown["samples"]] == [{"read", "wanted", "written"}] * writer.SHOWN
    assert all(len(set(each.values())) > 1 and "" not in each.values() for each in shown["samples"])


def test_parsing_of_short_sentences_is_learnt(tmp_path: Path) -> None:
    shape: dict[str, Any] = dict(vocab=500, set=SHAPE)
    recipe = parse.Recipe(trees=2000, length=(3, 5), steps=150, evaluate=150, **shape, **QUICK)
    f1, card = taught(recipe, parse, tmp_path)
    assert f1 > 70
    assert card["measured"]["test f1"] > 60
    assert card["measured"]["longest learnt"] == 6  # with the full stop


def test_recall_over_a_few_words_is_learnt(tmp_path: Path) -> None:
    recipe = recall.Recipe(
        model="memnet-nano",
        set=("width=48", "hops=2"),
        distance=4,
        pairs=2,
        words=4,
        items=3000,
        steps=200,
        evaluate=200,
        **QUICK,
    )
    accuracy, card = taught(recipe, recall, tmp_path)
    assert accuracy > 80  # who forgets the keys is right half of the time
    assert set(card["measured"]) == {"accuracy", "at 1", "at 2", "at 4", "at 8"}


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
    recipe = classify.Recipe(
        data=str(tmp_path / "all.tsv"),
        set=("width=24", "hidden=24", "depth=1", "dropout=0.1"),
        steps=40,
        evaluate=40,
        **QUICK,
    )
    accuracy, card = taught(recipe, classify, tmp_path / "run")
    assert accuracy > 80
    assert card["measured"]["test accuracy"] > 80


NANO = ("width=32", "heads=4", "depth=1", "hidden=64", "context=24", "dropout=0")


def test_people_and_places_are_found(tmp_path: Path) -> None:
    people, places, rest = ("Ada", "Alan", "Kurt", "Emmy"), ("Rome", "Oslo", "Bonn"), ("saw", "left", "liked")
    lines = [
        f"{who} B-PER\n{name} I-PER\n{verb} O\n{place} B-LOC\n\n"
        for who, name, verb, place in product(people, ("Smith", "Jones", "Weiss"), rest, places)
    ]
    (tmp_path / "all.conll").write_text("".join(lines))
    recipe = tag.Recipe(data=str(tmp_path / "all.conll"), model="bert-nano", set=NANO, steps=60, evaluate=60, **QUICK)
    f1, card = taught(recipe, tag, tmp_path / "run")
    assert f1 > 80
    assert card["measured"]["test f1"] > 80
    assert card["task"] == "tag"


def test_a_text_finds_the_one_that_means_the_same(tmp_path: Path) -> None:
    things, deeds = ("dog", "cat", "car", "boat", "tree", "lamp", "book"), ("falls", "burns", "moves", "stops", "sinks")
    rows = [f"a {thing} {deed}\tit {deed} , the {thing}\n" for thing, deed in product(things, deeds)]
    for split in ("train", "val"):
        (tmp_path / f"{split}.tsv").write_text("anchor\tpositive\n" + "".join(rows))
    recipe = embed.Recipe(data=str(tmp_path), model="bert-nano", set=NANO, steps=60, evaluate=60, **QUICK)
    nearest, card = taught(recipe, embed, tmp_path / "run")
    assert nearest > 80  # of a hundred, three by chance
    assert card["pooling"] == ["mean"]


def test_adapters_of_a_trained_encoder_learn_a_new_task(tmp_path: Path) -> None:
    hows = {"praise": ("good", "great", "fine", "lovely"), "blame": ("bad", "dull", "poor", "ugly")}
    said = [(f"the {thing} is {how}", label) for label, some in hows.items() for how in some for thing in "abcdefgh"]
    for split in ("train", "val", "test"):
        (tmp_path / f"{split}.csv").write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in said))
    flags: dict[str, Any] = dict(data=str(tmp_path), steps=40, evaluate=40, **QUICK)
    taught(classify.Recipe(model="bert-nano", set=NANO, **flags), classify, tmp_path / "first")
    for split in ("train", "val", "test"):
        turned = (f"{text},{'no' if label == 'praise' else 'yes'}\n" for text, label in said)
        (tmp_path / f"{split}.csv").write_text("text,label\n" + "".join(turned))
    recipe = classify.Recipe(model=str(tmp_path / "first"), lora=4, batch_size=16, **flags)
    accuracy, card = taught(recipe, classify, tmp_path / "second")
    assert accuracy > 80
    assert card["labels"] == ["no", "yes"]
    assert card["before"]["recipe"] == "classify"
    assert card["measured"]["test report"]["yes"]["count"] == 32
