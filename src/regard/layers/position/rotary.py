"""Rotary position encodings: queries and keys are rotated, so that their product depends on the distance alone.

A rotation is called with heads and the position of their first token, as `multihead(..., rotary=...)` does.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.layers.position.wave import angles, check_width


class Rotary(nn.Module):
    """RoPE: pairs of channels of queries and keys rotated by angles that grow with the position (RoFormer, Su 2021).

    A channel's partner stands half the width further, as in Llama, or right beside it with `interleaved`, as in
    RoFormer and GPT-J. Heads wider than `width` keep their last channels as they are (GPT-J, GPT-NeoX).
    """

    def __init__(self, width: int, base: float = 10000.0, interleaved: bool = False) -> None:
        super().__init__()
        check_width(width, 2, "pairs that rotate together")
        self.width, self.base, self.interleaved = width, base, interleaved

    def forward(self, x: Float[Tensor, "b h n d"], start: int = 0) -> Float[Tensor, "b h n d"]:
        if self.width > x.shape[-1]:
            raise ValueError(
                f"a rotation of {self.width} channels does not fit heads of width {x.shape[-1]}; "
                f"give it the width of one head, Rotary({x.shape[-1]})"
            )
        cos_sin = _cached_cos_sin(start, x.shape[-2], self.width, self.base, self.interleaved, x.device, x.dtype)
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

    def forward(self, x: Float[Tensor, "b h n d"], start: int = 0) -> Float[Tensor, "b h n d"]:
        if self.width != x.shape[-1]:
            raise ValueError(
                f"a rotation of width {self.width} does not fit heads of width {x.shape[-1]}; "
                f"give it the width of one head, Rotary2d({x.shape[-1]}, {self.columns})"
            )
        # Leading tokens are put at the origin, where the angle is zero.
        cell = (torch.arange(start, start + x.shape[-2], device=x.device) - self.leading).clamp(min=0)
        positions = torch.stack((cell // self.columns, cell % self.columns), dim=-1)
        cos_sin = _cos_sin(positions, self.width // 2, self.base, self.interleaved, x.dtype)
        return _rotate(torch.unflatten(x, -1, (2, -1)), cos_sin, self.interleaved).flatten(-2)


CosSin = tuple[Float[Tensor, "*n d"], Float[Tensor, "*n d"]]


def _rotate(x: Float[Tensor, "b h *n d"], cos_sin: CosSin, interleaved: bool) -> Float[Tensor, "b h *n d"]:
    """Every channel times its cosine, plus its partner times a sine that carries the partner's sign."""
    cos, sin = cos_sin
    partner = torch.unflatten(x, -1, (-1, 2)).flip(-1).flatten(-2) if interleaved else x.roll(x.shape[-1] // 2, dims=-1)
    return torch.addcmul(x * cos, partner, sin)


def _cos_sin(positions: Int[Tensor, "*n"], width: int, base: float, interleaved: bool, dtype: torch.dtype) -> CosSin:
    """The cosine and the signed sine of each channel, laid out as the channels are."""
    angle = angles(positions, width, base)
    dim = -1 if interleaved else -2
    cos = torch.stack((angle.cos(), angle.cos()), dim=dim).flatten(-2)
    sin = torch.stack((-angle.sin(), angle.sin()), dim=dim).flatten(-2)
    return cos.to(positions.device, dtype), sin.to(positions.device, dtype)


def _cached_cos_sin(
    start: int, count: int, width: int, base: float, interleaved: bool, device: torch.device, dtype: torch.dtype
) -> CosSin:
    """Of a run of positions. The latest are cached, for the layers of a model ask for the same ones."""
    if torch.compiler.is_compiling():
        return _cos_sin(torch.arange(start, start + count, device=device), width, base, interleaved, dtype)
    key = (start, count, width, base, interleaved, device, dtype)
    found = _LATEST.get(key)
    if found is None:
        # What is cached by a run without gradients must serve one with them too.
        with torch.inference_mode(False):
            found = _cos_sin(torch.arange(start, start + count, device=device), width, base, interleaved, dtype)
        if type(found[0]) is Tensor:  # and not what a tracer puts in its place
            while len(_LATEST) >= 8:
                _LATEST.pop(next(iter(_LATEST)), None)
            _LATEST[key] = found
    return found


_LATEST: dict[tuple[object, ...], CosSin] = {}
