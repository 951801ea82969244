"""Edits: what to look at instead. An edit gets a look and gives the weights to use in place of its own."""

from collections.abc import Callable
from dataclasses import fields, replace

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention.core import Edit, Look, weigh
from regard.attention.masks import draw


def uniform(look: Look) -> Float[Tensor, "b h q k"]:
    """Every visible key alike."""
    return weigh(off(look), draw(look.visible, look.q.device))


def off(look: Look) -> Float[Tensor, "b h q k"]:
    """Look at nothing, so that nothing but the output's constant term is added."""
    return look.q.new_zeros((*look.q.shape[:-1], look.k.shape[-2]))


def only(edit: Edit, *heads: int) -> Edit:
    """An edit of some heads, leaving the others as they are."""
    if not heads or not all(isinstance(head, int) for head in heads):
        raise TypeError(f"the heads {heads} are not numbers; write only(edit, 0, 3)")

    def partly(look: Look) -> Float[Tensor, "b h q k"]:
        look = replace(look, edit=_Once(look.edit))
        weights = look.weights()
        beyond = [head for head in heads if not -weights.shape[1] <= head < weights.shape[1]]
        if beyond:
            raise ValueError(f"there is no head {beyond[0]}; heads are numbered from 0 to {weights.shape[1] - 1}")
        chosen = torch.zeros(weights.shape[1], dtype=torch.bool, device=weights.device)
        chosen[list(heads)] = True
        return torch.where(chosen[:, None, None], edit(look), weights)

    return partly


def then(*edits: Edit) -> Edit:
    """Several edits of one attention, each seeing the weights that the one before it gave."""

    def in_turn(look: Look) -> Float[Tensor, "b h q k"]:
        for edit in edits:
            look = replace(look, edit=_constant(edit(look)))
        return look.weights()

    return in_turn


class Edited:
    """An edit at work in a scope: it sees the weights as the outer scope left them, and remembers what it gave."""

    def __init__(self, name: str, edit: Edit, before: Edit | None) -> None:
        self.name, self.edit, self.before = name, edit, before
        self.given: Tensor | None = None

    def __call__(self, plain: Look) -> Float[Tensor, "b h q k"]:
        weights = self.edit(replace(plain, edit=_Once(self.before)))
        right = (*plain.q.shape[:-1], plain.k.shape[-2])
        if tuple(weights.shape) != right:
            raise ValueError(f"the edit of {self.name!r} gave weights of shape {tuple(weights.shape)}, not {right}")
        self.given = weights.detach()
        return weights

    def recall(self, plain: Look) -> Float[Tensor, "b h q k"]:
        """What was used, also if the edit would now give something else."""
        return self(plain) if self.given is None else self.given


class _Once:
    """The weights before an edit, evaluated once however often it reads them: else N edits in a row cost 2^N."""

    def __init__(self, before: Edit | None) -> None:
        self.before: Callable[[Look], Tensor] = Look.weights if before is None else before
        self.given: list[tuple[Look, Tensor]] = []

    def __call__(self, plain: Look) -> Float[Tensor, "b h q k"]:
        # An edit may ask again with another bias or mask, which is another question.
        for known, weights in self.given:
            if all(getattr(known, field.name) is getattr(plain, field.name) for field in fields(plain)):
                return weights
        self.given.append((plain, self.before(plain)))
        return self.given[-1][1]


def _constant(weights: Tensor) -> Edit:
    return lambda _: weights
