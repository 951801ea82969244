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

from regard.recipes.writer import Pairs, Writer

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
    set: tuple[str, ...] = ("dropout=0.1",)
    """Fields of the preset to change, such as width=192 depth=6."""
    steps: int = 2500
    """Optimizer steps: how many times the weights change."""
    vocab: int = 1000
    """Vocabulary size of the byte pair encoding, one for sentences and trees."""
    label_smoothing: float = 0.0
    """Label smoothing (Szegedy 2016): this share of the target probability is spread over all words."""


def build(recipe: Recipe) -> "Task":
    """A model that writes trees, scored by labelled F1."""
    from regard.recipes import writer

    writer.check(recipe)
    train, held = _trees(recipe, "train"), _trees(recipe, "val", 300)
    begin = writer.start(recipe, _pairs(train))
    return writer.task(
        recipe,
        begin,
        _pairs(train),
        _pairs(held),
        name="parse",
        metric="f1",
        score=lambda model: _score(model, begin.tokenizer, held),
        card={"title": f"Sentences to trees: {begin.title}, {recipe.data}", "data": recipe.data},
        measure=lambda model: measure(recipe, model, begin.tokenizer, train),
    )


def _pairs(trees: "Sequence[Tree]") -> Pairs:
    from regard.data import skeleton
    from regard.world.language import leaves

    return [(" ".join(leaves(tree)), skeleton(tree)) for tree in trees]


def _score(model: Any, tokenizer: "Tokenizer", held: "Sequence[Tree]") -> dict[str, float]:
    from regard.analysis.trees import parseval
    from regard.world.language import leaves

    score = parseval(parses(model, tokenizer, [leaves(tree) for tree in held]), held)
    return {"f1": score.f1, "exact": score.exact}


def measure(recipe: Recipe, model: Any, tokenizer: "Tokenizer", train: "Sequence[Tree]") -> dict[str, float]:
    """What the card says: the test, and apart from it sentences that are longer than any learnt."""
    from regard.analysis.trees import parseval
    from regard.world.language import leaves

    longest = max(len(leaves(tree)) for tree in train)
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


def parses(model: Any, tokenizer: "Tokenizer", sentences: "Sequence[Sequence[str]]") -> "list[Tree]":
    """The trees that a model writes for sentences, always the likeliest part next."""
    from regard.pipelines.parse import Parse

    found: list[Tree] = Parse.of(model, tokenizer)([" ".join(words) for words in sentences])
    return found


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
        if not found:
            raise DataError(
                f"{recipe.data} has no trees in its split {split!r}; give more, or a folder with {split}.mrg"
            )
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
