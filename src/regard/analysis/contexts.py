"""The vectors that a model gives one word in many sentences: one for each context."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32
from torch import nn

from regard.analysis.anatomy import feed, layers, name_layers, watch
from regard.progress import Progress


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A word in a sentence: which sentence, counted from 0, and its characters from first to behind the last."""

    word: str
    sentence: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, eq=False)
class Contexts:
    """The state of a word after one layer, wherever the word occurs; the mean where it is read in several pieces."""

    vectors: Float32[np.ndarray, "m w"]
    occurrences: tuple[Occurrence, ...]
    layer: str


def contexts(
    model: nn.Module,
    tokenizer: Any,
    sentences: Sequence[str],
    words: Sequence[str],
    *,
    layer: int = -1,
    limit: int = 512,
    lower: bool = False,
    progress: Progress | None = None,
) -> Contexts:
    """Read each sentence with a model, ours or one of transformers, and keep the states of some words.

    A word is found as it is written, in capitals or not. `layer` counts from 0, or from the last by -1; `lower` is for
    models that read small letters alone; what stands behind `limit` tokens is not read.
    """
    every = contexts_by_layer(model, tokenizer, sentences, words, limit=limit, lower=lower, progress=progress)[1:]
    if not -len(every) <= layer < len(every):
        raise ValueError(f"there is no layer {layer}; they are numbered 0 to {len(every) - 1}")
    return every[layer]


def contexts_by_layer(
    model: nn.Module,
    tokenizer: Any,
    sentences: Sequence[str],
    words: Sequence[str],
    *,
    limit: int = 512,
    lower: bool = False,
    progress: Progress | None = None,
) -> tuple[Contexts, ...]:
    """The same after every layer; before them all, what goes into the first."""
    if not words or not all(word.strip() for word in words):
        raise ValueError("no word is given whose vectors are wanted; name one that occurs in the sentences")
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(word.strip())}(?!\w)" for word in words), re.IGNORECASE)
    vectors, found, names = list[list[torch.Tensor]](), list[Occurrence](), list[str]()
    device, first = next(model.parameters()).device, None
    for number, sentence in enumerate(sentences):
        hits = list(pattern.finditer(sentence))
        if hits:
            ids, places = _read(tokenizer, sentence.lower() if lower else sentence, limit)
            row = torch.tensor([ids], device=device)
            first = _first_block(model, row) if first is None else first
            names, states = _states(model, row, first)
            for hit in hits:
                # A piece belongs to a word if they share a character.
                pieces = [i for i, at in enumerate(places) if at and at[0] < hit.end() and at[1] > hit.start()]
                if pieces:
                    vectors.append([each[pieces].mean(dim=0) for each in states])
                    found.append(Occurrence(hit.group().lower(), number, hit.start(), hit.end()))
        if progress is not None:
            progress((number + 1) / len(sentences))
    if not found:
        raise ValueError(
            f"{' and '.join(repr(word) for word in words)} occurs in none of the {len(sentences)} sentences; give a "
            f"word that does"
        )
    return tuple(
        Contexts(torch.stack([each[i] for each in vectors]).numpy(), tuple(found), name) for i, name in enumerate(names)
    )


def _first_block(model: nn.Module, ids: torch.Tensor) -> nn.Module:
    return layers(model, watch(model, feed(model, ids)))[0].module


def _states(model: nn.Module, ids: torch.Tensor, first: nn.Module) -> tuple[list[str], list[torch.Tensor]]:
    """What goes into the first layer of a model and what comes out of each, of one text."""
    entered: list[torch.Tensor] = []

    def enter(_: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        entered.append((given or tuple(named.values()))[0])

    handle = first.register_forward_pre_hook(enter, with_kwargs=True)
    try:
        run = watch(model, feed(model, ids))
    finally:
        handle.remove()
    every = layers(model, run)
    states = [entered[0], *(run.trace.hidden[each.name][each.run] for each in every)]
    return ["input", *name_layers(every)], [each[0].float().cpu() for each in states]


def _read(tokenizer: Any, text: str, limit: int) -> tuple[list[int], list[tuple[int, int] | None]]:
    """The ids of a text, and the characters of each."""
    if hasattr(tokenizer, "convert_ids_to_tokens"):  # of transformers
        read = tokenizer(text, return_offsets_mapping=True, truncation=True, max_length=limit)
        return list(read["input_ids"]), [at if at[0] < at[1] else None for at in read["offset_mapping"]]
    ((row,),) = tokenizer.windows([(text,)], limit=limit)
    return row.ids, row.places
