"""Classifying: texts and pairs get the label that the model finds likeliest, and the report adds up."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
import torch
from tests.unit.pipelines.encoders import bert, tokenizer_of

from regard.pipelines.classify import Classify
from regard.pipelines.pipeline import TooLongError

LABELS = ["bad", "fair", "good"]


@pytest.fixture
def classify(tmp_path: Path) -> Classify:
    return Classify.of(bert("classify", classes=3), tokenizer_of(tmp_path), card={"labels": LABELS})


def test_scores_are_the_probabilities_of_the_head(classify: Classify) -> None:
    (found,) = classify(["The dog runs."])
    chances = classify.model(torch.tensor([[2, 5, 6, 8, 18, 3]])).logits[0].softmax(-1)
    assert list(found.scores) == LABELS
    assert list(found.scores.values()) == pytest.approx(chances.tolist(), abs=1e-6)
    assert found.label == LABELS[int(chances.argmax())]


def test_a_pair_is_read_with_its_segments(classify: Classify) -> None:
    (found,) = classify([("the dog", "the cat")])
    ids, segments = torch.tensor([[2, 5, 6, 3, 5, 7, 3]]), torch.tensor([[0, 0, 0, 0, 1, 1, 1]])
    chances = classify.model(ids, segments=segments).logits[0].softmax(-1)
    assert list(found.scores.values()) == pytest.approx(chances.tolist(), abs=1e-6)
    assert found.scores != classify([("the cat", "the dog")])[0].scores


def test_who_is_read_together_changes_no_answer(classify: Classify) -> None:
    texts = ["the", "who runs in the park and who sleeps ?", ("dog", "cat"), "the cat sleeps ."]
    for together, text in zip(classify(texts), texts, strict=True):
        (alone,) = classify([text])
        assert list(together.scores.values()) == pytest.approx(list(alone.scores.values()), abs=1e-6)


def test_a_report_counts_every_answer(classify: Classify, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    texts = ["the dog runs", "the cat sleeps", "who runs ?", "the park", "karel and mario"]
    found = [each.label for each in classify(texts)]
    right = [*found[:3], *(LABELS[(LABELS.index(label) + 1) % 3] for label in found[3:])]
    rows = "".join(f"{text}\t{label}\n" for text, label in zip(texts, right, strict=True))
    (tmp_path / "data/test.tsv").write_text(f"text\tlabel\n{rows}")
    evaluation = classify.evaluate(str(tmp_path / "data"))
    assert evaluation.scores["accuracy"].value == pytest.approx(60.0)
    assert evaluation.outputs == found
    confusion = evaluation.confusion
    assert confusion is not None
    assert (confusion.labels, confusion.count) == (tuple(LABELS), 5)
    for a, row in zip(LABELS, confusion.counts, strict=True):
        for b, count in zip(LABELS, row, strict=True):
            assert count == sum((x, y) == (a, b) for x, y in zip(right, found, strict=True))
    assert {"f1", "matthews"} <= evaluation.scores.keys()
    assert len(confusion.table()) == 4


def test_columns_may_have_names_of_their_own(classify: Classify, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    label = classify(["the dog runs"])[0].label
    (tmp_path / "data/test.csv").write_text(f"number,said,verdict\n1,the dog runs,{label}\n")
    scores = classify.evaluate(str(tmp_path / "data"), text="said", label="verdict").scores
    assert scores["accuracy"].value == 100.0


def test_labels_and_classes_must_agree(tmp_path: Path) -> None:
    tokenizer = tokenizer_of(tmp_path)
    with pytest.raises(ValueError, match="names 0 labels, and the model has 3"):
        Classify.of(bert("classify", classes=3), tokenizer)
    with pytest.raises(ValueError, match="has one class, 'score', so that there is nothing to choose"):
        Classify.of(bert("classify", classes=1), tokenizer, card={"labels": ["score"]})


def test_what_is_too_long_is_refused_and_cut_where_it_is_scored(classify: Classify, tmp_path: Path) -> None:
    with pytest.raises(TooLongError, match="at most 24 are read"):
        classify(["the dog " * 30])
    (tmp_path / "one").mkdir()
    (tmp_path / "one/test.tsv").write_text("text\tlabel\n" + "the dog " * 30 + "\tgood\n")
    assert classify.evaluate(str(tmp_path / "one")).count == 1


def test_a_pair_is_looked_into(classify: Classify) -> None:
    reading = classify.attend(("the dog", "the cat"))
    assert reading.axes["words"].labels == ("[CLS]", "the", "dog", "[SEP]", "the", "cat", "[SEP]")
    assert reading.weights(reading.maps[1].name).shape == (2, 7, 7)
    assert reading.output.label == classify([("the dog", "the cat")])[0].label


@pytest.mark.parametrize("name", ["bert", "roberta", "albert", "distilbert", "deberta"])
def test_every_encoder_classifies_pairs_and_is_looked_into(name: str, tmp_path: Path) -> None:
    family = import_module(f"regard.models.{name}").FAMILY
    preset = next(config for size, config in family.presets.items() if size.endswith("-nano"))
    model = family.model(replace(preset, head="classify", classes=3))
    classify = Classify.of(model, tokenizer_of(tmp_path), card={"labels": LABELS})
    pairs = [("the dog", "the cat"), ("who runs ?", "karel"), ("the", "and")]
    for together, pair in zip(classify(pairs), pairs, strict=True):
        assert list(together.scores.values()) == pytest.approx(list(classify([pair])[0].scores.values()), abs=1e-5)
    reading = classify.attend(pairs[0])
    assert {reading.weights(each.name).shape[1:] for each in reading.maps} == {(7, 7)}
    assert [each.layer for each in reading.maps] == list(range(model.config.depth))
