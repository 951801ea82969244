"""The rate follows the plan, and a plan that cannot be followed is refused."""

from dataclasses import replace
from itertools import pairwise
from math import nan

import pytest

from regard.train.plan import OF_THE_COMMAND, Plan, Schedule, check, fields_of
from regard.train.schedule import lr

PLAN = Plan(steps=110, warmup=10, lr=0.2)


@pytest.mark.parametrize(
    ("schedule", "step", "wanted"),
    [
        ("cosine", 1, 0.02),
        ("cosine", 5, 0.1),
        ("cosine", 10, 0.2),
        ("cosine", 35, 0.2 * (1 + 0.5**0.5) / 2),
        ("cosine", 60, 0.1),
        ("cosine", 110, 0.0),
        ("linear", 9, 0.18),
        ("linear", 35, 0.15),
        ("linear", 110, 0.0),
        ("inverse_sqrt", 10, 0.2),
        ("inverse_sqrt", 40, 0.1),
        ("inverse_sqrt", 90, 0.2 / 3),
        ("constant", 3, 0.06),
        ("constant", 10, 0.2),
        ("constant", 110, 0.2),
    ],
)
def test_the_rate_is_what_a_hand_computes(schedule: Schedule, step: int, wanted: float) -> None:
    assert lr(replace(PLAN, schedule=schedule), step) == pytest.approx(wanted)


@pytest.mark.parametrize("schedule", ["cosine", "linear", "inverse_sqrt", "constant"])
@pytest.mark.parametrize("warmup", [0, 1, 40, 1000, 2000])
def test_the_rate_never_jumps_and_never_passes_its_peak(schedule: Schedule, warmup: int) -> None:
    plan = replace(PLAN, schedule=schedule, warmup=warmup, steps=1000)
    rates = [lr(plan, step) for step in range(1, 1001)]
    assert max(rates) <= plan.lr
    assert min(rates) >= 0.0
    peak = max(1, min(warmup, 1000))
    assert rates[: peak - 1] == sorted(rates[: peak - 1])
    assert rates[peak:] == sorted(rates[peak:], reverse=True)
    if warmup >= 40:
        assert max(abs(a - b) for a, b in pairwise(rates)) <= plan.lr / 39


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (Plan(steps=0), "steps is 0; give 1 or more"),
        (Plan(keep=0), "keep is 0; give 1 or more"),
        (Plan(warmup=-1), "warmup is -1; give 0 or more"),
        (Plan(grad_clip=nan), "grad_clip is nan; give 0 or more"),
        (Plan(lr=0.0), "lr is 0.0; give 1e-12 to 1000"),
        (Plan(lr=nan), "lr is nan; give 1e-12 to 1000"),
        (Plan(ema=1.0), "ema is 1.0; give 0 to 1"),
        (Plan(threads=100_000), r"threads is 100000; give 0 to \d+"),
        (Plan(betas=(0.9, 1.0)), r"betas are \(0.9, 1.0\); give two numbers from 0 to below 1"),
        (Plan(eps=-1.0), "eps is -1.0; give 0 to 1"),
        (Plan(momentum=2.0), "momentum is 2.0; give 0 to 1"),
        (Plan(seed=-1), "seed is -1; give 0 or more"),
        (Plan(seed=2**63), f"seed is {2**63}; give at most {2**63 - 1}"),
        (Plan(steps=10**12), "steps is 1000000000000; give at most 1000000000"),
        (Plan(average=3), "average is 3, but only 2 checkpoints are kept; raise keep to it"),
        (Plan(accumulate=3), "3 batches a step cannot be shared by 2 processes; give --accumulate 4"),
    ],
)
def test_a_plan_that_cannot_be_followed_is_refused_with_the_way_out(plan: Plan, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        check(plan, processes=2)


def test_a_usual_plan_is_good() -> None:
    check(Plan())


def test_a_run_remembers_all_but_what_belongs_to_the_command() -> None:
    remembered = fields_of(Plan(out="elsewhere", resume=True, json=True))
    assert remembered == fields_of(Plan())
    assert not OF_THE_COMMAND & set(remembered)
    assert {"seed", "lr", "steps", "threads", "save", "keep", "parallel"} <= set(remembered)
