"""Who may see whom. `visible` is True where looking is allowed; no other convention lives inside the library.

A mask has the shape (queries, keys), the same for everybody, or (batch, heads, queries, keys), where any size may be 1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby

import torch
from jaxtyping import Bool, Int
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Causal:
    """Each query sees the keys up to its own place, and the last query sees them all; or the newest `window` of them.

    It stays undrawn until somebody needs the matrix: the fused kernel has a faster way to be causal than by a mask.
    """

    queries: int
    keys: int
    window: int | None = None

    def __post_init__(self) -> None:
        check_newest(self.queries, self.keys)
        if self.window is not None and self.window < 1:
            raise ValueError(f"a window of {self.window} keys shows nothing; give 1 or more, or None for all")

    def draw(self, device: torch.device | None = None) -> Bool[Tensor, "q k"]:
        ones = torch.ones(self.queries, self.keys, dtype=torch.bool, device=device)
        past = ones.tril(self.keys - self.queries)
        return past if self.window is None else past.triu(self.keys - self.queries - self.window + 1)


@dataclass(frozen=True, slots=True)
class Packed:
    """Texts one behind another in a single row, without padding: each sees itself alone, or its own past.

    Drawn, it is a block for each text; undrawn, an attention answers text by text and never makes the others' zeros.
    """

    lengths: tuple[int, ...]
    causal: bool = False

    def __post_init__(self) -> None:
        if not self.lengths or min(self.lengths) < 1:
            raise ValueError(f"texts of {list(self.lengths)[:8]} tokens cannot be packed; give 1 token or more in each")

    @property
    def tokens(self) -> int:
        return sum(self.lengths)

    def draw(self, device: torch.device | None = None) -> Bool[Tensor, "n n"]:
        sizes = torch.tensor(self.lengths, device=device)
        text = torch.arange(len(self.lengths), device=device).repeat_interleave(sizes)
        blocks = text[:, None] == text
        return blocks.tril() if self.causal else blocks

    def positions(self, device: torch.device | None = None) -> Int[Tensor, "1 n"]:
        """The place of each token in its own text."""
        return torch.cat([torch.arange(length, device=device) for length in self.lengths])[None]

    def firsts(self, device: torch.device | None = None) -> Int[Tensor, " b"]:
        """Where each text begins."""
        sizes = torch.tensor(self.lengths, device=device)
        return sizes.cumsum(0) - sizes

    def runs(self) -> Iterator[tuple[int, int, int]]:
        """Neighbours of equal length: where they begin, how many they are, and how long each is."""
        start = 0
        for length, same in groupby(self.lengths):
            count = len(list(same))
            yield start, count, length
            start += count * length


# Two or four dimensions: `check` refuses three, which could be read as batch or as heads.
Visible = Bool[Tensor, "*#bh #q #k"] | Causal | Packed


def causal(queries: int, keys: int | None = None, *, window: int | None = None) -> Causal:
    """The past and oneself, or the newest `window` of it. With more keys than queries, these are the newest of them."""
    return Causal(queries, queries if keys is None else keys, window)


def packed(lengths: Sequence[int] | Int[Tensor, " b"], *, causal: bool = False) -> Packed:
    """Texts of these lengths in a single row, each of which sees itself alone; or, `causal`, its own past."""
    return Packed(tuple(int(length) for length in lengths), causal)


def read_visible(
    lengths: Int[Tensor, " b"] | None, visible: Bool[Tensor, "b n"] | Packed | None, tokens: int
) -> tuple[Visible | None, Int[Tensor, "b n"] | None]:
    """Which keys a batch of texts may look at, and at which positions its tokens stand; None is from 0 on.

    A text is padded behind, as `lengths` say, or anywhere, as `visible` (batch × tokens) says; there, positions count
    the tokens that are there, so that padding changes no answer. Or the texts lie `packed` in one row.
    """
    if lengths is not None and visible is not None:
        raise ValueError("lengths and visible both say what is padding; give one of them")
    if lengths is not None:
        return padding(lengths, tokens), None
    if visible is None:
        return None, None
    if isinstance(visible, Packed):
        return visible, visible.positions()
    if visible.ndim != 2 or visible.dtype != torch.bool or visible.shape[1] != tokens:
        raise ValueError(
            f"visible has shape {tuple(visible.shape)} and {visible.dtype}; of texts it is bool, batch × {tokens}"
        )
    return visible[:, None, None], (visible.cumsum(dim=1) - 1).clamp(min=0)


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


def media(
    images: Bool[Tensor, "b q"], latents: int, count: int | None = None, *, before: Int[Tensor, " b"] | None = None
) -> Bool[Tensor, "b 1 q k"]:
    """Text sees the latents of the last image before it (Alayrac 2022, §2.3); text before any image is blind.

    `images` marks the tokens where an image stands; the keys are `count` images of `latents` tokens each. Text that is
    read in steps says how many images stood `before` it.
    """
    latest = images.cumsum(dim=1) + (0 if before is None else before[:, None])  # 0 before the first image
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
    if isinstance(visible, Packed):
        return visible.draw(device)
    if not isinstance(visible, Causal):
        return visible
    return None if visible.queries == 1 and visible.window is None else visible.draw(device)


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
    if isinstance(visible, Packed):
        if batch != 1 or queries != keys or visible.tokens != queries:
            raise ValueError(
                f"packed texts of {visible.tokens} tokens do not fit {_words(queries, keys, batch, heads)}; they look "
                f"at themselves, and lie in one row"
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
    late: list[Visible] = []
    for mask in masks:
        if isinstance(mask, Causal | Packed) and mask not in late:
            late.append(mask)
    return [*late, *(mask for mask in masks if isinstance(mask, Tensor))]


def _draw_all(masks: list[Visible]) -> list[Tensor]:
    device = next((mask.device for mask in masks if isinstance(mask, Tensor)), None)
    return [mask if isinstance(mask, Tensor) else mask.draw(device) for mask in masks]


def _words(queries: int, keys: int, batch: int, heads: int) -> str:
    return f"a look of {queries} queries at {keys} keys, batch {batch}, {heads} heads"
