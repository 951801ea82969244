"""The loop: draw batches, follow the gradient, score, write down where we are.

All that happens in step s depends on the seed, on s and on the weights: the random generator is seeded for each
batch, the rate is a function of s, and the batches know their place. So a run that stopped anywhere goes on bit by bit
as if it had not, and several processes do together what one would do alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

import torch

from regard.train import checkpoint, machine
from regard.train.board import Board, tensorboard
from regard.train.finish import finish
from regard.train.plan import Plan, check, fields_of
from regard.train.progress import Live
from regard.train.ranks import Ranks
from regard.train.run import Run, newest
from regard.train.signals import Stop, stoppable
from regard.train.task import Task
from regard.train.training import Training, check_scores


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a training ended."""

    step: int
    best: float | None  # of the metric
    minutes: float
    finished: bool  # it came to its end, and was not stopped by a signal
    folder: Path


def fit(
    task: Task, plan: Plan, folder: Path, *, recipe: str = "own", ranks: Ranks | None = None, quiet: bool = False
) -> Outcome:
    """Train a task in a folder, from its last checkpoint if the plan says resume, and leave a model there."""
    ranks = Ranks() if ranks is None else ranks
    plan = replace(plan, **task.settled)
    check(plan, ranks.count)
    check_scores((task.metric, *task.higher_is_better))
    if plan.threads:
        torch.set_num_threads(plan.threads)
    machine.keep_memory()
    scores = dict.fromkeys(task.higher_is_better, "higher")
    run = Run(folder, recipe, fields_of(plan), {task.metric: "lower", **scores}, resume=plan.resume)
    ranks.barrier()  # all have seen the folder as it was
    try:
        said = run.open() if ranks.first else []
        ranks.barrier()  # all see the checkpoints that are whole
        training = Training(task, plan, ranks)
        last = newest(folder) if plan.resume else None
        if last is not None:
            training.restore(*checkpoint.read(last))
        if ranks.first:
            run.go_on(training.step)
            _drop_old(run, plan)  # a run that was killed behind its last step comes to no other place that does
        with (
            Live(plan.steps, training.step, task.unit, quiet=quiet or not ranks.first) as live,
            tensorboard(folder / "tensorboard" if ranks.first and plan.tensorboard else None) as board,
            stoppable(live.say) as stop,
        ):
            for line in (*task.notes, *said):
                live.say(line)
            stopped = _train(training, run, live, board, stop)
            if stopped:
                live.say(f"stopped at step {training.step}; go on with the same command and --resume --out {folder}")
            elif ranks.first:
                finish(training, run, live.say)
            ranks.barrier()
        return Outcome(training.step, training.best, training.seconds / 60, not stopped, folder)
    finally:
        run.close()


def _train(training: Training, run: Run, live: Live, board: Board, stop: Stop) -> bool:
    """Step after step to the end; True where somebody has stopped it before."""
    task, plan, first = training.task, training.plan, training.ranks.first
    while not training.ended:
        began = monotonic()
        row, stopped = training.advance(stop)
        live.step(training.step, row["loss"], row["size"])
        scores: Mapping[str, float] = {}
        if training.step % plan.evaluate == 0 or training.step == plan.steps:
            scores, best = training.score()
            if first and task.show is not None:
                run.show(training.step, task.show(training.plain))
            minutes = (training.seconds + monotonic() - began) / 60
            live.score(training.step, scores, minutes, best=scores[task.metric] if best else None)
            if best:
                state, weights = training.state, training.shown()
                if first:
                    checkpoint.write(run.checkpoints / "best.safetensors", weights, state)
        training.seconds += monotonic() - began
        row |= {"seconds": round(training.seconds, 3), **scores}
        if first:
            run.log(row)
            board(row)
        if training.step % plan.save == 0 or training.ended or stopped:
            tensors = training.tensors()
            if first:
                checkpoint.write(checkpoint.place(run.checkpoints, training.step), tensors, training.state)
                _drop_old(run, plan)
        if stopped:
            return True
    return False


def _drop_old(run: Run, plan: Plan) -> None:
    """Leave the newest checkpoints that are to be kept."""
    there = checkpoint.present(run.checkpoints)
    for old in set(there).difference(checkpoint.regular(there, plan.save)[-plan.keep :]):
        old.unlink(missing_ok=True)
