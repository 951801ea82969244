"""Documents as ids, and pairs of their passages: one that follows the other, or one from elsewhere (Devlin 2019)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int64, Shaped

from regard.chance import Chance

Second = Literal["next", "order", "none"]  # what the second passage is told apart by


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """Sentences one behind another: `ids` of all, where each sentence begins, and with which each document does."""

    ids: Shaped[np.ndarray, " n"]
    sentences: Int64[np.ndarray, " s"]  # and the end
    documents: Int64[np.ndarray, " d"]  # and the end

    @staticmethod
    def of(documents: Iterable[Sequence[Sequence[int]]]) -> "Documents":
        """From the ids of the sentences of each document; one of a single sentence has nothing that follows."""
        rows, edges, firsts = list[np.ndarray](), [0], [0]
        for sentences in documents:
            kept = [np.asarray(each, np.int32) for each in sentences if len(each)]
            if len(kept) > 1:
                rows += kept
                edges += (edges[-1] + np.cumsum([len(each) for each in kept])).tolist()
                firsts.append(len(edges) - 1)
        if not rows:
            raise ValueError("no document has two sentences or more; give text with sentences, divided by blank lines")
        return Documents(np.concatenate(rows), np.asarray(edges, np.int64), np.asarray(firsts, np.int64))

    def spans(self, room: int) -> Int64[np.ndarray, "r 3"]:
        """Neighbouring sentences that fill `room` tokens: document, first, and one behind the last.

        A span has two sentences at least, so that it can be divided.
        """
        found, lengths = list[tuple[int, int, int]](), np.diff(self.sentences)
        for document, (first, end) in enumerate(zip(self.documents, self.documents[1:], strict=False)):
            start, used = int(first), 0
            for sentence in range(int(first), int(end)):
                if sentence - start >= 2 and used + lengths[sentence] > room:
                    found.append((document, start, sentence))
                    start, used = sentence, 0
                used += int(lengths[sentence])
            if end - start >= 2:
                found.append((document, start, int(end)))
        return np.asarray(found, np.int64)

    def between(self, first: int, end: int) -> list[int]:
        """The ids of some neighbouring sentences."""
        ids: list[int] = self.ids[self.sentences[first] : self.sentences[end]].tolist()
        return ids


def divide_span(
    documents: Documents, spans: Int64[np.ndarray, "r 3"], row: int, room: int, second: Second, chance: Chance
) -> tuple[list[int], list[int], int]:
    """Two passages of at most `room` tokens in all, and 1 where the second does not follow the first.

    With `next` it comes half of the time from another document, with `order` the two change places half of the time.
    """
    document, first, end = spans[row].tolist()
    cut = first + 1 + chance.below(end - first - 1)
    before, after, other = documents.between(first, cut), documents.between(cut, end), 0
    if second != "none" and chance.happens(0.5):
        other = 1
        if second == "order":
            before, after = after, before
        else:
            after = _elsewhere(documents, spans, document, chance, len(after))
    while len(before) + len(after) > room:  # the longer one loses a word, at its far end
        if len(before) > len(after):
            del before[0]
        else:
            del after[-1]
    return before, after, other


def _elsewhere(
    documents: Documents, spans: Int64[np.ndarray, "r 3"], document: int, chance: Chance, length: int
) -> list[int]:
    """A passage of another document, about as long as the one whose place it takes, so that length tells nothing."""
    for _ in range(20):
        stranger, first, end = spans[chance.below(len(spans))].tolist()
        if stranger != document:
            break
    start = first + chance.below(end - first)
    last = start + 1
    while last < end and documents.sentences[last] - documents.sentences[start] < length:
        last += 1
    return documents.between(start, last)


def mask_words(
    ids: list[int], vocab: int, mask: int, share: float, specials: frozenset[int], chance: Chance
) -> tuple[list[int], list[int]]:
    """Hide a share of the words: ids to read, and the hidden words where there are any, else -100.

    Of ten hidden words eight are read as `mask`, one as a random word, and one as itself (Devlin 2019, §3.1).
    """
    places = [place for place, word in enumerate(ids) if word not in specials]
    count = max(1, round(share * len(places))) if places else 0
    read, wanted = list(ids), [-100] * len(ids)
    for place in chance.sample(places, min(count, len(places))):
        wanted[place] = ids[place]
        dice = chance.uniform()
        if dice < 0.8:
            read[place] = mask
        elif dice < 0.9:
            read[place] = chance.below(vocab)
    return read, wanted
