"""The logit lens: what a model would say if it ended after each of its layers (nostalgebraist 2020).

The state after a layer is put in place of the state after the last one, and the model itself does the rest: its last
norm, its matrix of words, or the small network of a masked head. So every model is read the way it reads itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.analysis.anatomy import (
    Inputs,
    Layer,
    Vocabulary,
    as_inputs,
    find_vocabulary,
    layers,
    name_layers,
    read_answer,
    replaced,
    watch,
    widen,
)
from regard.decode.forcing import evaluating

ROOM = 1 << 25  # logits that are held at once


@dataclass(frozen=True, slots=True, eq=False)
class Lens:
    """The guess after each layer for each place, and what became of the final answer on its way."""

    layers: tuple[str, ...]  # `embedding` is what goes into the first of them
    guesses: Int[np.ndarray, "l n"]  # the likeliest word
    chances: Float[np.ndarray, "l n"]  # its probability
    answers: Float[np.ndarray, "l n"]  # the probability of what the last layer says there
    entropies: Float[np.ndarray, "l n"]  # of the probabilities of all words, in nats

    def settled(self) -> Int[np.ndarray, " n"]:
        """The first layer from which on the guess is the final one."""
        other = self.guesses != self.guesses[-1]
        return np.where(other.any(axis=0), len(other) - other[::-1].argmax(axis=0), 0)


@torch.no_grad()
def lens(
    model: nn.Module,
    given: Int[Tensor, "1 n"] | Inputs,
    *,
    stack: str | None = None,
    vocabulary: Vocabulary | None = None,
) -> Lens:
    """What a model would say of one text after each layer; `given` are ids, or the arguments of its forward by name.

    `stack` names the layers to look between, as `encoder.blocks`, where they are not the last that run. A model
    without words of its own, as transformers' `AutoModel` gives it, is read by the matrix that embeds its words where
    its config ties them, else by the `vocabulary` that is given: a function from its states to logits.
    """
    inputs = as_inputs(model, given)
    rows = max(len(each) for each in inputs.values() if isinstance(each, Tensor))
    if rows != 1:
        raise ValueError(f"a lens reads one text, and these are {rows}; give ids[:1]")
    run = watch(model, inputs)
    every = layers(model, run, stack=stack)
    read, last = find_vocabulary(model, run.output, vocabulary), every[-1]
    logits = read(read_answer(run.output))
    states = [_entry(model, inputs, every[0]), *(run.trace.hidden[layer.name][layer.run] for layer in every)]
    if states[0].shape[1] != logits.shape[1]:
        raise ValueError(
            f"{last.name} has {states[0].shape[1]} places and the model speaks of {logits.shape[1]}; choose by stack= "
            f"the layers that its words are read from"
        )
    together, parts = max(1, ROOM // logits[0].numel()), []
    for first in range(0, len(states), together):
        some = torch.cat(states[first : first + together])
        with evaluating(model), replaced(last.module, _always(some), run=last.run):
            output = model(**widen(inputs, len(some)))
        parts.append(_summary(read(read_answer(output)).float(), logits[0].argmax(dim=-1)))
    guesses, chances, answers, entropies = (torch.cat(each).cpu().numpy() for each in zip(*parts, strict=True))
    return Lens(("embedding", *name_layers(every)), guesses, chances, answers, entropies)


def _entry(model: nn.Module, inputs: Inputs, first: Layer) -> Tensor:
    """The stream before the first layer."""
    kept: list[Tensor] = []

    def keep(_: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        if not kept:
            kept.append((args[0] if args else next(iter(named.values()))).detach().clone())

    handle = first.module.register_forward_pre_hook(keep, with_kwargs=True)
    try:
        with evaluating(model):
            model(**inputs)
    finally:
        handle.remove()
    return kept[0]


def _summary(logits: Float[Tensor, "l n v"], final: Int[Tensor, " n"]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Guesses, their chances, the chances of the final answers, and entropies."""
    log = logits.log_softmax(dim=-1)
    best = log.max(dim=-1)
    answers = log.gather(-1, final.expand(len(log), -1)[..., None])[..., 0]
    entropies = -(log.exp() * log.clamp(min=torch.finfo(log.dtype).min)).sum(dim=-1)  # 0 · -inf is 0 here
    return best.indices, best.values.exp(), answers.exp(), entropies


def _always(value: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda _: value
