"""Attentions that are not ours, seen where they call torch: `F.scaled_dot_product_attention`, `nn.MultiheadAttention`.

Both are torch functions, which a `TorchFunctionMode` is shown before they run. It reads the arguments and lets torch
answer, so outputs are the same to the last bit. Only torch's fused fast path of `nn.TransformerEncoder` (no gradients,
eval) steps aside while a mode is active: there outputs are bit-equal to the path that runs without it.
"""

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack, _pop_mode, _push_mode
from torch.utils._device import DeviceContext

from regard.attention.core import Dot, Look, mix
from regard.attention.masks import Causal, Visible
from regard.attention.trace import Scope, scopes, tell

_redispatch = getattr(torch.overrides, "redispatch_function", None)  # torch 2.13 has it


def is_ours(module: nn.Module) -> bool:
    return bool(getattr(type(module), "watched", False))


def is_attention(module: nn.Module) -> bool:
    """Ours, torch's, or one that says so by the name of its class and has something to learn."""
    if is_ours(module) or isinstance(module, nn.MultiheadAttention):
        return True
    kind = type(module).__name__.lower()
    return ("attention" in kind or "attn" in kind) and next(module.parameters(), None) is not None


def is_foreign(module: nn.Module) -> bool:
    """Whether a module may call torch's attention; of our own classes and torch's other layers none does."""
    home = type(module).__module__
    return isinstance(module, nn.MultiheadAttention) or not home.startswith(("regard.", "torch.nn."))


class _Mode(TorchFunctionMode):
    """What torch is asked to compute in one thread while somebody watches."""

    def __init__(self) -> None:
        super().__init__()
        self.busy = False  # an edit may call torch's attention itself
        self.heads: int | None = None  # of torch's multi-head attention, until its scores are seen
        self.look: Look | None = None  # the one whose softmax comes next

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.busy or (func not in _SEEN and func not in _ENTERED) or not scopes.get():
            return func(*args, **kwargs)
        if func in _ENTERED:
            return self._enter(func, types, args, kwargs)
        self.busy = True
        try:
            answer = _SEEN[func](self, *args, **kwargs)
        finally:
            self.busy = False
        return func(*args, **kwargs) if answer is None else answer

    def _enter(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Run a function of torch, and be shown what it calls in its turn."""
        attends = func is F.multi_head_attention_forward
        if _redispatch is None:
            if attends:
                raise RuntimeError(
                    f"nn.MultiheadAttention is watched from torch 2.13 on, and this is {torch.__version__}"
                )
            return func(*args, **kwargs)
        outer = self.heads, self.look
        if attends:
            self.heads, self.look = args[4] if len(args) > 4 else kwargs["num_heads"], None
        try:
            with self:
                return _redispatch(func, types, args, kwargs)
        finally:
            self.heads, self.look = outer

    def sdpa(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,  # noqa: ARG002 - a look knows it from the number of heads
    ) -> Tensor | None:
        """The answer to a look that was edited; None where torch shall answer."""
        if query.is_nested:
            return None
        look = tell(_callers(), _look(query, key, attn_mask, is_causal, scale))
        if look.edit is None:
            return None
        y = mix(look, _four(value), dropout=dropout_p)
        return y.reshape(*query.shape[:-1], value.shape[-1])

    def bmm(self, q: Tensor, k: Tensor, mask: Tensor | None = None) -> None:
        """The scores of torch's multi-head attention where it shall return its weights; its q are scaled already."""
        if self.heads is None:
            return
        heads, self.heads = self.heads, None
        if mask is not None:
            mask = mask[None] if len(mask) == 1 else mask.unflatten(0, (-1, heads))
        look = Look(q.unflatten(0, (-1, heads)), k.mT.unflatten(0, (-1, heads)), Dot(1.0), None, mask)
        self.look = tell(_callers(), look)

    def baddbmm(self, mask: Tensor, q: Tensor, k: Tensor) -> None:
        self.bmm(q, k, mask)

    def softmax(self, scores: Tensor, *_: object, **__: object) -> Tensor | None:
        look, self.look = self.look, None
        return None if look is None or look.edit is None else look.weights().view_as(scores)


# Backward is entered too: a checkpoint computes its forward again there, with the same edits.
_ENTERED = {F.multi_head_attention_forward, Tensor.backward, torch.autograd.backward, torch.autograd.grad}
_SEEN: Mapping[Any, Callable[..., Tensor | None]] = {
    F.scaled_dot_product_attention: _Mode.sdpa,
    torch.bmm: _Mode.bmm,
    torch.baddbmm: _Mode.baddbmm,
    F.softmax: _Mode.softmax,
}


def _callers() -> Iterator[nn.Module]:
    """The modules that are being called, innermost first: read from the stack, so that no module needs a hook."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_argcount and code.co_varnames[0] == "self":
            module = frame.f_locals.get("self")
            if isinstance(module, nn.Module):
                if is_ours(module):
                    return  # it has told its look itself
                yield module
        frame = frame.f_back  # type: ignore[assignment]


def _look(query: Tensor, key: Tensor, mask: Tensor | None, causal: bool, scale: float | None) -> Look:
    q, k = _four(query), _four(key)
    q = q.expand(max(len(q), len(k)), max(q.shape[1], k.shape[1]), -1, -1)
    queries, keys = q.shape[-2], k.shape[-2]
    visible: Visible | None = None
    if causal:
        # Torch lines up the first query with the first key, we the last with the last.
        ones = torch.ones(queries, keys, dtype=torch.bool, device=q.device)
        visible = Causal(queries, keys) if queries == keys else ones.tril()
    if mask is not None and query.ndim == 4:
        mask = mask[None] if mask.ndim == 3 else mask
    elif mask is not None:
        mask = _four(mask.expand(*query.shape[:-1], keys))
    if mask is None or mask.dtype != torch.bool:
        return Look(q, k, Dot(scale), visible, mask)
    return Look(q, k, Dot(scale), mask)


def _four(x: Tensor) -> Tensor:
    """Batch, heads, tokens and width; what comes before the heads is batch."""
    return x[:, None] if x.ndim == 3 else x[None, None] if x.ndim == 2 else x.flatten(0, -4)


class _Thread(threading.local):
    def __init__(self) -> None:
        self.mode, self.scopes = _Mode(), list[Scope]()


_thread = _Thread()


def enter(scope: Scope) -> None:
    """Let torch show this thread's mode what it is asked to compute."""
    _thread.scopes.append(scope)
    settle()


def settle() -> None:
    """Have the mode on torch's stack while a scope of this thread is open, one for all: scopes end in any order.

    It lies below the modes of others, which pop whatever is on top when they end.
    """
    _thread.scopes = [scope for scope in _thread.scopes if scope.open]
    mode, stack = _thread.mode, _get_current_function_mode_stack()
    if mode.busy or bool(_thread.scopes) == (mode in stack):
        return
    for _ in stack:
        _pop_mode()
    lowest = [each for each in stack if isinstance(each, DeviceContext)]  # torch wants it at the bottom
    rest = [each for each in stack if each is not mode and each not in lowest]
    for each in (*lowest, *([mode] if _thread.scopes else []), *rest):
        _push_mode(each)
