"""Fine-tuning against pre-training: what each costs, and what it brings, by the number of labels."""

from itertools import product
from statistics import fmean
from time import process_time

import torch

from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Line, Panel, figure
from regard.claims.understanding import (
    OBJECTIVES,
    TASKS,
    accuracy,
    documents,
    encoder,
    labelled,
    passages,
    pretrain,
    texts,
    tune,
)
from regard.progress import Progress

CLAIM = Claim(
    name="finetuning",
    deck="Najdenkoska & Asano, BERT fine-tuning",
    sentence="It is relatively inexpensive compared to pre-training",
    experiment="A BERT of two layers is pre-trained on the world's stories, then fine-tuned on 30, 120 and 480 "
    "labels: for what each noun and pronoun names, and for which of two sentences came first. Its twin learns the "
    "same labels from scratch, for four times as many steps, since it begins with nothing. Costs are processor time.",
    control="A third encoder is pre-trained no longer than fine-tuning takes. If that were enough, pre-training would "
    "not need to cost more.",
    criterion="The number is how many times longer pre-training takes than one fine-tuning. Supported if its interval "
    "lies above 10, and if what the pre-trained encoder is right more often, over all tasks and numbers of labels, has "
    "an interval above zero both against the one from scratch and against the one that was pre-trained briefly. "
    "Refuted if the number's interval lies below 2, or one of the other two below zero. Otherwise not at this scale.",
    measures="fine-tunings take as long as the pre-training before them",
    seeds=3,
)

KINDS = ("from scratch", "pre-trained briefly", "pre-trained")
LABELS = (30, 120, 480)
LONGER = 4  # from scratch


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """What each training costs, and how often labels are right, by kind, seed, task and number of labels."""
    stories, steps, most, tuning, asked = (10, 2, 10, 1, 5) if quick else (6000, 1000, LABELS[-1], 60, 300)
    tests = {task: texts(task, asked, seed=0, split="test") for task in TASKS}
    costs, runs = [], []
    for (seed, kind), inner in parts(progress, list(product(seeds, KINDS))):
        torch.manual_seed(seed)
        model, start = encoder(), process_time()
        if kind != KINDS[0]:
            length = steps if kind == KINDS[2] else tuning
            batches = passages(documents(stories, seed=seed), seed=seed)
            track(pretrain(model, batches, OBJECTIVES, steps=length), length, inner)
        costs.append({"kind": kind, "seed": seed, "seconds": process_time() - start})
        for task, labels in product(TASKS, LABELS):
            some, start = labelled(task, min(labels, most), seed=seed), process_time()
            tuned = tune(model, task, some, steps=LONGER * tuning if kind == KINDS[0] else tuning, seed=seed)
            seconds = process_time() - start
            right = accuracy(tuned, tests[task])
            about = {"kind": kind, "task": task, "labels": labels, "seed": seed}
            runs.append(about | {"seconds": seconds, "accuracy": right})
    return {"costs": costs, "runs": runs, "steps": steps, "tuning": tuning, "stories": stories}


def judge(numbers: Numbers) -> Finding:
    before = [cost["seconds"] for cost in numbers["costs"] if cost["kind"] == KINDS[2]]
    seeds = [cost["seed"] for cost in numbers["costs"] if cost["kind"] == KINDS[2]]
    tuning = [fmean(_values(numbers, KINDS[2], "seconds", seed=seed)) for seed in seeds]
    number, low, high = student([one / other for one, other in zip(before, tuning, strict=True)])
    means = {kind: [fmean(_values(numbers, kind, "accuracy", seed=seed)) for seed in seeds] for kind in KINDS}
    gains = [student([a - b for a, b in zip(means[KINDS[2]], means[kind], strict=True)]) for kind in KINDS[:2]]
    scratch = fmean(_values(numbers, KINDS[0], "seconds"))
    few, many = (
        ", ".join(f"{kind} {fmean(_values(numbers, kind, 'accuracy', labels=labels)):.0%}" for kind in KINDS)
        for labels in (LABELS[0], LABELS[-1])
    )
    against = " and ".join(
        f"{100 * mean:.1f} ({100 * least:.1f} to {100 * most:.1f}) above {kind}"
        for (mean, least, most), kind in zip(gains, ("from scratch", "brief pre-training"), strict=True)
    )
    return Finding(
        verdict(
            supported=low > 10 and min(gain[1] for gain in gains) > 0,
            refuted=high < 2 or min(gain[2] for gain in gains) < 0,
        ),
        number,
        (low, high),
        f"Pre-training takes {fmean(before):.0f} s, a fine-tuning {fmean(tuning):.1f} s, and learning from scratch "
        f"{scratch:.1f} s. Labels that are right with {LABELS[0]} labels: {few}; with {LABELS[-1]}: {many}. "
        f"Over all tasks and numbers of labels, the points that pre-training brings are {against}.",
    )


def draw(numbers: Numbers) -> str:
    panels = []
    for task in TASKS:
        lines = []
        for kind in KINDS:
            found = [student(_values(numbers, kind, "accuracy", task=task, labels=labels)) for labels in LABELS]
            lines.append(Line(kind, LABELS, *zip(*found, strict=True), dashed=kind != KINDS[2]))
        panels.append(
            Panel(task, "labels to learn from", "labels of new stories that are right", lines, log="x", bounds=(0.4, 1))
        )
    return figure(
        "What pre-training saves in labels",
        panels,
        f"{numbers['steps']} steps of pre-training, or {numbers['tuning']}; fine-tuning has {numbers['tuning']}, from "
        f"scratch {LONGER * numbers['tuning']}. Bands are 95 % intervals over seeds.",
    )


def _values(numbers: Numbers, kind: str, value: str, **about: str | int) -> list[float]:
    """Of the runs of a kind that agree with what is given."""
    wanted = {"kind": kind, **about}
    return [run[value] for run in numbers["runs"] if wanted.items() <= run.items()]
