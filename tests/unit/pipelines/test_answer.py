"""Answering: the span of the text that its two scores make likeliest, also where the text is long."""

import json
from pathlib import Path

import pytest
import torch
from tests.unit.pipelines.encoders import bert, tokenizer_of

from regard.pipelines.answer import Answers

QUESTION, TEXT = "Who runs?", "The dog sleeps  and Karel runs in the park."


@pytest.fixture
def answer(tmp_path: Path) -> Answers:
    return Answers.of(bert("spans"), tokenizer_of(tmp_path))


def test_the_answer_is_the_likeliest_span(answer: Answers) -> None:
    (found,) = answer([(QUESTION, TEXT)])
    (row,) = answer.rows([(QUESTION, TEXT)])
    logits = answer.model(torch.tensor([row.ids]), segments=torch.tensor([row.segments])).logits[0]
    allowed = [0, *(i for i, place in enumerate(row.places) if place is not None)]
    first, last = (dict(zip(allowed, logits[allowed, side].softmax(0).tolist(), strict=True)) for side in (0, 1))
    best = max((first[i] * last[j], i, j) for i in allowed[1:] for j in allowed[1:] if i <= j)
    assert found.score == pytest.approx(best[0], abs=1e-6)
    begin, end = row.places[best[1]], row.places[best[2]]
    assert begin is not None
    assert end is not None
    assert (found.start, found.end) == (begin[0], end[1])
    assert found.text == TEXT[found.start : found.end]
    assert found.none == pytest.approx(first[0] * last[0], abs=1e-6)


def test_several_answers_come_with_the_best_first(answer: Answers) -> None:
    (found,) = answer([f"{QUESTION}\t{TEXT}"], top=3)
    scores = [found.score, *(each.score for each in found.alternatives)]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert len({(each.start, each.end) for each in (found, *found.alternatives)}) == 3


def test_a_long_text_is_read_in_windows_that_cover_it(answer: Answers) -> None:
    text = " ".join(f"the dog {word}" for word in ["runs", "sleeps"] * 15) + " karel"
    (rows,) = answer.tokenizer.windows([(QUESTION, text)], limit=24, overlap=6)
    assert len(rows) > 3
    assert all(len(row.ids) <= 24 for row in rows)
    assert {place for row in rows for place in row.places if place} == {
        place for place in answer.tokenizer.windows([(QUESTION, text)])[0][0].places if place
    }
    (found,) = answer([(QUESTION, text)])
    one = max(
        (answer._choose(text, [(row, answer.ask([row], answer._take)[0])], 1) for row in rows), key=lambda a: a.score
    )
    assert (found.text, found.start) == (one.text, one.start)
    assert found.score == pytest.approx(one.score, abs=1e-5)


def test_questions_of_a_file_are_scored_as_squad_does(answer: Answers, tmp_path: Path) -> None:
    (found,) = answer([(QUESTION, TEXT)])
    said = "" if found.none > found.score else found.text
    asked = {"question": QUESTION, "answers": [{"text": f"The {said}!" if said else ""}]}
    wrong = {"question": QUESTION, "answers": [{"text": "nobody at all"}]}
    squad = {"data": [{"paragraphs": [{"context": TEXT, "qas": [asked, wrong]}]}]}
    (tmp_path / "squad.json").write_text(json.dumps(squad))
    evaluation = answer.evaluate(str(tmp_path / "squad.json"))
    assert evaluation.count == 2
    assert evaluation.scores["exact"].value == pytest.approx(50)  # articles and punctuation do not count
    assert evaluation.scores["f1"].value >= 50


def test_a_question_needs_a_text(answer: Answers) -> None:
    for wrong in ("Who runs?", "\tthe dog", "who?\t "):
        with pytest.raises(ValueError, match="no question and text; give both, with a tab between them"):
            answer([wrong])
    reading = answer.attend(f"{QUESTION}\tThe dog runs.")
    assert reading.axes["words"].labels[:5] == ("[CLS]", "who", "runs", "?", "[SEP]")
