"""How the learning rate rises and falls, as a function of the step alone."""

from math import cos, pi, sqrt

from regard.train.plan import Plan


def lr(plan: Plan, step: int) -> float:
    """The learning rate of a step, counted from 1: up a line, then down as the plan says."""
    if step < plan.warmup:
        return plan.lr * step / plan.warmup
    left = 1.0 if step == plan.warmup else max(0.0, (plan.steps - step) / max(1, plan.steps - plan.warmup))
    match plan.schedule:
        case "cosine":
            return plan.lr * (1 - cos(pi * left)) / 2
        case "linear":
            return plan.lr * left
        case "inverse_sqrt":  # Vaswani 2017, eq. 3
            return plan.lr * sqrt(max(1, plan.warmup) / step)
        case "constant":
            return plan.lr
