"""Rows of ids put side by side: those of similar length together, padded behind."""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


def by_length(lengths: Sequence[int], *, rows: int | None = None, tokens: int | None = None) -> Iterator[list[int]]:
    """The numbers of rows in groups of similar length, at most so many `rows` or padded `tokens` in each.

    Long ones come first, so that a batch too large for the machine fails at once.
    """
    group: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        full = rows is not None and len(group) == rows
        if group and (full or (tokens is not None and (len(group) + 1) * lengths[group[0]] > tokens)):
            yield group
            group = []
        group.append(row)
    if group:
        yield group


def pad_rows(
    rows: Sequence[Sequence[int]], pad: int, device: torch.device | None = None
) -> tuple[Int[Tensor, "b n"], Int[Tensor, " b"]]:
    """Rows as one tensor, and how long each of them is."""
    lengths = torch.tensor([len(row) for row in rows], device=device)
    tensors = [torch.tensor(row, dtype=torch.long) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=pad).to(device), lengths
