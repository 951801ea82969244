"""Which words of a source a translator looked at while it wrote each word, and how often it looked where it should.

Attention is between pieces and people read words: a source word gets the sum of what its pieces got, and a target word
looks as its pieces did on average.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import record
from regard.data import token_batches
from regard.text import SPECIALS, UNKNOWN, Tokenizer
from regard.world.language import Pair, text

Links = frozenset[tuple[int, int]]  # places of a source word and of a target word
Head = tuple[str, int]  # the name of an attention, and the number of its head


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """How much each word of a target looked at each word of its source."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    weights: Float[Tensor, "t s"]

    def links(self, threshold: float | None = None) -> Links:
        """The source word that each target word looked at most.

        With a `threshold`, every source word that got at least so much: there may be several, or none.
        """
        if threshold is None:
            return frozenset((i, j) for j, i in enumerate(self.weights.argmax(dim=-1).tolist()))
        return frozenset((i, j) for j, i in (self.weights >= threshold).nonzero().tolist())


def align(
    tokenizer: Tokenizer, source: Sequence[int], target: Sequence[int], weights: Float[Tensor, "m n"]
) -> Alignment:
    """Words as the tokenizer has them, from pieces: row i of the weights is the look that predicted piece i.

    The ids may have start, stop and padding, which are dropped from words and weights; rows beyond the target, such as
    that of its stop, are ignored, and so are columns beyond the source.
    """
    (columns, sources), (rows, targets) = _words(tokenizer, source), _words(tokenizer, target)
    return Alignment(sources, targets, merged(weights[: len(target), : len(source)], rows, columns))


def merged(
    weights: Float[Tensor, "m n"], rows: Sequence[Sequence[int]], columns: Sequence[Sequence[int]]
) -> Float[Tensor, "t s"]:
    """Weights between groups of pieces: the sum over the pieces of a column, the mean over those of a row."""
    along, across = _members(rows, weights.shape[0]), _members(columns, weights.shape[1])
    return along / along.sum(dim=-1, keepdim=True).clamp(min=1) @ weights.float() @ across.T


@torch.no_grad()
def forced(
    model: nn.Module, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], *, tokens: int = 4096
) -> Iterator[tuple[int, dict[str, Float[Tensor, "h m n"]]]]:
    """What the attentions to the source look at while a model is made to write given targets: row number and weights.

    Rows of `targets` begin with the start token. Row i of the weights is the look that predicts target i + 1, so the
    first word after the start has row 0: a Transformer looks when it has read the word before, and a recurrent decoder
    looks before that or right after (Bahdanau 2014, Luong 2015), but always in the same step.
    """
    if model.training:
        raise ValueError("the model is learning, so chance would change what it looks at; call model.eval() first")
    one: Any = model
    longest = max(map(len, (*sources, *targets)), default=0)
    for batch in token_batches(sources, targets, tokens=max(tokens, longest)).once():
        (source, target), (lengths, ends) = (map(torch.from_numpy, each) for each in (batch.sides, batch.lengths))
        with record(model) as trace:
            one(source, target[:, :-1], lengths=lengths)
        looked = {name: trace.weights(name) for name in one.cross_attentions}
        for place, row in enumerate(batch.rows.tolist()):
            m, n = int(ends[place]) - 1, int(lengths[place])
            yield row, {name: weights[place, :, :m, :n] for name, weights in looked.items()}


def error(found: Sequence[Links], gold: Sequence[Links]) -> float:
    """The alignment error rate of a corpus, where every gold link is sure (Och & Ney 2003): 0 is best, 1 is worst."""
    if len(found) != len(gold):
        raise ValueError(f"{len(found)} alignments cannot be compared with {len(gold)} gold ones; give one for each")
    wanted = sum(map(len, found)) + sum(map(len, gold))
    if not wanted:
        raise ValueError("there are no links, neither found nor gold, so there is no error rate; give more sentences")
    return 1 - 2 * sum(len(ours & theirs) for ours, theirs in zip(found, gold, strict=True)) / wanted


def errors(
    model: nn.Module,
    tokenizer: Tokenizer,
    pairs: Sequence[Pair],
    *,
    tag: str = "",
    threshold: float | None = None,
    tokens: int = 4096,
) -> dict[Head, float]:
    """The alignment error rate of every head that looks at the source, while the model is made to write the target.

    `tag` is what the model reads in front of a text, such as `[de] `. The gold links are those of the world's pairs.
    """
    sources = tokenizer.encode([tag + text(pair.source) for pair in pairs], stop=True)
    targets = tokenizer.encode([text(pair.target) for pair in pairs], start=True, stop=True)
    found: dict[Head, list[Links]] = {}
    gold: list[Links] = []
    for number, looked in forced(model, sources, targets, tokens=tokens):
        pair = pairs[number]
        gold.append(pair.alignment)
        columns, rows = spans(tokenizer, pair.source, tag=tag), spans(tokenizer, pair.target)
        for name, weights in looked.items():
            for head, each in enumerate(weights):
                drawn = Alignment(pair.source, pair.target, merged(each, rows, columns))
                found.setdefault((name, head), []).append(drawn.links(threshold))
    return {head: error(links, gold) for head, links in found.items()}


def floor(pairs: Sequence[Pair]) -> float:
    """The least error rate that one link for each target word can have: words may have several gold links, or none."""
    gold = [pair.alignment for pair in pairs]
    linked = sum(len({j for _, j in links}) for links in gold)
    return 1 - 2 * linked / (sum(len(pair.target) for pair in pairs) + sum(map(len, gold)))


def best(found: Mapping[Head, float]) -> Head:
    """The head that errs least."""
    if not found:
        raise ValueError("this model has no attention that looks at the source; choose one that has")
    return min(found, key=lambda head: found[head])


def spans(tokenizer: Tokenizer, words: Sequence[str], *, tag: str = "") -> list[list[int]]:
    """The pieces of each of the world's words in its written text; a piece across an edge belongs to both sides."""
    # The text of the first words is the beginning of the whole text, and mostly so are its ids.
    beginnings = tokenizer.encode([tag.rstrip(), *(tag + text(words[:i]) for i in range(1, len(words) + 1))])
    whole = beginnings[-1]
    edges = [(_shared(ids, whole), len(ids)) for ids in beginnings]
    return [list(range(start, end + (end < length))) for (start, _), (end, length) in pairwise(edges)]


def _shared(ids: Sequence[int], whole: Sequence[int]) -> int:
    """How many ids two rows begin with in common."""
    alike = (one == other for one, other in zip(ids, whole, strict=False))
    return sum(takewhile(bool, alike))


def _members(groups: Sequence[Sequence[int]], count: int) -> Float[Tensor, "g {count}"]:
    """A row for each group, with 1 for each of its members."""
    found = torch.zeros(len(groups), count)
    for group, members in zip(found, groups, strict=True):
        group[list(members)] = 1
    return found


def _words(tokenizer: Tokenizer, ids: Sequence[int]) -> tuple[list[list[int]], tuple[str, ...]]:
    """The pieces of each word and the words, without specials and spaces; what is unknown is a word all the same."""
    pieces = tokenizer.pieces(ids)
    groups: dict[int, list[int]] = {}
    for place, (i, word) in enumerate(zip(ids, pieces.word, strict=True)):
        if (i >= len(SPECIALS) or i == UNKNOWN) and pieces.words[word].strip():
            groups.setdefault(word, []).append(place)
    return list(groups.values()), tuple(pieces.words[word] for word in groups)
