"""A model that writes with a cache says what it says without one."""

from inspect import signature
from typing import Any

import torch
from torch import Tensor

from regard.analysis.anatomy import read_answer
from regard.analysis.doctor.company import LEAST, distance
from regard.analysis.doctor.finding import Finding, judge, skip
from regard.analysis.doctor.patient import Patient

CHECK = "cache equals no cache"
FIRST = 3  # words that are read at once, before the others follow one by one
CAUSES = (
    "positions that do not go on behind the cache, a causal mask that is drawn for the new words alone, keys that are "
    "turned or normed twice, a cache that is shared by rows or grows in place"
)


@torch.no_grad()
def cache(patient: Patient) -> Finding:
    """Steps equal one whole run: of a text, and where the model takes it, of one that is padded before."""
    model: Any = patient.model
    if patient.written is None:
        return skip(CHECK, "it reads no words")
    inputs = patient.draw()
    words: Tensor = inputs[patient.written]
    if hasattr(model, "step"):
        away = [distance(_steps(model, words, _start(model, inputs)), patient.answer(inputs))]
        if "visible" in signature(model.step).parameters and "visible" in patient.takes:
            real = torch.ones_like(words, dtype=torch.bool)
            real[1, :2] = False
            stepped = _steps(model, words, _start(model, inputs), real)
            away.append(distance(stepped[real], patient.answer(inputs | {"visible": real})[real]))
    elif {"past_key_values", "use_cache"} <= patient.takes.keys():
        found = _foreign(model, inputs, patient.written)
        if found is None:
            return skip(CHECK, "it gives no cache")
        away = [distance(found, patient.answer(inputs))]
    else:
        return skip(CHECK, "it does not write in steps")
    return judge(CHECK, max(away) <= LEAST, f"{max(away):.1e}", CAUSES)


def _start(model: Any, inputs: dict[str, Any]) -> Any:
    """The state before the first word: of so many rows, or of a source."""
    source = inputs.get("source")
    return model.start(next(iter(inputs.values())).shape[0] if source is None else source)


def _steps(model: Any, words: Tensor, state: Any, real: Tensor | None = None) -> Tensor:
    said: list[Tensor] = []
    for part in (words[:, :FIRST], *words[:, FIRST:].split(1, dim=1)):
        if real is None:
            logits, state = model.step(part, state)
        else:
            done = sum(each.shape[1] for each in said)
            logits, state = model.step(part, state, visible=real[:, done : done + part.shape[1]])
        said.append(logits)
    return torch.cat(said, dim=1)


def _foreign(model: Any, inputs: dict[str, Any], written: str) -> Tensor | None:
    """As transformers writes: what was computed before is given back with the next word."""
    words, said, past = inputs[written], [], None
    for part in (words[:, :FIRST], *words[:, FIRST:].split(1, dim=1)):
        output = model(**inputs | {written: part}, past_key_values=past, use_cache=True)
        past = getattr(output, "past_key_values", None)
        if past is None:
            return None
        said.append(read_answer(output))
    return torch.cat(said, dim=1)
