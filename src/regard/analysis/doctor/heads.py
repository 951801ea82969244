"""Heads that look the same whatever is read, and heads that rest on the first word."""

import warnings

import torch
from jaxtyping import Float
from torch import Tensor

from regard.analysis.doctor.finding import Finding, judge, skip
from regard.analysis.doctor.patient import Patient
from regard.attention import Trace, record

DRAWS = 4  # batches of two
# Of its attention moves at most, between inputs, if a head is dead: rounding alone moves 4e-8, and the stillest fresh
# head of all families here 6e-6 (tinyvit).
SAME = 1e-6
SINK = 0.3  # of its attention on the first word makes a head rest there (Gu 2025)


@torch.no_grad()
def dead(patient: Patient) -> Finding:
    """Every head looks elsewhere when something else is read."""
    check, maps = "no dead heads", _watch(patient)
    if isinstance(maps, str):
        return skip(check, maps)
    heads, still, blind = 0, list[str](), _blind(patient)
    for name, runs in maps.items():
        if name in blind:
            continue
        moved = [found for weights in runs if (found := _move(weights)) is not None]
        if moved:
            away = torch.stack(moved).amax(dim=0)  # a shared layer need not move in each of its runs
            heads += len(away)
            still += [f"{name} head {head}" for head in (away < SAME).nonzero().flatten().tolist()]
    more = f" and {len(still) - 3} more" if len(still) > 3 else ""
    return judge(
        check,
        not still,
        f"{len(still)} of {heads}" + (f": {', '.join(still[:3])}{more}" if still else ""),
        "queries or keys that are zero or frozen, first weights that are too small, weight decay that has won, scores "
        "so large that the softmax is stuck, or a head that looks at places alone",
    )


@torch.no_grad()
def sinks(patient: Patient) -> Finding:
    """How many heads rest on the first word, as trained causal models let them (Xiao 2024)."""
    check, maps = "attention sinks", _watch(patient)
    if isinstance(maps, str):
        return skip(check, maps)
    heads, resting = 0, 0
    for weights in (each for runs in maps.values() for each in runs):
        queries, keys = weights.shape[-2:]
        if queries == keys >= 4:
            mass = weights[:, :, queries // 2 :, 0].mean(dim=(0, 2))
            heads, resting = heads + len(mass), resting + int((mass > SINK).sum())
    if not heads:
        return skip(check, "it has no self-attention over some words")
    return Finding(check, "counted", f"{resting} of {heads} heads give the first word over {SINK:.0%}")


def _blind(patient: Patient) -> set[str]:
    """Attentions that are asked before anything was read, as DETR's queries are among each other at first.

    Their queries and keys are the same for every input, and neither is zero, as those of an ill head are.
    """
    seen: list[Trace] = []
    for _ in range(2):
        with warnings.catch_warnings(), record(patient.model) as trace:
            warnings.simplefilter("ignore")
            patient.model(**patient.draw())
        seen.append(trace)
    one, other = seen
    return {
        name
        for name in one
        if all(
            a.q.equal(b.q) and a.k.equal(b.k) and bool(a.q.any()) and bool(a.k.any())
            for a, b in zip(one[name], other[name], strict=True)
        )
    }


def _move(weights: Float[Tensor, "b h q k"]) -> Float[Tensor, " h"] | None:
    """How much of the attention of each head depends on what is read; None where no query has a choice."""
    choosing = (weights.amax(dim=(0, 1)) > 0).sum(dim=-1) > 1
    if not choosing.any():
        return None
    return (weights - weights.mean(dim=0)).abs().sum(dim=-1)[..., choosing].mean(dim=(0, -1)) / 2


def _watch(patient: Patient) -> dict[str, list[Float[Tensor, "b h q k"]]] | str:
    """What every attention looks at over several inputs, for each of its runs; or why that is not known."""
    found: dict[str, list[list[Tensor]]] = {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(DRAWS):
            with record(patient.model) as trace:
                patient.model(**patient.draw())
            for name in trace:
                found.setdefault(name, []).append(_runs(trace, name))
    if not found:
        return str(said[0].message) if said and trace.known else "it has no attention"
    return {name: [torch.cat(maps) for maps in zip(*draws, strict=True)] for name, draws in found.items()}


def _runs(trace: Trace, name: str) -> list[Float[Tensor, "b h q k"]]:
    """A layer that is shared looks several times; the looks of a recurrence, word by word, are one."""
    looks = trace[name]
    if len(looks) > 1 and all(each.q.shape[-2] == each.k.shape[-2] > 1 for each in looks):
        return [each.weights().float() for each in looks]
    return [trace.weights(name).float()]
