"""Tagging: the first piece of a word decides, and tags that belong together make spans."""

from pathlib import Path

import pytest
import torch
from tests.unit.pipelines.encoders import bert, tokenizer_of

from regard.analysis.spans import Span, span_f1, spans
from regard.pipelines.tag import Tag

LABELS = ["O", "B-PER", "I-PER", "B-LOC"]


@pytest.fixture
def tag(tmp_path: Path) -> Tag:
    return Tag.of(bert("tokens", classes=4), tokenizer_of(tmp_path), card={"labels": LABELS})


def test_the_first_piece_of_a_word_decides(tag: Tag) -> None:
    (found,) = tag(["Dogs  and Karel."])
    assert [word.text for word in found.words] == ["Dogs", "and", "Karel", "."]
    assert [(word.start, word.end) for word in found.words] == [(0, 4), (6, 9), (10, 15), (15, 16)]
    chances = tag.model(torch.tensor([[2, 6, 16, 10, 14, 18, 3]])).logits[0].softmax(-1).detach()
    for word, piece in zip(found.words, (1, 3, 4, 5), strict=True):
        assert word.tag == LABELS[int(chances[piece].argmax())]
        assert word.score == pytest.approx(float(chances[piece].max()), abs=1e-6)


def test_words_that_are_given_keep_their_number(tag: Tag) -> None:
    (found,) = tag([["Dogs", "and", "Karel."]])
    assert [word.text for word in found.words] == ["Dogs", "and", "Karel."]
    assert found.words[2].tag == tag(["Dogs and Karel."])[0].words[2].tag


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("O B-PER I-PER O", [Span(1, 2, "PER")]),
        ("B-PER B-PER I-LOC", [Span(0, 0, "PER"), Span(1, 1, "PER"), Span(2, 2, "LOC")]),
        ("I-PER I-PER O I-PER", [Span(0, 1, "PER"), Span(3, 3, "PER")]),
        ("S-PER B-LOC E-LOC I-LOC", [Span(0, 0, "PER"), Span(1, 2, "LOC"), Span(3, 3, "LOC")]),
        ("PER PER O", [Span(0, 1, "PER")]),
    ],
)
def test_tags_mark_spans(tags: str, expected: list[Span]) -> None:
    assert spans(tags.split()) == expected


def test_a_span_counts_only_whole_and_with_its_label() -> None:
    right = [["B-PER", "I-PER", "O", "B-LOC"]]
    assert span_f1(right, right).value == 100
    assert span_f1([["B-PER", "O", "O", "B-LOC"]], right).value == pytest.approx(50)
    assert span_f1([["O"] * 4], right).value == 0


def test_sentences_of_a_file_are_scored(tag: Tag, tmp_path: Path) -> None:
    words = ["the", "dogs", "and", "karel"]
    found = [word.tag for word in tag([words])[0].words]
    (tmp_path / "data").mkdir()
    rows = "".join(f"{word} x {label}\n" for word, label in zip(words, found, strict=True))
    (tmp_path / "data/test.conll").write_text(f"-DOCSTART- x O\n\n{rows}\nwho O\n")
    evaluation = tag.evaluate(str(tmp_path / "data"))
    hits = 4 + (tag([["who"]])[0].words[0].tag == "O")
    assert evaluation.scores["accuracy"].value == pytest.approx(100 * hits / 5)
    assert evaluation.outputs[0] == " ".join(found)
    (tmp_path / "data/test.conll").write_text("who B-ORG\n")
    with pytest.raises(ValueError, match=r"the tag 'B-ORG' of .* is none of O, B-PER"):
        tag.evaluate(str(tmp_path / "data"))


def test_a_tagger_is_looked_into(tag: Tag) -> None:
    reading = tag.attend("Karel runs.")
    assert reading.output == tag(["Karel runs."])[0]
    assert reading.weights(reading.maps[0].name).shape == (2, 5, 5)
