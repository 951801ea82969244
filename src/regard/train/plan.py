"""How long, how fast and how carefully to train: the flags that every recipe shares."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

Schedule = Literal["cosine", "linear", "inverse_sqrt", "constant"]
Optimizer = Literal["adamw", "muon", "sgd"]
Precision = Literal["auto", "float32", "bfloat16"]
Parallel = Literal["ddp", "fsdp"]

OF_THE_COMMAND = frozenset({"out", "resume", "json"})  # not remembered with a run
OF_THE_RUN = frozenset({"save", "keep", "tensorboard", "threads", "parallel"})  # may change when a run goes on
WITHOUT_END = frozenset({"inverse_sqrt", "constant"})  # schedules that do not depend on how many steps there will be

_TINY, _MOST = 1e-12, 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What every training has, also one with a loop of its own: a seed, a folder, and how it is kept there."""

    seed: int = 0
    """Random seed: decides about first weights, batches and dropout."""
    out: str = ""
    """The folder of the run; without it, one in `runs` named after the recipe and the seed."""
    resume: bool = False
    """Go on with the run in the folder, exactly where its last checkpoint stands, by the flags it began with."""
    save: int = 250
    """Steps between two checkpoints."""
    keep: int = 2
    """How many checkpoints to keep, beside the best."""
    threads: int = 0
    """CPU threads of this process; 0 leaves the choice to torch."""
    json: bool = False
    """At the end, print one line of JSON instead of a sentence."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **dict.fromkeys(("save", "keep"), (1, _MOST)),
        "threads": (0, max(64, os.cpu_count() or 1)),  # far more than that end the process inside OpenMP
        "seed": (0, 2**63 - 1),  # what torch and numpy take
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Kept):
    steps: int = 3000
    """Optimizer steps: how many times the weights change."""
    tokens: int = 2000
    """Batch size in tokens, on the longer side of a pair, padding included."""
    accumulate: int = 1
    """Gradient accumulation: batches in a step, shared by all processes (with 2, each of two processes takes one)."""
    lr: float = 2e-3
    """Peak learning rate (the optimizer's step size)."""
    warmup: int = 300
    """Warm-up: steps in which the learning rate rises from zero to its peak."""
    schedule: Schedule = "cosine"
    """Learning rate schedule: falls to zero along a cosine or a line, with the inverse root of the step, or not."""
    optimizer: Optimizer = "adamw"
    """AdamW (Loshchilov 2019); Muon (Jordan 2024), which needs fewer steps for small Transformers, and an lr of
    5e-3 or so; or SGD: plain gradient descent with momentum."""
    betas: tuple[float, float] = (0.9, 0.98)
    """AdamW's betas: how long it remembers the mean of the gradients, and of their squares."""
    eps: float = 1e-9
    """AdamW's epsilon: keeps the step finite where gradients vanish."""
    momentum: float = 0.9
    """SGD's momentum: how long it remembers the direction."""
    muon_momentum: float = 0.95
    """Muon's momentum; convolutions that have few steps want less, say 0.6."""
    weight_decay: float = 0.01
    """Weight decay: pulls matrices towards zero; vectors have none."""
    grad_clip: float = 1.0
    """Gradient clipping: the largest norm of all gradients together; 0 does not clip."""
    ema: float = 0.0
    """Exponential moving average of the weights, scored and kept in their place: its decay, say 0.999; 0 has none."""
    average: int = 0
    """Checkpoint averaging: at the end, keep the mean of so many last checkpoints; 0 and 1 do not."""
    evaluate: int = 250
    """Steps between two evaluations on held-out data."""
    patience: int = 0
    """Early stopping: end after so many evaluations without a better one; 0 goes on to the end."""
    precision: Precision = "auto"
    """Mixed precision of the matrix products; auto takes bfloat16 where the hardware multiplies it."""
    tensorboard: bool = False
    """Write the measurements for TensorBoard too."""
    parallel: Parallel = "ddp"
    """Under torchrun, every process has a copy of the model (DDP) or a shard of it, block by block (FSDP)."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Kept.bounds,
        **dict.fromkeys(("steps", "tokens", "accumulate", "evaluate"), (1, _MOST)),
        **dict.fromkeys(("warmup", "average", "patience"), (0, _MOST)),
        "lr": (_TINY, 1e3),
        "eps": (0, 1),
        "momentum": (0, 1),
        "muon_momentum": (0, 1),
        "weight_decay": (0, 1e3),
        "grad_clip": (0, 1e9),
        "ema": (0, 1 - _TINY),
    }


def fields_of(plan: Kept) -> dict[str, Any]:
    """What a run remembers of its flags."""
    return {name: value for name, value in asdict(plan).items() if name not in OF_THE_COMMAND}


def check_bounds(plan: Kept) -> None:
    """Refuse numbers that no training can have."""
    for name, (low, high) in plan.bounds.items():
        value = getattr(plan, name)
        if not low <= value <= high:
            way = f"{low:g} to {high:g}" if high < _MOST else f"{low:g} or more"
            if value > high >= _MOST:
                way = f"at most {high:.0f}" if isinstance(high, float) else f"at most {high}"
            raise ValueError(f"{name} is {value}; give {way}")


def check(plan: Plan, processes: int = 1) -> None:
    """Refuse a plan that cannot be followed."""
    check_bounds(plan)
    if not all(0.0 <= beta < 1.0 for beta in plan.betas):
        raise ValueError(f"betas are {plan.betas}; give two numbers from 0 to below 1, say 0.9 and 0.98")
    if plan.average > plan.keep:
        raise ValueError(f"average is {plan.average}, but only {plan.keep} checkpoints are kept; raise keep to it")
    if plan.accumulate % processes:
        raise ValueError(
            f"{plan.accumulate} batches a step cannot be shared by {processes} processes; give --accumulate "
            f"{-(-plan.accumulate // processes) * processes}"
        )
