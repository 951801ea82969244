"""Word alignment read from attention, and how often it is right where the truth is known."""

from collections.abc import Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Any

import numpy as np
from jaxtyping import Float

from regard.analysis.merge import merge
from regard.attention import record
from regard.decode.batching import by_length
from regard.decode.forcing import force
from regard.text import Tokenizer
from regard.world.language import Pair, text

Links = frozenset[tuple[int, int]]  # places of a source word and of a target word
Head = tuple[str, int]  # the name of an attention, and the number of its head


def links(weights: Float[np.ndarray, "t s"], threshold: float | None = None) -> Links:
    """The source word that each target word looked at most.

    With a `threshold`, every source word that got at least so much: there may be several, or none.
    """
    if threshold is None:
        return frozenset((int(i), j) for j, i in enumerate(weights.argmax(axis=-1)))
    return frozenset((int(i), int(j)) for j, i in np.argwhere(weights >= threshold))


def error(found: Sequence[Links], gold: Sequence[Links]) -> float:
    """The alignment error rate of a corpus, where every gold link is sure (Och & Ney 2003): 0 is best, 1 is worst."""
    if len(found) != len(gold):
        raise ValueError(f"{len(found)} alignments cannot be compared with {len(gold)} gold ones; give one for each")
    wanted = sum(map(len, found)) + sum(map(len, gold))
    if not wanted:
        raise ValueError("there are no links, neither found nor gold, so there is no error rate; give more sentences")
    return 1 - 2 * sum(len(ours & theirs) for ours, theirs in zip(found, gold, strict=True)) / wanted


def errors(
    model: Any,
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
    if model.training:
        raise ValueError("the model is in training, so dropout would change what it looks at; call model.eval() first")
    sources = tokenizer.encode([tag + text(pair.source) for pair in pairs], stop=True)
    targets = tokenizer.encode([text(pair.target) for pair in pairs], stop=True)
    found: dict[Head, list[Links]] = {}
    gold: list[Links] = []
    for group in by_length([max(map(len, each)) for each in zip(sources, targets, strict=True)], tokens=tokens):
        with record(model) as trace:
            force(model, [sources[i] for i in group], [targets[i] for i in group], **special_ids(tokenizer))
        looked = {name: trace.weights(name).float().cpu().numpy() for name in model.cross_attentions}
        for place, i in enumerate(group):
            pair = pairs[i]
            gold.append(pair.alignment)
            columns, rows = spans(tokenizer, pair.source, tag=tag), spans(tokenizer, pair.target)
            for name, weights in looked.items():
                for head, each in enumerate(merge(weights[place], rows, columns)):
                    found.setdefault((name, head), []).append(links(each, threshold))
    return {head: error(each, gold) for head, each in found.items()}


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
    edges = [(_count_shared(ids, whole), len(ids)) for ids in beginnings]
    return [list(range(start, end + (end < length))) for (start, _), (end, length) in pairwise(edges)]


def special_ids(tokenizer: Tokenizer) -> dict[str, int]:
    """The ids that teacher forcing needs; a tokenizer without a start begins with its padding, as Marian's does."""
    pad = tokenizer.pad or 0
    return {"start": pad if tokenizer.start is None else tokenizer.start, "pad": pad}


def _count_shared(ids: Sequence[int], whole: Sequence[int]) -> int:
    """How many ids two rows begin with in common."""
    return sum(takewhile(bool, (one == other for one, other in zip(ids, whole, strict=False))))
