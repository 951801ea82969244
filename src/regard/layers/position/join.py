"""How a position encoding joins the tokens: added, or concatenated."""

from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

How = Literal["add", "concatenate"]


def join(x: Float[Tensor, "*b w"], encoding: Float[Tensor, "*#b c"], how: How) -> Float[Tensor, "*b o"]:
    """Tokens with their encoding, which takes their type and device."""
    if how not in get_args(How):
        raise ValueError(f"an encoding cannot join tokens by {how!r}; choose {' or '.join(get_args(How))}")
    encoding = encoding.to(x)
    if how == "concatenate":
        return torch.cat((x, encoding.expand(*x.shape[:-1], -1)), dim=-1)
    if x.shape[-1] != encoding.shape[-1]:
        raise ValueError(
            f"an encoding of width {encoding.shape[-1]} cannot be added to tokens of width {x.shape[-1]}; "
            f'give it width {x.shape[-1]}, or lay it beside them by how="concatenate"'
        )
    return x + encoding
