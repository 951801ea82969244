"""A model that writes with a cache says what it says without one."""

from collections.abc import Mapping
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from regard.analysis.anatomy import read_answer, writes
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
    if writes(model):
        beside = {name: inputs[name] for name in signature(model.step).parameters if name in inputs}
        away = [distance(_steps(model, words, _start(model, inputs), beside), patient.answer(inputs))]
        if "visible" in signature(model.step).parameters and "visible" in patient.takes:
            real = torch.ones_like(words, dtype=torch.bool)
            real[1, :2] = False
            stepped = _steps(model, words, _start(model, inputs), beside | {"visible": real})
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
    """The state before the first word: of what is read or seen before it, or of so many rows."""
    before = {name: inputs[name] for name in signature(model.start).parameters if name in inputs}
    return model.start(**before) if before else model.start(len(next(iter(inputs.values()))))


def _steps(model: Any, words: Tensor, state: Any, beside: Mapping[str, Tensor]) -> Tensor:
    """What is said word by word; what stands `beside` the words is given with them."""
    said, done = list[Tensor](), 0
    for part in (words[:, :FIRST], *words[:, FIRST:].split(1, dim=1)):
        here = slice(done, done + part.shape[1])
        logits, state = model.step(part, state, **{name: x[:, here] for name, x in beside.items()})
        said.append(logits)
        done = here.stop
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
