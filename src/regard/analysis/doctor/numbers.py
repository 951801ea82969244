"""Weights, activations and gradients are numbers, and gradients arrive."""

from typing import Any

import torch
from torch import Tensor, nn

from regard.analysis.doctor.finding import Finding, judge
from regard.analysis.doctor.patient import Patient, fold


def weights(patient: Patient) -> Finding:
    """No weight is NaN or infinite."""
    tensors = (*patient.model.named_parameters(), *patient.model.named_buffers())
    broken = [name for name, x in tensors if x.is_floating_point() and not _is_finite(x)]
    count = sum(1 for _ in patient.model.parameters())
    return judge(
        "weights are numbers",
        not broken,
        _first(broken, f"{count} tensors") if broken else f"{count} tensors, all finite",
        "a training that diverged (lower the lr, clip gradients, warm up), a file that was cut or cast to float16, or "
        "memory that was never initialised",
    )


@torch.no_grad()
def activations(patient: Patient) -> Finding:
    """No module gives NaN or infinity."""
    seen, broken = 0, list[str]()

    def watch(name: str) -> Any:
        def note(_: nn.Module, __: object, output: object) -> None:
            nonlocal seen
            seen += 1
            # -inf is how some masks are written.
            if any(bool((x.isnan() | (x == torch.inf)).any()) for x in fold(output) if x.is_floating_point()):
                broken.append(name)

        return note

    handles = [
        module.register_forward_hook(watch(name or type(module).__name__))
        for name, module in patient.model.named_modules()
    ]
    try:
        patient.model(**patient.draw())
    finally:
        for handle in handles:
            handle.remove()
    return judge(
        "activations are numbers",
        not broken,
        f"first in {broken[0]}" if broken else f"{seen} outputs of modules, all finite",
        "a softmax over nothing but hidden keys, a norm of a zero vector without an epsilon, an exponential or a "
        "product that leaves the range of its dtype",
    )


def gradients(patient: Patient) -> Finding:
    """A gradient of what the model gives reaches every parameter, and it is finite."""
    model, frozen = patient.model, patient.frozen or ("\0",)
    before = {name: weight.grad for name, weight in model.named_parameters()}
    try:
        for weight in model.parameters():
            weight.grad = None
        given = [x for x in fold(model(**patient.draw())) if x.requires_grad]
        if given:
            sum((x.float().square().sum() for x in given), torch.zeros(())).backward()
        learns = {name: weight.grad for name, weight in model.named_parameters() if weight.requires_grad}
    finally:
        for name, weight in model.named_parameters():
            weight.grad = before[name]
    unreached = [name for name, grad in learns.items() if grad is None and not name.startswith(frozen)]
    broken = [name for name, grad in learns.items() if grad is not None and not _is_finite(grad)]
    value = _first(broken, "not finite at") if broken else _first(unreached, "none at")
    return judge(
        "gradients reach all weights",
        not broken and not unreached,
        value if broken or unreached else f"{len(learns)} tensors, all finite",
        "not finite: a square root or a norm at zero, a masked NaN that still poisons the backward pass. None: a "
        "detach(), no_grad() or numpy() on the way, a branch that is not called, a parameter that was replaced",
    )


def _is_finite(x: Tensor) -> bool:
    return bool(x.detach().isfinite().all())


def _first(names: list[str], words: str) -> str:
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return f"{words} {', '.join(names[:2])}{more}"
