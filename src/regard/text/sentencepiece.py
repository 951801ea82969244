"""SentencePiece models: their file read as it is specified, and the same segmentation by `tokenizers` (Kudo 2018).

A `.model` or `.spm` file is a protocol buffer with the pieces, their scores, and how text is normalised.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers

SPACE = "▁"
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)  # types of pieces
MOST = 1_000_000  # pieces
FORCED = 1e3  # a score above any sum of logarithms of chances


@dataclass(frozen=True, slots=True)
class Model:
    """What a file says; ids that it does not have are None."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    types: tuple[int, ...]
    algorithm: str
    byte_fallback: bool
    charsmap: bytes
    dummy_prefix: bool
    extra_whitespace: bool
    pad: int | None
    start: int | None
    stop: int | None
    unknown: int | None

    @property
    def controls(self) -> frozenset[int]:
        return frozenset(i for i, kind in enumerate(self.types) if kind in (UNKNOWN, CONTROL))


def parse(data: bytes) -> Model:
    """Read a file; a ValueError says why one cannot be read or is not supported."""
    pieces, scores, types = list[str](), list[float](), list[int]()
    trainer, normalizer = dict[int, int | bytes](), dict[int, int | bytes]()
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            row = dict(_fields(value))
            pieces.append(_bytes(row.get(1, b"")).decode())
            scores.append(struct.unpack("<f", _bytes(row.get(2, bytes(4))))[0])
            types.append(_number(row.get(3, NORMAL)))
        elif number == 2 and isinstance(value, bytes):
            trainer |= dict(_fields(value))
        elif number == 3 and isinstance(value, bytes):
            normalizer |= dict(_fields(value))
        if len(pieces) > MOST:
            raise ValueError(f"it has more than {MOST:,} pieces")
    if not pieces or len(set(pieces)) != len(pieces):
        raise ValueError("it has no pieces, or one of them twice")
    algorithm = {1: "unigram", 2: "bpe"}.get(_number(trainer.get(3, 1)))
    if algorithm is None or trainer.get(24):
        raise ValueError("only its unigram and BPE models are read, with spaces before words")

    def named(number: int, default: int) -> int | None:
        place = _number(trainer.get(number, default))
        return place if place < len(pieces) and types[place] in (UNKNOWN, CONTROL) else None

    return Model(
        tuple(pieces),
        tuple(scores),
        tuple(types),
        algorithm,
        bool(trainer.get(35, 0)),
        _bytes(normalizer.get(2, b"")),
        bool(normalizer.get(3, 1)),
        not normalizer.get(4, 1),
        pad=named(43, 2**64 - 1),
        start=named(41, 1),
        stop=named(42, 2),
        unknown=next((i for i, kind in enumerate(types) if kind == UNKNOWN), None),
    )


def build(model: Model) -> tokenizers.Tokenizer:
    """A tokenizer that cuts text as SentencePiece does, with the same ids."""
    # Text never means a control piece, so their names are replaced by what no text has.
    hidden = {UNKNOWN, CONTROL, UNUSED} | ({BYTE} if not model.byte_fallback else set())
    names = [
        f"\U0010ffff{i}" if kind in hidden else piece
        for i, (piece, kind) in enumerate(zip(model.pieces, model.types, strict=True))
    ]
    if model.algorithm == "unigram":
        # A symbol that users have defined is never taken apart.
        scores = [FORCED if kind == USER_DEFINED else s for s, kind in zip(model.scores, model.types, strict=True)]
        rows = list(zip(names, scores, strict=True))
        inner = tokenizers.Tokenizer(models.Unigram(rows, model.unknown, model.byte_fallback))
    else:
        ids = {name: i for i, name in enumerate(names)}
        merges = [
            (-model.scores[i], ids[name[:cut]], ids[name[cut:]], name[:cut], name[cut:])
            for i, name in enumerate(names)
            if model.types[i] == NORMAL
            for cut in range(1, len(name))
            if name[:cut] in ids and name[cut:] in ids
        ]
        inner = tokenizers.Tokenizer(
            models.BPE(
                ids,
                [(left, right) for *_, left, right in sorted(merges)],
                unk_token=None if model.unknown is None else names[model.unknown],
                fuse_unk=True,
                byte_fallback=model.byte_fallback,
            )
        )
    forms: list[normalizers.Normalizer] = [normalizers.Precompiled(model.charsmap)] if model.charsmap else []
    if not model.extra_whitespace:
        forms += [
            normalizers.Replace(tokenizers.Regex(pattern), by) for pattern, by in (("^ +| +$", ""), (" {2,}", " "))
        ]
    inner.normalizer = normalizers.Sequence(forms)
    inner.pre_tokenizer = pre_tokenizers.Metaspace(
        SPACE, prepend_scheme="always" if model.dummy_prefix else "never", split=False
    )
    inner.decoder = decoders.Sequence(
        [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
        + ([decoders.Strip(" ", 1, 0)] if model.dummy_prefix else [])
    )
    if model.algorithm == "bpe":
        inner.add_tokens([piece for piece, kind in zip(model.pieces, model.types, strict=True) if kind == USER_DEFINED])
    return inner


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The numbered fields of a message, as protocol buffers write them."""
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, place = _varint(data, place)
            yield number, value
            continue
        if wire == 2:
            length, place = _varint(data, place)
        elif wire in (1, 5):
            length = 8 if wire == 1 else 4
        else:
            raise ValueError(f"it has a field of the unknown type {wire}")
        if length > len(data) - place:
            raise ValueError("it is cut short")
        yield number, data[place : place + length]
        place += length


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(data):
            raise ValueError("it is cut short")
        byte = data[place]
        value, place = value | (byte & 0x7F) << shift, place + 1
        if byte < 0x80:
            return value, place
    raise ValueError("it has a number of more than 64 bits")


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("it has a number in place of bytes")
    return value


def _number(value: int | bytes) -> int:
    if not isinstance(value, int):
        raise ValueError("it has bytes in place of a number")
    return value
