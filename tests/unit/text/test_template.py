"""Pairs and windows: rows as the tokenizer's own library makes them, and places that lie in the text."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.pipelines.encoders import NAMES, WORDS, tokenizer_of

from regard.text import Tokenizer
from regard.text.template import _shares

PAIRS = [("the dog runs", "who sleeps ?"), ("dogs", "the cat and karel in the park ."), ("the", "and")]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return tokenizer_of(tmp_path_factory.mktemp("bert"))


def test_a_pair_is_joined_by_the_template(tokenizer: Tokenizer) -> None:
    assert tokenizer.mask == 4
    ids, segments = tokenizer.encode_pairs([("The dog", "the cat.")])
    assert ids == [[2, 5, 6, 3, 5, 7, 18, 3]]
    assert segments == [[0, 0, 0, 0, 1, 1, 1, 1]]
    assert tokenizer.encode_pairs([]) == ([], [])


@pytest.mark.parametrize("limit", [5, 6, 7, 8, 9, 12, 40])
def test_a_pair_is_cut_as_transformers_cuts_it(tokenizer: Tokenizer, limit: int, tmp_path: Path) -> None:
    from transformers import PreTrainedTokenizerFast

    tokenizer.save(tmp_path / "tokenizer.json")
    theirs = PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"), pad_token="[PAD]")
    for first, second in (*PAIRS, *((b, a) for a, b in PAIRS)):
        expected = theirs(first, second, truncation="longest_first", max_length=limit, return_token_type_ids=True)
        ids, segments = tokenizer.encode_pairs([(first, second)], limit=limit)
        assert (ids[0], segments[0]) == (expected["input_ids"], expected["token_type_ids"])


@given(st.integers(1, 30), st.integers(1, 30), st.integers(2, 40))
def test_the_longer_text_is_cut_first_and_no_room_is_wasted(left: int, right: int, room: int) -> None:
    kept = _shares([left, right], room)
    assert sum(kept) == min(room, left + right)
    assert all(0 < most <= length for most, length in zip(kept, (left, right), strict=True))
    if kept[0] < left and kept[1] < right:
        assert abs(kept[0] - kept[1]) <= 1


def test_places_lie_in_the_last_text(tokenizer: Tokenizer) -> None:
    text = "The  dogs, Karel!"
    ((row,),) = tokenizer.windows([("who", text)])
    assert [None if place is None else text[slice(*place)] for place in row.places] == [
        *(None, None, None),
        *("The", "dog", "s", ",", "Karel", "!"),
        None,
    ]


def test_windows_overlap_and_miss_nothing(tokenizer: Tokenizer) -> None:
    text = " ".join(WORDS[:11] * 3)
    (rows,) = tokenizer.windows([("who", text)], limit=12, overlap=3)
    seen = [[place for place in row.places if place] for row in rows]
    assert [len(row.ids) <= 12 for row in rows] == [True] * len(rows)
    assert all(set(a[-3:]) == set(b[:3]) for a, b in pairwise(seen))
    assert len({place for some in seen for place in some}) == 33
    with pytest.raises(ValueError, match="leaves no room behind a first text of 5 pieces"):
        tokenizer.windows([("who runs in the park", text)], limit=8, overlap=3)


def test_without_a_template_a_stop_ends_each_text() -> None:
    own = Tokenizer.train(["the dog runs"], kind="words", vocab=40)
    (ids,), (segments,) = own.encode_pairs([("the dog", "runs")])
    assert [own.entry(i) for i in ids] == ["<start>", "the", "dog", "<stop>", "runs", "<stop>"]
    assert segments == [0, 0, 0, 0, 1, 1]
    with pytest.raises(ValueError, match="a limit of 4 leaves no room for text; give 5 or more"):
        own.encode_pairs([("the dog", "runs")], limit=4)


def test_a_tokenizer_trained_with_a_mask_has_one_and_keeps_it(tmp_path: Path) -> None:
    for kind in ("bytes", "pieces", "words", "characters"):
        own = Tokenizer.train(["the dog runs"], kind=kind, vocab=300, mask=True)
        own.save(tmp_path / f"{kind}.json")
        again = Tokenizer.load(tmp_path / f"{kind}.json")
        assert (own.mask, again.mask, again.kind, again.entry(4)) == (4, 4, kind, "<mask>")
        assert 4 not in again.encode(["<mask>"])[0]  # what a text spells out is text
    assert Tokenizer.train(["the dog"], kind="words").mask is None


def test_a_folder_with_vocab_txt_alone_is_read_as_transformers_reads_it(tmp_path: Path) -> None:
    from transformers import BertTokenizer

    (tmp_path / "vocab.txt").write_text("".join(f"{name}\n" for name in NAMES), encoding="utf-8")
    ours, theirs = Tokenizer.load(tmp_path), BertTokenizer.from_pretrained(tmp_path)
    for text in ("The DOGS, running in the park.", "Káŕel [MASK] sleeps?", "狗 runs", ""):
        assert ours.encode([text])[0] == theirs(text)["input_ids"]
    expected = theirs("the dog", "the cats")
    assert ours.encode_pairs([("the dog", "the cats")]) == ([expected["input_ids"]], [expected["token_type_ids"]])
    assert (ours.pad, ours.start, ours.stop, ours.unknown, ours.mask) == (0, 2, 3, 1, 4)
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    assert Tokenizer.load(tmp_path).encode(["The dog"]) == [[2, 1, 6, 3]]
    (tmp_path / "again").mkdir()
    for name, data in Tokenizer.load(tmp_path).files().items():
        (tmp_path / "again" / name).write_bytes(data)
    assert Tokenizer.load(tmp_path / "again").encode(["The dog"]) == [[2, 1, 6, 3]]
    (tmp_path / "vocab.txt").write_text("only\nwords\n")
    with pytest.raises(ValueError, match="is no list of BERT's pieces"):
        Tokenizer.load(tmp_path)
