"""Shots: what a language model does with a task that it is only shown, by no example, one, or a few (Brown 2020).

A task is a small file, JSON or TOML::

    {
      "instruction": "Is the review positive or negative?",
      "format": "Review: {text}\\nVerdict: {answer}",
      "choices": ["positive", "negative"],
      "examples": [{"text": "What a film.", "answer": "positive"}, …],
      "tests": [{"text": "I slept.", "answer": "negative"}, …]
    }

score_shots(regard.load("captions"), read_task("reviews.json"), [0, 1, 4])
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from regard.analysis.scores import Score, accuracy
from regard.chance import Chance
from regard.decode.batching import by_length
from regard.decode.forcing import evaluating
from regard.decode.prompt import weigh_choices
from regard.decode.wishes import Wishes
from regard.pipelines.generate import Generate
from regard.pipelines.pipeline import Evaluation
from regard.pipelines.task import Item, Task, read_task, world_task
from regard.progress import Progress

__all__ = ["Item", "Task", "read_task", "score_shots", "split_choices", "world_task"]


def score_shots(
    generate: Generate,
    task: Task,
    shots: Sequence[int],
    *,
    normalise: bool = False,
    free: bool = False,
    max_new_tokens: int = 16,
    seed: int = 0,
    limit: int = 0,
    batch: int = 8,
    progress: Progress | None = None,
) -> Evaluation:
    """The accuracy on a task after so many examples, and after the same examples with shuffled labels.

    Where a test has choices, the likeliest of them is the answer, with `normalise` by its log probability for each
    byte; else, or where the model is `free`, it is what the model writes, which must be the answer letter by letter.
    Each test has examples of its own, drawn by chance; those of few shots are among those of more.
    """
    tests = task.tests[: limit or None]
    _check(task, shots, free)
    wrong = replace(task, examples=shuffle_labels(task.examples, seed))
    began, named, outputs = time.perf_counter(), dict[str, Score](), list[str]()
    if not free and all(test.choices for test in tests):
        named["chance"] = Score(100 * sum(1 / len(test.choices) for test in tests) / len(tests))
    runs = [(count, shown, part) for count in shots for shown, part in ((task, ""), (wrong, "/shuffled labels"))]
    runs = [run for run in runs if run[0] or not run[2]]  # without examples, there are no labels to shuffle
    for number, (count, shown, part) in enumerate(runs, start=1):
        prompts = [shown.prompt(_draw(shown, test, i, count, seed), test) for i, test in enumerate(tests)]
        said = _answer(generate, shown, tests, prompts, count, normalise, free, max_new_tokens, batch)
        hits = [answer == test.answer for answer, test in zip(said, tests, strict=True)]
        named[f"{count} shots{part}"] = accuracy(hits)
        outputs = said if not part else outputs
        if progress is not None:
            progress(number / len(runs))
    how = "free" if free else "choices by byte" if normalise else "choices"
    seconds = time.perf_counter() - began
    return Evaluation(
        generate.name, task.name, "tests", len(tests), seconds, named, {"answers": how, "seed": seed}, outputs
    )


def shuffle_labels(examples: Sequence[Item], seed: int = 0) -> tuple[Item, ...]:
    """The same examples with the answers of others; with one of its own choices by chance, where these differ."""
    chance = Chance(seed, "shuffled labels")
    if len({example.choices for example in examples}) > 1:
        return tuple(replace(each, answer=chance.choose(each.choices or (each.answer,))) for each in examples)
    order = chance.sample(range(len(examples)), len(examples))
    after = dict(zip(order, (*order[1:], *order[:1]), strict=True))
    return tuple(replace(each, answer=examples[after[i]].answer) for i, each in enumerate(examples))


def _check(task: Task, shots: Sequence[int], free: bool) -> None:
    if not shots or min(shots) < 0:
        raise ValueError(f"{list(shots)} says no number of examples; give 0 or more, such as 0 1 4")
    # A test that is among the examples is not shown to itself.
    least = min(sum(example.fields != test.fields for example in task.examples) for test in task.tests)
    if max(shots) > least:
        raise ValueError(f"{task.name} has {least} examples for each test, and not {max(shots)}; ask for fewer shots")
    if not free and any(test.choices for test in task.tests) and not all(test.choices for test in task.tests):
        raise ValueError(f"some tests of {task.name} have choices and some have none; give all of them, or none")


def _draw(task: Task, test: Item, index: int, count: int, seed: int) -> list[Item]:
    """The examples that a test is shown; the first of many are those of few."""
    pool = [example for example in task.examples if example.fields != test.fields]
    return Chance(seed, "shots", index).sample(pool, len(pool))[:count]


def _answer(
    generate: Generate,
    task: Task,
    tests: Sequence[Item],
    prompts: Sequence[str],
    count: int,
    normalise: bool,
    free: bool,
    max_new_tokens: int,
    batch: int,
) -> list[str]:
    """What the model answers to each test."""
    try:
        if free or not tests[0].choices:
            wishes = Wishes(max_new_tokens=max_new_tokens, stop=task.ends)
            ids = generate.prompts.encode([prompt.rstrip(" ") for prompt in prompts])
            return [each.text.strip() for each in generate.writer.write(ids, wishes, batch=batch)]
        return _choose(generate, tests, prompts, normalise, batch)
    except ValueError as error:
        if hasattr(error, "tokens"):
            raise ValueError(
                f"{count} shots of {task.name} take {error.tokens} tokens, and {generate.name} reads {generate.limit}; "
                f"ask for fewer shots"
            ) from None
        raise


def split_choices(generate: Generate, prompt: str, choices: Sequence[str]) -> tuple[list[int], list[list[int]]]:
    """The ids of a prompt, and those of each choice behind it."""
    alone, *whole = generate.prompts.encode([prompt, *(prompt + choice for choice in choices)])
    # A choice may be written with the end of its prompt in one piece: what all have in common is the prompt.
    same = next((i for i, column in enumerate(zip(alone, *whole, strict=False)) if len(set(column)) > 1), None)
    same = min(map(len, (alone, *whole))) if same is None else same
    same = min(same, min(map(len, whole)) - 1)
    return alone[:same] or generate.prompts.encode([""])[0], [ids[same:] for ids in whole]


def _choose(
    generate: Generate, tests: Sequence[Item], prompts: Sequence[str], normalise: bool, batch: int
) -> list[str]:
    """The likeliest choice of each test."""
    read: list[list[int]] = []
    rest: list[list[list[int]]] = []
    for test, prompt in zip(tests, prompts, strict=True):
        before, behind = split_choices(generate, prompt, test.choices)
        read.append(before)
        rest.append(behind)
    said: dict[int, str] = {}
    with evaluating(generate.model):
        for group in by_length([len(ids) for ids in read], rows=batch):
            found = weigh_choices(
                generate.model, [read[i] for i in group], [rest[i] for i in group], pad=generate.prompts.pad
            )
            for i, some in zip(group, found, strict=True):
                choices = tests[i].choices
                sizes = [len(choice.encode()) if normalise else 1 for choice in choices]
                weights = [float(each.sum()) / size for each, size in zip(some, sizes, strict=True)]
                said[i] = choices[max(range(len(choices)), key=weights.__getitem__)]
    return [said[i] for i in range(len(tests))]
