"""Pictures and texts by turns as one row of ids, which says where pictures stand and what is to be learnt."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from regard.data.talked import END, Talk, tell


class Part(NamedTuple):
    """A text, whether a picture stands before it, and whether it is learnt to be said."""

    text: str
    pictured: bool = False
    learnt: bool = False


class Row(NamedTuple):
    """The ids of a row; of each of them whether a picture stands before it, and whether it is to be learnt."""

    ids: list[int]
    shown: list[bool]
    learnt: list[bool]

    @property
    def pictures(self) -> int:
        return sum(self.shown)


def lay_out(tokenizer: Any, parts: Iterable[Part]) -> Row:
    """Parts one behind another, with a space between; a picture stands at the first id behind it."""
    first = tokenizer.start if tokenizer.start is not None else tokenizer.special("stop")
    row = Row([first], [False], [False])
    given = list(parts)
    texts = [part.text if i == 0 else f" {part.text}" for i, part in enumerate(given)]
    for part, ids in zip(given, tokenizer.encode(texts, start=False, stop=False), strict=True):
        if part.pictured and not ids:
            raise ValueError("a picture stands before a text, and there is none behind it; give it a question")
        row.ids.extend(ids)
        row.shown.extend(part.pictured and i == 0 for i in range(len(ids)))
        row.learnt.extend(part.learnt for _ in ids)
    return row


def talk_parts(talk: Talk, *, asking: bool = False) -> list[Part]:
    """The parts of a talk: each text, and what is said behind it; or, `asking`, all but what is said at last."""
    found: list[Part] = []
    for piece in talk.pieces:
        found.append(Part(piece.text, pictured=piece.scene is not None))
        found.append(Part(f"{piece.answer}{END}", learnt=piece.learnt))
    return found[:-1] if asking else found


def told_parts(talk: Talk) -> list[Part]:
    """The parts of a talk without pictures, in which a description stands for each."""
    found: list[Part] = []
    for piece in talk.pieces:
        found += [] if piece.scene is None else [Part(tell(piece.scene, talk.kind))]
        found += [Part(piece.text), Part(f"{piece.answer}{END}", learnt=piece.learnt)]
    return found
