"""Watching: a scope in which every attention tells what it looks at. Weights are computed when somebody reads them::

    with record(model) as trace:
        model(x)
    trace.weights("blocks.3.attn")

What is kept of a look is its queries and keys, n·d numbers instead of n², so the fused kernel keeps running and the
outputs are the same to the last bit. Scopes nest, and each thread or task sees its own.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import nn

from regard.attention import compiled, foreign, hooks
from regard.attention.core import Edit, Look
from regard.attention.trace import Scope, Trace, scopes, tell
from regard.names import unknown


@contextmanager
def record(model: nn.Module, *, edits: Mapping[str, Edit] | None = None, hidden: bool = False) -> Iterator[Trace]:
    """Watch every attention of a model while the scope lasts, and change the weights of those named in `edits`.

    The model may be anybody's: seen is what calls `F.scaled_dot_product_attention` or `nn.MultiheadAttention`;
    attentions that write their softmax out are named when the scope ends. With `hidden`, `trace.hidden` keeps the
    residual stream after each block.

    An edit gets the look and gives the weights to use instead; it takes part in the gradient, and only the edited
    attention leaves the fused kernel. The trace itself is detached. With activation checkpointing, let the backward
    pass run inside the scope too, or what is computed again is not edited.
    """
    scope = _scope(model, edits or {}, hidden=hidden)
    others = any(foreign.is_foreign(module) for module in scope.names)
    handles = hooks.register(scope, hidden=hidden) if others or hidden else []
    scopes.set((*(other for other in scopes.get() if other.open), scope))
    try:
        compiled.begin(scope)
        if others:
            foreign.enter(scope)
        yield scope.trace
    finally:
        # Not by a token: scopes inside generators may end in any order, and in another task.
        scope.open = False
        scopes.set(tuple(other for other in scopes.get() if other is not scope))
        compiled.end(scope)
        foreign.settle()
        for handle in handles:
            handle.remove()
    for words in _complaints(scope):
        warnings.warn(words, stacklevel=3)


def observe(module: nn.Module, look: Look) -> Look:
    """Tell whoever is watching what one of our attentions looks at; the look as they edited it."""
    return look if torch.compiler.is_compiling() and not compiled.watching else tell([module], look)


def _scope(model: nn.Module, edits: Mapping[str, Edit], *, hidden: bool) -> Scope:
    names: dict[nn.Module, str] = {}  # the first name of each module; and every name, since one may stand in two places
    every = {name: names.setdefault(module, name) for name, module in model.named_modules(remove_duplicate=False)}
    _refuse_compiled(names)
    named = [name for module, name in names.items() if foreign.is_attention(module)]
    # Some call an attention what holds one; it is the innermost that looks.
    known = [name for name in named if not any(_holds(name, inner) for inner in named)]
    modules = {name: module for module, name in names.items()} if edits else {}
    for name in edits:
        first = every.get(name)
        if first in named:
            continue
        if first is None or not foreign.is_foreign(modules[first]) or any(_holds(first, inner) for inner in named):
            raise KeyError(unknown("attention", name, known) if known else "the model has no attention")
    return Scope(names, {every[name]: edit for name, edit in edits.items()}, Trace(every, known, hidden=hidden))


def _holds(outer: str, inner: str) -> bool:
    return inner.startswith(f"{outer}." if outer else "") and inner != outer


def _complaints(scope: Scope) -> Iterator[str]:
    """What a user would otherwise not notice when a scope ends."""
    unseen, trace = scope.trace.unseen(), scope.trace
    if unseen:
        yield trace.excuse()
    elif "" in trace.called and not trace.names:
        yield (
            "no attention was seen though the model ran: it calls neither F.scaled_dot_product_attention nor "
            "nn.MultiheadAttention, or does so in another thread; call one of them in its forward"
        )
    idle = sorted(scope.edits.keys() - scope.fired - unseen.keys())
    if idle:
        looked = f"; these looked: {', '.join(map(repr, trace.names[:3]))}" if trace.names else ""
        yield (
            f"no look was edited at {', '.join(map(repr, idle))}: the model did not run inside the scope, "
            f"or it ran compiled or as a copy{looked}"
        )


def _refuse_compiled(modules: Iterable[nn.Module]) -> None:
    for module in modules:
        if "_orig_mod" in module._modules or module.__dict__.get("_compiled_call_impl") is not None:
            kind = "compiled"
        elif isinstance(module, torch.jit.ScriptModule):
            kind = "scripted"
        else:
            continue
        raise ValueError(
            f"a {kind} model is not watched, since its attentions are fused into one program; "
            f"record the model it was {kind} from"
        )
