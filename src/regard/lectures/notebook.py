"""The tours as a notebook: every topic with its questions, and code that runs on the bundled models."""

import json
from collections.abc import Iterator
from typing import Any

from regard.lectures import DECKS
from regard.lectures.page import describe

FORMAT = {"nbformat": 4, "nbformat_minor": 5}
OPENING = """\
# Five lectures on attention

Each topic has one sentence and what shows it; code runs on the models that come with `regard`, within seconds.
Links open the explorer of this machine: start it with `regard explore`."""
ABOUT = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebook() -> str:
    """The notebook as its file has it."""
    cells = [_cell(number, kind, text) for number, (kind, text) in enumerate(_parts())]
    return json.dumps({"cells": cells, "metadata": ABOUT} | FORMAT, indent=1, ensure_ascii=False) + "\n"


def _parts() -> Iterator[tuple[str, str]]:
    yield "markdown", OPENING
    yield "code", "import regard"
    for deck in DECKS:
        yield "markdown", f"## {deck.short}: {deck.title}\n\n*{deck.by}.* {deck.says}"
        for number, topic in enumerate(deck.topics, 1):
            yield "markdown", f"### {number}. {topic.title}\n\n" + "\n".join(describe(topic)).strip()
            if topic.code:
                yield "code", topic.code


def _cell(number: int, kind: str, text: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell | {"source": text.splitlines(keepends=True)}
