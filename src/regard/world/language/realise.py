"""One meaning, four languages: its words, its text, and which words of two languages mean the same."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from regard.world.language import czech, english, german, italian
from regard.world.language.forms import czech as czech_forms
from regard.world.language.forms import german as german_forms
from regard.world.language.forms import italian as italian_forms
from regard.world.language.meaning import Sentence, Token

GRAMMARS: dict[str, Callable[[Sentence], list[Token]]] = {
    "en": english.realise,
    "de": german.realise,
    "it": italian.realise,
    "cs": czech.realise,
}
_VOCABULARIES: dict[str, Callable[[], set[str]]] = {
    "en": english.vocabulary,
    "de": german_forms.vocabulary,
    "it": italian_forms.vocabulary,
    "cs": czech_forms.vocabulary,
}
LANGUAGES = {"en": "English", "de": "German", "it": "Italian", "cs": "Czech"}

_CLOSING = frozenset((".", ",", "?", "!", "'s", "'"))


class Pair(NamedTuple):
    """A sentence in two languages, and the places of the words that mean the same."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: frozenset[tuple[int, int]]
    meaning: Sentence


def grammar(language: str) -> Callable[[Sentence], list[Token]]:
    """The grammar of a language by its code."""
    if language not in GRAMMARS:
        known = ", ".join(f"{code} ({name})" for code, name in LANGUAGES.items())
        raise ValueError(f"no grammar for the language {language!r}; there are {known}")
    return GRAMMARS[language]


@lru_cache(maxsize=4)
def vocabulary(language: str) -> frozenset[str]:
    """Every word that the grammar of a language can say; reports, senses, episodes and some questions have more."""
    grammar(language)
    return frozenset(_VOCABULARIES[language]())


def words(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple([token[0] for token in tokens])


def align(source: Sequence[Token], target: Sequence[Token]) -> frozenset[tuple[int, int]]:
    """Words are translations of each other when they express a part of the meaning in common."""
    where: dict[int, int] = {}
    again: list[tuple[int, int]] = []  # further words for the same part, which are few
    for j, token in enumerate(target):
        for node in token[1]:
            if node in where:
                again.append((node, j))
            else:
                where[node] = j
    found = [(i, where[node]) for i, token in enumerate(source) for node in token[1] if node in where]
    for node, j in again:
        found += [(i, j) for i, token in enumerate(source) if node in token[1]]
    return frozenset(found)


def pair(meaning: Sentence, source: str, target: str) -> Pair:
    """Say a meaning in two languages."""
    left, right = _spoken(meaning, source), _spoken(meaning, target)
    return Pair(words(left), words(right), align(left, right), meaning)


def text(tokens: Sequence[str]) -> str:
    """Words as they are written: a capital at the start, punctuation and elisions closed up."""
    parts: list[str] = []
    glued = True
    for token in tokens:
        parts.append(token if glued or token in _CLOSING else " " + token)
        glued = token[-1] == "'" and token != "'" and len(token) > 1
    whole = "".join(parts)
    return whole[:1].upper() + whole[1:]


def say(meaning: Sentence, language: str) -> str:
    """The text of a meaning in a language."""
    return text(words(_spoken(meaning, language)))


def _spoken(meaning: Sentence, language: str) -> list[Token]:
    """The words of a meaning that somebody wrote, which may have mistakes."""
    speak = grammar(language)
    try:
        tokens = speak(meaning)
        missing = "" in words(tokens)
    except KeyError as unknown:
        missing = unknown.args == ("",)
        if not missing:
            name = LANGUAGES[language]
            raise ValueError(f"{name} has no word for {unknown}; the words are in language/concepts.py") from None
    if missing:
        raise ValueError("names, food such as bread and drinks cannot be counted; give their entities the number 1")
    return tokens
