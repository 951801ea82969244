"""More examples in the prompt, more right answers, and no weight is changed: small GPTs that are shown a task."""

from itertools import product
from random import Random
from statistics import fmean
from typing import NamedTuple

import torch
from torch import Tensor

from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Line, Panel, figure
from regard.claims.translation import Lexicon
from regard.claims.writing import encode, gpt, train
from regard.models.gpt import GPT
from regard.progress import Progress
from regard.train.small import count_parameters
from regard.world.scene import COLOURS, KINDS

CLAIM = Claim(
    name="shots",
    deck="Najdenkoska & Asano, GPT: In-context learning",
    sentence="In addition to the task description, the model sees a few examples of the task. No gradient updates are "
    "performed.",
    experiment="GPTs of three sizes learn the next word of texts in which things of the world are named and something "
    "is said of each: “big striped red star red small plain blue ring blue”. Each text has a task of its own, to say "
    "the size, the pattern, the colour or the kind, and three answers in ten follow another one, so that an example "
    "can mislead. Asked after 0 to 8 examples, a GPT answers with the likeliest word of the thing; the things of the "
    "test were never named in training.",
    control="The same prompts with labels shuffled: each example is answered by a task drawn by chance. If examples "
    "helped by their form alone, these would help as much. A reader who counts the answers shows what can be known.",
    criterion="The number is how much more often the largest GPT is right after 8 examples than after one, seed by "
    "seed. Supported if its interval lies above 0.05 and with shuffled labels less than half as much is gained over "
    "no example. Refuted if the interval lies below 0.02, or shuffled labels help at least as much as true ones. "
    "Otherwise not at this scale.",
    measures="more answers are right after eight examples than after one",
    seeds=5,
)

PARTS = (("big", "small"), ("striped", "dotted", "plain"), COLOURS, KINDS)
LEXICON = Lexicon(*PARTS)
SIZES = {"tiny": (8, 1), "small": (16, 1), "larger": (32, 2)}  # width and depth
LABELS = ("true labels", "shuffled labels")
SHOTS = (0, 1, 2, 4, 8)
MISLED = 0.3


class Prompt(NamedTuple):
    """Things with answers, and the answers that its task would have given."""

    things: list[tuple[str, ...]]
    answers: list[str]
    right: list[str]

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word for thing, answer in zip(self.things, self.answers, strict=True) for word in (*thing, answer))


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How often each GPT is right, by labels, shots and seed; and how often one could be who counts."""
    texts, asked, steps = (40, 20, 2) if quick else (10_000, 1000, 700)
    ideal = [[_counted(_tests(seed, asked, shuffled=False), shots) for shots in SHOTS] for seed in seeds]
    runs = []
    for (seed, size), inner in parts(progress, list(product(seeds, SIZES))):
        chance = Random(seed)
        rows = encode([_prompt(chance, held=False, misled=MISLED).words for _ in range(texts)], LEXICON)
        torch.manual_seed(seed)
        width, depth = SIZES[size]
        model = gpt(len(LEXICON), width=width, depth=depth, context=len(rows[0]))
        track(train(model, rows, batch=32, steps=steps, lr=3e-3, seed=seed), steps, inner)
        for labels in LABELS:
            right = _right(model, _tests(seed, asked, shuffled=labels == LABELS[1]))
            run = {"size": size, "labels": labels, "seed": seed, "right": right}
            runs.append(run | {"parameters": count_parameters(model)})
    return {"runs": runs, "ideal": ideal, "shots": SHOTS, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    true, shuffled = ([run["right"] for run in _runs(numbers, "larger", labels)] for labels in LABELS)
    number, low, high = student([each[-1] - each[1] for each in true])
    gains = [fmean(each[-1] - each[0] for each in some) for some in (true, shuffled)]
    means = []
    for size in SIZES:
        rights = [run["right"] for run in _runs(numbers, size, LABELS[0])]
        means.append(f"{size} " + ", ".join(f"{fmean(each):.0%}" for each in zip(*rights, strict=True)))
    ideal = ", ".join(f"{fmean(each):.0%}" for each in zip(*numbers["ideal"], strict=True))
    return Finding(
        verdict(supported=low > 0.05 and gains[1] < gains[0] / 2, refuted=high < 0.02 or gains[1] >= gains[0]),
        number,
        (low, high),
        f"Right after {', '.join(map(str, numbers['shots']))} examples: {'; '.join(means)}; by counting {ideal}. From "
        f"none to {numbers['shots'][-1]}, the largest gains {100 * gains[0]:+.0f} points, and {100 * gains[1]:+.0f} "
        "with shuffled labels.",
    )


def draw(numbers: Numbers) -> str:
    lines = []
    for size, labels in [*((size, LABELS[0]) for size in SIZES), ("larger", LABELS[1])]:
        runs = _runs(numbers, size, labels)
        values = zip(*(student(each) for each in zip(*(run["right"] for run in runs), strict=True)), strict=True)
        label = f"{runs[0]['parameters']:,}{' weights' if labels == LABELS[0] else ', labels shuffled'}"
        lines.append(Line(label, numbers["shots"], *values, dashed=labels == LABELS[1]))
    counted = [fmean(each) for each in zip(*numbers["ideal"], strict=True)]
    lines.append(Line("by counting", numbers["shots"], counted, dashed=True))
    return figure(
        "Examples in the prompt, and no gradient",
        [Panel("", "examples", "answers that are right", lines, bounds=(0, 1))],
        f"GPTs after {numbers['steps']} steps; guessing is right in one of four; bands are 95 % intervals over seeds.",
    )


def _prompt(chance: Random, *, held: bool, misled: float) -> Prompt:
    """A thing for the test has a colour and a kind that never meet in training."""
    task, prompt = chance.randrange(len(PARTS)), Prompt([], [], [])
    while len(prompt.things) < SHOTS[-1] + 1:
        thing = tuple(chance.choice(part) for part in PARTS)
        if ((COLOURS.index(thing[2]) + KINDS.index(thing[3])) % 5 == 0) != held:
            continue
        other = (task + 1 + chance.randrange(len(PARTS) - 1)) % len(PARTS)
        prompt.things.append(thing)
        prompt.answers.append(thing[other if chance.random() < misled else task])
        prompt.right.append(thing[task])
    return prompt


def _tests(seed: int, count: int, *, shuffled: bool) -> list[Prompt]:
    """The same things and tasks with labels of either kind; misled at 3/4, four tasks are alike."""
    chance = Random(1_000_000 + seed)
    return [_prompt(chance, held=True, misled=0.75 if shuffled else MISLED) for _ in range(count)]


@torch.no_grad()
def _right(model: GPT, prompts: list[Prompt]) -> list[float]:
    """How often the likeliest word of a thing is the right one, by shots."""
    logits = model(torch.tensor(encode([prompt.words for prompt in prompts], LEXICON))[:, :-1])
    found = []
    for shots in SHOTS:
        choices = torch.tensor([LEXICON.encode(prompt.things[shots]) for prompt in prompts])
        # Behind the start stand five words a shot, and then the four of the thing that is asked about.
        said: Tensor = logits[:, 5 * shots + 4].gather(1, choices).argmax(-1)
        answers = [prompt.things[shots][i] for prompt, i in zip(prompts, said.tolist(), strict=True)]
        found.append(fmean(answer == prompt.right[shots] for answer, prompt in zip(answers, prompts, strict=True)))
    return found


def _counted(prompts: list[Prompt], shots: int) -> float:
    """How often the task of most answers so far is the right one; of several, one by chance."""
    total = 0.0
    for prompt in prompts:
        shown = list(zip(prompt.things[:shots], prompt.answers[:shots], strict=True))
        counts = [sum(thing[i] == answer for thing, answer in shown) for i in range(len(PARTS))]
        best = [i for i, count in enumerate(counts) if count == max(counts)]
        total += sum(prompt.things[shots][i] == prompt.right[shots] for i in best) / len(best)
    return total / len(prompts)


def _runs(numbers: Numbers, size: str, labels: str) -> list[Numbers]:
    return [run for run in numbers["runs"] if (run["size"], run["labels"]) == (size, labels)]
