"""A student of half the depth and its teacher: size, speed and score, beside the same student without the teacher."""

from collections.abc import Iterator
from functools import partial
from statistics import fmean, median

import torch
from torch import Tensor

from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.timing import rounds
from regard.claims.understanding import (
    LR,
    TASKS,
    Text,
    accuracy,
    documents,
    encoder,
    guess,
    labelled,
    passages,
    pretrain,
    texts,
    tune,
)
from regard.data import Batch, Documents
from regard.layers.language import LanguageEncoder
from regard.models.distilbert import DistilBERT
from regard.progress import Progress
from regard.recipes import distill
from regard.recipes.pretrain import losses, words_in
from regard.train.small import count_parameters, learn

CLAIM = Claim(
    name="distilled",
    deck="Najdenkoska & Asano, BERTology, which names it; its paper gives 97 % of the scores of BERT, 40 % smaller and "
    "60 % faster (Sanh 2019)",
    sentence="BERTology: … DistilBERT",
    experiment="A BERT of four layers learns to guess hidden words of the world's stories. A DistilBERT of two begins "
    "with every other of its layers and learns from what it says. Both are fine-tuned on 120 labels for what "
    "each noun and pronoun names, and for which of two sentences came first; both are counted and timed.",
    control="The same student without the teacher, from fresh weights and by hidden words alone: for as many steps as "
    "the student learns, and for as many as teacher and student learn together.",
    criterion="The number is the share that the student keeps of what its teacher scores above guessing, in the mean "
    "of both tasks. Supported if its interval lies above 0.8, and if that of how much more often it is right than the "
    "untaught student of equal steps lies above zero. Refuted if the first lies below 0.8 or the second below zero. "
    "Otherwise not at this scale.",
    measures="of what the teacher scores above guessing is kept",
    seeds=3,
)

KINDS = ("teacher", "student", "untaught", "untaught, longer")
DEPTH, LABELS, DRAWS = 4, 120, 2
TEMPERATURE = 2.0


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """Size, time and score of each kind, by seed."""
    stories, steps, shorter, labels, tuning, asked = (
        (10, 2, 2, 10, 1, 5) if quick else (4000, 600, 200, LABELS, 80, 300)
    )
    lengths = dict(zip(KINDS, (steps, shorter, shorter, steps + shorter), strict=True))
    tests = {task: texts(task, asked, seed=0, split="test") for task in TASKS}
    held = next(passages(documents(asked, seed=0, split="test"), seed=0, rows=asked))
    runs, seconds = [], dict[str, list[float]]()
    for seed, inner in parts(progress, seeds):
        models: dict[str, LanguageEncoder] = {}
        for kind, part in parts(inner, KINDS):
            known = documents(stories, seed=seed)
            models[kind] = model = _train(kind, models.get("teacher"), known, lengths[kind], seed, part)
            scores = {task: _score(model, task, tests[task], labels, tuning, seed) for task in TASKS}
            words = float(losses(model, held)[1].float().mean())
            about = {"kind": kind, "seed": seed, "parameters": count_parameters(model)}
            runs.append(about | {"words": words, "scores": scores})
        seconds = rounds({kind: partial(_read, models[kind], held) for kind in KINDS[:2]}, 2 if quick else 15)
    guesses = {task: guess(tests[task]) for task in TASKS}
    return {"runs": runs, "guesses": guesses, "seconds": seconds, "lengths": lengths, "tuning": tuning}


def judge(numbers: Numbers) -> Finding:
    guessed = fmean(numbers["guesses"].values())
    scores = {kind: _values(numbers, kind, "scores") for kind in KINDS}
    kept = [(s - guessed) / (t - guessed) for t, s in zip(scores["teacher"], scores["student"], strict=True)]
    number, low, high = student(kept)
    _, least, most = gain = student([s - u for s, u in zip(scores["student"], scores["untaught"], strict=True)])
    longer = student([s - u for s, u in zip(scores["student"], scores["untaught, longer"], strict=True)])
    smaller = fmean(_values(numbers, "student", "parameters")) / fmean(_values(numbers, "teacher", "parameters"))
    faster = median(numbers["seconds"]["teacher"]) / median(numbers["seconds"]["student"])
    means = ", ".join(f"{kind} {fmean(scores[kind]):.1%}" for kind in KINDS)
    words = ", ".join(f"{kind} {fmean(_values(numbers, kind, 'words')):.0%}" for kind in KINDS)
    return Finding(
        verdict(supported=low > 0.8 and least > 0, refuted=high < 0.8 or most < 0),
        number,
        (low, high),
        f"The student has {smaller:.0%} of the weights and reads {faster:.1f} times as fast. Labels that are right in "
        f"the mean of both tasks, where {guessed:.0%} are by guessing: {means}. Having had a teacher "
        f"brings {_points(gain)} against equal steps, and {_points(longer)} against as many as both had. Hidden words "
        f"that are right: {words}.",
    )


def draw(numbers: Numbers) -> str:
    marks = []
    for kind in KINDS:
        found = [student([run["scores"][task] for run in _runs(numbers, kind)]) for task in TASKS]
        words = student(_values(numbers, kind, "words"))
        marks.append(Bars(kind, *zip(*found, words, strict=True)))
    lengths = ", ".join(f"{kind} {length}" for kind, length in numbers["lengths"].items())
    return figure(
        "A student of half the depth",
        [Panel("", "", "answers that are right", marks, (*TASKS, "hidden words"), bounds=(0, 1))],
        f"Steps of pre-training: {lengths}. Whiskers are 95 % intervals over seeds.",
    )


def _train(
    kind: str, teacher: LanguageEncoder | None, known: Documents, steps: int, seed: int, progress: Progress
) -> LanguageEncoder:
    torch.manual_seed(seed)
    batches = passages(known, seed=seed)
    if teacher is None:
        model: LanguageEncoder = encoder(depth=DEPTH)
    else:
        half = distill.halve(teacher, DEPTH // 2)
        if kind == "student":
            track(_follow(half, teacher, batches, steps), steps, progress)
            return half
        model = DistilBERT(half.config)  # with weights of its own
    track(pretrain(model, batches, ["words"], steps=steps), steps, progress)
    return model


def _follow(model: DistilBERT, teacher: LanguageEncoder, batches: Iterator[Batch], steps: int) -> Iterator[float]:
    """Learn from what the teacher says of hidden words."""

    def loss() -> Tensor:
        batch = next(batches)
        return distill.loss(model, teacher, batch, TEMPERATURE) / words_in(batch)

    return learn(model, loss, steps=steps, lr=LR, weight_decay=0.01)


def _score(model: LanguageEncoder, task: str, tests: list[Text], labels: int, steps: int, seed: int) -> float:
    some = [labelled(task, labels, seed=DRAWS * seed + i) for i in range(DRAWS)]
    return fmean(accuracy(tune(model, task, each, steps=steps, seed=seed), tests) for each in some)


@torch.no_grad()
def _read(model: LanguageEncoder, batch: Batch) -> Tensor:
    return model.read(torch.as_tensor(batch.sides[0]), lengths=torch.as_tensor(batch.lengths[0]))


def _runs(numbers: Numbers, kind: str) -> list[Numbers]:
    return [run for run in numbers["runs"] if run["kind"] == kind]


def _values(numbers: Numbers, kind: str, name: str) -> list[float | int]:
    """A number of each seed; of scores, the mean of both tasks."""
    found = [run[name] for run in _runs(numbers, kind)]
    return [fmean(each.values()) if isinstance(each, dict) else each for each in found]


def _points(interval: tuple[float, float, float]) -> str:
    mean, low, high = (100 * each for each in interval)
    return f"{mean:.1f} points ({low:.1f} to {high:.1f})"
