"""Texts and pairs of texts as batches for a model that reads them whole; an encoder reads them packed in one row.

Packed, texts of any length make a batch without padding, so that batches need not be sorted by length.
"""

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import nn

    from regard.data import Batch, Batches
    from regard.recipes.tuning import Begin, TextTuning

Texts = Sequence[tuple[str, ...]]

LIMIT, ROWS = 128, 32  # tokens of a text, and texts of a batch, where nobody says otherwise
SCORED = 4000  # tokens that are read at once in a measurement


def limit_of(recipe: "TextTuning", begin: "Begin") -> int:
    """The most tokens of a text."""
    context = getattr(begin.model.config, "context", None)
    limit = recipe.limit or min(LIMIT, context or LIMIT)
    if context is not None and limit > context:
        raise ValueError(f"--limit {limit} is more than the {context} tokens that {recipe.model} reads; give less")
    return limit


def is_encoder(begin: "Begin") -> bool:
    """Whether a model has one of the heads of encoders, or is a network that does nothing else than classify."""
    return hasattr(begin.model.config, "head")


def encode(begin: "Begin", texts: Texts, limit: int) -> tuple[list[list[int]], list[list[int]]]:
    """Ids and segments of texts: as the tokenizer's template has them for an encoder, else with a stop behind."""
    if hasattr(begin.model, "lay_out"):
        parts = (begin.tokenizer.encode(each, start=False, stop=False) for each in texts)
        rows = [begin.model.lay_out(each, limit) for each in parts]
        return rows, [[0] * len(row) for row in rows]
    if is_encoder(begin):
        found = [window for (window,) in begin.tokenizer.windows(texts, limit=limit)]
        return [each.ids for each in found], [each.segments for each in found]
    if any(len(each) > 1 for each in texts):
        raise ValueError(
            f"a {begin.family.name} reads one text, and the data have pairs; choose an encoder, say a bert"
        )
    ids = begin.tokenizer.encode([text for (text,) in texts], stop=True, limit=limit)
    return ids, [[0] * len(row) for row in ids]


def batches(
    recipe: "TextTuning",
    begin: "Begin",
    ids: Sequence[Sequence[int]],
    wanted: Sequence[Sequence[int]],
    segments: Sequence[Sequence[int]],
    *,
    learn: bool,
) -> "Batches[Batch]":
    """Ids, what is wanted of each text, and segments: to learn from in random order, or to score, by length."""
    from regard.data import token_batches

    rows = (recipe.batch_size or (ROWS if begin.trained else 0)) if learn else 0
    tokens = max(recipe.tokens, max(map(len, ids)), 0 if learn else SCORED)
    return token_batches(
        ids, wanted, segments, tokens=tokens, rows=rows, seed=recipe.seed, pad=begin.tokenizer.pad or 0
    )


def read(begin: "Begin", model: "nn.Module", batch: "Batch", *, word_dropout: float = 0.0) -> Any:
    """What a model says of the texts of a batch, in which words are read as unknown with some probability."""
    import torch

    from regard.attention import packed

    device = next(iter(model.parameters())).device
    ids, segments = (torch.as_tensor(batch.sides[side], device=device) for side in (0, 2))
    if model.training and word_dropout:
        ids = ids.masked_fill(torch.rand(ids.shape, device=device) < word_dropout, begin.tokenizer.unknown or 0)
    lengths = torch.as_tensor(batch.lengths[0], device=device)
    if not is_encoder(begin):
        return model(ids, lengths=lengths)
    real = torch.arange(ids.shape[1], device=device) < lengths[:, None]
    more = {"segments": segments[real][None]} if takes_segments(begin) else {}
    return model(ids[real][None], visible=packed(batch.lengths[0].tolist()), **more)


def takes_segments(begin: "Begin") -> bool:
    """Whether a model is told which text of a pair a token belongs to."""
    return "segments" in inspect.signature(begin.model.forward).parameters
