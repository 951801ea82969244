"""One tokenizer in four kinds: it learns its vocabulary from raw text in one step and is saved as one file.

tokenizer = Tokenizer.train(lines, kind="bytes", vocab=8000)
tokenizer.decode(tokenizer.encode(["Ein Hund läuft."])[0])   # "Ein Hund läuft."
"""

import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, groupby
from operator import index
from pathlib import Path
from typing import Any, Literal, get_args

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

Kind = Literal["bytes", "pieces", "words", "characters"]

SPECIALS = ("<pad>", "<start>", "<stop>", "<unknown>")
PAD, START, STOP, UNKNOWN = range(4)

KINDS: tuple[Kind, ...] = get_args(Kind)
LEAST = {"bytes": 256, "pieces": 2, "words": 1, "characters": 1}  # entries beside the specials
LARGEST = 100_000_000  # bytes of a file; a vocabulary of 250,000 pieces takes a fifth of it


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of a sentence, and the words they make: piece i is part of `words[word[i]]`."""

    texts: tuple[str, ...]
    words: tuple[str, ...]
    word: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Text as numbers below `vocab`, of which the first four are pad, start, stop and unknown.

    `bytes` (byte-level BPE) can say any text and loses nothing; `pieces` (WordPiece), `words` and `characters` know
    what they have seen, and write the rest as unknown.
    """

    kind: Kind
    lower: bool
    _inner: tokenizers.Tokenizer

    @staticmethod
    def train(lines: Iterable[str], *, kind: Kind = "bytes", vocab: int = 8000, lower: bool = False) -> "Tokenizer":
        """Learn a vocabulary of at most `vocab` entries; the same lines, in any order, always give the same one."""
        if kind not in KINDS:
            raise ValueError(f"no tokenizer is of the kind {kind!r}; choose {', '.join(KINDS)}")
        least = len(SPECIALS) + LEAST[kind]
        if vocab < least:
            raise ValueError(f"a vocabulary of {vocab} is too small for {kind}; give {least} or more")
        texts = _checked(lines)
        if not any(text.strip() for text in texts):
            raise ValueError(f"{len(texts)} lines hold no word to learn from; give some text")
        inner = _empty(kind, lower)
        with _library("training failed"):
            _teach(inner, texts, kind, vocab)
        return Tokenizer(kind, lower, inner)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> "Tokenizer":
        """Read what `save` wrote. Nothing else is taken for it."""
        path, way = Path(path), "give a tokenizer.json that regard saved"
        if (size := path.stat().st_size) > LARGEST:
            raise ValueError(f"{path} is not a tokenizer: {size} bytes are more than {LARGEST}; {way}")
        with _library(f"{path} is not a tokenizer", way):
            inner = tokenizers.Tokenizer.from_str(path.read_text("utf-8"))
            ids = sorted(inner.get_vocab().values())
        # Before anything else: the library writes a vocabulary by counting up to its largest id.
        if ids != list(range(len(ids))):
            raise ValueError(f"{path} is damaged: its {len(ids)} entries are not numbered 0 to {len(ids) - 1}; {way}")
        # Everything but the vocabulary must be what training would have made: a file chooses no code to run.
        frame = _frame(inner)
        found = [(kind, lower) for kind in KINDS for lower in (False, True) if frame == _frame(_empty(kind, lower))]
        if not found:
            raise ValueError(f"{path} is a tokenizer, but not one of regard's; {way}, or train one by Tokenizer.train")
        kind, lower = found[0]
        needed = ALPHABET.keys() if kind == "bytes" else set[str]()
        if [inner.id_to_token(i) for i in range(4)] != list(SPECIALS) or not needed <= inner.get_vocab().keys():
            raise ValueError(f"{path} is damaged: entries that every tokenizer of regard has are missing; {way}")
        inner.encode_special_tokens = True
        return Tokenizer(kind, lower, inner)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one file that `load` reads; it is whole or not there."""
        path = Path(path)
        beside = path.with_name(f"{path.name}.{os.getpid()}.partial")
        try:
            with beside.open("w", encoding="utf-8", newline="\n") as file:
                file.write(self.to_json())
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)

    def to_json(self) -> str:
        """What `save` writes."""
        return self._inner.to_str(pretty=False)

    @property
    def vocab(self) -> int:
        """How many entries there are: every id is below it."""
        return self._inner.get_vocab_size()

    def halves(self) -> list[tuple[int, int]]:
        """The two entries that byte pair encoding joined to make each entry; -1 and -1 where nothing was joined."""
        numbers: dict[str, int] = self._inner.get_vocab()
        found = [(-1, -1)] * self.vocab
        for left, right in json.loads(self.to_json())["model"].get("merges", ()):
            found[numbers[left + right]] = numbers[left], numbers[right]
        return found

    def encode(
        self, texts: Iterable[str], *, start: bool = False, stop: bool = False, limit: int | None = None
    ) -> list[list[int]]:
        """Ids of each text, between start and stop where asked for, and at most `limit` of them in all.

        What is too long loses its end, never its stop. A special written out in a text, such as <pad>, is plain text.
        """
        before, after = [START] * start, [STOP] * stop
        room = None if limit is None else limit - len(before) - len(after)
        if room is not None and room < 1:
            raise ValueError(f"a limit of {limit} leaves no room for text; give {len(before) + len(after) + 1} or more")
        checked = _checked(texts)
        with _library("encoding failed"):
            found = self._inner.encode_batch_fast(checked, add_special_tokens=False)
        return [before + encoding.ids[:room] + after for encoding in found]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids, without pad, start and stop; what was unknown is shown as such."""
        said = [i for i in self._known(ids) if i not in (PAD, START, STOP)]
        with _library("decoding failed"):
            return self._inner.decode(said, skip_special_tokens=False)

    def pieces(self, ids: Iterable[int]) -> Pieces:
        """What each id says, and which of them are parts of one word. A special is a word of its own."""
        raw, first = list[bytes](), list[bool]()
        for special, run in groupby(self._known(ids), key=lambda i: i < len(SPECIALS)):
            part = [str(self._inner.id_to_token(i)) for i in run]
            raw += [token.encode() for token in part] if special else [self._said(token) for token in part]
            first += [True] * len(part) if special else [True, *self._starts(part)[1:]]
        word = [count - 1 for count in accumulate(map(int, first))]
        words = [b""] * (word[-1] + 1 if word else 0)
        for place, text in zip(word, raw, strict=True):
            words[place] += text
        return Pieces(tuple(map(_shown, raw)), tuple(map(_shown, words)), tuple(word))

    def _known(self, ids: Iterable[int]) -> list[int]:
        found, vocab = [index(i) for i in ids], self.vocab
        for place, i in enumerate(found):
            if not 0 <= i < vocab:
                raise ValueError(
                    f"id {i} at place {place} is not in this vocabulary of {vocab}; decode with the tokenizer that "
                    "made the ids"
                )
        return found

    def _said(self, token: str) -> bytes:
        """What an entry stands for, in bytes, since a piece of byte-level BPE may end inside a character."""
        if self.kind == "bytes":
            return bytes(ALPHABET[character] for character in token)
        return (token.removeprefix("##") if self.kind == "pieces" else token).encode()

    def _starts(self, tokens: list[str]) -> list[bool]:
        """Which of these entries begin a word."""
        if self.kind == "words":
            return [True] * len(tokens)
        if self.kind == "pieces":
            return [not token.startswith("##") for token in tokens]
        if self.kind == "characters":
            return [not (_wordlike(left) and _wordlike(right)) for left, right in zip(["", *tokens], tokens)]  # noqa: B905
        # The rule that cut the text when it was encoded, asked once more; half a character counts as a letter.
        text = b"".join(map(self._said, tokens)).decode(errors="surrogateescape")
        cut = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(re.sub("[\udc80-\udcff]", "x", text))
        edges = {0, *accumulate(len(word) for word, _ in cut)}
        return [end - len(token) in edges for token, end in zip(tokens, accumulate(map(len, tokens)), strict=True)]


def _empty(kind: Kind, lower: bool) -> tokenizers.Tokenizer:
    """A tokenizer of a kind that knows no word yet."""
    unknown = SPECIALS[UNKNOWN]
    if kind == "bytes":
        inner = tokenizers.Tokenizer(models.BPE())
        inner.pre_tokenizer, inner.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    elif kind == "characters":
        inner = tokenizers.Tokenizer(models.WordLevel(unk_token=unknown))
        inner.pre_tokenizer = pre_tokenizers.Split(tokenizers.Regex(r"[\s\S]"), "isolated")
        inner.decoder = decoders.Fuse()
    else:
        pieces = kind == "pieces"
        inner = tokenizers.Tokenizer((models.WordPiece if pieces else models.WordLevel)(unk_token=unknown))
        inner.pre_tokenizer, inner.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece(cleanup=True)
    # é is one letter, however it was typed; bytes and characters keep what was typed.
    forms = ([normalizers.NFC()] if kind in ("pieces", "words") else []) + ([normalizers.Lowercase()] if lower else [])
    inner.normalizer = normalizers.Sequence(forms)
    inner.add_special_tokens(list(SPECIALS))
    inner.encode_special_tokens = True
    return inner


def _teach(inner: tokenizers.Tokenizer, texts: list[str], kind: Kind, vocab: int) -> None:
    """Fill an empty tokenizer from texts."""
    specials = list(SPECIALS)
    if kind == "bytes":
        inner.train_from_iterator(
            texts,
            trainers.BpeTrainer(
                vocab_size=vocab, special_tokens=specials, initial_alphabet=sorted(ALPHABET), show_progress=False
            ),
        )
    elif kind == "pieces":
        # The library numbers the continuations ##a, ##b, … in the order of a hash table, and breaks ties between merges
        # by number: two trainings differ. Given as specials they are numbered first, and both are the same.
        letters, inside = _letters(inner, texts, (vocab - len(specials)) // 2)
        trainer = trainers.WordPieceTrainer(
            vocab_size=vocab,
            special_tokens=specials + [f"##{letter}" for letter in inside],
            initial_alphabet=letters,
            limit_alphabet=len(letters),
            show_progress=False,
        )
        learner = tokenizers.Tokenizer(models.WordPiece(unk_token=specials[UNKNOWN]))
        learner.normalizer, learner.pre_tokenizer = inner.normalizer, inner.pre_tokenizer
        learner.train_from_iterator(texts, trainer)
        inner.model = models.WordPiece(learner.get_vocab(), unk_token=specials[UNKNOWN])
    else:
        inner.train_from_iterator(
            texts, trainers.WordLevelTrainer(vocab_size=vocab, special_tokens=specials, show_progress=False)
        )


def _letters(inner: tokenizers.Tokenizer, texts: list[str], most: int) -> tuple[list[str], list[str]]:
    """The most frequent letters, and those of them that are met inside words."""
    counts, inside = Counter[str](), set[str]()
    for text in texts:
        for word, _ in inner.pre_tokenizer.pre_tokenize_str(inner.normalizer.normalize_str(text)):
            counts.update(word)
            inside.update(word[1:])
    letters = sorted(sorted(counts, key=lambda letter: (-counts[letter], letter))[:most])
    return letters, [letter for letter in letters if letter in inside]


def _frame(inner: tokenizers.Tokenizer) -> dict[str, object]:
    """All that a tokenizer is besides its vocabulary."""
    frame: dict[str, Any] = json.loads(inner.to_str())
    model = frame["model"]
    return frame | {"model": {key: model[key] for key in model if key not in ("vocab", "merges")}}


def _checked(texts: Iterable[str]) -> list[str]:
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


def _shown(raw: bytes) -> str:
    text = raw.decode(errors="replace")
    return text.strip(" ") or text


def _alphabet() -> dict[str, int]:
    """GPT-2's visible stand-ins for the 256 bytes: a printable byte is itself, the others follow from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = sorted(set(range(256)).difference(printable))
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(hidden)}


ALPHABET = _alphabet()
