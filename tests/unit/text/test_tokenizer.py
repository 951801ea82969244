"""Tokenizers: nothing is lost that need not be, and no file or text gets past them unexplained."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from regard.text import Tokenizer
from regard.text.tokenizer import ALPHABET
from regard.text.training import KINDS, SPECIALS, Kind
from regard.world.language import pairs, text

PAD, START, STOP, UNKNOWN = range(4)
LINES = [text(words) for pair in pairs("de", "en", seed=3)[:400] for words in (pair.source, pair.target)]
TRAINED = {kind: Tokenizer.train(LINES, kind=kind, vocab=500) for kind in KINDS}

kinds = pytest.mark.parametrize("kind", KINDS)
any_text = st.text(st.characters(exclude_categories=["Cs"]))


@given(any_text)
def test_bytes_lose_nothing_of_any_text(said: str) -> None:
    tokenizer = TRAINED["bytes"]
    assert tokenizer.decode(tokenizer.encode([said], start=True, stop=True)[0]) == said


@kinds
def test_every_kind_gives_back_the_text_it_was_trained_on(kind: Kind) -> None:
    tokenizer = Tokenizer.train(LINES, kind=kind, vocab=5000)
    assert [tokenizer.decode(ids) for ids in tokenizer.encode(LINES[:50])] == LINES[:50]


@kinds
@given(st.lists(any_text, max_size=4))
def test_ids_lie_within_the_vocabulary_and_plain_text_never_gives_pad_start_or_stop(
    kind: Kind, texts: list[str]
) -> None:
    tokenizer = TRAINED[kind]
    encoded = tokenizer.encode([*texts, "a <pad> b <stop>", *SPECIALS])
    assert len(encoded) == len(texts) + 1 + len(SPECIALS)
    assert all(STOP < i < tokenizer.vocab for ids in encoded for i in ids)


@kinds
def test_the_specials_stand_at_fixed_places(kind: Kind) -> None:
    tokenizer = TRAINED[kind]
    assert (tokenizer.pad, tokenizer.start, tokenizer.stop, tokenizer.unknown) == (0, 1, 2, 3)
    assert tokenizer.specials == {0, 1, 2, 3}
    assert tokenizer.words(range(4)).pieces == SPECIALS
    assert tokenizer.decode([PAD, START, STOP]) == ""


@kinds
def test_training_twice_in_any_order_gives_the_same_tokenizer(kind: Kind, tmp_path: Path) -> None:
    for name, lines in (("a", LINES), ("b", LINES[::-1])):
        Tokenizer.train(lines, kind=kind, vocab=300).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@kinds
@pytest.mark.parametrize("vocab", [10, 60, 300])
def test_the_vocabulary_is_never_larger_than_asked_for(kind: Kind, vocab: int) -> None:
    if kind == "bytes":
        vocab += 256
    assert Tokenizer.train([*LINES, "日本語の文字 ελληνικά"], kind=kind, vocab=vocab).vocab <= vocab


@kinds
@pytest.mark.parametrize("lower", [False, True])
def test_a_saved_tokenizer_is_the_same_tokenizer(kind: Kind, lower: bool, tmp_path: Path) -> None:
    tokenizer = Tokenizer.train(LINES, kind=kind, vocab=400, lower=lower)
    tokenizer.save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    texts = [*LINES[:20], "Etwas <pad> NEUES: ñ!"]
    assert (loaded.kind, loaded.lower, loaded.vocab) == (kind, lower, tokenizer.vocab)
    assert loaded.encode(texts) == tokenizer.encode(texts)
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.json"]


@kinds
def test_lower_case_is_a_choice(kind: Kind) -> None:
    small = Tokenizer.train(LINES, kind=kind, vocab=400, lower=True)
    assert small.encode(["DER HUND"]) == small.encode(["der hund"])
    assert TRAINED[kind].encode(["DER HUND"]) != TRAINED[kind].encode(["der hund"])


@kinds
def test_a_limit_keeps_the_beginning_and_the_stop(kind: Kind) -> None:
    tokenizer, line = TRAINED[kind], LINES[0]
    whole = tokenizer.encode([line], start=True, stop=True)[0]
    assert tokenizer.encode([line], start=True, stop=True, limit=5) == [[*whole[:4], STOP]]
    assert tokenizer.encode([line], start=True, stop=True, limit=10_000) == [whole]
    with pytest.raises(ValueError, match="a limit of 2 leaves no room for text; give 3 or more"):
        tokenizer.encode([line], start=True, stop=True, limit=2)


@kinds
def test_empty_lines_and_very_long_ones_are_lines_too(kind: Kind) -> None:
    tokenizer = TRAINED[kind]
    assert tokenizer.encode(["", "der"], start=True, stop=True)[0] == [START, STOP]
    assert tokenizer.encode([]) == []
    long = " ".join(["Hund"] * 10_000)
    ids = tokenizer.encode([long, "Hund" * 10_000])[0]
    assert len(ids) >= 10_000
    assert len(tokenizer.words(ids).labels) >= 10_000


def test_unknown_words_are_shown_as_such() -> None:
    tokenizer = TRAINED["words"]
    assert tokenizer.encode(["xyzzy"]) == [[UNKNOWN]]
    assert tokenizer.decode([UNKNOWN]) == "<unknown>"


def test_a_letter_is_one_letter_however_it_was_typed() -> None:
    apart = unicodedata.normalize("NFD", "läuft über")
    assert apart != "läuft über"
    for kind in ("pieces", "words"):
        assert TRAINED[kind].encode([apart]) == TRAINED[kind].encode(["läuft über"])


@pytest.mark.parametrize("kind", ["bytes", "pieces"])
def test_pieces_make_up_the_words_of_the_sentence(kind: Kind) -> None:
    tokenizer = Tokenizer.train(LINES, kind=kind, vocab=330)
    found = tokenizer.words(tokenizer.encode(["Die Großmutter läuft, schnell."], start=True, stop=True)[0])
    assert found.labels == ("<start>", "Die", "Großmutter", "läuft", ",", "schnell", ".", "<stop>")
    assert len(found) == len(found.pieces) > len(found.labels)
    if kind == "pieces":
        assert tuple("".join(found.pieces[first : last + 1]) for first, last in found.spans) == found.labels


def test_characters_make_up_words_and_a_word_is_its_own_piece() -> None:
    characters, words = TRAINED["characters"], TRAINED["words"]
    found = characters.words(characters.encode(["Der Hund."])[0])
    assert found.labels == ("Der", " ", "Hund", ".")
    assert found.spans == ((0, 2), (3, 3), (4, 7), (8, 8))
    found = words.words(words.encode(["Der Hund."])[0])
    assert found.pieces == found.labels
    assert found.spans == ((0, 0), (1, 1), (2, 2))


@kinds
@given(st.lists(st.integers(0, 299), max_size=20))
def test_any_ids_make_words_even_those_that_no_text_gives(kind: Kind, ids: list[int]) -> None:
    tokenizer = TRAINED[kind]
    ids = [i % tokenizer.vocab for i in ids]
    found = tokenizer.words(ids)
    assert len(found) == len(ids)
    assert [place for first, last in found.spans for place in range(first, last + 1)] == list(range(len(ids)))


def test_pieces_of_half_a_character_are_shown_and_the_word_is_whole() -> None:
    tokenizer = TRAINED["bytes"]
    found = tokenizer.words(tokenizer.encode(["日本"])[0])
    assert found.labels == ("日本",)
    assert len(found) == 6


@pytest.mark.parametrize("wrong", [-1, 500, 10**12])
def test_ids_of_another_vocabulary_are_refused(wrong: int) -> None:
    for act in (TRAINED["bytes"].decode, TRAINED["bytes"].words):
        with pytest.raises(ValueError, match=f"id {wrong} at place 1 is not in this vocabulary of 500"):
            act([4, wrong])


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_is_no_text_is_named_with_the_way_out() -> None:
    tokenizer = TRAINED["bytes"]
    with pytest.raises(ValueError, match=r"text 1 has half a character \('\\udcff'\) at place 3, as broken UTF-8"):
        tokenizer.encode(["good", b"bad\xff".decode(errors="surrogateescape")])
    with pytest.raises(ValueError, match="text 0 has half a character"):
        Tokenizer.train(["\ud800"])
    with pytest.raises(TypeError, match="text 0 is bytes, not str; decode bytes first"):
        tokenizer.encode([b"bytes"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"'one text' is one text, but several are expected; write \[text\]"):
        tokenizer.encode("one text")


@pytest.mark.usefixtures("as_users_meet_it")
def test_training_says_what_it_needs() -> None:
    with pytest.raises(ValueError, match="2 lines hold no word to learn from"):
        Tokenizer.train(["", "  "])
    with pytest.raises(ValueError, match="a vocabulary of 100 is too small for bytes; give 260 or more"):
        Tokenizer.train(LINES, kind="bytes", vocab=100)
    with pytest.raises(ValueError, match="no tokenizer is of the kind 'bpe'; choose bytes, pieces, words, characters"):
        Tokenizer.train(LINES, kind="bpe")


def test_the_alphabet_of_bytes_is_the_librarys() -> None:
    assert set(ALPHABET) == set(pre_tokenizers.ByteLevel.alphabet())
    assert sorted(ALPHABET.values()) == list(range(256))


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"\xff\xfe\x00", b'{"model": {"type": "BPE"}}', b"[" * 100_000, b"\x80\x02}q\x00."],
)
def test_what_is_no_tokenizer_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"tokenizer\.json is not a tokenizer: .*; give a tokenizer\.json or a Senten"):
        Tokenizer.load(path)


@kinds
def test_one_row_is_decoded_to_a_text_and_several_to_a_list(kind: Kind) -> None:
    tokenizer, two = TRAINED[kind], ["der Hund", "die Katze"]
    rows = tokenizer.encode(two)
    assert tokenizer.decode(rows) == [tokenizer.decode(row) for row in rows]
    assert tokenizer.decode(torch.tensor(rows[0])) == tokenizer.decode(np.array(rows[0])) == tokenizer.decode(rows[0])
    assert tokenizer.decode(torch.tensor(rows[:1]).tolist()) == [tokenizer.decode(rows[0])]
    several: Any = torch.tensor(rows[:1])
    assert tokenizer.decode(several) == [tokenizer.decode(rows[0])]
    assert tokenizer.decode([]) == ""


@kinds
def test_a_tampered_file_is_refused(kind: Kind, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    TRAINED[kind].save(path)
    whole = path.read_text()

    def tampered(change: str) -> str:
        data = json.loads(whole)
        vocab = data["model"]["vocab"]
        last = max(vocab, key=vocab.__getitem__)
        if change == "far":
            vocab[last] = 4_000_000_000
        elif change == "twice":
            vocab[last] = 5
        elif change == "swapped":
            vocab["<pad>"], vocab[last] = vocab[last], 0
        elif change == "regex":
            data["pre_tokenizer"] = {
                "type": "Split",
                "pattern": {"Regex": "(a+)+$"},
                "behavior": "Isolated",
                "invert": False,
            }
        elif change == "added":
            data["added_tokens"][3]["content"] = "the"
        return json.dumps(data)

    for change in ("far", "twice"):
        path.write_text(tampered(change))
        with pytest.raises(ValueError, match="is not a tokenizer"):
            Tokenizer.load(path)
    # These make tokenizers of their own, which are nobody's to trust: their ids are not taken for regard's.
    for change in ("swapped", "regex", "added"):
        path.write_text(tampered(change))
        assert Tokenizer.load(path).start != START
    path.write_text(tampered("nothing"))
    assert Tokenizer.load(path).vocab == TRAINED[kind].vocab


@given(st.data())
def test_a_file_cut_anywhere_is_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("cut") / "tokenizer.json"
    TRAINED["words"].save(path)
    whole = path.read_bytes().rstrip()
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(ValueError, match="is not a tokenizer"):
        Tokenizer.load(path)


def test_a_missing_file_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Tokenizer.load(tmp_path / "tokenizer.json")
