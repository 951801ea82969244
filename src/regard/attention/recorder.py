"""Watching: a scope in which every attention tells what it asked. The answer is computed when somebody reads it::

    with record(model) as trace:
        model(x)
    trace.weights("blocks.3.attn")

What is kept of a look is its queries and keys, n·d numbers instead of n², so the fused kernel keeps running and the
outputs are the same to the last bit. Scopes nest, and each thread or task sees its own.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.core import Edit, Look, weigh


class Trace:
    """The looks of each attention, by its name in the model, in the order they happened."""

    def __init__(self, names: list[str]) -> None:
        self._watched = names
        self._looks: dict[str, list[Look]] = {}

    @property
    def names(self) -> list[str]:
        """The attentions that looked, first look first."""
        return list(self._looks)

    def __iter__(self) -> Iterator[str]:
        return iter(self._looks)

    def __len__(self) -> int:
        return len(self._looks)

    def __getitem__(self, name: str) -> list[Look]:
        """Every look of one attention; decoding leaves one for each step."""
        if name not in self._looks:
            if name in self._watched:
                raise KeyError(f"{name!r} is watched but has not looked; run the model inside the scope")
            raise KeyError(_unknown(name, self._watched))
        return self._looks[name]

    def weights(self, name: str, look: int | None = None) -> Float[Tensor, "b h q k"]:
        """What one attention looked at: one `look`, or all laid end to end, where earlier steps give later keys 0."""
        looks = self[name]
        if look is not None:
            return looks[look].weights()
        if len({(each.q.shape[0], each.q.shape[1]) for each in looks}) > 1:
            batches = ", ".join(str(each.q.shape[0]) for each in looks)
            raise ValueError(
                f"{name!r} looked {len(looks)} times with batches {batches}; ask for one: weights(name, look=0)"
            )
        keys = max(each.k.shape[-2] for each in looks)
        return torch.cat([_widened(each.weights(), keys) for each in looks], dim=-2)

    @property
    def nbytes(self) -> int:
        """The memory that the kept tensors hold alive, shared ones counted once."""
        kept = [
            t for looks in self._looks.values() for look in looks for t in (look.q, look.k, look.visible, look.bias)
        ]
        storages = [t.untyped_storage() for t in kept if isinstance(t, Tensor)]
        return sum({s.data_ptr(): s.nbytes() for s in storages}.values())

    def __repr__(self) -> str:
        return f"Trace({len(self)} of {len(self._watched)} attentions looked: {', '.join(self.names)})"

    def _keep(self, name: str, look: Look) -> None:
        bias = None if look.bias is None else look.bias.detach()
        self._looks.setdefault(name, []).append(replace(look, q=look.q.detach(), k=look.k.detach(), bias=bias))


@dataclass(frozen=True, slots=True)
class _Scope:
    names: Mapping[nn.Module, str]
    edits: Mapping[str, Edit]
    trace: Trace


_scopes: ContextVar[tuple[_Scope, ...]] = ContextVar("regard_scopes", default=())


@contextmanager
def record(model: nn.Module, *, edits: Mapping[str, Edit] | None = None) -> Iterator[Trace]:
    """Watch every attention of a model while the scope lasts, and change the weights of those named in `edits`.

    An edit gets the look and gives the weights to use instead; it takes part in the gradient, and only the edited
    attention leaves the fused kernel. The trace itself is detached.
    """
    _refuse_compiled(model)
    # What can remember can be watched; naming the class here would make the two files import each other.
    names = {module: name for name, module in model.named_modules() if hasattr(module, "remember")}
    edits = edits or {}
    for name in edits:
        if name not in names.values():
            raise KeyError(_unknown(name, list(names.values())))
    trace = Trace(list(names.values()))
    token = _scopes.set((*_scopes.get(), _Scope(names, edits, trace)))
    try:
        yield trace
    finally:
        _scopes.reset(token)


def observed(module: nn.Module, look: Look) -> Look:
    """Tell whoever is watching, and come back with the look as they edited it."""
    if torch.compiler.is_compiling():
        return look
    for scope in _scopes.get():
        name = scope.names.get(module)
        if name is None:
            continue
        if name in scope.edits:
            look = _edited(look, scope.edits[name])
        scope.trace._keep(name, look)
    return look


def uniform(look: Look) -> Float[Tensor, "b h q k"]:
    """An edit: every visible key alike."""
    plain = replace(look, bias=None, edit=None)
    return weigh(torch.zeros_like(plain.weights()), plain._drawn())


def off(look: Look) -> Float[Tensor, "b h q k"]:
    """An edit: look at nothing, so that the attention answers zero."""
    return torch.zeros_like(look.weights())


def only(edit: Edit, *heads: int) -> Edit:
    """An edit of some heads, leaving the others as they are."""

    def partly(look: Look) -> Float[Tensor, "b h q k"]:
        weights = look.weights()
        chosen = torch.zeros(weights.shape[1], dtype=torch.bool, device=weights.device)
        chosen[list(heads)] = True
        return torch.where(chosen[:, None, None], edit(look), weights)

    return partly


def _edited(look: Look, edit: Edit) -> Look:
    # An edit of an edit sees the weights as the outer scope left them.
    before = look.edit
    return replace(look, edit=lambda plain: edit(replace(plain, edit=before)))


def _widened(weights: Tensor, keys: int) -> Tensor:
    return torch.nn.functional.pad(weights, (0, keys - weights.shape[-1]))


def _unknown(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=3, cutoff=0.3) or known[:3]
    return f"no attention is called {name!r}; " + (
        f"try {', '.join(map(repr, near))}" if near else "the model has none"
    )


def _refuse_compiled(model: nn.Module) -> None:
    compiled: Any = next(
        (m for m in model.modules() if hasattr(m, "_orig_mod") or getattr(m, "_compiled_call_impl", None)), None
    )
    if compiled is not None:
        raise ValueError(
            "a compiled model is not watched, since its attentions are melted into one program; "
            "record the model it was compiled from"
        )
