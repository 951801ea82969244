"""Words are counted and numbered as a text streams by, however large it is."""

from pathlib import Path

import numpy as np
import pytest

from regard.data import DataError
from regard.words.counting import count, cut_words, number, tokenizer_of, vocabulary
from regard.words.phrases import Phrases, find_phrases

LINES = [["the", "cat", "saw", "the", "dog"], ["the", "dog"]]


def test_words_are_runs_of_letters_or_whatever_stands_between_spaces() -> None:
    text = "The Cat's 2 dogs,\nnew_york ÉTÉ\n\n"
    assert list(cut_words([text])) == [["the", "cat's", "dogs"], ["new", "york", "été"]]
    assert list(cut_words([text], "spaces")) == [["The", "Cat's", "2", "dogs,"], ["new_york", "ÉTÉ"]]


def test_where_a_block_ends_no_word_is_cut() -> None:
    text = "one two three\nfour five six"
    for size in (1, 2, 3, 7):
        blocks = [text[place : place + size] for place in range(0, len(text), size)]
        assert [word for line in cut_words(blocks) for word in line] == text.split()


def test_the_most_frequent_word_comes_first_and_ties_go_by_the_alphabet() -> None:
    known = vocabulary("x", LINES, min_count=1)
    assert known.words == ("the", "dog", "cat", "saw")
    assert known.counts.tolist() == [3, 2, 1, 1]
    assert vocabulary("x", LINES, min_count=2).words == ("the", "dog")
    assert vocabulary("x", LINES, min_count=2).total == 7


def test_where_there_are_too_many_different_words_the_rarest_are_forgotten() -> None:
    found = count([["often"] * 5, *([f"once{i}"] for i in range(100))], largest=10)
    assert found["often"] == 5
    assert len(found) <= 10


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "my.txt holds no word to learn from; give some text"),
        ([["dog", "dog"]], "my.txt holds one word alone, 'dog'; words are learnt from their neighbours: give others"),
        (LINES, "my.txt has 4 different words, and none of them is met 5 times; give more text, or --min-count 2"),
    ],
)
def test_a_text_that_nothing_can_be_learnt_from_says_so(lines: list[list[str]], said: str) -> None:
    with pytest.raises(DataError, match=said.replace("(", r"\(")):
        vocabulary("my.txt", lines, min_count=5)


def test_a_text_is_numbered_without_its_rare_words(tmp_path: Path) -> None:
    known = vocabulary("x", LINES, min_count=2)
    ids = number(LINES, known, tmp_path / "text.ids")
    assert ids.tolist() == [0, 0, 1, -1, 0, 1, -1]
    assert ids.dtype == np.int32


def test_a_tokenizer_knows_the_places_of_words_and_has_one_more_for_others() -> None:
    tokenizer = tokenizer_of(("new_york", "don't", "été"))
    assert tokenizer.encode(["été new_york Rome don't"]) == [[2, 0, 3, 1]]
    assert tokenizer.vocab == 4
    assert tokenizer.specials == {3}
    assert tokenizer.decode([0, 2]) == "new_york été"


def test_words_that_meet_more_often_than_chance_are_one() -> None:
    lines = [["in", "new", "york", "city", "the", "old", "mill"], ["the", "new", "mill"], ["in", "the", "city"]] * 10
    found = find_phrases(lines, min_count=5, threshold=2.0)
    assert ("new", "york") in found.pairs
    assert ("the", "new") not in found.pairs
    assert Phrases(frozenset({("new", "york"), ("york", "city")})).join(lines[0])[:3] == ["in", "new_york", "city"]
    again = find_phrases([found.join(line) for line in lines], min_count=5, threshold=2.0)
    assert ("new_york", "city") in again.pairs or ("york", "city") in found.pairs
