"""A task from a few pictures: does a Flamingo call things by new words that only its prompt explains?"""

from collections.abc import Callable
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Line, Panel, figure
from regard.claims.sights import descend
from regard.data.talked import SHOTS, Talk, told, world_talk
from regard.models import flamingo, gpt, vit
from regard.progress import Progress
from regard.recipes import ask, talk
from regard.recipes.shown import usual_processor
from regard.text import Tokenizer

CLAIM = Claim(
    name="examples",
    deck="Najdenkoska & Asano, Visual Language Model: Flamingo",
    sentence="Able to learn from only a few input/output examples i.e., in few-shot settings. It processes "
    "arbitrarily interleaved images and text as prompt; and it generates output text in an open-ended manner.",
    experiment="A small language model learns to call things that it is told of by words that only the same text "
    "explains; then, frozen, it becomes a Flamingo that is shown pictures in their place. Unseen episodes have 0 to 8 "
    "pictures with their word, two words in all, and one more picture to be called. Scored by how many of 200 are "
    "called right.",
    control="The same prompts with the pictures of the examples exchanged: every word stands beside a picture of "
    "another episode. Who calls as many right then has learnt nothing from the examples.",
    criterion="The number is what is called right after 8 true examples less that after 8 exchanged ones, seed by "
    "seed. Supported if its interval lies above 0.1, and 8 examples are better than 1 on average. Refuted if its "
    "interval lies below 0.05 although the language model, told of things in words, calls 75 % right. Otherwise not "
    "at this scale.",
    measures="more called right after true examples than after exchanged ones",
    seeds=2,
)

TRUE, SWAPPED = "true pictures", "exchanged pictures"
LANGUAGE, STEPS, TALKS = 1500, 1200, 16  # steps of either, and talks of a step
MOST, MARGIN, NONE, SPEAKS = max(SHOTS), 0.1, 0.05, 0.75
_SPOKEN = gpt.Config(64, 100, 64, 3, 4, 192, dropout=0.0, attn_dropout=0.0)
_EYE = vit.Config(32, patch=8, width=64, depth=2, heads=4, hidden=128, classes=0, stem="conv", pool="mean")


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many pictures are called right, by the number of examples and whether they are true."""
    tokenizer = Tokenizer.train(
        [told(_episode(i)) for i in range(50 if quick else 1000)], vocab=1000, kind="words", lower=True
    )
    count, runs = 4 if quick else 200, []
    for seed, whole in parts(progress, seeds):
        stages = parts(whole, ("words", "pictures"))
        _, first = next(stages)
        spoken = _speaker(tokenizer, seed, 2 if quick else LANGUAGE, first)
        _, second = next(stages)
        model = _viewer(spoken, tokenizer, seed, 2 if quick else STEPS, second)
        rates = {
            name: [_called(model, tokenizer, shots, count, name == SWAPPED) for shots in SHOTS]
            for name in (TRUE, SWAPPED)
        }
        runs.append({"seed": seed, "told": _told(spoken, tokenizer, count), **rates})
    return {"runs": runs, "shots": list(SHOTS), "steps": 2 if quick else STEPS}


def judge(numbers: Numbers) -> Finding:
    most, one = numbers["shots"].index(MOST), numbers["shots"].index(1)
    number, low, high = student([run[TRUE][most] - run[SWAPPED][most] for run in numbers["runs"]])
    few, many = (fmean(run[TRUE][at] for run in numbers["runs"]) for at in (one, most))
    swapped = fmean(run[SWAPPED][most] for run in numbers["runs"])
    words = fmean(run["told"] for run in numbers["runs"])
    return Finding(
        verdict(supported=low > MARGIN and many > few, refuted=words >= SPEAKS and high < NONE),
        number,
        (low, high),
        f"Called right after 1 example {few:.1%}, after {MOST} {many:.1%}, after {MOST} exchanged ones {swapped:.1%}; "
        f"a difference of {100 * number:+.1f} points ({100 * low:+.1f} to {100 * high:+.1f}). The language model "
        f"alone, told in words, calls {words:.1%} right.",
    )


def draw(numbers: Numbers) -> str:
    shots = numbers["shots"]
    lines = []
    for name in (TRUE, SWAPPED):
        found = [student([100 * run[name][i] for run in numbers["runs"]]) for i in range(len(shots))]
        lines.append(Line(name, shots, *zip(*found, strict=True), dashed=name == SWAPPED))
    return figure(
        "New words for pictures, learnt from examples in the prompt",
        [Panel("", "examples", "called right, %", lines, rule=(50, "one of two words"))],
        f"Unseen episodes of two new words; {numbers['steps']} steps with pictures. Whiskers are 95 % intervals over "
        "seeds.",
    )


def _episode(number: int, split: str = "train", shots: int | None = None) -> Talk:
    return world_talk(split, number, "episode", shots=shots)


def _speaker(tokenizer: Tokenizer, seed: int, steps: int, progress: Progress) -> gpt.GPT:
    """A language model that has read episodes in which words stand for pictures."""
    torch.manual_seed(seed)
    model = gpt.GPT(replace(_SPOKEN, vocab=tokenizer.vocab))
    track(
        descend(model, _of_talks(seed, lambda talks: _lose_words(model, tokenizer, talks)), steps=steps, lr=5e-3),
        steps,
        progress,
    )
    return model


def _viewer(spoken: gpt.GPT, tokenizer: Tokenizer, seed: int, steps: int, progress: Progress) -> flamingo.Flamingo:
    """A Flamingo around it, that has been shown the pictures."""
    torch.manual_seed(seed)
    model = flamingo.Flamingo(
        flamingo.Config(
            spoken.config,
            _EYE,
            frozen_tower=False,
            every=1,
            heads=4,
            hidden=128,
            latents=4,
            resampler_width=64,
            resampler_depth=1,
            resampler_heads=4,
            resampler_hidden=128,
            frames=1,
        )
    )
    model.language.load_state_dict(spoken.state_dict())

    def lose(talks: list[Talk]) -> Tensor:
        batch = _shown(model, tokenizer, talks)
        return ask.loss(model, batch) / batch.learnt[:, 1:].sum().clamp(min=1)

    track(descend(model, _of_talks(seed, lose), steps=steps, lr=3e-3), steps, progress)
    return model


def _of_talks(seed: int, lose: Callable[[list[Talk]], Tensor]) -> Callable[[int], Tensor]:
    """The loss of a step, which has episodes of its own."""
    return lambda step: lose([_episode((seed << 24) + TALKS * step + i) for i in range(TALKS)])


def _lose_words(model: gpt.GPT, tokenizer: Tokenizer, talks: list[Talk]) -> Tensor:
    batch = talk.collate(talks, tokenizer, model.config.context)
    return talk.loss(model, batch) / batch.learnt[:, 1:].sum().clamp(min=1)


def _shown(model: flamingo.Flamingo, tokenizer: Tokenizer, talks: list[Talk]) -> ask.Talked:
    rows, context = np.arange(len(talks)), model.config.language.context
    return ask.collate(talks, tokenizer, usual_processor(_EYE.size), context, rows)


@torch.no_grad()
def _called(model: flamingo.Flamingo, tokenizer: Tokenizer, shots: int, count: int, swapped: bool) -> float:
    """How many unseen pictures are called by their word, after so many examples."""
    talks = [_episode(i, "test", shots) for i in range(count)]
    if swapped:
        talks = [_exchange(one, other) for one, other in zip(talks, talks[1:] + talks[:1], strict=True)]
    hits = list[bool]()
    for start in range(0, count, TALKS):
        # The word that is asked for counts, whether or not the examples tell it.
        batch: Any = _shown(model, tokenizer, [_asking(each) for each in talks[start : start + TALKS]])
        hits += ask.right_answers(model, batch, last=True)
    return fmean(hits)


def _asking(one: Talk) -> Talk:
    return one._replace(pieces=(*one.pieces[:-1], one.pieces[-1]._replace(learnt=True)))


def _exchange(one: Talk, other: Talk) -> Talk:
    """The same words beside the pictures of another episode; what is asked for stays."""
    pairs = zip(one.pieces[:-1], other.pieces[:-1], strict=True)
    return one._replace(pieces=(*(own._replace(scene=strange.scene) for own, strange in pairs), one.pieces[-1]))


@torch.no_grad()
def _told(model: gpt.GPT, tokenizer: Tokenizer, count: int) -> float:
    """How many things are called right where words stand for pictures."""
    batch = talk.collate([_asking(_episode(i, "test", MOST)) for i in range(count)], tokenizer, model.config.context)
    return fmean(ask.answers_of(model(batch.ids[:, :-1]), batch.ids, batch.learnt, last=True))
