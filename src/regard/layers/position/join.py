"""How a code meets the tokens: added to them, or laid beside them."""

from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

How = Literal["add", "concatenate"]


def join(x: Float[Tensor, "*b w"], code: Float[Tensor, "*#b c"], how: How) -> Float[Tensor, "*b o"]:
    """Tokens with their code worked in; the code takes their type and device."""
    if how not in get_args(How):
        raise ValueError(f"a code cannot be worked in by {how!r}; choose {' or '.join(get_args(How))}")
    code = code.to(x)
    if how == "concatenate":
        return torch.cat((x, code.expand(*x.shape[:-1], -1)), dim=-1)
    if x.shape[-1] != code.shape[-1]:
        raise ValueError(
            f"a code of width {code.shape[-1]} cannot be added to tokens of width {x.shape[-1]}; "
            f'give it width {x.shape[-1]}, or lay it beside them with how="concatenate"'
        )
    return x + code
