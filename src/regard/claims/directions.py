"""Both directions or one: two encoders say what an English article would be in Italian, before and at its noun."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from random import Random
from statistics import fmean
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import packed
from regard.chance import Chance
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.understanding import (
    FIRST,
    LR,
    MASK,
    NONE,
    SPECIALS,
    START,
    TUNING_LR,
    encoder,
    lexicon,
    with_head,
)
from regard.data import mask_words
from regard.progress import Progress
from regard.train.small import learn
from regard.world.language import pairs, sentences

CLAIM = Claim(
    name="directions",
    deck="Najdenkoska & Asano, GPT vs BERT; also BERT",
    sentence="In losing auto-regression, BERT gained the ability to incorporate the context on both sides of a word.",
    experiment="Two encoders of equal size and steps read the world's English sentences. One looks both ways and "
    "learns to guess hidden words, the other sees the past alone and learns to guess each next word. Both are then "
    "fine-tuned to say, at each article, which of eleven forms it has in Italian (il, la, un …): the noun that "
    "follows decides.",
    control="The same form is asked for at the noun as well. There everything that decides has been read, so that one "
    "direction is enough.",
    criterion="The number is how much more often both directions are right at articles, seed by seed. Supported if its "
    "interval lies above zero, and so does that of how much more is gained at articles than at nouns. Refuted if the "
    "number's interval lies below zero. Otherwise not at this scale.",
    measures="more articles are right with both directions than with one",
    seeds=3,
)

KINDS = ("both directions", "from left to right")
PLACES = ("at the article", "at its noun")
FORMS = ("il", "lo", "la", "l'", "i", "gli", "le", "un", "uno", "una", "un'")
ENGLISH = ("the", "a", "an")
LENGTH, ROWS = (6, 8), 32


Row = tuple[list[int], list[int]]  # the ids of a sentence, and what is asked at each of them


class Articles(NamedTuple):
    """The ids of a sentence, and the forms of its articles: asked for at the articles, and at their nouns."""

    ids: list[int]
    labels: tuple[list[int], list[int]]

    @property
    def row(self) -> Row:
        """With the labels of both places."""
        return self.ids, [max(two) for two in zip(*self.labels, strict=True)]


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How often the form is right, by directions, seed and place."""
    count, labelled, steps, tuning, asked = (30, 8, 3, 2, 20) if quick else (6000, 300, 800, 150, 400)
    tests, runs = _articles(0, asked, "test"), []
    for (seed, kind), inner in parts(progress, list(product(seeds, KINDS))):
        known, chance = _articles(seed, count), Chance(seed, "hidden", 0)
        torch.manual_seed(seed)
        model = encoder()
        ask = partial(_hide, chance=chance) if kind == KINDS[0] else _next
        loss = _loss(model, kind, [each.row for each in known], ask, seed)
        track(learn(model, loss, steps=steps, lr=LR, weight_decay=0.01), steps, inner)
        # Labelled sentences are none of those that were read before, whose seeds are small.
        tuned, rows = with_head(model, "tokens", len(FORMS)), [each.row for each in _articles(1000 + seed, labelled)]
        for _ in learn(
            tuned, _loss(tuned, kind, rows, lambda row: row, seed), steps=tuning, lr=TUNING_LR, weight_decay=0.01
        ):
            pass
        right = {
            place: _accuracy(tuned, kind, [(one.ids, one.labels[i]) for one in tests]) for i, place in enumerate(PLACES)
        }
        runs.append({"kind": kind, "seed": seed, "accuracy": right})
    return {"runs": runs, "steps": steps, "tuning": tuning, "labelled": labelled}


def judge(numbers: Numbers) -> Finding:
    gains = [_gains(numbers, place) for place in PLACES]
    number, low, high = student(gains[0])
    more = student([article - noun for article, noun in zip(*gains, strict=True)])
    means = "; ".join(
        f"{place}, {' and '.join(f'{fmean(_accuracies(numbers, kind, place)):.1%} {kind}' for kind in KINDS)}"
        for place in PLACES
    )
    return Finding(
        verdict(supported=low > 0 and more[1] > 0, refuted=high < 0),
        number,
        (low, high),
        f"Forms that are right {means}. Both directions gain {_points(student(gains[0]))} at articles and "
        f"{_points(student(gains[1]))} at nouns.",
    )


def draw(numbers: Numbers) -> str:
    marks = []
    for kind in KINDS:
        values = zip(*(student(_accuracies(numbers, kind, place)) for place in PLACES), strict=True)
        marks.append(Bars(kind, *values))
    return figure(
        "Which article would it be in Italian?",
        [Panel("", "", "forms that are right", marks, [f"asked {place}" for place in PLACES], bounds=(0, 1))],
        f"{numbers['steps']} steps of pre-training, {numbers['tuning']} of fine-tuning on {numbers['labelled']} "
        "sentences. Whiskers are 95 % intervals over seeds.",
    )


def _articles(seed: int, count: int, split: str = "train") -> list[Articles]:
    """English sentences, and the Italian forms of their articles; those that melted with a preposition are left out."""
    ids, found = lexicon(), []
    both = pairs("en", "it", seed=seed, split=split, length=LENGTH)[:count]
    for pair, spoken in zip(both, sentences("en", seed=seed, split=split, length=LENGTH)[:count], strict=True):
        places = [[NONE] * (len(pair.source) + 1) for _ in PLACES]
        for here, there in pair.alignment:
            if pair.source[here] in ENGLISH and pair.target[there] in FORMS:
                noun = next(i for i in range(here, len(spoken.tags)) if spoken.tags[i].startswith("NN"))
                places[0][1 + here] = places[1][1 + noun] = FORMS.index(pair.target[there])
        found.append(Articles([START, *(ids[word] for word in pair.source)], (places[0], places[1])))
    return found


def _hide(row: Row, chance: Chance) -> Row:
    """Some words are hidden and asked for."""
    return mask_words(row[0], FIRST + len(lexicon()), MASK, 0.15, SPECIALS, chance)


def _next(row: Row) -> Row:
    """At each word, the next one is asked for."""
    return row[0], [*row[0][1:], NONE]


def _loss(
    model: nn.Module, kind: str, rows: Sequence[Row], ask: Callable[[Row], Row], seed: int
) -> Callable[[], Tensor]:
    chance = Random(seed)
    return lambda: F.cross_entropy(*_answer(model, kind, [ask(row) for row in chance.choices(rows, k=ROWS)]))


def _answer(model: nn.Module, kind: str, rows: Sequence[Row]) -> tuple[Tensor, Tensor]:
    """What the model says where something is asked, and what is right there."""
    rows = sorted(rows, key=lambda row: len(row[0]))  # texts of equal length are read at once
    ids, wanted = (torch.tensor([each for row in rows for each in row[side]])[None] for side in (0, 1))
    seen, asked = packed([len(row[0]) for row in rows], causal=kind == KINDS[1]), wanted != NONE
    return model(ids, visible=seen, masked=asked).logits, wanted[asked]


@torch.no_grad()
def _accuracy(model: nn.Module, kind: str, rows: Sequence[Row]) -> float:
    logits, right = _answer(model, kind, rows)
    return float((logits.argmax(-1) == right).float().mean())


def _accuracies(numbers: Numbers, kind: str, place: str) -> list[float]:
    return [run["accuracy"][place] for run in numbers["runs"] if run["kind"] == kind]


def _gains(numbers: Numbers, place: str) -> list[float]:
    """Of both directions above one, seed by seed: both met the same sentences."""
    return [both - one for both, one in zip(*(_accuracies(numbers, kind, place) for kind in KINDS), strict=True)]


def _points(interval: tuple[float, float, float]) -> str:
    mean, low, high = (100 * each for each in interval)
    return f"{mean:.1f} points ({low:.1f} to {high:.1f})"
