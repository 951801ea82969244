"""One text or two in a row, as a tokenizer's own template puts marks around them; what is too long in several rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import tokenizers


@dataclass(frozen=True, slots=True)
class Window:
    """A row of ids; `segments` number the texts as the template does, and `places` lie in the last text.

    A place is the first character of a piece and the first behind it, or None where no piece of the last text stands.
    """

    ids: list[int]
    segments: list[int]
    places: list[tuple[int, int] | None]


@dataclass(frozen=True, slots=True)
class Template:
    """How a tokenizer joins texts: by its own post-processor, or else as start a stop b stop."""

    inner: tokenizers.Tokenizer
    start: int | None
    stop: int | None
    number: Callable[[tokenizers.Encoding], list[int]]  # the ids of pieces

    def rows(self, texts: list[tokenizers.Encoding], limit: int | None, overlap: int | None) -> list[Window]:
        """The row of one text or two; with `overlap` as many as it takes, where the last text is too long."""
        if limit is None:
            return [self._join(texts)]
        room = limit - self._marks(len(texts))
        *before, last = texts
        if overlap is not None:
            kept = room - sum(map(len, before))
            if kept < 1:
                raise ValueError(f"a limit of {limit} leaves no room behind a first text of {len(before[0])} pieces")
            last.truncate(kept, stride=min(overlap, kept // 2))
            return [self._join([*before, each]) for each in (last, *last.overflowing)]
        if room < len(texts):
            least = limit - room + len(texts)
            raise ValueError(f"a limit of {limit} leaves no room for text; give {least} or more")
        for text, most in zip(texts, _shares([len(text) for text in texts], room), strict=True):
            text.truncate(most)
        return [self._join(texts)]

    def _marks(self, texts: int) -> int:
        """How many marks there are around so many texts."""
        if self.inner.post_processor is not None:
            return self.inner.num_special_tokens_to_add(texts == 2)
        return (self.start is not None) + texts * (self.stop is not None)

    def _join(self, texts: list[tokenizers.Encoding]) -> Window:
        if self.inner.post_processor is None:
            return self._plain(texts)
        found = self.inner.post_process(texts[0], texts[1] if len(texts) == 2 else None)
        last = len(texts) - 1
        places = [at if of == last else None for at, of in zip(found.offsets, found.sequence_ids, strict=True)]
        return Window(found.ids, found.type_ids, places)

    def _plain(self, texts: list[tokenizers.Encoding]) -> Window:
        row = Window([], [], [])
        if self.start is not None:
            row = Window([self.start], [0], [None])
        stop = [] if self.stop is None else [self.stop]
        for segment, text in enumerate(texts):
            places = list(text.offsets) if segment == len(texts) - 1 else [None] * len(text)
            ids = [*self.number(text), *stop]
            row = replace(
                row,
                ids=row.ids + ids,
                segments=row.segments + [segment] * len(ids),
                places=row.places + places + [None] * len(stop),
            )
        return row


def _shares(lengths: list[int], room: int) -> list[int]:
    """How many pieces of each text are kept, where the longer one is cut first."""
    if len(lengths) == 1:
        return [min(lengths[0], room)]
    left, right = lengths
    half = room // 2
    if left > half and right > half:  # the longer one gets what is left over, the second where they are equal
        return [room - half, half] if left > right else [half, room - half]
    return [min(left, room - right), right] if left > right else [left, min(right, room - left)]
