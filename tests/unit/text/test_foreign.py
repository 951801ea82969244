"""Tokenizers of others: they cut text as their own libraries do, and say which of their ids are special."""

import json
import os
import struct
from contextlib import nullcontext, suppress
from itertools import accumulate
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from regard.text import Tokenizer, Words, sentencepiece
from regard.world.language import pairs, text

LINES = [text(words) for pair in pairs("de", "en", seed=3)[:400] for words in (pair.source, pair.target)]


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    """A small BERT: WordPiece between [CLS] and [SEP], in lower case."""
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "der", "hund", "lauf", "##t", "."]
    inner = tokenizers.Tokenizer(models.WordPiece({name: i for i, name in enumerate(names)}, unk_token="[UNK]"))
    inner.normalizer, inner.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    inner.decoder = decoders.WordPiece()
    inner.add_special_tokens(names[:5])
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    inner.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_a_bert_puts_its_own_marks_around_a_text(bert: Path) -> None:
    tokenizer = Tokenizer.load(bert)
    assert (tokenizer.pad, tokenizer.start, tokenizer.stop, tokenizer.unknown) == (0, 2, 3, 1)
    assert (tokenizer.kind, tokenizer.vocab) == ("pieces", 10)
    assert tokenizer.specials == {0, 1, 2, 3, 4}
    assert tokenizer.encode(["Der Hund lauft."]) == [[2, 5, 6, 7, 8, 9, 3]]
    assert tokenizer.encode(["Der Hund lauft."], limit=4) == [[2, 5, 6, 3]]
    assert tokenizer.encode(["Der Hund"], start=False, stop=False) == [[5, 6]]
    assert tokenizer.encode(["Der Hund"], stop=True) == [[5, 6, 3]]
    assert tokenizer.encode(["der [MASK]"]) == [[2, 5, 4, 3]]
    assert tokenizer.decode([2, 5, 6, 7, 8, 9, 3, 0]) == "der hund lauft."
    assert tokenizer.words([2, 5, 7, 8, 3]) == Words(
        ("[CLS]", "der", "lauf", "t", "[SEP]"), ((0, 0), (1, 1), (2, 3), (4, 4)), ("[CLS]", "der", "lauft", "[SEP]")
    )
    with pytest.raises(ValueError, match="a limit of 2 leaves no room for text; give 3 or more"):
        tokenizer.encode(["Der Hund"], limit=2)


def test_the_files_beside_a_tokenizer_name_its_special_ids(bert: Path) -> None:
    (bert / "tokenizer_config.json").write_text(
        json.dumps({"pad_token": "[MASK]", "bos_token": None, "eos_token": {"content": "."}, "unk_token": "nowhere"})
    )
    tokenizer = Tokenizer.load(bert / "tokenizer.json")
    assert (tokenizer.pad, tokenizer.start, tokenizer.stop, tokenizer.unknown) == (4, 2, 9, 1)
    (bert / "tokenizer_config.json").unlink()
    os.mkfifo(bert / "tokenizer_config.json")
    with pytest.raises(ValueError, match=r"tokenizer.json is not a tokenizer: .* is no regular file"):
        Tokenizer.load(bert)


def test_a_foreign_tokenizer_goes_into_a_folder_and_comes_back(bert: Path, tmp_path: Path) -> None:
    (bert / "tokenizer_config.json").write_text('{"pad_token": "[MASK]"}')
    first, again = Tokenizer.load(bert), tmp_path / "again"
    again.mkdir()
    for name, data in first.files().items():
        (again / name).write_bytes(data)
    assert Tokenizer.load(again).pad == first.pad == 4
    assert Tokenizer.load(again).encode(["der hund"]) == first.encode(["der hund"])


def test_a_vocabulary_without_a_start_cannot_begin_with_one(tmp_path: Path) -> None:
    inner = tokenizers.Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="b"))
    inner.save(str(tmp_path / "tokenizer.json"))
    tokenizer = Tokenizer.load(tmp_path)
    assert (tokenizer.pad, tokenizer.start, tokenizer.stop, tokenizer.unknown) == (None,) * 4
    assert tokenizer.encode(["a"]) == [[0]]
    with pytest.raises(ValueError, match="this tokenizer has no start token; choose one that has"):
        tokenizer.encode(["a"], start=True)


def varint(value: int) -> bytes:
    found = b""
    while value > 0x7F:
        found, value = found + bytes([value & 0x7F | 0x80]), value >> 7
    return found + bytes([value])


def message(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def piece(name: str, score: float, kind: int = 1) -> bytes:
    return message(1, message(1, name.encode()) + b"\x15" + struct.pack("<f", score) + b"\x18" + varint(kind))


PIECES = [
    *(piece(name, 0.0, kind) for name, kind in (("<unk>", 2), ("<s>", 3), ("</s>", 3))),
    *(piece(name, -1.0 - i / 10) for i, name in enumerate(["▁der", "▁Hund", "▁", "läuft", "l", "ä", "▁d", "er", "."])),
]
UNIGRAM = b"".join(PIECES)


@pytest.fixture
def spm(tmp_path: Path) -> Path:
    (tmp_path / "spiece.model").write_bytes(UNIGRAM)
    return tmp_path


def test_a_sentencepiece_model_is_read_without_its_library(spm: Path) -> None:
    tokenizer = Tokenizer.load(spm / "spiece.model")
    assert (tokenizer.unknown, tokenizer.start, tokenizer.stop, tokenizer.pad) == (0, 1, 2, None)
    (ids,) = tokenizer.encode(["  der   Hund läuft. "], start=True, stop=True)
    assert [tokenizer.entry(i) for i in ids] == ["<s>", "▁der", "▁Hund", "▁", "läuft", ".", "</s>"]
    assert tokenizer.decode(ids) == "der Hund läuft."
    assert tokenizer.words(ids).labels == ("<s>", "der", "Hund", "läuft", ".", "</s>")
    assert tokenizer.encode(["<s>"]) == [[5, 0]]  # in a text it is a text


def test_marians_pieces_are_numbered_by_its_vocabulary(tmp_path: Path) -> None:
    for name in ("source.spm", "target.spm"):
        (tmp_path / name).write_bytes(UNIGRAM)
    names = ["</s>", "<unk>", ">>fra<<", "▁der", "▁Hund", "▁le", "<pad>"]
    (tmp_path / "vocab.json").write_text(json.dumps({name: i for i, name in enumerate(names)}))
    tokenizer = Tokenizer.load(tmp_path)
    assert (tokenizer.stop, tokenizer.unknown, tokenizer.pad, tokenizer.vocab) == (0, 1, 6, 7)
    assert tokenizer.encode(["der Hund läuft"], stop=True) == [[3, 4, 1, 1, 0]]
    assert tokenizer.encode([">>fra<< der Hund"]) == [[2, 3, 4]]
    assert tokenizer.decode([6, 5, 4, 0]) == "le Hund"
    assert tokenizer.files().keys() == {"source.spm", "target.spm", "vocab.json"}
    (tmp_path / "vocab.json").write_text('{"<unk>": 0, "a": 2}')
    with pytest.raises(ValueError, match=r"vocab.json does not number its entries 0 to 1"):
        Tokenizer.load(tmp_path)


@given(st.binary(max_size=60))
def test_no_bytes_get_past_the_reader_unexplained(data: bytes) -> None:
    for hostile in (data, UNIGRAM + data, data + UNIGRAM):
        with suppress(ValueError, struct.error):
            assert sentencepiece.parse(hostile).pieces


@pytest.mark.parametrize("place", range(0, len(UNIGRAM) - 1, 7))
def test_a_model_cut_anywhere_is_refused_or_a_smaller_one(place: int, tmp_path: Path) -> None:
    path = tmp_path / "spiece.model"
    path.write_bytes(UNIGRAM[:place])
    whole = place in accumulate(map(len, PIECES))
    with nullcontext() if whole else pytest.raises(ValueError, match=r"spiece\.model is not a tokenizer"):
        assert Tokenizer.load(path).vocab < len(PIECES)


@pytest.mark.parametrize("rule", ["nmt_nfkc", "identity", "nmt_nfkc_cf"])
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize("fallback", [True, False])
def test_text_is_cut_as_sentencepiece_cuts_it(tmp_path: Path, kind: str, rule: str, fallback: bool) -> None:
    theirs = pytest.importorskip("sentencepiece", reason="the library is here for comparison alone")
    theirs.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES),
        model_prefix=str(tmp_path / "m"),
        vocab_size=600,
        model_type=kind,
        byte_fallback=fallback,
        normalization_rule_name=rule,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    reference = theirs.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    tokenizer = Tokenizer.load(tmp_path / "m.model")
    texts = [*LINES[:200], "  zwei   Leerzeichen ", "Über ﬁn <s> 日本 x</s>", "", "é é ½ a\u200bb", "Tab\there\n"]
    found = tokenizer.encode(texts)
    assert found == reference.encode(texts)
    known = [ids for ids in found if tokenizer.unknown not in ids]
    assert tokenizer.decode(known) == reference.decode(known)


@pytest.mark.parametrize(
    ("spans", "labels"),
    [(((0, 0),), ("a",)), (((0, 1), (1, 1)), ("a", "b")), (((0, 1),), ("a", "b")), (((1, 1), (0, 0)), ("a", "b"))],
)
def test_each_piece_is_in_one_word(spans: tuple[tuple[int, int], ...], labels: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"each piece is in one word|give one for each"):
        Words(("x", "y"), spans, labels)
    assert len(Words(("x", "y"), ((0, 1),), ("xy",))) == 2
