"""Parse sentences by translating them into their trees, word by word (Vinyals 2015; Vaswani 2017, §6.3).

The model reads `the dog sleeps .` and writes `(S (NP DT NN ) (VP VBZ ) . )`; the words of the sentence then take the
places of the tags. A line that is no tree is mended, and what is wrong with it counts (`regard.data.grow`). The score
is labelled F1 as evalb computes it. In the world it cannot quite reach 100: whether one opens a box under the table, or
the box that is under the table, no word says.

regard train parse
regard train parse --data treebank.mrg --vocab 8000 --limit 300 --tokens 4000
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from regard.recipes.translate import Writer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from regard.text import Tokenizer
    from regard.train.task import Task
    from regard.world.language import Tree

FAR = 100_000_000  # where the sentences of the world begin that are scored in between


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Writer):
    data: str = "world"
    """The world, a file of trees in brackets, or a folder with train.mrg, val.mrg and, if there is one, test.mrg."""
    trees: int = 0
    """Learn from so many trees; 0 takes all, of the world 30,000."""
    length: tuple[int, int] = (6, 12)
    """The fewest and the most words of a sentence of the world; the test also has some up to twice as long."""
    steps: int = 2500
    """How many times the weights change."""
    vocab: int = 1000
    """Pieces of words, for what is read and written together."""
    dropout: float = 0.1
    """The chance that a number is left out in training."""
    label_smoothing: float = 0.0
    """The part of the chance that is spread over all words (Szegedy 2016)."""


def build(recipe: Recipe) -> tuple["Task", dict[str, Any]]:
    """The task of a recipe, and what its card should say."""
    from regard.analysis.trees import parseval
    from regard.data import skeleton
    from regard.recipes.translate import writing
    from regard.world.language import leaves

    learnt, held = _trees(recipe, "train"), _trees(recipe, "val", 300)

    def pairs(trees: "list[Tree]") -> list[tuple[str, str]]:
        return [(" ".join(leaves(tree)), skeleton(tree)) for tree in trees]

    def judge(model: Any, tokenizer: "Tokenizer") -> dict[str, float]:
        score = parseval(parses(model, tokenizer, [leaves(tree) for tree in held]), held)
        return {"f1": score.f1, "exact": score.exact}

    def measure(model: Any, tokenizer: "Tokenizer") -> dict[str, float]:
        longest = max(len(leaves(tree)) for tree in learnt)
        test, more = _trees(recipe, "test", 500), _trees(recipe, "longer", 300)
        groups = {
            "test": [tree for tree in test if len(leaves(tree)) <= longest],
            "longer": [tree for tree in test + more if len(leaves(tree)) > longest],
        }
        found: dict[str, float] = {}
        for name, right in groups.items():
            if right:
                score = parseval(parses(model, tokenizer, [leaves(tree) for tree in right]), right)
                named = {"f1": score.f1, "exact": score.exact, "tags": score.tags, "sentences": score.count}
                found |= {f"{name} {key}": round(value, 2) for key, value in named.items()}
        return found | {"longest learnt": longest}

    card = {
        "title": f"{recipe.model}, sentences to trees, on {recipe.data}",
        "data": recipe.data,
        "lower": recipe.lower,
    }
    return writing(recipe, pairs(learnt), pairs(held), judge, measure), card


def parses(model: Any, tokenizer: "Tokenizer", sentences: "Sequence[Sequence[str]]", batch: int = 100) -> "list[Tree]":
    """The trees that a model writes for sentences, always the likeliest part next."""
    import torch

    from regard.data import grow
    from regard.decode import greedy

    device = next(model.parameters()).device
    ids = tokenizer.encode([" ".join(words) for words in sentences], stop=True)
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    found: dict[int, Tree] = {}
    for start in range(0, len(order), batch):
        some = order[start : start + batch]
        sources = [torch.tensor(ids[i], device=device) for i in some]
        lengths = torch.tensor([len(source) for source in sources], device=device)
        with torch.no_grad():
            state = model.start(torch.nn.utils.rnn.pad_sequence(sources, batch_first=True), lengths=lengths)
            # A word brings its tag, and as a rule less than one phrase, which takes three: bracket, label, bracket.
            limit = [6 * len(ids[i]) + 20 for i in some]
            written = greedy(
                model.step,
                state,
                torch.full_like(lengths, tokenizer.special("start")),
                stop=tokenizer.special("stop"),
                limit=limit,
            )
        for i, each in zip(some, written, strict=True):
            found[i] = grow(tokenizer.decode(each.words), sentences[i])
    return [found[i] for i in range(len(ids))]


def _trees(recipe: Recipe, split: str, count: int | None = None) -> "list[Tree]":
    """Trees to learn from, to score on, to test with, or to test with that are longer than those learnt."""
    from itertools import islice

    from regard.data import DataError, treebank
    from regard.world.language import trees
    from regard.world.language.views import LONGEST

    if recipe.data != "world":
        if split == "longer":
            return []  # those of the test that are
        try:
            found = treebank(recipe.data, split)
        except DataError:
            if split != "test":
                raise
            found = treebank(recipe.data, "val")
        return found[: recipe.trees or None] if split == "train" else found
    low, high = recipe.length
    match split:
        case "train":
            view = trees(length=(low, high))[: recipe.trees or 30_000]
        case "val":
            view = trees(length=(low, high))[FAR : FAR + (count or 0)]
        case "test":
            view = trees(split="test", length=(low, high))
        case _:
            if high >= LONGEST:
                return []
            view = trees(split="test", length=(high + 1, min(2 * high, LONGEST)))
    return [each.tree for each in islice(view, count)]
