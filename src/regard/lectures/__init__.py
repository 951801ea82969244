"""Five lectures on attention as tours: one file a lecture. The explorer, the docs and the notebook are made of them."""

from regard.lectures import asano, cns148, erdem, hoang, zimmermann
from regard.lectures.places import PLACES, Place
from regard.lectures.tour import Deck, Quiz, Topic

DECKS: tuple[Deck, ...] = (zimmermann.DECK, cns148.DECK, asano.DECK, hoang.DECK, erdem.DECK)

__all__ = ["DECKS", "PLACES", "Deck", "Place", "Quiz", "Topic", "named_in"]


def named_in(words: str) -> list[str]:
    """The numbers of the lectures whose short names stand in a text, as claims say where a sentence is from."""
    return [deck.number for deck in DECKS if deck.short in words]
