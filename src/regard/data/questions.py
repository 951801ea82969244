"""Questions about a text and their answers, from files in the form of SQuAD (Rajpurkar 2016) or from JSON lines."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from regard import files
from regard.data.errors import DataError

LARGEST = 200_000_000  # bytes of a file


class Question(NamedTuple):
    """A question, the text that is asked, and what may be answered; no answer is right where there is none in it."""

    question: str
    context: str
    answers: tuple[str, ...]


def questions(name: str | Path) -> list[Question]:
    """The questions of a file: SQuAD's JSON, or lines of JSON with `question`, `context` and `answers`."""
    path = Path(name)
    if not path.is_file():
        raise DataError(f"no questions lie at {str(name)!r}; give a file in the form of SQuAD, or JSON lines")
    text = files.read(path, LARGEST).decode(errors="replace")
    try:
        found = list(_squad(json.loads(text)) if path.suffix == ".json" else map(_one, _objects(text)))
        if not found:
            raise ValueError
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise DataError(
            f"{path} has something else than questions; give SQuAD's JSON, or a line for each question with "
            f'"question", "context" and "answers"'
        ) from None
    return found


def _objects(text: str) -> Iterator[Any]:
    return (json.loads(line) for line in text.splitlines() if line.strip())


def _squad(whole: Any) -> Iterator[Question]:
    for article in whole["data"]:
        for paragraph in article["paragraphs"]:
            for each in paragraph["qas"]:
                yield _one({**each, "context": paragraph["context"]})


def _one(row: Any) -> Question:
    said = row["answers"]
    answers = said["text"] if isinstance(said, dict) else said  # as Hugging Face writes them
    if isinstance(answers, str):  # whose letters would be the answers
        raise TypeError
    texts = [each if isinstance(each, str) else each["text"] for each in answers]
    for each in (row["question"], row["context"], *texts):
        if not isinstance(each, str):
            raise TypeError
        each.encode()  # half a character, a lone surrogate, is a ValueError
    return Question(row["question"], row["context"], tuple(texts))
