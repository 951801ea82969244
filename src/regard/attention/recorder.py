"""Watching: a scope in which every attention tells what it asked. The answer is computed when somebody reads it::

    with record(model) as trace:
        model(x)
    trace.weights("blocks.3.attn")

What is kept of a look is its queries and keys, n·d numbers instead of n², so the fused kernel keeps running and the
outputs are the same to the last bit. Scopes nest, and each thread or task sees its own.
"""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass, replace
from difflib import get_close_matches

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.core import Edit, Look, weigh
from regard.attention.masks import draw


class Trace:
    """The looks of each attention, by its name in the model, in the order they happened."""

    def __init__(self, watched: Mapping[str, str]) -> None:
        self._watched = watched  # every name an attention has, and the first of them
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
        if name not in self._watched:
            raise KeyError(_unknown(name, list(self._watched)))
        if self._watched[name] not in self._looks:
            raise KeyError(
                f"{name!r} is watched but has not looked; run the model inside the scope, "
                f"itself and not a compiled one or a copy"
            )
        return self._looks[self._watched[name]]

    @torch.no_grad()
    def weights(self, name: str, look: int | None = None) -> Float[Tensor, "b h q k"]:
        """What one attention looked at: one `look`, or all laid end to end, where earlier steps give later keys 0."""
        looks = self[name]
        if look is not None:
            return looks[look].weights()
        if len({(each.q.shape[0], each.q.shape[1]) for each in looks}) > 1:
            batches = ", ".join(str(each.q.shape[0]) for each in looks)
            raise ValueError(f"{name!r} looked {len(looks)} times with batches {batches}; ask for one, say look=0")
        keys = max(each.k.shape[-2] for each in looks)
        return torch.cat([F.pad(each.weights(), (0, keys - each.k.shape[-2])) for each in looks], dim=-2)

    @property
    def nbytes(self) -> int:
        """The memory that the kept tensors hold alive, shared ones counted once."""
        looks = [look for looks in self._looks.values() for look in looks]
        kept = [t for look in looks for t in (look.q, look.k, look.visible, look.bias) if isinstance(t, Tensor)]
        storages = [t.untyped_storage() for t in kept]
        return sum({s.data_ptr(): s.nbytes() for s in storages}.values())

    def __repr__(self) -> str:
        watched = len(set(self._watched.values()))
        return f"Trace({len(self)} of {watched} attentions looked: {', '.join(self.names)})"

    def _keep(self, name: str, look: Look) -> None:
        self._looks.setdefault(name, []).append(
            replace(
                look,
                q=look.q.detach(),
                k=look.k.detach(),
                bias=None if look.bias is None else look.bias.detach(),
                # A score that is being learned will be another one when the trace is read.
                score=deepcopy(look.score) if isinstance(look.score, nn.Module) else look.score,
                edit=look.edit.kept if isinstance(look.edit, _Edited) else None,
            )
        )


@dataclass(slots=True, eq=False)
class _Scope:
    names: Mapping[nn.Module, str]
    edits: Mapping[str, Edit]
    trace: Trace
    fired: set[str]
    open: bool = True


_scopes: ContextVar[tuple[_Scope, ...]] = ContextVar("regard_scopes", default=())


@contextmanager
def record(model: nn.Module, *, edits: Mapping[str, Edit] | None = None) -> Iterator[Trace]:
    """Watch every attention of a model while the scope lasts, and change the weights of those named in `edits`.

    An edit gets the look and gives the weights to use instead; it takes part in the gradient, and only the edited
    attention leaves the fused kernel. The trace itself is detached. With activation checkpointing, let the backward
    pass run inside the scope too, or what is computed again is not edited.
    """
    _refuse_compiled(model)
    names, watched = _named(model)
    for name in edits or {}:
        if name not in watched:
            raise KeyError(_unknown(name, list(watched)))
    chosen = {watched[name]: edit for name, edit in (edits or {}).items()}
    scope = _Scope(names, chosen, Trace(watched), set())
    _scopes.set((*(other for other in _scopes.get() if other.open), scope))
    try:
        yield scope.trace
    finally:
        # Not by a token: scopes inside generators may end in any order, and in another task.
        scope.open = False
        _scopes.set(tuple(other for other in _scopes.get() if other is not scope))
    idle = sorted(chosen.keys() - scope.fired)
    if idle:
        warnings.warn(
            f"no look was edited at {', '.join(map(repr, idle))}: the model did not run inside the scope, "
            f"or it ran compiled or as a copy",
            stacklevel=3,
        )


def observed(module: nn.Module, look: Look) -> Look:
    """Tell whoever is watching, and come back with the look as they edited it."""
    if torch.compiler.is_compiling():
        return look
    for scope in _scopes.get():
        name = scope.names.get(module) if scope.open else None
        if name is None:
            continue
        if name in scope.edits:
            look = replace(look, edit=_Edited(name, scope.edits[name], look.edit))
            scope.fired.add(name)
        if torch._C._current_graph_task_id() == -1:  # a checkpoint that is computed again in backward is no new look
            scope.trace._keep(name, look)
    return look


def uniform(look: Look) -> Float[Tensor, "b h q k"]:
    """An edit: every visible key alike."""
    plain = replace(look, bias=None, edit=None)
    return weigh(torch.zeros_like(plain.weights()), draw(plain.visible, plain.q.device))


def off(look: Look) -> Float[Tensor, "b h q k"]:
    """An edit: look at nothing, so that nothing but the output's constant term is added."""
    return torch.zeros_like(look.weights())


def only(edit: Edit, *heads: int) -> Edit:
    """An edit of some heads, leaving the others as they are."""
    if not heads or not all(isinstance(head, int) for head in heads):
        raise TypeError(f"the heads {heads} are not numbers; write only(edit, 0, 3)")

    def partly(look: Look) -> Float[Tensor, "b h q k"]:
        weights = look.weights()
        beyond = [head for head in heads if not -weights.shape[1] <= head < weights.shape[1]]
        if beyond:
            raise ValueError(f"there is no head {beyond[0]}; heads are numbered from 0 to {weights.shape[1] - 1}")
        chosen = torch.zeros(weights.shape[1], dtype=torch.bool, device=weights.device)
        chosen[list(heads)] = True
        return torch.where(chosen[:, None, None], edit(look), weights)

    return partly


class _Edited:
    """An edit at work: it sees the weights as the outer scope left them, and remembers what it gave."""

    def __init__(self, name: str, edit: Edit, before: Edit | None) -> None:
        self.name, self.edit, self.before = name, edit, before
        self.given: Tensor | None = None

    def __call__(self, plain: Look) -> Float[Tensor, "b h q k"]:
        weights = self.edit(replace(plain, edit=self.before))
        right = (*plain.q.shape[:-1], plain.k.shape[-2])
        if tuple(weights.shape) != right:
            raise ValueError(f"the edit of {self.name!r} gave weights of shape {tuple(weights.shape)}, not {right}")
        self.given = weights.detach()
        return weights

    def kept(self, plain: Look) -> Float[Tensor, "b h q k"]:
        """What was used, also if the edit would now give something else."""
        return self(plain) if self.given is None else self.given


def _named(model: nn.Module) -> tuple[dict[nn.Module, str], dict[str, str]]:
    """The first name of each attention; and every name, since one module may stand in two places."""
    first: dict[nn.Module, str] = {}
    every: dict[str, str] = {}
    for name, module in model.named_modules(remove_duplicate=False):
        if getattr(type(module), "watched", False):
            every[name] = first.setdefault(module, name)
    return first, every


def _unknown(name: str, known: list[str]) -> str:
    if not known:
        return "the model has no attention"
    near = get_close_matches(name, known, n=3, cutoff=0.3) or known[:3]
    return f"no attention is called {name!r}; try {', '.join(map(repr, near))}"


def _refuse_compiled(model: nn.Module) -> None:
    if any(hasattr(m, "_orig_mod") or getattr(m, "_compiled_call_impl", None) for m in model.modules()):
        raise ValueError(
            "a compiled model is not watched, since its attentions are melted into one program; "
            "record the model it was compiled from"
        )
