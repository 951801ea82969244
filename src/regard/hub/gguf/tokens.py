"""The tokenizer inside a GGUF file, as a tokenizer.json that says the same.

Two kinds are known: byte-level BPE with merges ("gpt2"), and SentencePiece's BPE with a score for each piece ("llama").
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors

from regard.hub.gate import CheckpointError
from regard.text import Tokenizer
from regard.text.sentencepiece import BYTE, CONTROL, NORMAL, SPACE, UNKNOWN, USER_DEFINED

_KEY = "tokenizer.ggml."
_ROLES = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}
# How text is cut before it is encoded (llama.cpp's names): Llama 3 keeps up to three digits together, Qwen2 one.
_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_LLAMA_3 = ("llama-bpe", "llama3", "llama-v3")
_CUTS: Mapping[str, str] = {
    **dict.fromkeys(("gpt-2", "phi-2", "olmo"), "gpt"),
    **dict.fromkeys(("smollm", "starcoder", "refact", "command-r", "codeshell"), "digits"),
    **dict.fromkeys(_LLAMA_3, _WORDS % "{1,3}"),
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen"), _WORDS % ""),
}


def build(about: Mapping[str, Any], path: Path, vocab: int) -> Tokenizer | None:
    """The tokenizer that a header describes for a model of so many words, or None where there is none."""
    kind = about.get(f"{_KEY}model")
    if kind is None:
        return None
    if kind not in ("gpt2", "llama"):
        raise CheckpointError(f"{path} has a tokenizer of the kind {str(kind)[:40]!r}; gpt2 and llama are read")
    tokens = _texts(about, "tokens", path)
    if not tokens or len(set(tokens)) != len(tokens):
        raise CheckpointError(f"{path} has a tokenizer of no entries, or with one of them twice")
    if len(tokens) > vocab:
        raise CheckpointError(
            f"{path} has a tokenizer of {len(tokens)} entries and a model of {vocab}; they do not fit"
        )
    types = _numbers(about, "token_type", len(tokens), NORMAL, path)
    inner = _bytes(about, tokens, path) if kind == "gpt2" else _pieces(about, tokens, types, path)
    rows = list(zip(tokens, types, strict=True))
    inner.add_special_tokens([AddedToken(each, normalized=False) for each, type_ in rows if type_ == CONTROL])
    inner.add_tokens([AddedToken(each, normalized=False) for each, type_ in rows if type_ == USER_DEFINED])
    named = {role: _named(about, f"{name}_token_id", tokens, path) for role, name in _ROLES.items()}
    # Where a file is silent, llama.cpp begins a text of these kinds with the start.
    first = kind == "llama" or about.get(f"{_KEY}pre") in _LLAMA_3
    marks = [
        named["bos"] if about.get(f"{_KEY}add_bos_token", first) else None,
        named["eos"] if about.get(f"{_KEY}add_eos_token", False) else None,
    ]
    _surround(inner, marks, tokens)
    settings = {f"{role}_token": token for role, token in named.items() if token is not None}
    if isinstance(chat := about.get("tokenizer.chat_template"), str):
        settings["chat_template"] = chat
    return _load(inner, settings)


def _bytes(about: Mapping[str, Any], tokens: Sequence[str], path: Path) -> tokenizers.Tokenizer:
    """Byte-level BPE, as GPT-2's."""
    name = str(about.get(f"{_KEY}pre"))
    if name not in _CUTS:
        raise CheckpointError(f"{path} cuts text as {name[:40]!r}; known are {', '.join(_CUTS)}")
    cut, ids = _CUTS[name], {token: i for i, token in enumerate(tokens)}
    merges = list[tuple[str, str]]()
    for merge in _texts(about, "merges", path):
        left, _, right = merge.partition(" ")
        if left not in ids or right not in ids or left + right not in ids:
            raise CheckpointError(f"{path} merges {merge[:40]!r}, which are not entries of its tokenizer")
        merges.append((left, right))
    # Llama 3 does not put a word together from parts that is an entry as a whole.
    inner = tokenizers.Tokenizer(models.BPE(ids, merges, ignore_merges=name in _LLAMA_3))
    if cut in ("gpt", "digits"):
        whole = pre_tokenizers.ByteLevel(add_prefix_space=False)
        digits = [pre_tokenizers.Digits(individual_digits=True)] if cut == "digits" else []
        inner.pre_tokenizer = pre_tokenizers.Sequence([*digits, whole])
    else:
        split = pre_tokenizers.Split(tokenizers.Regex(cut), "isolated")
        inner.pre_tokenizer = pre_tokenizers.Sequence(
            [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
        )
    if "qwen" in name:
        inner.normalizer = normalizers.NFC()
    inner.decoder = decoders.ByteLevel()
    return inner


def _pieces(about: Mapping[str, Any], tokens: Sequence[str], types: Sequence[int], path: Path) -> tokenizers.Tokenizer:
    """SentencePiece's BPE: the two neighbours are merged first that make the piece of the highest score."""
    scores = _numbers(about, "scores", len(tokens), 0, path)
    ids = {token: i for i, token in enumerate(tokens)}
    merges = sorted(
        (-scores[i], ids[left], ids[right], left, right)
        for i, token in enumerate(tokens)
        if types[i] == NORMAL
        for left, right in ((token[:cut], token[cut:]) for cut in range(1, len(token)))
        if left in ids and right in ids
    )
    unknown = next((token for token, kind in zip(tokens, types, strict=True) if kind == UNKNOWN), None)
    inner = tokenizers.Tokenizer(
        models.BPE(
            ids,
            [(left, right) for *_, left, right in merges],
            unk_token=unknown,
            fuse_unk=True,
            byte_fallback=BYTE in types,
        )
    )
    prefix = bool(about.get(f"{_KEY}add_space_prefix", True))
    before = [normalizers.Prepend(SPACE)] if prefix else []
    inner.normalizer = normalizers.Sequence([*before, normalizers.Replace(" ", SPACE)])
    after = [decoders.Strip(" ", 1, 0)] if prefix else []
    inner.decoder = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), *after])
    return inner


def _surround(inner: tokenizers.Tokenizer, marks: Sequence[str | None], tokens: Sequence[str]) -> None:
    """Put a start or a stop around each text, where there is one."""
    first, last = ([] if mark is None else [mark] for mark in marks)
    if first or last:
        rows = [(mark, tokens.index(mark)) for mark in {*first, *last}]
        one = [*first, "$A", *last]
        inner.post_processor = processors.TemplateProcessing(
            single=one, pair=[*one, *first, "$B:1", *last], special_tokens=rows
        )


def _load(inner: tokenizers.Tokenizer, settings: Mapping[str, str]) -> Tokenizer:
    """Our tokenizer, by the files that such a one is kept in."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "tokenizer.json").write_text(inner.to_str(pretty=False), encoding="utf-8")
        (place / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
        return Tokenizer.load(place)


def _texts(about: Mapping[str, Any], name: str, path: Path) -> list[str]:
    found = about.get(_KEY + name)
    if not isinstance(found, list):
        raise CheckpointError(f"{path} has no list {_KEY}{name}, which its tokenizer needs")
    return found


def _numbers(about: Mapping[str, Any], name: str, count: int, default: int, path: Path) -> list[Any]:
    found = about.get(_KEY + name)
    values = [default] * count if found is None else found.tolist() if hasattr(found, "tolist") else []
    if len(values) != count:
        raise CheckpointError(f"{path} has {len(values):,} numbers in {_KEY}{name} for {count:,} entries")
    return values


def _named(about: Mapping[str, Any], name: str, tokens: Sequence[str], path: Path) -> str | None:
    i = about.get(_KEY + name)
    if i is None:
        return None
    if type(i) is not int or not 0 <= i < len(tokens):
        raise CheckpointError(
            f"{path} names {str(i)[:40]} as {_KEY}{name}, which is none of its {len(tokens):,} entries"
        )
    return tokens[i]
