"""The truth about a sentence of the world: which words belong together, and how far each head looks past them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.web.errors import RefusedError
from regard.web.question import Pair

if TYPE_CHECKING:
    from regard.analysis.reading import Reading
    from regard.pipelines.translate import Translate
    from regard.text import Words


def find_pair(wanted: Pair) -> tuple[str, Any]:
    """The text of a pair's source, and the pair."""
    from regard.world.language import pairs, text

    if wanted.source == wanted.target:
        raise RefusedError(422, f"a pair needs two languages, not {wanted.source!r} twice; choose another target")
    languages: Any = wanted.source, wanted.target
    split: Any = wanted.split
    found = pairs(*languages, split=split)[wanted.index]
    return text(found.source), found


def gold(translate: "Translate", pair: Any, to: str | None, edits: Any, reading: "Reading") -> dict[str, Any]:
    """The reference, its links to the source in words of both axes, and the error of each head as it is written."""
    from regard.analysis.alignment import spans
    from regard.world.language import text

    tokenizer, tag = translate.tokenizer, translate.prefix(to)
    (reference,) = tokenizer.encode([text(pair.target)], stop=True)
    columns, rows = spans(tokenizer, pair.source, tag=tag), spans(tokenizer, pair.target)
    source: Any = reading.axes["source"]
    on_source, on_target = _words_of(source, columns), _words_of(tokenizer.words(reference), rows)
    links = {(i, j) for a, b in pair.alignment for i in on_source[a] for j in on_target[b]}
    best = reading.output.outputs[0].hypothesis
    return {
        "text": text(pair.target),
        "links": sorted(map(list, links)),
        "matches": best.finished and [*best.words, translate.stop] == reference,
        "error": _errors(translate, pair, reading.output.outputs[0].source, reference, columns, rows, edits),
    }


def _errors(
    translate: "Translate",
    pair: Any,
    source: Sequence[int],
    reference: list[int],
    columns: list[list[int]],
    rows: list[list[int]],
    edits: Any,
) -> dict[str, list[float]]:
    """The alignment error of each head while the reference is written.

    A word that looks most at the tag of the language, or at the stop, is a link to no word, and counts as one.
    """
    from regard.analysis.alignment import error, links
    from regard.analysis.merge import merge
    from regard.attention import record
    from regard.decode.forcing import evaluating, force

    if not translate.model.cross_attentions:
        return {}
    with evaluating(translate.model), record(translate.model, edits=edits) as trace:
        force(translate.model, [list(source)], [reference], start=translate.start, pad=translate.pad)
    said = [piece for group in columns for piece in group]
    tag, rest = list(range(min(said))), [[piece] for piece in range(max(said) + 1, len(source))]
    found: dict[str, list[float]] = {}
    for name in translate.model.cross_attentions:
        weights: np.ndarray = trace.weights(name)[0].float().cpu().numpy()
        # What is beyond the last word has a place of its own, which no gold link has.
        merged = merge(weights, rows, [*columns, tag, *rest])
        found[name] = [round(error([links(head)], [pair.alignment]), 5) for head in merged]
    return found


def _words_of(axis: "Words", groups: Sequence[Sequence[int]]) -> list[set[int]]:
    """The words of an axis that groups of its pieces lie in."""
    word = {piece: i for i, (first, last) in enumerate(axis.spans) for piece in range(first, last + 1)}
    return [{word[piece] for piece in group} for group in groups]
