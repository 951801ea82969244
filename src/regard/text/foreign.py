"""Tokenizers of other libraries: which of their ids are special, and how their pieces make words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from regard import files

# How an entry is written: as bytes (GPT-2), by ## inside a word (BERT), by ▁ before one (SentencePiece), by </w> at
# its end (CLIP), as a whole word, or as a character.
Style = Literal["bytes", "pieces", "metaspace", "suffix", "words", "characters"]

JSON = 2 * 2**20  # bytes of settings beside a tokenizer
# The names in `tokenizer_config.json`, the first choice first, and what such tokens are mostly called.
NAMES: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "pad": (("pad_token",), ("<pad>", "[PAD]", "<|pad|>")),
    "start": (("bos_token", "cls_token"), ("<s>", "[CLS]", "<bos>", "<|startoftext|>", "<|begin_of_text|>")),
    "stop": (("eos_token", "sep_token"), ("</s>", "[SEP]", "<eos>", "<|endoftext|>", "<|end_of_text|>")),
    "unknown": (("unk_token",), ("<unk>", "[UNK]")),
    "mask": (("mask_token",), ("<mask>", "[MASK]")),
}


@dataclass(frozen=True, slots=True)
class Special:
    """Ids that stand for no text, where a vocabulary has them."""

    pad: int | None
    start: int | None
    stop: int | None
    unknown: int | None
    mask: int | None = None

    def ids(self) -> frozenset[int]:
        return frozenset(i for i in (self.pad, self.start, self.stop, self.unknown, self.mask) if i is not None)


def special(folder: Path, ids: Mapping[str, int]) -> Special:
    """The special ids that the files beside a tokenizer name, or else those with the usual names."""
    said: dict[str, Any] = {}
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        if (folder / name).exists():
            said |= {key: value for key, value in files.read_json(folder / name, JSON).items() if value is not None}

    def find(role: str) -> int | None:
        keys, usual = NAMES[role]
        tokens = [said[key].get("content") if isinstance(said[key], dict) else said[key] for key in keys if key in said]
        return next((ids[token] for token in (*tokens, *usual) if isinstance(token, str) and token in ids), None)

    return Special(*map(find, NAMES))


def wordpiece(folder: Path, data: bytes) -> tokenizers.Tokenizer:
    """BERT's tokenizer by its older file, `vocab.txt`, an entry a line; settings beside it say how to clean texts."""
    names = data.decode().removesuffix("\n").split("\n")
    ids = {name.rstrip("\r"): i for i, name in enumerate(names)}
    beside = folder / "tokenizer_config.json"
    said = files.read_json(beside, JSON) if beside.exists() else {}
    found = special(folder, ids)
    if found.unknown is None or found.start is None or found.stop is None or len(ids) != len(names):
        raise ValueError("it is no list of BERT's pieces, [UNK], [CLS] and [SEP] among them, each on a line of its own")
    unknown, first, last = (names[i].rstrip("\r") for i in (found.unknown, found.start, found.stop))
    inner = tokenizers.Tokenizer(models.WordPiece(ids, unk_token=unknown))
    inner.normalizer = normalizers.BertNormalizer(
        lowercase=said.get("do_lower_case", True) is not False,
        strip_accents=said.get("strip_accents"),
        handle_chinese_chars=said.get("tokenize_chinese_chars", True) is not False,
    )
    inner.pre_tokenizer, inner.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    inner.post_processor = processors.BertProcessing((last, found.stop), (first, found.start))
    inner.add_special_tokens([name for name, i in ids.items() if i in found.ids()])
    return inner


def style(inner: tokenizers.Tokenizer) -> Style:
    """How the entries of a tokenizer are written, by the parts it has."""
    model, parts = inner.model, repr(inner.pre_tokenizer) + repr(inner.decoder)
    if isinstance(model, models.WordPiece):
        return "pieces"
    if isinstance(model, models.WordLevel):
        return "words"
    if isinstance(model, models.BPE) and model.end_of_word_suffix:
        return "suffix"
    return "bytes" if "ByteLevel" in parts else "metaspace"


def entries(inner: tokenizers.Tokenizer) -> tuple[str, ...]:
    """What each id is called; a ValueError where ids are given twice or lie far beyond the others."""
    ids = inner.get_vocab()
    most = 2 * len(ids) + 1000
    # Before anything else: the library writes a vocabulary by counting up to its largest id.
    if not ids or len(set(ids.values())) != len(ids) or max(ids.values()) >= most:
        raise ValueError(f"its {len(ids)} entries are not numbered one by one")
    names = [""] * (max(ids.values()) + 1)
    for name, i in ids.items():
        names[i] = name
    return tuple(names)
