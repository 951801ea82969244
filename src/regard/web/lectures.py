"""The tours of the lectures for the page, in one answer."""

from dataclasses import asdict
from functools import lru_cache
from typing import Any

from fastapi import APIRouter

from regard.lectures import DECKS, PLACES, Topic
from regard.lectures.places import claim_at
from regard.web.state import AppState


def router(_: AppState) -> APIRouter:
    """The five tours."""
    routes = APIRouter(prefix="/api/lectures")

    @routes.get("")
    def every() -> list[dict[str, Any]]:
        """Every lecture: its topics in order, what opens each, and its questions."""
        return describe()

    return routes


def pages() -> tuple[str, ...]:
    """All that a site without a server needs, by the address that it is asked for."""
    return ("/api/lectures",)


@lru_cache(maxsize=1)
def describe() -> list[dict[str, Any]]:
    """The tours with their addresses; code is for the notebook alone."""
    return [
        {name: getattr(deck, name) for name in ("number", "short", "title", "by", "says")}
        | {"topics": [_topic(topic) for topic in deck.topics]}
        for deck in DECKS
    ]


def _topic(topic: Topic) -> dict[str, Any]:
    place = PLACES.get(topic.place)
    return {name: getattr(topic, name) for name in ("name", "title", "says", "command")} | {
        "place": place and {"title": place.title, "room": place.room, "address": place.address},
        "claims": [{"name": name, "address": claim_at(name).address} for name in topic.claims],
        "quizzes": [asdict(quiz) for quiz in topic.quizzes],
    }
