"""What can be looked at, as a value: keys, values, and which of them are real."""

from dataclasses import dataclass, field, replace
from threading import Lock

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


@dataclass(slots=True, eq=False)
class _Room:
    """Storage with space to grow. `used` marks the end of the newest memory living in it."""

    k: Tensor
    v: Tensor
    used: int
    lock: Lock = field(default_factory=Lock)

    def claim(self, start: int, end: int) -> bool:
        """Take the places from start to end, unless another memory has grown into them or they are not there."""
        with self.lock:
            free = self.used == start and end <= self.k.shape[-2]
            if free:
                self.used = end
        # What grew in inference mode may not be written to outside of it.
        return free and (torch.is_inference_mode_enabled() or not self.k.is_inference())


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """What can be looked at: encoder states, a growing prefix, an image, or the latents of a Perceiver."""

    k: Float[Tensor, "b g k d"]
    v: Float[Tensor, "b g k e"]
    visible: Bool[Tensor, "b 1 1 k"] | None = None
    shared: int = 1  # how many neighbouring rows look at each of ours, as the beginnings of one sentence in a beam do
    # Where it may grow. A memory made from another one, as by `replace`, has no room of its own yet.
    _room: _Room | None = field(default=None, init=False, repr=False)

    def __len__(self) -> int:
        return self.k.shape[-2]

    @property
    def length(self) -> int:
        """As `len`, but what is a symbol while a graph is traced stays one."""
        return self.k.shape[-2]

    @property
    def row_visible(self) -> Bool[Tensor, "r 1 1 k"] | None:
        """What is visible to each row that looks."""
        if self.visible is None or self.shared == 1:
            return self.visible
        return self.visible.repeat_interleave(self.shared, dim=0)

    def extend(self, newer: "Memory") -> "Memory":
        """This memory followed by a newer one. Growing costs the new keys alone: the past is not copied.

        The result is a value like any other. Two continuations of one past do not disturb each other: the first
        takes the spare room behind it, the second moves to a room of its own. Where gradients are recorded, or a
        graph, the two are joined by copying, since a buffer written in place has no history.
        """
        self._check(newer)
        visible = self._visible_then(newer)
        if torch.is_grad_enabled() or torch.compiler.is_compiling():
            return Memory(torch.cat((self.k, newer.k), dim=-2), torch.cat((self.v, newer.v), dim=-2), visible)
        start, end, room = len(self), len(self) + len(newer), self._room
        if room is None or not room.claim(start, end):
            room = _Room(_make_room(self.k, end), _make_room(self.v, end), end)
        room.k[..., start:end, :] = newer.k
        room.v[..., start:end, :] = newer.v
        return _memory_in(room, end, visible)

    def select(self, rows: Int[Tensor, " r"]) -> "Memory":
        """These of its rows, in this order and as often as they are named; they grow in a room of their own."""
        visible = None if self.visible is None else self.visible.index_select(0, rows)
        if self._room is None or torch.is_grad_enabled():
            return Memory(self.k.index_select(0, rows), self.v.index_select(0, rows), visible)
        # What has grown will grow on: it moves to where there is space at once, and is not copied again.
        end = len(self)
        return _memory_in(_Room(_make_room(self.k, end, rows), _make_room(self.v, end, rows), end), end, visible)

    def share(self, rows: Int[Tensor, " r"]) -> "Memory":
        """What these of the rows that look at it will see, held once for all neighbours that see the same."""
        seen, counts = (rows // self.shared).unique_consecutive(return_counts=True)
        if not len(rows) or counts.unique().numel() > 1:
            return replace(self, shared=1).select(rows // self.shared)
        whole = seen.equal(torch.arange(len(self.k), device=seen.device))
        return replace(self if whole else self.select(seen), shared=int(counts[0]))

    def __reduce__(self) -> tuple[type["Memory"], tuple[object, ...]]:
        """A copy or a pickle takes along what is remembered, and not the room that others may grow in."""
        return Memory, (self.k.contiguous(), self.v.contiguous(), self.visible, self.shared)

    def _check(self, newer: "Memory") -> None:
        for name, old, new in (("keys", self.k, newer.k), ("values", self.v, newer.v)):
            if _kind(old) != _kind(new):
                ours, theirs = (
                    "batch {}, {} heads, width {}, {} on {}".format(*_kind(memory)) for memory in (old, new)
                )
                raise ValueError(f"{name} of {theirs} cannot follow {name} of {ours}; remember both with one attention")

    def _visible_then(self, newer: "Memory") -> Bool[Tensor, "b 1 1 k"] | None:
        if self.visible is None and newer.visible is None:
            return None
        return torch.cat([m.visible if m.visible is not None else m._all() for m in (self, newer)], dim=-1)

    def _all(self) -> Bool[Tensor, "b 1 1 k"]:
        return torch.ones(self.k.shape[0], 1, 1, self.length, dtype=torch.bool, device=self.k.device)


def _kind(x: Tensor) -> tuple[object, ...]:
    """All that two memories must have in common to be one."""
    batch, heads, _, width = x.shape
    return batch, heads, width, x.dtype, x.device


def _memory_in(room: _Room, end: int, visible: Bool[Tensor, "b 1 1 k"] | None) -> Memory:
    """The memory that lives in a room up to `end`."""
    memory = Memory(room.k[..., :end, :], room.v[..., :end, :], visible)
    object.__setattr__(memory, "_room", room)
    return memory


def _make_room(x: Tensor, length: int, rows: Tensor | None = None) -> Tensor:
    """A copy of x, or of some rows, in a buffer of twice the length, so that n steps copy O(n) numbers in all."""
    batch = x.shape[0] if rows is None else len(rows)
    room = x.new_empty(batch, *x.shape[1:-2], max(64, 2 * length), x.shape[-1])
    if rows is None:
        room[..., : x.shape[-2], :] = x
    else:
        torch.index_select(x, 0, rows, out=room[..., : x.shape[-2], :])
    return room
