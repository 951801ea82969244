"""Rotary position encodings: queries and keys are rotated, so that their product depends on the distance alone.

A rotation is called with heads and the position of their first token, as `multihead(..., rotary=...)` does.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Float64, Int
from torch import Tensor, nn

from regard.layers.position.exact import to_float64
from regard.layers.position.scaling import Scaling, check, check_past, longest, strength
from regard.layers.position.wave import angles, check_width


class Rotary(nn.Module):
    """RoPE: pairs of channels of queries and keys rotated by angles that grow with the position (RoFormer, Su 2021).

    A channel's partner stands half the width further, as in Llama, or right beside it with `interleaved`, as in
    RoFormer and GPT-J. Heads wider than `width` keep their last channels as they are (GPT-J, GPT-NeoX). A `scaling`
    turns for longer texts than were trained.
    """

    def __init__(
        self, width: int, base: float = 10000.0, interleaved: bool = False, *, scaling: Scaling | None = None
    ) -> None:
        super().__init__()
        check_width(width, 2, "pairs that rotate together")
        check(scaling, width)
        self.width, self.base, self.interleaved, self.scaling = width, base, interleaved, scaling

    def forward(self, x: Float[Tensor, "b h n d"], start: int | Int[Tensor, "#b n"] = 0) -> Float[Tensor, "b h n d"]:
        """`start` is the position of the first token, or that of every token."""
        if self.width > x.shape[-1]:
            raise ValueError(
                f"a rotation of {self.width} channels does not fit heads of width {x.shape[-1]}; "
                f"give it the width of one head, Rotary({x.shape[-1]})"
            )
        settings = (self.width, self.base, self.interleaved, self.scaling)
        if isinstance(start, Tensor):
            cos, sin = _cos_sin(start.to(x.device), *settings, x.dtype)
            cos_sin = cos[:, None], sin[:, None]  # the same for every head
        else:
            check_past(self.scaling, start, start + x.shape[-2])
            cos_sin = _cached_cos_sin(start, x.shape[-2], *settings, x.device, x.dtype)
        y = _rotate(x[..., : self.width], cos_sin, self.interleaved)
        return y if x.shape[-1] == self.width else torch.cat((y, x[..., self.width :]), dim=-1)


class Rotary2d(nn.Module):
    """Half of the channels rotated by a token's row and half by its column (EVA-02, Fang 2023; Heo 2024).

    `width` is that of one head, `columns` the length of a row of tokens. The first `leading` tokens, such as [CLS],
    have no cell and are not rotated.
    """

    def __init__(
        self, width: int, columns: int, *, leading: int = 0, base: float = 10000.0, interleaved: bool = False
    ) -> None:
        super().__init__()
        check_width(width, 4, "pairs that rotate together, half by row and half by column")
        self.width, self.columns, self.leading = width, columns, leading
        self.base, self.interleaved = base, interleaved

    def forward(self, x: Float[Tensor, "b h n d"], start: int | Int[Tensor, "#b n"] = 0) -> Float[Tensor, "b h n d"]:
        """`start` is the number of the first token, or that of every token: row × columns + column + leading."""
        if self.width != x.shape[-1]:
            raise ValueError(
                f"a rotation of width {self.width} does not fit heads of width {x.shape[-1]}; "
                f"give it the width of one head, Rotary2d({x.shape[-1]}, {self.columns})"
            )
        # Leading tokens are put at the origin, where the angle is zero.
        if isinstance(start, Tensor):
            tokens = start.to(x.device)
        else:
            tokens = torch.arange(start, start + x.shape[-2], device=x.device)
        cell = (tokens - self.leading).clamp(min=0)
        positions = torch.stack((cell // self.columns, cell % self.columns), dim=-1)
        cos_sin = _cos_sin(positions, self.width // 2, self.base, self.interleaved, None, x.dtype)
        if isinstance(start, Tensor):
            cos_sin = cos_sin[0][:, None], cos_sin[1][:, None]  # the same for every head
        return _rotate(torch.unflatten(x, -1, (2, -1)), cos_sin, self.interleaved).flatten(-2)


CosSin = tuple[Float[Tensor, "*_ d"], Float[Tensor, "*_ d"]]  # as many sizes as are needed to go with the heads


def _rotate(x: Float[Tensor, "b h *n d"], cos_sin: CosSin, interleaved: bool) -> Float[Tensor, "b h *n d"]:
    """Every channel times its cosine, plus its partner times a sine that carries the partner's sign."""
    cos, sin = cos_sin
    partner = torch.unflatten(x, -1, (-1, 2)).flip(-1).flatten(-2) if interleaved else x.roll(x.shape[-1] // 2, dims=-1)
    return torch.addcmul(x * cos, partner, sin)


def _cos_sin(
    positions: Int[Tensor, "*n"],
    width: int,
    base: float,
    interleaved: bool,
    scaling: Scaling | None,
    dtype: torch.dtype,
) -> CosSin:
    """The cosine and the signed sine of each channel, laid out as the channels are."""
    angle = angles(positions, width, base) if scaling is None else _scaled(positions, width, base, scaling)
    dim, much = -1 if interleaved else -2, strength(scaling)
    cos = torch.stack((angle.cos(), angle.cos()), dim=dim).flatten(-2) * much
    sin = torch.stack((-angle.sin(), angle.sin()), dim=dim).flatten(-2) * much
    return cos.to(positions.device, dtype), sin.to(positions.device, dtype)


def _scaled(positions: Int[Tensor, "*n"], width: int, base: float, scaling: Scaling) -> Float64[Tensor, "*n p"]:
    """The angles of each pair by the frequencies of its text, which may depend on how long that is."""
    places, known = to_float64(positions), longest(scaling)
    if known is None:
        return places[..., None] * scaling.frequencies(width, base, 0).to(places.device)
    lengths = _lengths(positions).clamp(min=known)
    turned = places.new_empty(*places.shape, width // 2)
    for length in lengths.unique().tolist():
        here = lengths == length
        turned[here] = places[here][:, None] * scaling.frequencies(width, base, length).to(places.device)
    if positions.ndim > 1:  # of a batch, whose rows may have a past of their own
        for before, length in zip(positions[:, 0].tolist(), lengths[:, 0].tolist(), strict=True):
            check_past(scaling, before, length)
    return turned


def _lengths(positions: Int[Tensor, "*n"]) -> Int[Tensor, "*n"]:
    """How long the text is that each token stands in: one begins where positions fall back."""
    rows = positions.view(-1, positions.shape[-1])
    text = F.pad(rows.diff(dim=1) < 0, (1, 0)).cumsum(dim=1)
    last = torch.zeros_like(rows).scatter_reduce(1, text, rows, "amax")
    return (last.gather(1, text) + 1).view(positions.shape)


def _cached_cos_sin(
    start: int,
    count: int,
    width: int,
    base: float,
    interleaved: bool,
    scaling: Scaling | None,
    device: torch.device,
    dtype: torch.dtype,
) -> CosSin:
    """Of a run of positions. The latest are cached, for the layers of a model ask for the same ones."""
    if torch.compiler.is_compiling():
        return _cos_sin(torch.arange(start, start + count, device=device), width, base, interleaved, scaling, dtype)
    key = (start, count, width, base, interleaved, scaling, device, dtype)
    found = _LATEST.get(key)
    if found is None:
        # What is cached by a run without gradients must serve one with them too.
        with torch.inference_mode(False):
            places = torch.arange(start, start + count, device=device)
            found = _cos_sin(places, width, base, interleaved, scaling, dtype)
        if type(found[0]) is Tensor:  # and not what a tracer puts in its place
            while len(_LATEST) >= 8:
                _LATEST.pop(next(iter(_LATEST)), None)
            _LATEST[key] = found
    return found


_LATEST: dict[tuple[object, ...], CosSin] = {}
