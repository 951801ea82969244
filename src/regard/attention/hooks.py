"""What is noted on the way while a scope lasts: which attentions ran, and the residual stream after each block."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from regard.attention.foreign import is_ours
from regard.attention.trace import Scope, scopes


def register(scope: Scope, *, hidden: bool) -> list[RemovableHandle]:
    """Hook the model and its attentions, to know of those that run unseen; with `hidden`, also each block."""

    def watches(module: nn.Module) -> bool:
        # A hook is met by every thread and every copy; a checkpoint that is computed again runs inside backward.
        again = torch._C._current_graph_task_id() != -1
        return scope.open and not again and module in scope.names and scope in scopes.get()

    def note(module: nn.Module, _: object) -> None:
        if watches(module):
            scope.trace.called[scope.names[module]] = type(module).__name__

    def keep(module: nn.Module, _: object, output: object) -> None:
        name, stream = scope.names.get(module, ""), _first(output)
        holds = any(each.startswith(f"{name}.") for each in scope.trace.known)
        if watches(module) and holds and isinstance(stream, Tensor) and stream.ndim >= 3:
            # A copy, since the next block may add to the stream in place.
            scope.trace.hidden.setdefault(name, []).append(stream.detach().clone())

    handles, attentions = [], {"", *scope.trace.known}
    for module, name in scope.names.items():
        if name in attentions and not is_ours(module):
            handles.append(module.register_forward_pre_hook(note))
        if hidden and isinstance(module, nn.ModuleList | nn.Sequential):
            handles.extend(block.register_forward_hook(keep) for block in module)
    return handles


def _first(output: object) -> object:
    """The tensor a block gives, or the first of several."""
    if isinstance(output, Mapping):
        output = tuple(output.values())
    elif is_dataclass(output):
        output = tuple(getattr(output, field.name) for field in fields(output))
    return output[0] if isinstance(output, tuple | list) and output else output
