"""Prompts of unequal length in one batch, and how likely a model finds what might follow them."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention import padding
from regard.decode.batching import pad_rows


@torch.no_grad()
def begin(model: Any, prompts: Sequence[Sequence[int]], *, pad: int = 0) -> tuple[Any, Int[Tensor, " b"]]:
    """The state of a decoder behind all of each prompt but its last word, and that word, which the first step reads.

    Shorter prompts are padded in front; nothing looks there, and positions do not count it.
    """
    if not prompts or not all(prompts):
        raise ValueError("an empty prompt leaves nothing to go on from; begin it with the start or the stop token")
    device = next(model.parameters()).device
    state, lengths = model.start(len(prompts)), [len(prompt) - 1 for prompt in prompts]
    first = torch.tensor([prompt[-1] for prompt in prompts], device=device)
    if longest := max(lengths):
        rows = [[pad] * (longest - length) + list(prompt[:-1]) for prompt, length in zip(prompts, lengths, strict=True)]
        visible = None
        if min(lengths) < longest:
            visible = padding(torch.tensor(lengths), longest)[:, 0, 0].flip(1).to(device)
        # Nobody asks what follows the words of a prompt, so that their products with the vocabulary are not made.
        _, state = model.advance(torch.tensor(rows, device=device), state, visible=visible)
    return state, first


@torch.no_grad()
def weigh_choices(
    model: Any, prompts: Sequence[Sequence[int]], choices: Sequence[Sequence[Sequence[int]]], *, pad: int = 0
) -> list[list[Float[Tensor, " m"]]]:
    """The log probability of each id of each choice, if it followed its prompt; one batch, each prompt read once."""
    state, _ = begin(model, prompts, pad=pad)
    rows = [row for row, some in enumerate(choices) for _ in some]
    every = [list(choice) for some in choices for choice in some]
    if not all(every):
        raise ValueError("an empty choice has no probability; give each a word or more")
    device = next(model.parameters()).device
    wanted, lengths = pad_rows(every, pad, device)
    read, _ = pad_rows([[prompts[row][-1], *choice[:-1]] for row, choice in zip(rows, every, strict=True)], pad, device)
    # Padding behind is looked at by nobody; said to be padding, it has no position beyond the context either.
    visible = None if lengths.eq(lengths[0]).all() else padding(lengths, read.shape[1])[:, 0, 0]
    logits, _ = model.step(read, state.select(torch.tensor(rows, device=device)), visible=visible)
    gained = logits.float().log_softmax(dim=-1).gather(-1, wanted[..., None])[..., 0]
    each = iter([row[:length] for row, length in zip(gained, lengths.tolist(), strict=True)])
    return [[next(each) for _ in some] for some in choices]
