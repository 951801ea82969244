"""Filling: hidden words are guessed where they stand, however they are written."""

import math
from pathlib import Path

import pytest
import torch
from tests.unit.pipelines.encoders import bert, tokenizer_of

from regard.models.bert import BERT, Config
from regard.pipelines.fill import Fill
from regard.pipelines.pipeline import TooLongError
from regard.text import Tokenizer


@pytest.fixture
def fill(tmp_path: Path) -> Fill:
    return Fill.of(bert("masked"), tokenizer_of(tmp_path))


def test_guesses_are_those_of_the_model_at_the_hidden_places(fill: Fill) -> None:
    (found,) = fill(["The [MASK] runs in the [MASK]."], top=3)
    logits = fill.model(torch.tensor([[2, 5, 4, 8, 13, 5, 4, 18, 3]])).logits[0]
    for guesses, place in zip(found.guesses, (2, 6), strict=True):
        best = logits[place].softmax(-1).topk(3)
        assert [each.chance for each in guesses] == pytest.approx(best.values.tolist(), abs=1e-6)
        assert [fill._say(i) for i in best.indices.tolist()] == [each.word for each in guesses]
    first, second = (guesses[0].word for guesses in found.guesses)
    assert found.text == f"The {first} runs in the {second}."


def test_a_hidden_word_may_be_written_in_three_ways(fill: Fill) -> None:
    one, two, three = fill(["the [MASK] runs", "the <mask> runs", "the _ runs"])
    assert one.guesses == two.guesses == three.guesses
    with pytest.raises(ValueError, match=r"it hides no word; write \[MASK\], <mask> or _"):
        fill(["snake_case runs"])


def test_who_is_read_together_changes_no_guess(fill: Fill) -> None:
    texts = ["the _", "who _ in the park and the cat sleeps ?", "_ .", "the _ and the _ ."]
    together = [[each.chance for some in found.guesses for each in some] for found in fill(texts)]
    alone = [[each.chance for some in fill([text])[0].guesses for each in some] for text in texts]
    for a, b in zip(together, alone, strict=True):
        assert a == pytest.approx(b, abs=1e-6)


def test_what_is_too_long_or_too_much_is_refused(fill: Fill) -> None:
    with pytest.raises(TooLongError, match="at most 24 are read"):
        fill(["the _ " * 20])
    with pytest.raises(ValueError, match="0 guesses cannot be given; ask for 1 to 20"):
        fill(["the _"], top=0)


def test_a_tokenizer_trained_here_hides_words_too() -> None:
    lines = ["the dog runs in the park", "the cat sleeps"]
    for kind in ("words", "pieces", "bytes"):
        tokenizer = Tokenizer.train(lines, kind=kind, vocab=300, mask=True)
        model = BERT(Config(vocab=tokenizer.vocab, width=8, depth=1, heads=2, hidden=8, context=32, head="masked"))
        row = Fill.of(model, tokenizer)._hide(0, "the _ runs")
        assert row.ids.count(4) == 1
        assert (row.ids[0], row.ids[-1]) == (1, 2)
        assert tokenizer.decode([i for i in row.ids if i != 4]) == "the runs"
    with pytest.raises(ValueError, match="has no entry for hidden words; train it with mask=True"):
        Fill.of(model, Tokenizer.train(lines, kind="words", vocab=300))


def test_evaluation_hides_every_piece_alone(fill: Fill, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("The dog runs.\n\nThe cat sleeps in the park.\n")
    found = fill.evaluate(str(tmp_path / "lines.txt"))
    assert (found.count, found.split) == (2, "all")
    surprise, hits = [], []
    for text in ("The dog runs.", "The cat sleeps in the park."):
        (ids,) = fill.tokenizer.encode([text])
        for place in range(1, len(ids) - 1):
            hidden = torch.tensor([[4 if i == place else each for i, each in enumerate(ids)]])
            chances = fill.model(hidden).logits[0, place].detach().softmax(-1)
            surprise.append(-float(chances[ids[place]].log()))
            hits.append(bool(chances.argmax() == ids[place]))
    assert found.scores["pseudo-perplexity"].value == pytest.approx(math.exp(sum(surprise) / len(surprise)), rel=1e-4)
    assert found.scores["top 1"].value == pytest.approx(100 * sum(hits) / len(hits))
    assert found.scores["top 5"].value >= found.scores["top 1"].value
    assert found.scores["top 1"].count == len(hits) == 11


def test_every_look_is_shown_between_all_tokens(fill: Fill) -> None:
    reading = fill.attend("the [MASK] runs")
    assert reading.axes["words"].labels == ("[CLS]", "the", "[MASK]", "runs", "[SEP]")
    assert [each.kind for each in reading.maps] == ["self", "self"]
    assert reading.weights(reading.maps[0].name).shape == (2, 5, 5)
    assert reading.output == fill(["the [MASK] runs"])[0]


def test_a_model_without_a_tokenizer_loads_and_asks_for_one(tmp_path: Path) -> None:
    bare = Fill.of(bert("masked"), name="bare")
    with pytest.raises(ValueError, match="bare has no tokenizer to read a text with; give one by tokenizer="):
        bare(["the _"])
    with pytest.raises(ValueError, match="has the head 'none', and the task 'fill' needs 'masked' or 'pretraining'"):
        Fill.of(bert("none"), tokenizer_of(tmp_path))
