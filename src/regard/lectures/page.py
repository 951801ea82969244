"""The page of the documentation that shows all tours, made from their data so that it cannot drift from them.

Make it and the notebook again by `python -m regard.lectures.page docs`.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from regard.files import write
from regard.lectures import DECKS, PLACES, Deck, Topic
from regard.lectures.places import claim_at

LOCAL = "http://localhost:8420/"  # where `regard explore` answers
OPENING = """\
# Lectures

Five lectures on attention as tours: each topic with one sentence and what shows it, which is a room of the explorer
in some state, a command, or an experiment. The questions are those of the lectures: guess first.

Links open the explorer of this machine: start it with `regard explore`, where *Lectures* is this page with answers that
are kept. [The notebook](lectures.ipynb) has the same topics with code that runs on the bundled models.
"""


def page() -> str:
    """The whole page."""
    return OPENING + "\n" + "\n".join(part for deck in DECKS for part in _deck(deck))


def _deck(deck: Deck) -> Iterator[str]:
    yield f"## {deck.short}: {deck.title}\n"
    yield f"*{deck.by}.* {deck.says}\n"
    for number, topic in enumerate(deck.topics, 1):
        yield f"### {number}. {topic.title}\n"
        yield from describe(topic)


def describe(topic: Topic) -> Iterator[str]:
    """A topic in Markdown: its sentence, its links, its command, and its questions with folded answers."""
    yield f"{topic.says}\n"
    links = [f"[{PLACES[topic.place].title}]({LOCAL}{PLACES[topic.place].address})"] if topic.place else []
    links += [f"[Claim: {name.replace('_', ' ')}]({LOCAL}{claim_at(name).address})" for name in topic.claims]
    if links:
        yield " · ".join(links) + "\n"
    if topic.command:
        yield f"```sh\n{topic.command}\n```\n"
    for quiz in topic.quizzes:
        yield f"**{quiz.asks}**\n"
        yield "\n".join(f"- {choice}" for choice in quiz.choices) + "\n"
        yield f"<details><summary>Answer</summary>\n\n*{quiz.choices[quiz.right]}.* {quiz.because}\n\n</details>\n"


if __name__ == "__main__":
    from regard.lectures.notebook import notebook

    write(Path(sys.argv[1]) / "lectures.md", page())
    write(Path(sys.argv[1]) / "lectures.ipynb", notebook())
