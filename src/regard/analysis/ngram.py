"""The best language model that only counts: Kneser–Ney n-grams, the yardstick for one that is learnt (Chen 1999).

counts = KneserNey(rows, order=5, vocab=4000)
counts.perplexity(others)
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

Gram = tuple[int, ...]


class KneserNey:
    """Interpolated, with three discounts (modified Kneser–Ney). Rows begin with a token that is given, the start.

    The longest n-grams count how often they were seen, shorter ones behind how many different tokens: San Francisco
    makes "Francisco" frequent, and not likely behind anything else. Those that begin a row have nothing before them
    and are counted as seen.
    """

    def __init__(self, rows: Sequence[Sequence[int]], *, order: int = 5, vocab: int) -> None:
        if order < 1 or not any(len(row) > 1 for row in rows):
            raise ValueError(f"{len(rows)} rows have no n-grams of order {order}; give rows of 2 tokens or more")
        self.order, self.vocab = order, vocab
        self._counts = [_count(rows, order, length) for length in range(1, order + 1)]
        self._discounts = [_discounts(counts) for counts in self._counts]
        self._totals: list[dict[Gram, int]] = []
        self._left: list[dict[Gram, float]] = []  # what the discounts of a context add up to
        for counts, discounts in zip(self._counts, self._discounts, strict=True):
            totals, left = defaultdict[Gram, int](int), defaultdict[Gram, float](float)
            for gram, count in counts.items():
                totals[gram[:-1]] += count
                left[gram[:-1]] += discounts[min(count, 3)]
            self._totals.append(dict(totals))
            self._left.append(dict(left))

    def probability(self, word: int, context: Sequence[int]) -> float:
        """How likely a word is behind a context, of which the last `order` - 1 tokens count."""
        start = max(0, len(context) - self.order + 1)
        before = tuple(context[start:])
        found = 1.0 / self.vocab  # a word that was never seen
        for length in range(len(before) + 1):
            behind = before[len(before) - length :]
            total = self._totals[length].get(behind)
            if total is None:
                break  # a longer context was not seen either
            count = self._counts[length].get((*behind, word), 0)
            own = max(count - self._discounts[length][min(count, 3)], 0.0)
            found = (own + self._left[length][behind] * found) / total
        return found

    def log_probs(self, row: Sequence[int]) -> list[float]:
        """Of each token of a row but the first."""
        return [math.log(self.probability(row[place], row[:place])) for place in range(1, len(row))]

    def perplexity(self, rows: Sequence[Sequence[int]]) -> float:
        """Among how many next tokens it hesitates, on average."""
        lost = [log_prob for row in rows for log_prob in self.log_probs(row)]
        return math.exp(-sum(lost) / len(lost))


def _count(rows: Sequence[Sequence[int]], order: int, length: int) -> dict[Gram, int]:
    """N-grams of a length: how often they were seen where they are the longest, else behind how many tokens."""
    seen, longer = Counter[Gram](), set[Gram]()
    for row in rows:
        for end in range(2, len(row) + 1):  # the start itself is never predicted
            start = end - length
            if start < 0:
                continue
            if length == order or start == 0:
                seen[tuple(row[start:end])] += 1
            else:
                longer.add(tuple(row[start - 1 : end]))
    for gram in longer:
        seen[gram[1:]] += 1
    return dict(seen)


def _discounts(counts: dict[Gram, int]) -> tuple[float, float, float, float]:
    """What is taken from n-grams seen once, twice and more often; from none nothing."""
    ones, twos, threes, fours = (sum(count == times for count in counts.values()) for times in (1, 2, 3, 4))
    if not ones or not twos:
        return 0.0, 0.5, 0.5, 0.5  # too few to tell
    share = ones / (ones + 2 * twos)
    first, second = 1 - 2 * share * twos / ones, 2 - 3 * share * threes / twos
    third = 3 - 4 * share * fours / threes if threes else second
    return 0.0, min(max(first, 0.05), 0.95), min(max(second, 0.05), 1.95), min(max(third, 0.05), 2.95)
