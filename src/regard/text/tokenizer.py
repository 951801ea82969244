"""Text as ids: a tokenizer that is trained here in one step, or read from other people's files.

tokenizer = Tokenizer.train(lines, kind="bytes", vocab=8000)
tokenizer.decode(tokenizer.encode(["Ein Hund läuft."])[0])   # "Ein Hund läuft."
"""

import json
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from operator import index
from pathlib import Path
from typing import Any, Literal, SupportsIndex, overload

import tokenizers
from tokenizers import pre_tokenizers

from regard import files
from regard.text import foreign, sentencepiece, training
from regard.text.foreign import Special, Style
from regard.text.template import Template, Window
from regard.text.training import KINDS, LEAST, Kind
from regard.text.words import Words

LARGEST = 64_000_000  # bytes of a file; a vocabulary of 250,000 pieces takes half of it
VOCAB_JSON = 4 * 2**20  # bytes of Marian's own list of pieces
WAY = "give a tokenizer.json or a SentencePiece model"
# Where a folder may keep its tokenizer, the first choice first.
FILES = (
    *("tokenizer.json", "source.spm", "spm.model", "spiece.model", "tokenizer.model", "sentencepiece.bpe.model"),
    "vocab.txt",
)


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Text as ids below `vocab`; `pad`, `start`, `stop`, `unknown` and `mask` are ids, or None without such an entry.

    Of the kinds that are trained here, `bytes` (byte-level BPE) can say any text and loses nothing; `pieces`
    (WordPiece), `words` and `characters` know what they have seen, and write the rest as unknown.
    """

    kind: Style
    lower: bool
    pad: int | None
    start: int | None
    stop: int | None
    unknown: int | None
    mask: int | None
    specials: frozenset[int]
    _inner: tokenizers.Tokenizer = field(repr=False)
    _entries: tuple[str, ...] = field(repr=False)  # what each id is called
    _ids: Mapping[str, int] | None = field(default=None, repr=False)  # where ids are not those of the inner one
    _files: Mapping[str, bytes] = field(default_factory=dict, repr=False)  # what it was read from

    @staticmethod
    def train(
        lines: Iterable[str], *, kind: Kind = "bytes", vocab: int = 8000, lower: bool = False, mask: bool = False
    ) -> "Tokenizer":
        """Learn a vocabulary of at most `vocab` entries; the same lines, in any order, always give the same one.

        With `mask` there is an entry for words that are hidden from a model, which BERT's training needs.
        """
        if kind not in KINDS:
            raise ValueError(f"no tokenizer is of the kind {kind!r}; choose {', '.join(KINDS)}")
        least = len(training.specials_of(mask)) + LEAST[kind]
        if vocab < least:
            raise ValueError(f"a vocabulary of {vocab} is too small for {kind}; give {least} or more")
        texts = _check_texts(lines)
        if not any(text.strip() for text in texts):
            raise ValueError(f"{len(texts)} lines hold no word to learn from; give some text")
        inner = training.empty(kind, lower, mask)
        with _library("training failed"):
            training.teach(inner, texts, kind, vocab, mask)
        return _own(inner, kind, lower, mask)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> "Tokenizer":
        """Read a tokenizer.json, by regard or anybody else, or a SentencePiece model; or the folder of one.

        Files beside it name the special ids. Marian's `source.spm` and `target.spm` take theirs from `vocab.json`.
        """
        path = Path(path)
        if path.is_dir():
            found = [path / name for name in FILES if (path / name).exists()]
            if not found:
                raise FileNotFoundError(f"{path} has no tokenizer; {WAY}")
            path = found[0]
        with _library(f"{path} is not a tokenizer", WAY):
            data = files.read(path, LARGEST)
            if path.suffix in (".spm", ".model"):
                return _sentencepiece(path, data)
            if path.suffix == ".txt":
                data = foreign.wordpiece(path.parent, data).to_str(pretty=False).encode()
            return _json(path, data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one tokenizer.json that `load` reads; it is whole or not there."""
        files.write(Path(path), self.to_json())

    def to_json(self) -> str:
        """What `save` writes."""
        return self._inner.to_str(pretty=False)

    def files(self) -> dict[str, bytes]:
        """The files that make this tokenizer again, by name, for the folder of a model."""
        return dict(self._files) or {"tokenizer.json": self.to_json().encode()}

    @property
    def vocab(self) -> int:
        """How many entries there are: every id is below it."""
        return len(self._entries)

    def entry(self, i: int) -> str:
        """What an id is called in the vocabulary."""
        return self._entries[self._check_ids([i])[0]]

    def special(self, role: Literal["pad", "start", "stop", "unknown", "mask"]) -> int:
        """The id of a special token by its role; a ValueError where there is none."""
        i: int | None = getattr(self, role)
        if i is None:
            raise ValueError(f"this tokenizer has no {role} token; choose one that has, or do without it")
        return i

    def halves(self) -> list[tuple[int, int]]:
        """The two entries that byte pair encoding joined to make each entry; -1 and -1 where nothing was joined."""
        numbers: dict[str, int] = self._inner.get_vocab()
        found = [(-1, -1)] * self.vocab
        for left, right in json.loads(self.to_json())["model"].get("merges", ()):
            found[numbers[left + right]] = numbers[left], numbers[right]
        return found

    def encode(
        self,
        texts: Iterable[str],
        *,
        start: bool | None = None,
        stop: bool | None = None,
        limit: int | None = None,
    ) -> list[list[int]]:
        """Ids of each text, between start and stop where asked for, and at most `limit` of them in all.

        Where neither is said, what the tokenizer's own template puts around a text is there, as BERT's [CLS] and [SEP];
        regard's own have none. What is too long loses its end, never its stop. Of a tokenizer that was trained here,
        a special written out in a text, such as <pad>, is plain text.
        """
        template = start is None and stop is None and self._inner.post_processor is not None
        before, after = [self.special("start")] if start else [], [self.special("stop")] if stop else []
        added = self._inner.num_special_tokens_to_add(False) if template else len(before) + len(after)
        room = None if limit is None else limit - added
        if room is not None and room < 1:
            raise ValueError(f"a limit of {limit} leaves no room for text; give {added + 1} or more")
        checked = _check_texts(texts)
        with _library("encoding failed"):
            if self._ids is not None:
                return [before + self._map_pieces(text)[:room] + after for text in checked]
            found = self._inner.encode_batch_fast(checked, add_special_tokens=False)
            if not template:
                return [before + encoding.ids[:room] + after for encoding in found]
            for encoding in found:
                if room is not None:
                    encoding.truncate(room)
            return [self._inner.post_process(encoding).ids for encoding in found]

    def encode_pairs(
        self, pairs: Iterable[tuple[str, str]], *, limit: int | None = None
    ) -> tuple[list[list[int]], list[list[int]]]:
        """Ids and segments of each pair of texts by the tokenizer's own template, as BERT's [CLS] a [SEP] b [SEP].

        Without a template it is start a stop b stop. What is too long loses the end of its longer text.
        """
        found = self.windows(pairs, limit=limit)
        return [each.ids for (each,) in found], [each.segments for (each,) in found]

    def windows(
        self, rows: Iterable[tuple[str, ...]], *, limit: int | None = None, overlap: int | None = None
    ) -> list[list[Window]]:
        """One text or two a row by the template, and where the pieces of the last text lie in it.

        With `overlap`, a last text that is too long is read in several windows that share so many pieces; without it,
        there is one window, and what is too long is cut.
        """
        given = [_check_texts(texts) for texts in rows]
        template = Template(self._inner, self.start, self.stop, self._number)
        with _library("encoding failed"):
            found = iter(
                self._inner.encode_batch([text for texts in given for text in texts], add_special_tokens=False)
            )
            return [template.rows([next(found) for _ in texts], limit, overlap) for texts in given]

    def _number(self, encoding: tokenizers.Encoding) -> list[int]:
        ids = self._ids
        return encoding.ids if ids is None else [ids.get(token, self.special("unknown")) for token in encoding.tokens]

    @overload
    def decode(self, ids: Iterable[SupportsIndex]) -> str: ...

    @overload
    def decode(self, ids: Iterable[Iterable[SupportsIndex]]) -> list[str]: ...

    def decode(self, ids: Iterable[SupportsIndex] | Iterable[Iterable[SupportsIndex]]) -> str | list[str]:
        """The text of a row of ids, or of each of several rows, without specials; what was unknown is shown as such."""
        row: list[Any] = list(ids)
        if row and isinstance(row[0], Iterable) and getattr(row[0], "ndim", 1) > 0:  # a tensor of no axes iterates too
            return [self.decode(each) for each in row]
        said = [self._entries[i] for i in self._check_ids(row) if i == self.unknown or i not in self.specials]
        with _library("decoding failed"):
            return " ".join(said) if self._inner.decoder is None else self._inner.decoder.decode(said)

    def words(self, ids: Iterable[SupportsIndex]) -> Words:
        """The pieces of ids and the words they make; every piece is in one word, and a special is a word of its own."""
        raw, first = list[bytes](), list[bool]()
        for special, run in groupby(self._check_ids(ids), key=lambda i: i in self.specials):
            part = [self._entries[i] for i in run]
            said = [token.encode() for token in part] if special else [self._piece_bytes(token) for token in part]
            first += [True] * len(part) if special else [True, *self._starts(part, said)[1:]]
            raw += said
        starts = [place for place, begins in enumerate(first) if begins]
        ends = [*starts[1:], len(raw)][: len(starts)]
        spans = tuple((start, end - 1) for start, end in zip(starts, ends, strict=True))
        labels = tuple(_show(b"".join(raw[start : end + 1])) for start, end in spans)
        return Words(tuple(map(_show, raw)), spans, labels)

    def _map_pieces(self, text: str) -> list[int]:
        """Ids by the names of the pieces, after the code of a language such as >>fra<<, which some models read."""
        ids = self._ids or {}
        code = match.group() if (match := re.match(">>.*?<<", text)) and match.group() in ids else ""
        tokens = [*([code] if code else []), *self._inner.encode(text[len(code) :], add_special_tokens=False).tokens]
        return [ids[token] if token in ids else self.special("unknown") for token in tokens]

    def _check_ids(self, ids: Iterable[SupportsIndex]) -> list[int]:
        found, vocab = [index(i) for i in ids], self.vocab
        for place, i in enumerate(found):
            if not 0 <= i < vocab:
                raise ValueError(
                    f"id {i} at place {place} is not in this vocabulary of {vocab}; decode with the tokenizer that "
                    "made the ids"
                )
        return found

    def _piece_bytes(self, token: str) -> bytes:
        """What an entry stands for, in bytes, since a piece of byte-level BPE may end inside a character."""
        if self.kind == "bytes":
            return b"".join(bytes([ALPHABET[c]]) if c in ALPHABET else c.encode() for c in token)
        if self.kind == "metaspace":
            byte = re.fullmatch("<0x([0-9A-F]{2})>", token)
            return bytes.fromhex(byte[1]) if byte else token.replace(sentencepiece.SPACE, " ").encode()
        if self.kind == "suffix":
            return token.removesuffix("</w>").encode()
        return (token.removeprefix("##") if self.kind == "pieces" else token).encode()

    def _starts(self, tokens: list[str], said: list[bytes]) -> list[bool]:
        """Which of these entries begin a word."""
        if self.kind == "words":
            return [True] * len(tokens)
        if self.kind == "pieces":
            return [not token.startswith("##") for token in tokens]
        if self.kind == "suffix":
            return [before.endswith("</w>") for before in ("</w>", *tokens[:-1])]
        if self.kind == "characters":
            return [not (_wordlike(left) and _wordlike(right)) for left, right in zip(["", *tokens], tokens)]  # noqa: B905
        # The rule by which GPT-2 cuts text before it is encoded; half a character counts as a letter.
        text = b"".join(said).decode(errors="surrogateescape")
        cut = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(re.sub("[\udc80-\udcff]", "x", text))
        edges = {0, *accumulate(len(word) for word, _ in cut)}
        return [end - len(each) in edges for each, end in zip(said, accumulate(map(len, said)), strict=True)]


def _own(inner: tokenizers.Tokenizer, kind: Kind, lower: bool, mask: bool) -> Tokenizer:
    specials = range(len(training.specials_of(mask)))
    hidden = specials[-1] if mask else None
    return Tokenizer(kind, lower, 0, 1, 2, 3, hidden, frozenset(specials), inner, foreign.entries(inner))


def _json(path: Path, data: bytes) -> Tokenizer:
    inner = tokenizers.Tokenizer.from_buffer(data)
    names = foreign.entries(inner)
    if (made := training.recognise(inner)) is not None:
        if len(names) != inner.get_vocab_size():
            raise ValueError(f"its {inner.get_vocab_size()} entries are not numbered one by one")
        inner.encode_special_tokens = True
        return _own(inner, *made)
    inner.no_truncation()
    inner.no_padding()
    found = foreign.special(path.parent, inner.get_vocab())
    marked = frozenset(i for i, token in inner.get_added_tokens_decoder().items() if token.special)
    settings = {name: (path.parent / name) for name in ("tokenizer_config.json", "special_tokens_map.json")}
    return Tokenizer(
        foreign.style(inner),
        "Lowercase" in repr(inner.normalizer) or "lowercase=True" in repr(inner.normalizer),
        *_roles(found),
        marked | found.ids(),
        inner,
        names,
        None,
        {"tokenizer.json": data}
        | {name: files.read(each, foreign.JSON) for name, each in settings.items() if each.exists()},
    )


def _sentencepiece(path: Path, data: bytes) -> Tokenizer:
    model = sentencepiece.parse(data)
    inner, beside = sentencepiece.build(model), path.parent / "vocab.json"
    named = foreign.special(path.parent, {name: i for i, name in enumerate(model.pieces)})
    own = Special(model.pad, model.start, model.stop, model.unknown)
    found = Special(*(i if i is not None else j for i, j in zip(_roles(own), _roles(named), strict=True)))
    if path.suffix != ".spm" or not beside.exists():
        specials = model.controls | found.ids()
        kept = {path.name: data}
        return Tokenizer("metaspace", False, *_roles(found), specials, inner, model.pieces, None, kept)
    ids = files.read_json(beside, VOCAB_JSON)
    if not ids or any(type(i) is not int for i in ids.values()) or sorted(ids.values()) != list(range(len(ids))):
        raise ValueError(f"{beside} does not number its entries 0 to {len(ids) - 1}")
    found = foreign.special(path.parent, ids)
    if found.unknown is None:
        raise ValueError(f"{beside} has no entry <unk>")
    codes = {i for name, i in ids.items() if name.startswith(">>") and name.endswith("<<")}
    other = path.with_name("target.spm" if path.name == "source.spm" else "source.spm")
    kept = {each.name: files.read(each, LARGEST) for each in (path, beside, other) if each.exists()}
    return Tokenizer(
        "metaspace",
        False,
        *_roles(found),
        found.ids() | codes,
        inner,
        tuple(sorted(ids, key=ids.__getitem__)),
        ids,
        kept,
    )


def _roles(special: Special) -> tuple[int | None, int | None, int | None, int | None, int | None]:
    return special.pad, special.start, special.stop, special.unknown, special.mask


def _check_texts(texts: Iterable[str]) -> list[str]:
    """The texts as a list, each of them text indeed."""
    if isinstance(texts, str | bytes):
        raise TypeError(f"{texts[:20]!r} is one text, but several are expected; write [text]")
    found = list(texts)
    for number, text in enumerate(found):
        if not isinstance(text, str):
            raise TypeError(f"text {number} is {type(text).__name__}, not str; decode bytes first, as by .decode()")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"text {number} has half a character ({text[error.start]!r}) at place {error.start}, as broken UTF-8 "
                "leaves it; read the file with errors='replace' or mend it"
            ) from None
    return found


@contextmanager
def _library(what: str, way: str = "please report this text") -> Iterator[None]:
    """Turn whatever the library throws into one clear error; its panics are no `Exception`."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MemoryError, OSError):
        raise
    except BaseException as error:
        raise ValueError(f"{what}: {error}; {way}") from None


def _wordlike(character: str) -> bool:
    return character.isalnum() or any(map(unicodedata.combining, character))


def _show(raw: bytes) -> str:
    text = raw.decode(errors="replace")
    return text.strip(" ") or text


def _alphabet() -> dict[str, int]:
    """GPT-2's visible stand-ins for the 256 bytes: a printable byte is itself, the others follow from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = sorted(set(range(256)).difference(printable))
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(hidden)}


ALPHABET = _alphabet()
