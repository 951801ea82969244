"""Phrases: two words that meet far more often than chance would have it become one, as new_york (1310.4546 §4)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from regard.words.counting import LARGEST, count

JOIN = "_"
THRESHOLD = 100.0  # of word2phrase


@dataclass(frozen=True, slots=True)
class Phrases:
    """The pairs of words that are one."""

    pairs: frozenset[tuple[str, str]]

    def join(self, line: Sequence[str]) -> list[str]:
        """The words of a line with phrases joined, from left to right; a second pass joins longer ones."""
        found, place = list[str](), 0
        while place < len(line):
            if place + 1 < len(line) and (line[place], line[place + 1]) in self.pairs:
                found.append(line[place] + JOIN + line[place + 1])
                place += 2
            else:
                found.append(line[place])
                place += 1
        return found


def find_phrases(
    lines: Iterable[Sequence[str]], *, min_count: int = 5, threshold: float = THRESHOLD, largest: int = LARGEST
) -> Phrases:
    """Pairs whose score is beyond a threshold: (count(ab) - min_count) · words / (count(a) · count(b)).

    What is taken off keeps pairs of rare words out, which meet once and never again.
    """
    both = count(([*line, *pairwise(line)] for line in lines), largest=largest)
    total = sum(times for each, times in both.items() if isinstance(each, str))
    return Phrases(
        frozenset(
            each
            for each, times in both.items()
            if isinstance(each, tuple)
            and times >= min_count
            and min(both[each[0]], both[each[1]]) >= min_count
            and (times - min_count) * total > threshold * both[each[0]] * both[each[1]]
        )
    )
