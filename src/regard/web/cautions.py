"""What a reader should know of an answer before believing it: the text was none of those that the model knows.

A model answers whatever it is asked. Its tokenizer tells what it has learnt from: a word that was common there is one
piece, and a word that was not is spelled out of several.
"""

import re
from functools import partial
from typing import Any

from regard.web.files import read_object
from regard.web.languages import NAMES, WORDS, other_language, script
from regard.web.models import learnt
from regard.web.question import Pair, Question
from regard.web.scenes import scene

Caution = dict[str, Any]
BEFORE = ("recognize", "detect", "features")  # tasks of the room See, which says it before it asks
SHOWN = 8  # words that a caution names
HALF = 0.6  # share of words that are spelled out, from which on a text is strange
CUT = ("bytes", "pieces", "metaspace", "suffix")  # tokenizers that spell rare words out


def cautions(pipeline: Any, question: Question, text: str | None, tokens: int) -> list[Caution]:
    """All that is to be said of what a model was given: of its pictures, its language, its words and its length."""
    return [*_pictures(pipeline, question), *_crowded(pipeline, question), *_texts(pipeline, question, text, tokens)]


def _pictures(pipeline: Any, question: Question) -> list[Caution]:
    """The pictures are none of the world, and the model knows no other."""
    if pipeline.task in BEFORE or not _of_world(pipeline) or all(each.of_world for each in question.pictures):
        return []
    many = len(question.pictures) > 1
    said = "Not all of these are pictures" if many else "This is no picture"
    return [_say("domain", f"{said} of the little world, and {pipeline.name} knows no other.")]


def _crowded(pipeline: Any, question: Question) -> list[Caution]:
    """A scene of the world has more things than any that the model was trained on, where its card says how many."""
    match pipeline.card.get("things"):
        case [int(), int(most)]:
            counts = [len(scene(each.scene).things) for each in question.pictures if each.scene is not None]
        case _:
            return []
    many = max(counts, default=0)
    if many <= most:
        return []
    said = f"A scene here has {many} things" if len(question.pictures) > 1 else f"This scene has {many} things"
    return [_say("domain", f"{said}, and no picture that {pipeline.name} was trained on had more than {most}.")]


def _texts(pipeline: Any, question: Question, text: str | None, tokens: int) -> list[Caution]:
    if text is None or not hasattr(pipeline.tokenizer, "words"):
        return []
    domain = _domain(pipeline, question, text)
    # Where every word is known to be one of the model's, nothing is to be said of their language.
    language = _language(pipeline, text) if domain or not _of_world(pipeline) else []
    return [*language, *([] if language else domain), *_unknown(pipeline, text), *_length(pipeline, tokens)]


def languages_of(pipeline: Any) -> tuple[str, ...]:
    """The languages that a model reads, where its card says."""
    named = getattr(pipeline, "sources", ()) or pipeline.card.get("language") or ()
    return (named,) if isinstance(named, str) else tuple(map(str, named))


def _language(pipeline: Any, text: str) -> list[Caution]:
    """The text is in another language than the model's."""
    own = languages_of(pipeline)
    if not own:
        return []
    reads = " or ".join(NAMES.get(each, each) for each in own)
    written = script(text)
    if written is not None:
        return [_say("language", f"This is written in {written}. {pipeline.name} reads {reads} and nothing else.")]
    other = other_language(text, own)
    if other is None:
        return []
    return [_say("language", f"This looks like {NAMES[other]}. {pipeline.name} reads {reads} and nothing else.")]


def _unknown(pipeline: Any, text: str) -> list[Caution]:
    """Some words cannot be read at all, or only byte by byte."""
    tokenizer = pipeline.tokenizer
    unknown = None if tokenizer.unknown is None else tokenizer.entry(tokenizer.unknown)
    bad = []
    for word in dict.fromkeys(text.split()):
        (ids,) = tokenizer.encode([word], start=False, stop=False)
        pieces = tokenizer.words(ids).pieces
        if any(piece == unknown or "\ufffd" in piece for piece in pieces):
            bad.append(word)
    if not bad:
        return []
    said = _list(bad)
    return [_say("unknown", f"{pipeline.name} has no pieces for {said}: it never saw these letters or words.", bad)]


def _length(pipeline: Any, tokens: int) -> list[Caution]:
    """The text is longer than any that the model was trained on."""
    folder = pipeline.checkpoint.folder
    most = learnt(pipeline.card, read_object(folder / "config.json"))
    if most is None or tokens <= most:
        return []
    said = f"This has {tokens} tokens, and no text that {pipeline.name} was trained on had more than {most}."
    return [_say("length", said)]


def _domain(pipeline: Any, question: Question, text: str) -> list[Caution]:
    """The text is about other things than those that the model knows."""
    knows = pipeline.card.get("knows")
    if not isinstance(knows, str):
        return []
    if isinstance(question.given, Pair) and not _of_world(pipeline):
        return [_say("domain", f"This is a sentence of the little world. {pipeline.name} knows {knows}.")]
    strange = _not_of_the_world(pipeline, text) if _of_world(pipeline) else _spelled(pipeline, text)
    if not strange:
        return []
    are = "is" if len(strange) == 1 else "are"
    said = f"{_list(strange)} {are} new to {pipeline.name}, or nearly so. It knows {knows}."
    return [_say("domain", said, strange)]


def _of_world(pipeline: Any) -> bool:
    """Whether a model was trained on the little world, whose words are all known."""
    return bool(pipeline.card.get("data") == "world")


def _not_of_the_world(pipeline: Any, text: str) -> list[str]:
    """The words that nobody says in the little world."""
    from regard.world.language import vocabulary

    words = re.findall(r"[^\W\d_]+", text)
    if pipeline.task == "translate":
        known = {word.lower().strip("'") for each in languages_of(pipeline) for word in vocabulary(each)}
        return [word for word in words if word.lower() not in known]
    # Stories have more words, each of which is one piece, at least if it is small.
    return [word for word in words if all(map(partial(_is_spelled, pipeline.tokenizer), (word, word.lower())))]


def _spelled(pipeline: Any, text: str) -> list[str]:
    """The words that are spelled out of several pieces, if they are too many or among the commonest of the language."""
    if pipeline.tokenizer.kind not in CUT:
        return []
    (ids,) = pipeline.tokenizer.encode([text], start=False, stop=False)
    found = pipeline.tokenizer.words(ids)
    sizes = [last - first + 1 for first, last in found.spans]
    words = [(word, size) for word, size in zip(found.labels, sizes, strict=True) if any(map(str.isalpha, word))]
    strange = [word for word, size in words if size > 1]
    common = {word for each in languages_of(pipeline) for word in WORDS.get(each, ())}
    if any(word.lower() in common for word in strange) or len(strange) >= max(2.0, HALF * len(words)):
        return strange
    return []


def _is_spelled(tokenizer: Any, word: str) -> bool:
    """Whether a word is no piece, neither behind a space nor at the beginning of a text."""
    first, later, space = tokenizer.encode([word, f"a {word}", "a"], start=False, stop=False)
    return len(first) > 1 and len(later) - len(space) > 1


def _list(words: list[str]) -> str:
    """Some words, as a sentence names them."""
    named = list(dict.fromkeys(f"“{word}”" for word in words))
    more = len(named) - SHOWN
    if more > 0:
        return f"{', '.join(named[:SHOWN])} and {more} more"
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"


def _say(kind: str, text: str, words: list[str] | None = None) -> Caution:
    return {"kind": kind, "text": text} | ({} if words is None else {"words": list(dict.fromkeys(words))})
