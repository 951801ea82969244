"""Random looks for the property tests: any sizes, any mask, any bias, any sharing of heads."""

from dataclasses import dataclass, replace

import torch
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import Look, causal
from regard.attention.masks import Visible


@dataclass(frozen=True)
class Case:
    """A look and the values it is answered with."""

    look: Look
    v: Tensor

    def with_gradients(self) -> "Case":
        q, k, v = (t.detach().clone().requires_grad_() for t in (self.look.q, self.look.k, self.v))
        return Case(replace(self.look, q=q, k=k), v)


def anything() -> st.SearchStrategy[Case]:
    """Looks in either precision."""
    return st.one_of(cases(), cases(dtype=torch.bfloat16, long=False))


@st.composite
def cases(draw: st.DrawFn, dtype: torch.dtype = torch.float32, long: bool = True) -> Case:
    """Looks short enough to be written out and long enough to be fused."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    batch, groups, share = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    queries, keys = draw(st.integers(1, 9)), draw(st.sampled_from([1, 2, 5, 9, 17] + ([130] if long else [])))
    width = draw(st.sampled_from([1, 4, 8]))
    heads = groups * share

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator).to(dtype)

    visible: Visible | None = None
    match draw(st.sampled_from(["all", "causal", "pairs", "padding", "everything"])):
        case "causal" if queries <= keys:
            visible = causal(queries, keys)
        case "pairs":
            visible = torch.rand(queries, keys, generator=generator) < 0.6
        case "padding":
            visible = torch.rand(batch, 1, 1, keys, generator=generator) < 0.6
        case "everything":
            visible = torch.rand(batch, heads, queries, keys, generator=generator) < 0.3
    bias = None
    match draw(st.sampled_from(["none", "pairs", "heads", "everything"])):
        case "pairs":
            bias = normal(queries, keys)
        case "heads":
            bias = normal(1, heads, queries, keys)
        case "everything":
            bias = normal(batch, heads, queries, keys)
    look = Look(normal(batch, heads, queries, width), normal(batch, groups, keys, width), visible=visible, bias=bias)
    return Case(look, normal(batch, groups, keys, draw(st.sampled_from([1, 6]))))
