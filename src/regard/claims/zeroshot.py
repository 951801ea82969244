"""Tasks that nobody taught: a small GPT that only learnt to go on with texts answers by what it finds likelier."""

from collections import Counter
from itertools import islice
from math import log
from statistics import fmean

import torch

from regard.claims.choices import CHOICES, Choice
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.translation import Lexicon
from regard.claims.writing import Text, encode, gpt, log_probs, train
from regard.models.gpt import GPT
from regard.progress import Progress
from regard.world.language import reports, sentences, stories

CLAIM = Claim(
    name="zeroshot",
    deck="Najdenkoska & Asano, GPT-{1, 2, 3}",
    sentence="Proves that language modeling serves as an effective pre-training objective which helps the model to "
    "generalize well … A significant achievement is its ability to carry out zero-shot performance on various tasks",
    experiment="A small GPT learns the next word of the world's English sentences, stories and reports, without any "
    "label. Then it is asked four things by the choice between two texts, of which it takes the likelier a word: which "
    "verb agrees with its subject, which pronoun a story goes on with, which sentence comes next, and whether a report "
    "was good or bad, by whether “, but the film was” goes on with a bad word or a good one. Test texts are held out.",
    control="The same GPT before it learnt anything, and the choice by the frequency of words alone.",
    criterion="The number is how much more often the GPT is right than the better of the two controls, the mean of "
    "four tasks, seed by seed. Supported if its interval lies above 0.1 and in each task the GPT is right more often "
    "than either control. Refuted if the interval lies below 0.02. Otherwise not at this scale.",
    measures="more answers are right than by frequency or untrained",
    seeds=3,
)

TASKS = tuple(CHOICES)
WAYS = ("GPT", "untrained", "frequency")


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How often each way is right, by task and seed."""
    count, asked, steps = (30, 6, 2) if quick else (4000, 300, 800)
    tests = {task: list(islice(CHOICES[task](), asked)) for task in TASKS}
    runs = []
    for seed, inner in parts(progress, seeds):
        texts = _texts(seed, count)
        said = [part for some in tests.values() for choice in some for part in choice]
        lexicon = Lexicon(*texts, *said)
        rows = encode(texts, lexicon)
        torch.manual_seed(seed)
        model = gpt(len(lexicon), width=64, depth=2, context=64)
        untrained = {task: _likelier(model, some, lexicon) for task, some in tests.items()}
        track(train(model, rows, batch=32, steps=steps, lr=3e-3, seed=seed), steps, inner)
        trained = {task: _likelier(model, some, lexicon) for task, some in tests.items()}
        counts = Counter(word for text in texts for word in text)
        frequent = {task: _more_frequent(counts, some) for task, some in tests.items()}
        runs.append({"seed": seed} | dict(zip(WAYS, (trained, untrained, frequent), strict=True)))
    return {"runs": runs, "asked": asked, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    runs = numbers["runs"]
    number, low, high = student([fmean(run["GPT"][task] - _control(run, task) for task in TASKS) for run in runs])
    means = {task: [fmean(run[way][task] for run in runs) for way in WAYS] for task in TASKS}
    every = all(trained > max(controls) for trained, *controls in means.values())
    said = "; ".join(
        f"{task} {', '.join(f'{way} {mean:.0%}' for way, mean in zip(WAYS, some, strict=True))}"
        for task, some in means.items()
    )
    return Finding(
        verdict(supported=low > 0.1 and every, refuted=high < 0.02), number, (low, high), f"Right answers: {said}."
    )


def draw(numbers: Numbers) -> str:
    marks = []
    for way in WAYS:
        values = zip(*(student([run[way][task] for run in numbers["runs"]]) for task in TASKS), strict=True)
        marks.append(Bars(way, *values))
    return figure(
        "Tasks that nobody taught",
        [Panel("", "", "answers that are right", marks, TASKS, bounds=(0, 1))],
        f"A GPT after {numbers['steps']} steps of next words, {numbers['asked']} choices of two a task; whiskers are "
        "95 % intervals over seeds.",
    )


def _texts(seed: int, count: int) -> list[Text]:
    """What is read: equally many sentences, stories and reports."""
    said = [one.words for one in sentences("en", seed=seed)[:count]]
    told = [tuple(word for sentence in one.sentences for word in sentence) for one in stories(seed=seed)[:count]]
    return said + told + [one.words for one in reports(seed=seed)[:count]]


def _likelier(model: GPT, choices: list[Choice], lexicon: Lexicon) -> float:
    """How often the right way to go on is the likelier one, a word."""
    weights = []
    for text in ("right", "wrong"):
        rows = encode([choice.begin + getattr(choice, text) for choice in choices], lexicon)
        gained = log_probs(model, rows)
        weights.append([fmean(row[len(choice.begin) :]) for row, choice in zip(gained, choices, strict=True)])
    return fmean(right > wrong for right, wrong in zip(*weights, strict=True))


def _more_frequent(counts: Counter[str], choices: list[Choice]) -> float:
    """How often the right way to go on has the more frequent words; alike is half."""
    gaps = [
        fmean(log(1 + counts[word]) for word in choice.right) - fmean(log(1 + counts[word]) for word in choice.wrong)
        for choice in choices
    ]
    return fmean(0.5 if gap == 0 else float(gap > 0) for gap in gaps)


def _control(run: Numbers, task: str) -> float:
    return max(float(run[way][task]) for way in WAYS[1:])
