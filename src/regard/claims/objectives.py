"""Hidden words, next sentences, both or neither: small BERTs that differ in their pre-training are fine-tuned alike."""

from itertools import product
from statistics import fmean

import torch

from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.understanding import (
    LR,
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
from regard.recipes.pretrain import losses

CLAIM = Claim(
    name="objectives",
    deck="Najdenkoska & Asano, BERT pre-training",
    sentence="Task #1: Masked Language Modelling (MLM) … Task #2: Next Sentence Prediction (NSP)",
    experiment="BERTs of two layers are pre-trained on the world's stories, for equally many steps, to guess hidden "
    "words, to tell whether a passage follows another (at a smaller rate, where it learns), or both. Each is then "
    "fine-tuned for a task of one text, what each noun and pronoun names (a person, an animal, food …), and for one of "
    "two, which of two sentences came first; twice with about 120 labels each.",
    control="The same encoder without any pre-training, fine-tuned alike: what it can do, neither objective has given.",
    criterion="The number is how much less often the labels of new stories are right, in the mean of both tasks and "
    "seed by seed, where next sentences are left out. Supported if its interval and that of leaving out hidden words "
    "both lie above zero, refuted if one of them lies below zero, otherwise not at this scale.",
    measures="fewer answers are right without next sentences",
    seeds=4,
)

KINDS = {"neither": (), "next sentences alone": ("next",), "hidden words alone": ("words",), "both": OBJECTIVES}
LABELS, DRAWS = 120, 2


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How often labels are right, by pre-training, seed and task."""
    stories, steps, labels, tuning, asked = (10, 2, 10, 1, 5) if quick else (4000, 800, LABELS, 80, 300)
    tests = {task: texts(task, asked, seed=0, split="test") for task in TASKS}
    held = next(passages(documents(asked, seed=0, split="test"), seed=0, rows=asked))
    runs, learnt = list[Numbers](), list[Numbers]()
    for (seed, kind), inner in parts(progress, list(product(seeds, KINDS))):
        torch.manual_seed(seed)
        model = encoder()
        if KINDS[kind]:
            batches = passages(documents(stories, seed=seed), seed=seed)
            # Next sentences alone are learnt at a smaller rate only; at that of hidden words, training gets stuck.
            learning = pretrain(model, batches, KINDS[kind], steps=steps, lr=LR if "words" in KINDS[kind] else LR / 3)
            track(learning, steps, inner)
        _, words, follows = losses(model, held)
        guessed = {"words": float(words.float().mean()), "next": float(follows.float().mean())}
        learnt.append({"kind": kind, "seed": seed} | {name: guessed[name] for name in KINDS[kind]})
        for task in TASKS:
            some = [labelled(task, labels, seed=DRAWS * seed + i) for i in range(DRAWS)]
            tuned = [tune(model, task, each, steps=tuning, seed=seed) for each in some]
            score = fmean(accuracy(each, tests[task]) for each in tuned)
            runs.append({"kind": kind, "task": task, "seed": seed, "accuracy": score})
    return {"runs": runs, "learnt": learnt, "steps": steps, "tuning": tuning, "stories": stories}


def judge(numbers: Numbers) -> Finding:
    without_next, without_words = (
        student(_lost(numbers, kind)) for kind in ("hidden words alone", "next sentences alone")
    )
    means = ", ".join(f"{kind} {fmean(_means(numbers, kind)):.1%}" for kind in KINDS)
    words, follows = ([each[name] for each in numbers["learnt"] if each["kind"] == "both"] for name in OBJECTIVES)
    return Finding(
        verdict(
            supported=without_next[1] > 0 and without_words[1] > 0,
            refuted=without_next[2] < 0 or without_words[2] < 0,
        ),
        without_next[0],
        without_next[1:],
        f"Labels that are right in the mean of both tasks, by pre-training: {means}. Leaving out next sentences costs "
        f"{_points(without_next)}, leaving out hidden words {_points(without_words)}. "
        f"With both, {fmean(words):.0%} of hidden words and {fmean(follows):.0%} of next sentences are told right.",
    )


def draw(numbers: Numbers) -> str:
    marks = []
    for kind in KINDS:
        values = zip(*(student(_accuracies(numbers, kind, task)) for task in TASKS), strict=True)
        marks.append(Bars(kind, *values))
    return figure(
        "What pre-training gives, by what it asks",
        [Panel("", "", "labels of new stories that are right", marks, TASKS, bounds=(0.4, 1))],
        f"{numbers['steps']} steps of pre-training, {numbers['tuning']} of fine-tuning on {LABELS} labels. "
        "Whiskers are 95 % intervals over seeds.",
    )


def _accuracies(numbers: Numbers, kind: str, task: str) -> list[float]:
    return [run["accuracy"] for run in numbers["runs"] if (run["kind"], run["task"]) == (kind, task)]


def _means(numbers: Numbers, kind: str) -> list[float]:
    """The mean of both tasks, seed by seed."""
    return [fmean(two) for two in zip(*(_accuracies(numbers, kind, task) for task in TASKS), strict=True)]


def _lost(numbers: Numbers, kind: str) -> list[float]:
    """Below both objectives, seed by seed: both met the same stories and the same labels."""
    return [both - one for both, one in zip(_means(numbers, "both"), _means(numbers, kind), strict=True)]


def _points(interval: tuple[float, float, float]) -> str:
    mean, low, high = (100 * each for each in interval)
    return f"{mean:.1f} points ({low:.1f} to {high:.1f})"
