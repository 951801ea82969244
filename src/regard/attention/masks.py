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
        check_newest(self.queries, self.keys)

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
    # Numbers on another device would have to be waited for.
    readable = _is_readable(lengths) and lengths.device.type == "cpu" and lengths.numel()
    if readable and not 0 <= int(lengths.min()) <= int(lengths.max()) <= keys:
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
    given = _distinct(masks)
    if len(given) < 2:
        return given[0] if given else None
    return reduce(torch.logical_and, _draw_all(given))


def either(*masks: Visible | None) -> Visible | None:
    """Visible in at least one mask; None hides nothing, so neither does the whole."""
    given = _distinct(masks)
    if not given or any(mask is None for mask in masks):
        return None
    return given[0] if len(given) == 1 else reduce(torch.logical_or, _draw_all(given))


def draw(visible: Visible | None, device: torch.device | None = None) -> Bool[Tensor, "*#bh #q #k"] | None:
    """A mask as a tensor. One newest query sees every key, so decoding needs none at all."""
    if not isinstance(visible, Causal):
        return visible
    return None if visible.queries == 1 else visible.draw(device)


def check(visible: Visible, *, queries: int, keys: int, batch: int, heads: int) -> None:
    """Refuse a mask that would be read the wrong way round, and say which way is right."""
    # Sizes are put into words only where something is raised: a size in a string ties a compiled graph to that size.
    if isinstance(visible, Causal):
        if visible.queries != queries or visible.keys != keys:
            raise ValueError(
                f"causal({visible.queries}, {visible.keys}) does not fit {_words(queries, keys, batch, heads)}; "
                f"write causal({queries}, {keys})"
            )
        return
    if not isinstance(visible, Tensor):
        name = getattr(visible, "__name__", None)
        way = f"did you mean {name}({queries})?" if name else f"write causal({queries}), or a mask"
        raise TypeError(f"visible is a {type(visible).__name__}, which is no mask; {way}")
    if visible.dtype != torch.bool:
        way = "write visible.bool() if 1 means visible"
        if visible.is_floating_point():
            way = (
                "write visible == 0 if it holds 0 and -inf, "
                "or build the attention with bias=lambda q, k: mask to add it to the scores"
            )
        raise TypeError(f"visible is {visible.dtype}, but it must be bool, True where looking is allowed; {way}")
    if visible.ndim not in (2, 4):
        raise ValueError(
            f"visible has shape {tuple(visible.shape)}, which could mean batch or heads first; "
            f"give (queries, keys) or (batch, heads, queries, keys), say visible[:, None]"
        )
    whole = (batch, heads, queries, keys)[-visible.ndim :]
    if any(size != full and size != 1 for size, full in zip(visible.shape, whole, strict=True)):
        shape = tuple(visible.shape)
        hint = f"; padding is padding(lengths, {keys}), shape (b, 1, 1, {keys})" if shape == (batch, keys) else ""
        raise ValueError(
            f"visible has shape {shape}, which does not fit {_words(queries, keys, batch, heads)}: "
            f"each size must be 1 or equal{hint}"
        )
    if visible.ndim == 2 and batch == queries and _pads(visible):
        raise ValueError(
            f"visible of {batch} × {keys} looks like padding, batch × keys, and would be read as queries × keys; "
            f"write visible[:, None, None] if it is padding, visible[None, None] if it is not"
        )


def distance(queries: int, keys: int, device: torch.device | None = None) -> Int[Tensor, "q k"]:
    """Key place minus query place, where the last query stands at the last key."""
    check_newest(queries, keys)
    place = torch.arange(keys, device=device)
    return place - place[keys - queries :, None]


def check_newest(queries: int, keys: int) -> None:
    """Refuse more queries than keys where the queries are to be the newest of them."""
    if not 0 < queries <= keys:
        raise ValueError(f"{queries} queries cannot be the newest of {keys} keys; give 1 to {keys} queries")


def _is_readable(x: Tensor) -> bool:
    """Whether there are numbers to look at, and not what a compiler, a tracer or vmap puts in their place."""
    if torch.compiler.is_compiling() or type(x) is not Tensor or x.is_meta:
        return False
    return not torch._C._functorch.is_functorch_wrapped_tensor(x)


def _pads(visible: Bool[Tensor, "q k"]) -> bool:
    """Whether a mask of two dimensions is somebody's padding table, batch × keys, where the batch has as many rows as
    there are queries.

    Shapes cannot tell, so the picture must. In a padding table every row is visible up to its length (or from it on,
    padded on the left) and lengths differ; where they do not, both readings say the same. Masks between queries and
    keys that look like this too are the causal one and the prefix, max(i + 1, length) keys for query i, and their
    mirror images: these pass. So only a batch that happens to be sorted into exactly that staircase is misread.
    """
    if visible.shape[0] == 1 or not _is_readable(visible):
        return False
    queries, keys = visible.shape
    for table in (visible, visible.flip(0, 1)):
        lengths = table.sum(dim=-1)
        stairs = torch.arange(keys - queries + 1, keys + 1, device=table.device).clamp(min=lengths[0])
        if table.equal(torch.arange(keys, device=table.device) < lengths[:, None]):
            return bool(lengths.ne(lengths[0]).any()) and not lengths.equal(stairs)
    return False


def _distinct(masks: tuple[Visible | None, ...]) -> list[Visible]:
    """The masks that are there; several causal ones of the same size are one, and stay undrawn."""
    causals: list[Visible] = []
    for mask in masks:
        if isinstance(mask, Causal) and mask not in causals:
            causals.append(mask)
    return [*causals, *(mask for mask in masks if isinstance(mask, Tensor))]


def _draw_all(masks: list[Visible]) -> list[Tensor]:
    device = next((mask.device for mask in masks if isinstance(mask, Tensor)), None)
    return [mask.draw(device) if isinstance(mask, Causal) else mask for mask in masks]


def _words(queries: int, keys: int, batch: int, heads: int) -> str:
    return f"a look of {queries} queries at {keys} keys, batch {batch}, {heads} heads"
