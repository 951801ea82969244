"""Who may see whom. `visible` is True where looking is allowed; no other convention lives inside the library.

A mask has the shape (queries, keys), the same for everybody, or (batch, heads, queries, keys), where any size may be 1.
"""

from dataclasses import dataclass
from functools import reduce

import torch
from jaxtyping import Bool, Int
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Causal:
    """Each query sees the keys up to its own place, and the last query sees them all.

    It stays undrawn until somebody needs the matrix: the fused kernel has a faster way to be causal than by a mask.
    """

    queries: int
    keys: int

    def __post_init__(self) -> None:
        newest(self.queries, self.keys)

    def draw(self, device: torch.device | None = None) -> Bool[Tensor, "q k"]:
        ones = torch.ones(self.queries, self.keys, dtype=torch.bool, device=device)
        return ones.tril(self.keys - self.queries)


# Two or four dimensions: `check` refuses three, which could be read as batch or as heads.
Visible = Bool[Tensor, "*#bh #q #k"] | Causal


def causal(queries: int, keys: int | None = None) -> Causal:
    """The past and oneself. With more keys than queries, the queries are the newest of them."""
    return Causal(queries, queries if keys is None else keys)


def padding(lengths: Int[Tensor, " b"], keys: int) -> Bool[Tensor, "b 1 1 k"]:
    """The first `lengths[i]` keys of each sequence; what follows is padding."""
    if not isinstance(lengths, Tensor):
        raise TypeError(f"lengths is a {type(lengths).__name__}; write torch.tensor(lengths)")
    if lengths.device.type == "cpu" and lengths.numel() and not 0 <= int(lengths.min()) <= int(lengths.max()) <= keys:
        raise ValueError(f"lengths {lengths.tolist()} do not lie between 0 and the {keys} keys")
    return (torch.arange(keys, device=lengths.device) < lengths[:, None])[:, None, None, :]


def local(
    queries: int, keys: int | None = None, *, reach: int, step: int = 1, device: torch.device | None = None
) -> Bool[Tensor, "q k"]:
    """Keys at most `reach` steps away on either side; a `step` above 1 dilates the window and skips keys between."""
    away = distance(queries, queries if keys is None else keys, device)
    return (away.abs() <= reach * step) & (away % step == 0)


def strided(
    queries: int, keys: int | None = None, *, step: int, device: torch.device | None = None
) -> Bool[Tensor, "q k"]:
    """Every `step`-th key, counted from the query itself, at any distance (Child 2019, the strided half)."""
    return distance(queries, queries if keys is None else keys, device) % step == 0


def prefix(
    queries: int, keys: int | None = None, *, length: int, device: torch.device | None = None
) -> Bool[Tensor, "q k"]:
    """Everybody sees the first `length` keys, both ways; after them, only the past."""
    keys = queries if keys is None else keys
    return causal(queries, keys).draw(device) | (torch.arange(keys, device=device) < length)


def media(images: Bool[Tensor, "b q"], latents: int, count: int | None = None) -> Bool[Tensor, "b 1 q k"]:
    """Text sees the latents of the last image before it (Alayrac 2022, §2.3); text before any image is blind.

    `images` marks the tokens where an image stands; the keys are `count` images of `latents` tokens each.
    """
    latest = images.cumsum(dim=1)  # 0 before the first image
    count = int(latest.max()) if count is None else count
    image = torch.arange(1, count + 1, device=images.device).repeat_interleave(latents)
    return (latest[:, :, None] == image)[:, None]


def both(*masks: Visible | None) -> Visible | None:
    """Visible in every mask; None hides nothing."""
    given = _given(masks)
    return given[0] if len(given) == 1 else reduce(torch.logical_and, _drawn(given)) if given else None


def either(*masks: Visible | None) -> Visible | None:
    """Visible in at least one mask; None hides nothing, so neither does the whole."""
    given = _given(masks)
    if not given or any(mask is None for mask in masks):
        return None
    return given[0] if len(given) == 1 else reduce(torch.logical_or, _drawn(given))


def check(visible: Visible, *, queries: int, keys: int, batch: int, heads: int) -> None:
    """Refuse a mask that would be read the wrong way round, and say which way is right."""
    if not isinstance(visible, Causal | Tensor):
        way = (
            f"did you mean {visible.__name__}({queries})?"
            if callable(visible)
            else f"write causal({queries}), or a mask"
        )
        raise TypeError(f"visible is a {type(visible).__name__}, which is no mask; {way}")
    look = f"a look of {queries} queries at {keys} keys, batch {batch}, {heads} heads"
    if isinstance(visible, Causal):
        if (visible.queries, visible.keys) != (queries, keys):
            raise ValueError(
                f"causal({visible.queries}, {visible.keys}) does not fit {look}; write causal({queries}, {keys})"
            )
        return
    if visible.dtype != torch.bool:
        way = "pass it as `bias`" if visible.is_floating_point() else "write visible.bool() if 1 means visible"
        raise TypeError(f"visible is {visible.dtype}, but it must be bool, True where looking is allowed; {way}")
    shape = tuple(visible.shape)
    whole = (batch, heads, queries, keys)
    if len(shape) not in (2, 4):
        raise ValueError(
            f"visible has shape {shape}, which could mean batch or heads first; "
            f"give (queries, keys) or (batch, heads, queries, keys), say visible[:, None]"
        )
    if any(size not in (1, full) for size, full in zip(shape, whole[-len(shape) :], strict=True)):
        hint = f"; padding is padding(lengths, {keys}), shape (b, 1, 1, {keys})" if shape == (batch, keys) else ""
        raise ValueError(f"visible has shape {shape}, which does not fit {look}: each size must be 1 or equal{hint}")


def distance(queries: int, keys: int, device: torch.device | None = None) -> Int[Tensor, "q k"]:
    """Key place minus query place, where the last query stands at the last key."""
    newest(queries, keys)
    place = torch.arange(keys, device=device)
    return place - place[keys - queries :, None]


def newest(queries: int, keys: int) -> None:
    """Refuse more queries than keys where the queries are to be the newest of them."""
    if not 0 < queries <= keys:
        raise ValueError(f"{queries} queries cannot be the newest of {keys} keys; give 1 to {keys} queries")


def _given(masks: tuple[Visible | None, ...]) -> list[Visible]:
    """The masks that are there; several causal ones of the same size are one, and stay undrawn."""
    causals = dict.fromkeys(mask for mask in masks if isinstance(mask, Causal))
    return [*causals, *(mask for mask in masks if isinstance(mask, Tensor))]


def _drawn(masks: list[Visible]) -> list[Tensor]:
    device = next((mask.device for mask in masks if isinstance(mask, Tensor)), None)
    return [mask.draw(device) if isinstance(mask, Causal) else mask for mask in masks]
