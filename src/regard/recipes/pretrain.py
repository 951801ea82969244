"""Pre-train an encoder: guess hidden words, and whether a passage follows another (BERT, Devlin 2019; RoBERTa, ALBERT).

Words are hidden anew each time a passage is met (Liu 2019). Texts are documents of several sentences: articles of a
Wikipedia dump, or what blank lines divide.

regard train pretrain --data enwik8
regard train pretrain --data my-texts --second none
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from regard.train.plan import Plan

if TYPE_CHECKING:
    from torch import Tensor, nn

    from regard.data import Batch, Batches, Documents
    from regard.models.family import Family
    from regard.text import Tokenizer
    from regard.train.task import Task

MEASURED = 0.15  # share of the words that are hidden in a measurement
FITTED = 100  # batches from which the overlap of passages is judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    data: str = "enwik8"
    """A named set of text (`regard data list`), the world, a text file, or a folder of .txt files."""
    begin: str = ""
    """A trained encoder to go on with, by its folder or hub:owner/name, on other texts or in longer passages; its shape
    and vocabulary stay."""
    model: str = "bert-mini"
    """The model, by the name of a preset of an encoder."""
    set: tuple[str, ...] = ()
    """Fields of the preset to change, such as width=192 depth=6."""
    vocab: int = 8000
    """Vocabulary size of the WordPiece tokenizer."""
    lower: bool = True
    """Lower-case all text."""
    limit: int = 128
    """Maximum length in tokens of two passages together."""
    mask: float = 0.15
    """Share of the words that are hidden in training; measured is always with 0.15."""
    init: Literal["normal", "mimetic"] = "mimetic"
    """First weights of the attentions: drawn as BERT's, or to look at neighbours (mimetic, Trockman 2023)."""
    second: Literal["next", "order", "none"] = "next"
    """Next sentence prediction (NSP), sentence order prediction (SOP, Lan 2020), or masked words alone."""
    documents: int = 0
    """Learn from so many documents; 0 takes all, of the world 50,000."""
    tokens: int = 4096
    """Batch size in tokens, padding included."""
    lr: float = 1e-3
    """Peak learning rate (the optimizer's step size)."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "vocab": (10, 10**7),
        "limit": (8, 10**5),
        "mask": (0.01, 0.9),
        "documents": (0, 10**9),
    }


def build(recipe: Recipe) -> "Task":
    """An encoder that guesses words, scored by how many it gets right."""
    import torch

    from regard.data import SETS
    from regard.layers.mimetic import mimetic
    from regard.recipes import choose
    from regard.text import Tokenizer
    from regard.train.task import Task

    train, held = read(recipe, "train"), read(recipe, "val")
    torch.manual_seed(recipe.seed)
    head = "masked" if recipe.second == "none" else "pretraining"
    if recipe.begin:
        family, model, tokenizer = go_on(recipe, head)
    else:
        # A twentieth of a large text is enough to learn which pieces are frequent.
        some = train[:: max(1, sum(map(len, train)) // 200_000)]
        tokenizer = Tokenizer.train(
            (text for document in some for text in document),
            kind="pieces",
            vocab=recipe.vocab,
            lower=recipe.lower,
            mask=True,
        )
        decided = {"vocab": tokenizer.vocab, "context": recipe.limit, "head": head}
        family, model = choose.build(recipe.model, recipe.set, decided)
        if recipe.init == "mimetic":
            mimetic(model)
    learnt, unseen = (encode(tokenizer, documents) for documents in (train, held))
    met, watched = (batches(recipe, tokenizer, documents) for documents in (learnt, unseen))
    card = {"title": f"Masked words: {family.name}, {recipe.data}", "data": recipe.data, "lower": tokenizer.lower}
    return Task(
        model=model,
        family=family,
        tokenizer=tokenizer,
        batches=met,
        size=words_in,
        loss=lambda model, batch: losses(model, batch)[0],
        score=lambda model: score(model, watched),
        metric="masked_accuracy",
        higher_is_better=("masked_accuracy", "second_accuracy"),
        task="fill",
        card=card | ({"terms": SETS[recipe.data].terms} if recipe.data in SETS else {}),
        trained_with={"vocab": tokenizer.vocab, "model": None if recipe.begin else recipe.model},
        measure=lambda model: {
            name: round(value, 3)
            for name, value in (score(model, watched) | guesses(recipe, learnt, tokenizer.vocab, met, watched)).items()
        },
    )


def go_on(recipe: Recipe, head: str) -> "tuple[Family, nn.Module, Tokenizer]":
    """A trained encoder with the heads of pre-training; positions behind the last that it knows begin as waves."""
    import torch

    from regard.layers.mimetic import SCALE
    from regard.layers.position import sinusoid
    from regard.recipes.writer import load_trained

    for name in ("model", "set", "vocab", "lower", "init"):
        if getattr(recipe, name) != next(field.default for field in fields(Recipe) if field.name == name):
            raise ValueError(f"--{name} is that of {recipe.begin}; leave it out, or begin anew")
    found = load_trained(recipe.begin)
    config: Any = found.model.config
    if found.family is None or not hasattr(config, "head") or found.tokenizer.mask is None:
        raise ValueError(f"{recipe.begin} does not guess hidden words; give an encoder that regard fill takes")
    model = found.family.model(replace(config, head=head, context=max(recipe.limit, config.context)))
    before, after = found.model.state_dict(), model.state_dict()
    for name, tensor in before.items():
        if name in after and after[name].shape == tensor.shape:
            after[name] = tensor
        elif name == "position.table":
            waves = sinusoid(torch.arange(len(after[name])), tensor.shape[1]) * SCALE
            after[name] = torch.cat((tensor, waves[len(tensor) :]))
    model.load_state_dict(after)
    return found.family, model, found.tokenizer


def read(recipe: Recipe, split: str) -> list[list[str]]:
    """Documents as their sentences."""
    from itertools import islice

    from regard.data import DataError, documents
    from regard.data.told import HELD, world_stories

    if recipe.data == "world":
        count = recipe.documents or 50_000
        return world_stories(split, count if split == "train" else min(HELD, count))
    wanted = (recipe.documents or None) if split == "train" else 2000
    found = [each for each in islice(documents(recipe.data, split), wanted) if len(each) > 1]
    if not found:
        raise DataError(f"{recipe.data} has no document of two sentences in its split {split!r}; give more text")
    return found


def encode(tokenizer: "Tokenizer", documents: Sequence[Sequence[str]]) -> "Documents":
    """The ids of all sentences."""
    from regard.data import Documents

    return Documents.of(tokenizer.encode(document, start=False, stop=False) for document in documents)


def batches(recipe: Recipe, tokenizer: "Tokenizer", known: "Documents") -> "Batches[Batch]":
    """Two passages with hidden words: ids, segments, the hidden words, and 1 where the second does not follow.

    In a measurement each row has a chance of its own, so that it is always asked the same.
    """
    import numpy as np

    from regard.chance import Chance
    from regard.data import Batch, Batches, Order, divide_span, mask_words, put_side_by_side

    room, spans = recipe.limit - 3, known.spans(recipe.limit - 3)
    first, last, mask = (tokenizer.special(role) for role in ("start", "stop", "mask"))

    def make(row: int, chance: Chance, share: float) -> tuple[list[int], list[int], list[int], list[int]]:
        before, after, other = divide_span(known, spans, row, room, recipe.second, chance)
        ids = [first, *before, last, *after, last]
        hidden, wanted = mask_words(ids, tokenizer.vocab, mask, share, tokenizer.specials, chance)
        return hidden, [0] * (len(before) + 2) + [1] * (len(after) + 1), wanted, [other]

    def collate(rows: Any, chance: Chance | None) -> Batch:
        made = [
            make(row, Chance(recipe.seed, "held", row), MEASURED) if chance is None else make(row, chance, recipe.mask)
            for row in rows.tolist()
        ]
        pads = (tokenizer.pad or 0, 0, -100, 0)
        sides, lengths = zip(
            *(put_side_by_side(side, pad) for side, pad in zip(zip(*made, strict=True), pads, strict=True)), strict=True
        )
        return Batch(rows, sides, lengths)

    sizes = np.diff(known.sentences)
    lengths = [min(int(sizes[start:end].sum()), room) + 3 for _, start, end in spans.tolist()]
    return Batches(
        Order(lengths, room=max(recipe.tokens, recipe.limit), seed=recipe.seed, data=_checksum(known)), collate
    )


def _checksum(documents: "Documents") -> int:
    from zlib import crc32

    return crc32(documents.sentences.tobytes(), crc32(documents.ids.tobytes()))


def words_in(batch: "Batch") -> int:
    """How many words of a batch are hidden."""
    return int((batch.sides[2] >= 0).sum())


def losses(model: "nn.Module", batch: "Batch") -> "tuple[Tensor, Tensor, Tensor]":
    """The summed loss, in which the second passage weighs as much as all words; and which of either are right."""
    import torch

    from regard.train.loss import cross_entropy

    device = next(iter(model.parameters())).device
    ids, segments, wanted, other = (torch.as_tensor(side, device=device) for side in batch.sides)
    lengths = torch.as_tensor(batch.lengths[0], device=device)
    hidden = wanted >= 0
    output = model(ids, segments=segments, lengths=lengths, masked=hidden)
    words = wanted[hidden]
    loss = cross_entropy(output.logits, words)
    right = output.logits.argmax(dim=-1) == words
    if output.next_sentence is None:
        return loss, right, right.new_zeros(0)
    # As much as the words: their mean losses are added (Devlin 2019, appendix A.2).
    loss = loss + cross_entropy(output.next_sentence, other[:, 0]) * (len(words) / len(ids))
    return loss, right, output.next_sentence.argmax(dim=-1) == other[:, 0]


def score(model: "nn.Module", held: "Batches[Batch]") -> dict[str, float]:
    """Of a hundred hidden words and of a hundred pairs, how many are told right, and the loss of both."""
    import torch

    lost, words, right, second = 0.0, 0, [], []
    for batch in held.once():
        loss, *hits = losses(model, batch)
        lost, words = lost + loss.item(), words + words_in(batch)
        right.append(hits[0])
        second.append(hits[1])
    scores = {"val_loss": lost / words, "masked_accuracy": 100 * float(torch.cat(right).float().mean())}
    follows = torch.cat(second).float()
    return scores | ({"second_accuracy": 100 * float(follows.mean())} if len(follows) else {})


def guesses(
    recipe: Recipe, learnt: "Documents", vocab: int, met: "Batches[Batch]", held: "Batches[Batch]"
) -> dict[str, float]:
    """The same questions, answered by counting: the usual next word, and how many words two passages have in common."""
    from regard.analysis.guesses import best_border, overlap, rarity, usual_next

    def compare(batch: "Batch") -> list[tuple[float, bool]]:
        ids, segments, _, other = batch.sides
        rows = zip(ids, segments, batch.lengths[0], other[:, 0], strict=True)
        found = []
        for row, segment, length, apart in rows:
            first, second = (row[:length][segment[:length] == side].tolist() for side in (0, 1))
            found.append((overlap(first, second, tells), not apart))
        return found

    following, tells = usual_next(learnt.ids, vocab), rarity(learnt.ids, vocab)
    all_rows = list(met.order.once())
    some = [met.collate(rows, None) for rows in all_rows[:: max(1, len(all_rows) // FITTED)]]
    border = best_border(*zip(*(pair for batch in some for pair in compare(batch)), strict=True))
    right, follows = list[bool](), list[bool]()
    for batch in held.once():
        ids, _, wanted, _ = batch.sides
        row, place = (wanted >= 0).nonzero()
        right += (following[ids[row, place - 1]] == wanted[row, place]).tolist()
        follows += [(value > border) == truth for value, truth in compare(batch)]
    found = {"masked_accuracy_bigram": 100 * sum(right) / len(right)}
    return found | ({} if recipe.second == "none" else {"second_accuracy_overlap": 100 * sum(follows) / len(follows)})
