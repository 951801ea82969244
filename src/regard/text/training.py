"""A vocabulary learnt from raw text, in four kinds."""

from collections import Counter
from typing import Literal, get_args

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

Kind = Literal["bytes", "pieces", "words", "characters"]

KINDS: tuple[Kind, ...] = get_args(Kind)
LEAST = {"bytes": 256, "pieces": 2, "words": 1, "characters": 1}  # entries beside the specials
SPECIALS = ("<pad>", "<start>", "<stop>", "<unknown>")  # with the ids 0 to 3
UNKNOWN = SPECIALS[3]
MASK = "<mask>"  # with the id 4, where words are hidden from a model


def specials_of(mask: bool) -> list[str]:
    """The specials of a tokenizer, in the order of their ids."""
    return [*SPECIALS, MASK] if mask else [*SPECIALS]


def empty(kind: Kind, lower: bool, mask: bool) -> tokenizers.Tokenizer:
    """A tokenizer of a kind that knows no word yet."""
    if kind == "bytes":
        inner = tokenizers.Tokenizer(models.BPE())
        inner.pre_tokenizer, inner.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    elif kind == "characters":
        inner = tokenizers.Tokenizer(models.WordLevel(unk_token=UNKNOWN))
        inner.pre_tokenizer = pre_tokenizers.Split(tokenizers.Regex(r"[\s\S]"), "isolated")
        inner.decoder = decoders.Fuse()
    else:
        inner = tokenizers.Tokenizer((models.WordPiece if kind == "pieces" else models.WordLevel)(unk_token=UNKNOWN))
        inner.pre_tokenizer, inner.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece(cleanup=True)
    # é is one letter, however it was typed; bytes and characters keep what was typed.
    forms = ([normalizers.NFC()] if kind in ("pieces", "words") else []) + ([normalizers.Lowercase()] if lower else [])
    inner.normalizer = normalizers.Sequence(forms)
    inner.add_special_tokens(specials_of(mask))
    inner.encode_special_tokens = True
    return inner


def teach(inner: tokenizers.Tokenizer, texts: list[str], kind: Kind, vocab: int, mask: bool) -> None:
    """Fill an empty tokenizer from texts."""
    specials = specials_of(mask)
    if kind == "bytes":
        inner.train_from_iterator(
            texts,
            trainers.BpeTrainer(
                vocab_size=vocab,
                special_tokens=specials,
                initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
                show_progress=False,
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
        learner = tokenizers.Tokenizer(models.WordPiece(unk_token=UNKNOWN))
        learner.normalizer, learner.pre_tokenizer = inner.normalizer, inner.pre_tokenizer
        learner.train_from_iterator(texts, trainer)
        inner.model = models.WordPiece(learner.get_vocab(), unk_token=UNKNOWN)
    else:
        inner.train_from_iterator(
            texts, trainers.WordLevelTrainer(vocab_size=vocab, special_tokens=specials, show_progress=False)
        )


def recognise(inner: tokenizers.Tokenizer) -> tuple[Kind, bool, bool] | None:
    """The kind of a tokenizer trained here, if it writes in lower case, if it has a mask; None for any other."""
    if [inner.id_to_token(i) for i in range(4)] != list(SPECIALS):
        return None
    frame = _frame(inner)
    mask = inner.id_to_token(len(SPECIALS)) == MASK
    made = [
        (kind, lower, mask) for kind in KINDS for lower in (False, True) if frame == _frame(empty(kind, lower, mask))
    ]
    if not made or (made[0][0] == "bytes" and None in map(inner.token_to_id, pre_tokenizers.ByteLevel.alphabet())):
        return None
    return made[0]


def _letters(inner: tokenizers.Tokenizer, texts: list[str], most: int) -> tuple[list[str], list[str]]:
    """The most frequent letters, and those of them that are met inside words."""
    counts, inside = Counter[str](), set[str]()
    for text in texts:
        for word, _ in inner.pre_tokenizer.pre_tokenize_str(inner.normalizer.normalize_str(text)):
            counts.update(word)
            inside.update(word[1:])
    letters = sorted(sorted(counts, key=lambda letter: (-counts[letter], letter))[:most])
    return letters, [letter for letter in letters if letter in inside]


def _frame(inner: tokenizers.Tokenizer) -> list[object]:
    """All that a tokenizer is besides its vocabulary."""
    parts = (inner.normalizer, inner.pre_tokenizer, inner.post_processor, inner.decoder)
    settings = ("unk_token", "dropout", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback")
    return [
        type(inner.model),
        *(getattr(inner.model, name, None) for name in (*settings, "ignore_merges", "max_input_chars_per_word")),
        *(None if part is None else part.__getstate__() for part in parts),
        (inner.truncation, inner.padding, str(inner.get_added_tokens_decoder())),
    ]
