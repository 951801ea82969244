"""Remember over a distance: keys with their values, then noise, then one of the keys; which value was it?

Whatever the model, it reads the pairs and the noise and is asked with the key: states that are carried along (rnn,
gru, lstm), one that can look back (attention; Bahdanau 2014), convolutions (tcn; Bai 2018), memories (memnet;
Sukhbaatar 2015), and attention alone (transformer). The score is accuracy, in all and by distance.

regard train recall --model lstm
regard train recall --model transformer --distance 128
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from regard.train.plan import Plan

if TYPE_CHECKING:
    from torch import Tensor, nn

    from regard.models.family import Family
    from regard.train.task import Task

Model = Literal["rnn", "gru", "lstm", "attention", "tcn", "memnet", "transformer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    model: Model = "transformer"
    """What remembers."""
    width: int = 32
    """Numbers for a word; states have twice as many."""
    depth: int = 2
    """Blocks of the Transformer, layers of recurrence, hops of the memory network; the tcn has what it takes."""
    distance: int = 64
    """The most words from the last pair to the question; any from 1 on are met in training."""
    pairs: int = 3
    """Keys with their values in front of the noise."""
    words: int = 8
    """How many keys there are to choose from, and as many values, and as many words of noise."""
    items: int = 20_000
    """How many different items are met in training."""
    steps: int = 2000
    """How many times the weights change."""
    tokens: int = 4000
    """Places in a batch, padding included."""


def build(recipe: Recipe) -> tuple["Task", dict[str, Any]]:
    """The task of a recipe, and what its card should say."""
    import torch
    from torch import nn

    from regard.data import Batches
    from regard.train.loss import cross_entropy
    from regard.train.task import Task

    def batches(split: str, distance: int | tuple[int, int], count: int) -> Batches:
        items = list(_items(recipe, split, distance)[:count])
        return Batches(
            [item.ids for item in items], [(item.answer,) for item in items], tokens=recipe.tokens, seed=recipe.seed
        )

    torch.manual_seed(recipe.seed)
    one, model = shaped(recipe)

    def asked(model: nn.Module, batch: Any) -> tuple[torch.Tensor, torch.Tensor]:
        where = next(iter(model.parameters())).device
        ids, answer = (torch.as_tensor(side, device=where) for side in batch.sides)
        return answers(model, ids, torch.as_tensor(batch.lengths[0], device=where), recipe.pairs), answer[:, 0]

    def loss(model: nn.Module, batch: Any) -> torch.Tensor:
        return cross_entropy(*asked(model, batch))

    def accuracy(model: nn.Module, rows: Batches) -> float:
        hits = [scores.argmax(dim=-1) == right for scores, right in (asked(model, batch) for batch in rows.once())]
        return 100 * float(torch.cat(hits).float().mean())

    # 1, 2, 4, … up to the farthest that is learnt; the card also says how it goes on.
    near = sorted({*(2**i for i in range(recipe.distance.bit_length())), recipe.distance})
    watched = {distance: batches("test", distance, 250) for distance in near}

    def score(model: nn.Module) -> dict[str, float]:
        found = {f"at {distance}": accuracy(model, rows) for distance, rows in watched.items()}
        return {"accuracy": sum(found.values()) / len(found)} | found

    def save(folder: Path, model: nn.Module, card: Mapping[str, Any]) -> None:
        from regard.hub.store import save

        beyond = {2 * recipe.distance: batches("test", 2 * recipe.distance, 250)} if recipe.distance <= 500 else {}
        measured = {f"at {distance}": accuracy(model, rows) for distance, rows in (watched | beyond).items()}
        save(folder, model, family=one, card={**card, "measured": measured})

    card = {
        "title": f"{recipe.model}, recall over {recipe.distance} words",
        "data": _items(recipe, "train", (1, recipe.distance)).card(),
        "guessing among the values shown": round(100 / recipe.pairs, 1),
    }
    train = batches("train", (1, recipe.distance), recipe.items)
    task = Task(model, train, lambda batch: len(batch.rows), loss, score, save, lower_is_better=False, unit="answers")
    return task, card


def answers(model: "nn.Module", ids: "Tensor", lengths: "Tensor", pairs: int) -> "Tensor":
    """What a model says to the last word of each row, once it has read the words before."""
    import torch

    from regard.models.memnet import MemoryNetwork
    from regard.models.tcn import TCN

    answer: Tensor
    if isinstance(model, TCN):
        answer = model(ids, lengths=lengths)
        return answer
    rows = torch.arange(len(ids), device=ids.device)
    question = ids[rows, lengths - 1, None]
    told = ids.index_put((rows, lengths - 1), ids.new_zeros(()))[:, :-1]
    if isinstance(model, MemoryNetwork):
        # Each pair is a sentence, and so is each word of noise.
        pair, noise = told[:, : 2 * pairs].unflatten(1, (pairs, 2)), told[:, 2 * pairs :, None]
        answer = model(torch.cat((pair, torch.nn.functional.pad(noise, (0, 1))), dim=1), question)
    else:
        # A model that writes begins with the question, and its first word is the answer.
        answer = model(told, question, lengths=lengths - 1)[:, 0]
    return answer


def shaped(recipe: Recipe) -> tuple["Family", Any]:
    """The family of a recipe's model, and the model with its first weights."""
    from math import ceil, log2

    from regard.models import memnet, seq2seq, tcn, transformer
    from regard.world.recall import vocabulary

    vocab, width, depth = vocabulary(recipe.words, recipe.words, recipe.words), recipe.width, recipe.depth
    match recipe.model:
        case "transformer":
            config = transformer.Config(
                vocab=vocab, width=width, depth=depth, heads=4, hidden=2 * width, dropout=0.0, norm_first=True
            )
            return transformer.FAMILY, transformer.Transformer(config)
        case "tcn":
            # Blocks of two convolutions over three words reach 4 · (2^depth - 1) words back.
            reach = ceil(log2((recipe.distance + 2 * recipe.pairs) / 4 + 1))
            return tcn.FAMILY, tcn.TCN(
                tcn.Config(vocab=vocab, width=width, hidden=2 * width, kernel=3, depth=reach, classes=vocab)
            )
        case "memnet":
            # Fixed times, so that it can be asked about stories longer than any it has learnt from.
            return memnet.FAMILY, memnet.MemoryNetwork(
                memnet.Config(vocab=vocab, width=2 * width, hops=depth, times="fixed")
            )
        case _:
            looks = recipe.model == "attention"
            return seq2seq.FAMILY, seq2seq.Seq2Seq(
                seq2seq.Config(
                    vocab=vocab,
                    target=None,
                    width=width,
                    hidden=2 * width,
                    cell="gru" if looks else recipe.model,
                    depth=depth,
                    attention="additive" if looks else "none",
                    bidirectional=looks,
                )
            )


def _items(recipe: Recipe, split: str, distance: int | tuple[int, int]) -> Any:
    from regard.world.recall import recalls

    words = recipe.words
    return recalls(
        seed=recipe.seed, split=split, distance=distance, pairs=recipe.pairs, keys=words, values=words, noise=words
    )
