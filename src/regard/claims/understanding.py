"""Small BERTs that read the little world's stories, for the claims: texts, tasks, pre-training and fine-tuning."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.chance import Chance
from regard.data import Batch, Documents, divide_span, mask_words, put_side_by_side
from regard.layers.heads import Head
from regard.layers.language import LanguageEncoder
from regard.models.bert import BERT, Config
from regard.train.small import learn
from regard.world.language import Story, stories, vocabulary
from regard.world.language.concepts import NOUNS
from regard.world.language.lexicon import english

PAD, START, STOP, MASK, FIRST = range(5)  # FIRST is the first word's
SPECIALS = frozenset(range(FIRST))
NONE = -100  # where nothing is asked
LR, TUNING_LR = 3e-3, 1e-3  # of pre-training and fine-tuning
LIMIT, ROWS = 64, 16  # tokens of two passages together, and texts of a batch
OBJECTIVES = ("words", "next")  # hidden words, and whether the second passage follows the first
TASKS = ("what a word names", "which came first")  # one of a text, and one of a pair of them
KINDS = ("person", "animal", "food", "thing", "text", "place")  # that words of stories name


class Text(NamedTuple):
    """One text or two as ids, and what is asked: the class of the whole, or one for each token."""

    ids: list[int]
    segments: list[int]
    labels: list[int]


@lru_cache(1)
def lexicon() -> dict[str, int]:
    """An id for each English word."""
    return {word: FIRST + i for i, word in enumerate(sorted(vocabulary("en")))}


def encoder(*, width: int = 64, depth: int = 2) -> BERT:
    """A BERT with fresh weights. It has no dropout: trainings of a minute are too short to learn by heart."""
    vocab = FIRST + len(lexicon())
    return BERT(Config(vocab=vocab, width=width, depth=depth, heads=4, hidden=2 * width, context=LIMIT, dropout=0.0))


def documents(count: int, *, seed: int, split: str = "train") -> Documents:
    """Stories as they are, without labels."""
    told = stories(seed=seed, split=split)[:count]
    return Documents.of([[_ids(sentence) for sentence in story.sentences] for story in told])


def passages(known: Documents, *, seed: int, rows: int = ROWS) -> Iterator[Batch]:
    """Batches without end, as BERT is pre-trained on: two passages, of which the second may come from elsewhere.

    Their sides are ids with hidden words, segments, the hidden words, and 1 where the second does not follow.
    """
    chance, spans, vocab = Chance(seed, "passages", 0), known.spans(LIMIT - 3), FIRST + len(lexicon())
    while True:
        made = []
        for row in [chance.below(len(spans)) for _ in range(rows)]:
            before, after, other = divide_span(known, spans, row, LIMIT - 3, "next", chance)
            ids, segments = _join(before, after)
            shown, wanted = mask_words(ids, vocab, MASK, 0.15, SPECIALS, chance)
            made.append((shown, segments, wanted, [other]))
        columns = zip(zip(*made, strict=True), (PAD, 0, NONE, 0), strict=True)
        sides, lengths = zip(*(put_side_by_side(column, pad) for column, pad in columns), strict=True)
        yield Batch(np.arange(rows), sides, lengths)


def pretrain(
    model: nn.Module, batches: Iterator[Batch], objectives: Sequence[str], *, steps: int, lr: float = LR
) -> Iterator[float]:
    """Learn by one objective of BERT's or by both; without hidden words, all words are shown."""

    def loss() -> Tensor:
        batch = next(batches)
        ids, segments, wanted, other = map(torch.as_tensor, batch.sides)
        hidden = wanted >= 0
        shown = ids if "words" in objectives else ids.where(~hidden, wanted)
        said = model(shown, segments=segments, lengths=torch.as_tensor(batch.lengths[0]), masked=hidden)
        losses = {"words": (said.logits, wanted[hidden]), "next": (said.next_sentence, other[:, 0])}
        return torch.stack([F.cross_entropy(*losses[name]) for name in objectives]).sum()

    return learn(model, loss, steps=steps, lr=lr, weight_decay=0.01)


def with_head(model: Any, head: Head, classes: int) -> LanguageEncoder:
    """An encoder of the same kind with another head; all that both have is carried over."""
    fresh: LanguageEncoder = type(model)(replace(model.config, head=head, classes=classes))
    known = fresh.state_dict()
    fresh.load_state_dict(known | {name: value for name, value in model.state_dict().items() if name in known})
    return fresh


def texts(task: str, count: int, *, seed: int, split: str = "train") -> list[Text]:
    """Stories with what each word names, or two sentences of each in their order or not."""
    told = list(stories(seed=seed, split=split)[:count])
    if task == TASKS[0]:
        return [_kinds(story) for story in told]
    return [_order(story, Chance(seed, f"order {split}", i)) for i, story in enumerate(told)]


def labelled(task: str, labels: int, *, seed: int) -> list[Text]:
    """Stories with about so many labels: ten words of a story name something, and two sentences are one pair.

    They are none of those that a model of this seed, which are small, has read before.
    """
    return texts(task, labels // 10 if task == TASKS[0] else labels, seed=1000 + seed)


def tune(
    model: nn.Module, task: str, learnt: Sequence[Text], *, steps: int, seed: int, lr: float = TUNING_LR
) -> LanguageEncoder:
    """A copy of a pre-trained model with one new layer, of which all weights learn."""
    torch.manual_seed(seed)
    tuned = with_head(model, "tokens", len(KINDS)) if task == TASKS[0] else with_head(model, "classify", 2)
    draw = torch.Generator().manual_seed(seed)

    def loss() -> Tensor:
        chosen = torch.randint(len(learnt), (ROWS,), generator=draw).tolist()
        return F.cross_entropy(*_ask(tuned, [learnt[i] for i in chosen]), ignore_index=NONE)

    for _ in learn(tuned, loss, steps=steps, lr=lr, weight_decay=0.01):
        pass
    return tuned


@torch.no_grad()
def accuracy(model: nn.Module, asked: Sequence[Text]) -> float:
    """How many of the labels are named."""
    right = total = 0
    for start in range(0, len(asked), 64):
        logits, labels = _ask(model, asked[start : start + 64])
        right += int((logits.argmax(-1) == labels).sum())
        total += int((labels != NONE).sum())
    return right / total


def guess(asked: Sequence[Text]) -> float:
    """How many of the labels are the most frequent one."""
    counts = Counter(label for text in asked for label in text.labels if label != NONE)
    return max(counts.values()) / counts.total()


def _ask(model: nn.Module, some: Sequence[Text]) -> tuple[Tensor, Tensor]:
    """What a model says about each label that could be asked for, and the labels."""
    (ids, lengths), (segments, _), (labels, _) = (
        map(torch.as_tensor, put_side_by_side(side, pad))
        for side, pad in zip(zip(*some, strict=True), (PAD, 0, NONE), strict=True)
    )
    said = model(ids, segments=segments, lengths=lengths)
    return said.logits.flatten(0, -2), labels.flatten()


def _ids(words: Sequence[str]) -> list[int]:
    return [lexicon()[word] for word in words]


def _join(first: Sequence[int], second: Sequence[int] = ()) -> tuple[list[int], list[int]]:
    ids = [START, *first, STOP, *second, *([STOP] if second else [])]
    return ids, [0] * (len(first) + 2) + [1] * (len(ids) - len(first) - 2)


@lru_cache(1)
def _kind_of() -> dict[str, int]:
    """What the forms of each noun name."""
    groups = {**{kind: kind for kind in KINDS}, "name": "person"}
    return {
        form: KINDS.index(kind)
        for group, kind in groups.items()
        for noun in NOUNS[group]
        for form in english.NOUNS.get(noun, (noun,))
    }


def _kinds(story: Story) -> Text:
    """What each noun names, and each pronoun by its antecedent."""
    known, words, labels = dict(story.antecedents), list[str](), list[int]()
    for i, sentence in enumerate(story.sentences):
        for j, word in enumerate(sentence):
            number, place = known.get((i, j), (i, j))
            words.append(word)
            labels.append(_kind_of().get(story.sentences[number][place], NONE))
    return Text(*_join(_ids(words)), [NONE, *labels, NONE])


def _order(story: Story, chance: Chance) -> Text:
    """Two neighbouring sentences; 1 where they changed places."""
    place, swapped = chance.below(len(story.sentences) - 1), chance.below(2)
    first, second = map(_ids, story.sentences[place : place + 2])
    return Text(*(_join(second, first) if swapped else _join(first, second)), [swapped])
