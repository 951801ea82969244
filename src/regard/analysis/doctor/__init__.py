"""A doctor for models: checks that any model should pass, each with a value, a verdict and what usually causes it.

for finding in examine(build("gpt-nano"), family=family("gpt")):
    print(finding.check, finding.verdict, finding.value, finding.why)
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from regard.analysis.doctor import cache, company, heads, leaks, loss, numbers
from regard.analysis.doctor.finding import Finding, Verdict
from regard.analysis.doctor.patient import Patient, admit
from regard.decode.forcing import evaluating
from regard.models.family import Family
from regard.names import unknown
from regard.progress import Progress

__all__ = ["CHECKS", "Finding", "Verdict", "examine"]

# By name, in the order in which they are made.
CHECKS: Mapping[str, Callable[[Patient], Finding]] = {
    "weights are numbers": numbers.weights,
    "activations are numbers": numbers.activations,
    "gradients reach all weights": numbers.gradients,
    "initial loss near ln V": loss.initial,
    "loss on the text below ln V": loss.text,
    "one batch can be overfitted": loss.overfit,
    "no gradient from the future": leaks.future,
    "no gradient from padding": leaks.padding,
    "a batch changes no answer": company.batch,
    "padding behind changes no answer": partial(company.padding, side="behind"),
    "padding before changes no answer": partial(company.padding, side="before"),
    "packing changes no answer": company.packing,
    "cache equals no cache": cache.cache,
    "no dead heads": heads.dead,
    "attention sinks": heads.sinks,
}


def examine(
    model: nn.Module,
    *,
    family: Family | None = None,
    inputs: Mapping[str, Any] | None = None,
    text: Int[Tensor, "1 n"] | None = None,
    steps: int = 60,
    seed: int = 0,
    checks: Iterable[str] = tuple(CHECKS),
    progress: Progress | None = None,
) -> list[Finding]:
    """Make every check, or those that are named; what does not apply to a model is skipped, and it is said why.

    A model of ours is fed with the example of its `family`, one of transformers with random words, any other with the
    `inputs` that are given, by the names of its forward, for a batch of two. `text` are the ids of a text that a
    trained model should know. The model is left as it was; what has to learn is a copy, for `steps` steps.
    """
    chosen = list(checks)
    for name in chosen:
        if name not in CHECKS:
            raise KeyError(unknown("check", name, CHECKS))
    patient, found = admit(model, family, inputs, text, steps), list[Finding]()
    devices: list[int] | None = [] if next(model.parameters()).device.type == "cpu" else None
    with torch.random.fork_rng(devices), evaluating(model):
        for number, name in enumerate(chosen, start=1):
            torch.manual_seed(seed)
            if any(each.check == "weights are numbers" and each.verdict == "ill" for each in found):
                found.append(Finding(name, "skipped", "", "its weights are no numbers"))
            else:
                found.append(_make(name, patient))
            if progress is not None:
                progress(number / len(chosen))
    return found


def _make(name: str, patient: Patient) -> Finding:
    try:
        return CHECKS[name](patient)
    except Exception as error:  # whatever a sick model brings about
        said = " ".join(str(error).split())[:200]
        why = "the model does not do what it offers; a call by hand shows where"
        return Finding(name, "ill", f"{type(error).__name__}: {said}", why)
