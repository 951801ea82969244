"""What can be looked at, as a value: keys, values, and which of them are real."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor


@dataclass(slots=True)
class _Room:
    """Storage with space to grow. `used` marks the end of the newest memory living in it."""

    k: Tensor
    v: Tensor
    used: int


@dataclass(frozen=True, slots=True)
class Memory:
    """What can be looked at: encoder states, a growing prefix, an image, or the latents of a Perceiver."""

    k: Float[Tensor, "b g k d"]
    v: Float[Tensor, "b g k e"]
    visible: Bool[Tensor, "#b 1 1 k"] | None = None
    room: _Room | None = None

    def __len__(self) -> int:
        return self.k.shape[-2]

    def extend(self, newer: "Memory") -> "Memory":
        """This memory followed by a newer one. Growing costs the new keys alone: the past is not copied.

        The result is a value like any other. Two continuations of one past do not disturb each other: the first
        takes the spare room behind it, the second moves to a room of its own.
        """
        if self.k.requires_grad or newer.k.requires_grad or newer.v.requires_grad:
            # A buffer written in place has no gradient history, so what is being learned is joined by copying.
            return Memory(
                torch.cat((self.k, newer.k), dim=-2), torch.cat((self.v, newer.v), dim=-2), self._visible_then(newer)
            )
        start, end = len(self), len(self) + len(newer)
        room = self.room
        if room is None or room.used != start or room.k.shape[-2] < end:
            room = _Room(_spacious(self.k, end), _spacious(self.v, end), start)
        room.k[..., start:end, :] = newer.k
        room.v[..., start:end, :] = newer.v
        room.used = end
        return Memory(room.k[..., :end, :], room.v[..., :end, :], self._visible_then(newer), room)

    def _visible_then(self, newer: "Memory") -> Bool[Tensor, "#b 1 1 k"] | None:
        if self.visible is None and newer.visible is None:
            return None
        return torch.cat([m.visible if m.visible is not None else m._all() for m in (self, newer)], dim=-1)

    def _all(self) -> Bool[Tensor, "b 1 1 k"]:
        return torch.ones(self.k.shape[0], 1, 1, len(self), dtype=torch.bool, device=self.k.device)


def _spacious(x: Tensor, length: int) -> Tensor:
    """A copy of x in a buffer of twice the length, so that n steps copy O(n) numbers in all."""
    room = x.new_empty(*x.shape[:-2], max(64, 2 * length), x.shape[-1])
    room[..., : x.shape[-2], :] = x
    return room
