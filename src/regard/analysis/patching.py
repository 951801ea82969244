"""Activation patching: which part of a run carries what makes two prompts end differently (Vig 2020; Meng 2022).

A corrupted prompt is run with one state of the clean run put into it, and it is measured how much of the difference
between two answers comes back: 0 is the corrupted run, 1 the clean one.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.analysis.anatomy import (
    Inputs,
    Layer,
    Vocabulary,
    as_inputs,
    find_part,
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
LEAST = 1e-4  # a smaller difference between the prompts is no difference

# The stream after a block, what its attention or its MLP adds at one place, or what one head adds at all places.
Part = Literal["stream", "attention", "mlp", "heads"]


@dataclass(frozen=True, slots=True, eq=False)
class Patching:
    """How much each patch restores of the difference between two answers: layers × places, or layers × heads."""

    part: Part
    layers: tuple[str, ...]
    restored: Float[np.ndarray, "l c"]
    clean: float  # the logit of the answer less that of the wrong one, after the clean prompt
    corrupt: float  # and after the corrupted one


@torch.no_grad()
def patch(
    model: nn.Module,
    clean: Int[Tensor, "1 n"] | Inputs,
    corrupt: Int[Tensor, "1 n"] | Inputs,
    *,
    answer: int,
    wrong: int,
    part: Part = "stream",
    place: int = -1,
    stack: str | None = None,
    vocabulary: Vocabulary | None = None,
) -> Patching:
    """Put the clean run's states into the corrupted run, one layer and place at a time.

    `answer` and `wrong` are the ids that the logits at `place` are compared for. Prompts are ids, or the arguments of
    the model's forward by name. `stack` names the layers, as `encoder.blocks`, where they are not the last that run.
    `vocabulary` makes logits of the states of a model without a head, as in `lens`. The model is left as it was.
    """
    if part not in get_args(Part):
        raise ValueError(f"no part is called {part!r}; choose from {', '.join(get_args(Part))}")
    good, bad = as_inputs(model, clean), as_inputs(model, corrupt)
    _check(good, bad)
    whole = watch(model, good)
    every = layers(model, whole, stack=stack)
    read = find_vocabulary(model, whole.output, vocabulary)

    def difference(output: object) -> Float[Tensor, " b"]:
        logits = read(read_answer(output)[:, place])
        if not 0 <= min(answer, wrong) <= max(answer, wrong) < logits.shape[-1]:
            raise ValueError(
                f"the words {answer} and {wrong} are not both below {logits.shape[-1]}, which the model has"
            )
        return (logits[:, answer] - logits[:, wrong]).float()

    sites = [(*find_part(model, layer, part), layer.run) for layer in every]
    kept: list[Tensor] = []
    with evaluating(model), ExitStack() as scopes:
        for module, given, run in sites:
            scopes.enter_context(replaced(module, _keep(kept), run=run, given=given))
        model(**good)
    with evaluating(model):
        worst = difference(model(**bad))[0].item()
    best = difference(whole.output)[0].item()
    if abs(best - worst) < LEAST:
        raise ValueError(
            f"after both prompts the answers differ by {best:.3g}, so that there is nothing to restore; choose other "
            f"prompts, or other answers"
        )
    columns = every[0].heads if part == "heads" else kept[0].shape[1]
    together = max(1, ROOM // read_answer(whole.output)[0].numel())
    restored = torch.empty(len(every), columns)
    for row, ((module, given, run), layer, states) in enumerate(zip(sites, every, kept, strict=True)):
        for first in range(0, columns, together):
            some = torch.arange(first, min(first + together, columns), device=states.device)
            change = _put(states, some, layer if part == "heads" else None)
            with evaluating(model), replaced(module, change, run=run, given=given):
                found = model(**widen(bad, len(some)))
            restored[row, some.cpu()] = difference(found).cpu()
    return Patching(part, name_layers(every), ((restored - worst) / (best - worst)).numpy(), best, worst)


def _check(good: Inputs, bad: Inputs) -> None:
    for name, one in good.items():
        other = bad.get(name)
        if not isinstance(one, Tensor) or not isinstance(other, Tensor):
            continue
        if one.shape != other.shape:
            raise ValueError(
                f"the clean prompt has {one.shape[-1]} tokens and the corrupted one {other.shape[-1]}; a state goes to "
                f"the same place, so choose words of as many tokens"
            )
        if len(one) != 1:
            raise ValueError(f"one prompt is patched at a time, and these are {len(one)}; give ids[:1]")


def _keep(kept: list[Tensor]) -> Callable[[Tensor], Tensor]:
    def keep(state: Tensor) -> Tensor:
        kept.append(state.detach().clone())
        return state

    return keep


def _put(clean: Float[Tensor, "1 n w"], some: Int[Tensor, " r"], layer: Layer | None) -> Callable[[Tensor], Tensor]:
    """In row r, the clean state at place `some[r]`; or, of a layer's heads, that of head `some[r]` at all places."""
    rows = torch.arange(len(some), device=some.device)

    def put(state: Tensor) -> Tensor:
        state = state.clone()
        if layer is None:
            state[rows, some] = clean[0, some]
        else:
            heads, whole = (each.unflatten(-1, (layer.heads, -1)) for each in (state, clean))
            heads[rows, :, some] = whole[0, :, some].transpose(0, 1)
        return state

    return put
