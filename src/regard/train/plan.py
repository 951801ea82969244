"""How long, how fast and how carefully to train: the flags that every recipe shares."""

from dataclasses import asdict, dataclass
from math import inf
from typing import Any, Literal

Schedule = Literal["cosine", "linear", "root", "constant"]
Precision = Literal["auto", "float32", "bfloat16"]
Parallel = Literal["ddp", "fsdp"]

# About the run, not about the result: these may change when a run goes on.
ABOUT_THE_RUN = frozenset({"out", "resume", "save", "keep", "tensorboard", "threads", "parallel", "json"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    steps: int = 3000
    """How many times the weights change."""
    tokens: int = 2000
    """Places in a batch on its longer side, padding included."""
    accumulate: int = 1
    """Batches in a step, shared by all processes: with 2, one process takes both, or each of two takes one."""
    lr: float = 2e-3
    """The highest learning rate."""
    warmup: int = 300
    """Steps in which the rate rises from zero."""
    schedule: Schedule = "cosine"
    """How the rate falls afterwards: to zero along a cosine or a line, with one over the root of the step, or not."""
    weight_decay: float = 0.01
    """Weight decay of matrices; vectors have none."""
    grad_clip: float = 1.0
    """The largest length of a gradient; 0 lets any pass."""
    ema: float = 0.0
    """Score and keep a moving average of the weights with this memory, say 0.999; 0 keeps the weights."""
    average: int = 0
    """At the end, keep the mean of so many last checkpoints; 0 and 1 do not."""
    evaluate: int = 250
    """Steps between two scores on held-out data."""
    patience: int = 0
    """Stop after so many scores without a better one; 0 goes on to the end."""
    seed: int = 0
    """Decides about first weights, batches and dropout."""
    precision: Precision = "auto"
    """Of the matrix products; auto takes bfloat16 where the hardware multiplies it."""
    out: str = ""
    """The folder of the run; without it, one in `runs` named after the recipe and the seed."""
    resume: bool = False
    """Go on with the run in the folder, exactly where its last checkpoint stands."""
    save: int = 250
    """Steps between two checkpoints."""
    keep: int = 2
    """How many checkpoints to keep, beside the best."""
    tensorboard: bool = False
    """Write the measurements for TensorBoard too."""
    threads: int = 0
    """CPU threads of this process; 0 leaves the choice to torch."""
    parallel: Parallel = "ddp"
    """Under torchrun: every process has a copy of the model (DDP), or a shard of it (FSDP)."""
    json: bool = False
    """At the end, print one line of JSON instead of a sentence."""


def fields_of(plan: Plan) -> dict[str, Any]:
    """What decides about the result."""
    return {name: value for name, value in asdict(plan).items() if name not in ABOUT_THE_RUN}


def check(plan: Plan, processes: int = 1) -> None:
    """Refuse a plan that cannot be followed."""
    for name in ("steps", "tokens", "accumulate", "evaluate", "save", "keep"):
        if getattr(plan, name) < 1:
            raise ValueError(f"{name} is {getattr(plan, name)}; give 1 or more")
    for name in ("warmup", "weight_decay", "grad_clip", "average", "patience", "threads"):
        if not getattr(plan, name) >= 0:
            raise ValueError(f"{name} is {getattr(plan, name)}; give 0 or more")
    if not 0.0 < plan.lr < inf:
        raise ValueError(f"rate is {plan.lr}; give a number above 0, say 0.001")
    if not 0.0 <= plan.ema < 1.0:
        raise ValueError(f"ema is {plan.ema}; give 0 for none, or a memory below 1, say 0.999")
    if plan.average > plan.keep:
        raise ValueError(f"average is {plan.average}, but only {plan.keep} checkpoints are kept; raise keep to it")
    if plan.accumulate % processes:
        raise ValueError(
            f"{plan.accumulate} batches a step cannot be shared by {processes} processes; give --accumulate "
            f"{-(-plan.accumulate // processes) * processes}"
        )
