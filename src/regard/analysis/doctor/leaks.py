"""No gradient comes from where a mask hides what is there: a word's future, and padding."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.analysis.anatomy import is_causal
from regard.analysis.doctor.finding import Finding, judge, skip
from regard.analysis.doctor.patient import Patient

LEAST = 1e-6  # of the largest dependence is none
HIDDEN = 3  # words of the second text that are padding


def future(patient: Patient) -> Finding:
    """What is said at a place depends on no later word."""
    check = "no gradient from the future"
    if patient.written is None:
        return skip(check, "it reads no words")
    inputs = patient.draw()
    depends = _depend(patient, inputs, patient.written)
    if depends is None:
        return skip(check, "no embedding was seen to read its words")
    places = inputs[patient.written].shape[1]
    if depends.shape[0] != places:
        return skip(check, "it gives one answer for a whole text")
    ahead = float((depends.triu(1).max() / depends.max().clamp(min=1e-30)).item())
    if not is_causal(patient.model) and ahead > LEAST:
        return skip(check, "it reads both ways")
    return judge(
        check,
        ahead <= LEAST,
        "none" if ahead <= LEAST else f"{ahead:.1%} of the largest dependence",
        "a causal mask that is moved by one place, inverted or not given in one layer, a norm or a pooling over all "
        "places, labels that are also inputs",
    )


def padding(patient: Patient) -> Finding:
    """What is said of a text depends on no padding."""
    check = "no gradient from padding"
    if patient.read is None or not patient.sides:
        return skip(check, "nothing tells it which words are padding")
    inputs = patient.draw()
    words: Tensor = inputs[patient.read]
    real = torch.ones_like(words, dtype=torch.bool)
    real[1, -HIDDEN:] = False
    depends = _depend(patient, inputs | patient.hide(real), patient.read, row=1)
    if depends is None:
        return skip(check, "no embedding was seen to read its words")
    own = patient.read == patient.written and depends.shape[0] == words.shape[1]
    rows = depends[:-HIDDEN] if own else depends  # what is said at padding means nothing
    behind = float((rows[:, -HIDDEN:].max() / rows.max().clamp(min=1e-30)).item())
    return judge(
        check,
        behind <= LEAST,
        "none" if behind <= LEAST else f"{behind:.1%} of the largest dependence",
        "a padding mask that is inverted, not given to every attention or lost in a reshape, a mean over all places, "
        "batch statistics",
    )


def _depend(
    patient: Patient, inputs: Mapping[str, Any], name: str, row: int | None = None
) -> Float[Tensor, "t s"] | None:
    """How much what is said at each place depends on each word of an input; or of one row of it."""
    with _leaves(patient.model, inputs[name]) as leaves:
        answer = patient.answer(inputs).float()
    if not leaves:
        return None
    answer = answer if answer.ndim == 3 else answer.flatten(1)[:, None]
    picked = slice(None) if row is None else slice(row, row + 1)
    # In a random direction: along the plain sum, the gradient of a norm vanishes.
    said = (answer[picked] @ torch.randn(answer.shape[-1], device=answer.device)).sum(dim=0)
    found = []
    for each in said:
        grads = torch.autograd.grad(each, leaves, retain_graph=True, allow_unused=True)
        sizes = [grad[picked].float().norm(dim=-1).amax(dim=0) for grad in grads if grad is not None]
        found.append(torch.stack(sizes).amax(dim=0) if sizes else said.new_zeros(inputs[name].shape[1]))
    return torch.stack(found).detach()


@contextmanager
def _leaves(model: nn.Module, words: Int[Tensor, "b n"]) -> Iterator[list[Tensor]]:
    """The embedded words, wherever the model embeds them, as what gradients are taken of."""
    leaves: list[Tensor] = []

    def cut(_: nn.Module, args: tuple[Any, ...], output: Tensor) -> Tensor | None:
        given = args[0] if args else None
        if not isinstance(given, Tensor) or given.shape != words.shape:
            return None
        away = given - words  # one number for all where several alphabets share one matrix, as DALL·E's do
        if bool((away != away[0, 0]).any()):
            return None
        leaves.append(output.detach().requires_grad_())
        return leaves[-1]

    handles = [each.register_forward_hook(cut) for each in model.modules() if isinstance(each, nn.Embedding)]
    try:
        yield leaves
    finally:
        for handle in handles:
            handle.remove()
