"""Learn a vector for each word of a text, from the words that stand near it: word2vec (Mikolov 2013).

Skip-gram takes a neighbour of a word and asks which word it stood beside; the answer is yes to the true word and no to
a few drawn ones (negative sampling). Nothing else is taught: words that are used alike get vectors that are alike.
Frequent words are thinned out (--sample), and each word throws how far it looks, so that near neighbours count more.

The loop is compiled by numba (pip install '.[fast]') and run by several threads on the same matrices, which do not wait
for one another; with one thread, the same seed gives the same vectors to the last bit.

regard train words --data enwik8 --threads 2 --out runs/words
regard train words --data my-texts/ --method cbow --lr 0.05 --phrases 1
regard run runs/words/model "king - man + woman"
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from regard.names import Dtype
from regard.train.plan import Kept

if TYPE_CHECKING:
    from regard.train.hogwild import Hogwild, Progressed
    from regard.train.loop import Outcome
    from regard.train.run import Run
    from regard.words.counting import Vocabulary

METRIC = "loss"
Lines = Callable[[], Iterable[list[str]]]  # a text as lines of words, which can be read again


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Kept):
    data: str = "enwik8"
    """enwik8 cleaned to words, another named set of text, a text file, a Wikipedia dump, or a folder of .txt files."""
    cut: Literal["letters", "spaces"] = "letters"
    """What a word of your own text is: a run of letters in lower case, or whatever stands between spaces."""
    phrases: int = 0
    """Passes that join words which meet far more often than chance would have it, as new_york; 2 make some of four."""
    width: int = 100
    """Numbers of a vector."""
    window: int = 5
    """Neighbours on each side, at most: each word throws how many it looks at."""
    negative: int = 5
    """Negative sampling: drawn words that are told from the true one."""
    shared_negatives: bool = True
    """All neighbours of a word have the same drawn words, which is several times faster; skip-gram alone."""
    sample: float = 1e-3
    """Subsampling: words with more than this share of the text are thinned out; 0 keeps all."""
    min_count: int = 5
    """Words that are met less often are left out of the text."""
    method: Literal["skipgram", "cbow"] = "skipgram"
    """Predict a word from each of its neighbours, or from the mean of all of them."""
    loss: Literal["negative", "hierarchical"] = "negative"
    """Tell a word from drawn ones, or find the way to it in a binary tree (hierarchical softmax)."""
    epochs: int = 5
    """How many times to read the text."""
    lr: float = 0.025
    """First learning rate, which falls to zero along a line; CBOW likes 0.05."""
    engine: Literal["numba", "torch"] = "numba"
    """The compiled loop, or the same in plain torch, which is for reading and some hundred times slower."""
    output: Literal["words", "none"] = "words"
    """What to keep of the second matrix; without it, the model is half as large and has vectors all the same."""
    dtype: Dtype = "float32"
    """How the vectors are stored: int8 takes a quarter."""
    save: int = 20
    """Steps between two checkpoints; a step is a million words."""
    threads: int = 0
    """Threads that train together; 0 takes every core. One alone is exact to the last bit."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Kept.bounds,
        "phrases": (0, 10),
        "width": (1, 10_000),
        "window": (1, 1000),
        "negative": (1, 1000),
        "sample": (0, 1),
        "min_count": (1, 10**9),
        "epochs": (1, 100_000),
        "lr": (1e-12, 10),
    }


def run(recipe: Recipe, folder: Path, *, quiet: bool = False) -> "Outcome":
    """Count the words, number the text, train on it block by block, and leave a model."""
    import os
    from time import monotonic

    from regard.train import checkpoint
    from regard.train.hogwild import Hogwild, Settings
    from regard.train.loop import Outcome
    from regard.train.plan import fields_of
    from regard.train.progress import Live
    from regard.train.run import Run, newest
    from regard.train.signals import stoppable

    if int(os.environ.get("WORLD_SIZE", 1)) > 1:
        raise ValueError("words are trained by the threads of one process; leave torchrun out and give --threads")
    kept = Run(folder, "words", fields_of(recipe), {METRIC: "lower"}, resume=recipe.resume)
    try:
        known, ids = corpus(recipe, folder / "corpus")
        settings = Settings(
            width=recipe.width,
            window=recipe.window,
            negative=recipe.negative if recipe.loss == "negative" else 0,
            skipgram=recipe.method == "skipgram",
            shared=recipe.shared_negatives,
            sample=recipe.sample,
            epochs=recipe.epochs,
            lr=recipe.lr,
            seed=recipe.seed,
        )
        trained = Hogwild(
            ids, known.counts, settings, threads=recipe.threads or os.cpu_count() or 1, engine=recipe.engine
        )
        said = kept.open()  # as late as this, so that a text that cannot be learnt from leaves no run behind
        seconds, losses, last = 0.0, list[float](), newest(folder) if recipe.resume else None
        if last is not None:
            tensors, state = checkpoint.read(last)
            trained.restore(tensors, state["step"])
            seconds, losses = state["seconds"], state["losses"]
        kept.go_on(trained.step)
        with Live(trained.steps, trained.step, "words", quiet=quiet) as live, stoppable(live.say) as stop:
            for line in (*said, f"{known.total:,} words of {recipe.data}, {len(known):,} different ones"):
                live.say(line)
            while trained.step < trained.steps:
                began = monotonic()
                block = trained.advance()
                seconds += monotonic() - began
                losses = [*losses, block.loss][-trained.blocks :]
                tell(kept, live, trained, block, seconds)
                if trained.step % recipe.save == 0 or trained.step == trained.steps or stop.wanted:
                    keep(kept, trained, {"step": trained.step, "seconds": seconds, "losses": losses}, recipe.keep)
                if stop.wanted and trained.step < trained.steps:
                    live.say(f"stopped at step {trained.step}; go on with the same command and --resume --out {folder}")
                    return Outcome(trained.step, None, seconds / 60, False, folder)
            loss = sum(losses) / len(losses)
            leave(kept, recipe, known, trained, loss, seconds)
        return Outcome(trained.step, loss, seconds / 60, True, folder)
    finally:
        kept.close()


def corpus(recipe: Recipe, folder: Path) -> "tuple[Vocabulary, Any]":
    """The words of the text and the text as their numbers, made once and kept in the folder of the run."""
    import numpy as np

    from regard.files import write
    from regard.words.counting import Vocabulary, number, open_numbers, vocabulary

    words, counts, numbers = folder / "words.txt", folder / "counts.txt", folder / "text.ids"
    if recipe.resume and numbers.is_file():  # it is written last
        found = np.asarray([int(line) for line in counts.read_text().split()], np.int64)
        known = Vocabulary(tuple(words.read_text(encoding="utf-8").split("\n")), found[1:], int(found[0]))
        return known, open_numbers(numbers)
    lines = read(recipe)
    for _ in range(recipe.phrases):
        lines = joined(lines, recipe.min_count)
    known = vocabulary(recipe.data, lines(), recipe.min_count)
    write(words, "\n".join(known.words))
    write(counts, "\n".join(map(str, (known.total, *known.counts.tolist()))))
    return known, number(lines(), known, numbers)


def read(recipe: Recipe) -> Lines:
    """The text of the recipe as lines of words."""
    from regard.data import DataError, wikifil
    from regard.data.sets import SETS, names
    from regard.data.stretch import Stretch, size
    from regard.data.text import ENDS, passages
    from regard.progress import bar
    from regard.words.counting import cut_words

    if recipe.data == "enwik8":
        with bar("enwik8 to words") as progress:
            path = wikifil.enwik8(progress)
        return lambda: cut_words(Stretch(path, 0, size(path)).blocks(), "spaces")
    if recipe.data in SETS or recipe.data == "world":
        return lambda: cut_words(passages(recipe.data, "train"), recipe.cut)
    path = Path(recipe.data)
    files = sorted(each for each in path.rglob("*") if each.name.endswith(ENDS)) if path.is_dir() else [path]
    if not files or not all(each.is_file() for each in files):
        raise DataError(
            f"no text is called {recipe.data!r} and none lies there; choose {names('text')}, a text file, or a folder "
            "of .txt files"
        )
    stretches = [Stretch(each, 0, size(each)) for each in files]

    def lines() -> Iterator[list[str]]:
        for each in stretches:
            if next(Stretch(each.path, 0, min(each.end, 64)).blocks(), "").startswith("<mediawiki"):
                yield from (page.split(" ") for page in wikifil.pages(each.lines()))
            else:
                yield from cut_words(each.blocks(), recipe.cut)

    return lines


def joined(lines: Lines, min_count: int) -> Lines:
    """The same text with its phrases as words."""
    from regard.words.phrases import find_phrases

    found = find_phrases(lines(), min_count=min_count)
    return lambda: map(found.join, lines())


def tell(run: "Run", live: Any, trained: "Hogwild", block: "Progressed", seconds: float) -> None:
    """Write down what a block was, and show it; at the end of an epoch on a line of its own."""
    live.step(trained.step, block.loss, block.words)
    about = {"loss": block.loss, "lr": block.lr, "size": block.words, "seconds": round(seconds, 3)}
    run.log({"step": trained.step, **about})
    if trained.step % trained.blocks == 0:
        epoch = trained.step // trained.blocks
        live.score(trained.step, {"epoch": float(epoch), "lr": block.lr}, seconds / 60, best=None)


def keep(run: "Run", trained: "Hogwild", state: dict[str, Any], count: int) -> None:
    """Write a checkpoint, and remove the oldest beyond those that are kept."""
    from regard.train import checkpoint

    checkpoint.write(checkpoint.place(run.checkpoints, trained.step), trained.tensors(), state)
    for old in checkpoint.present(run.checkpoints)[:-count]:
        old.unlink(missing_ok=True)


def leave(run: "Run", recipe: Recipe, known: "Vocabulary", trained: "Hogwild", loss: float, seconds: float) -> None:
    """Save the model with its words and a card; the last row, of zeros, is for words it does not know."""
    import torch

    from regard.data.sets import SETS
    from regard.hub import save
    from regard.models.word2vec import FAMILY, Config, Word2Vec
    from regard.train import machine
    from regard.train.plan import OF_THE_RUN
    from regard.words.counting import tokenizer_of

    tokenizer = tokenizer_of(known.words)
    config = Config(tokenizer.vocab, recipe.width, recipe.method, recipe.loss, recipe.output)
    with torch.device("meta"):
        model = Word2Vec(config)
    tensors, weights = trained.tensors(), dict[str, Any]()
    for name, old in (("embed.weight", tensors["inputs"]), ("output.weight", tensors["outputs"])):
        if name in model.state_dict():
            weights[name] = torch.zeros(model.state_dict()[name].shape)
            weights[name][: len(old)] = old
    model.load_state_dict(weights, assign=True)
    flags = {name: value for name, value in run.fields.items() if name not in OF_THE_RUN}
    words = trained.settings.epochs * int(known.counts.sum())
    card = {
        "task": "words",
        "title": f"Words as vectors: word2vec, {recipe.data}",
        "data": recipe.data,
        **({"terms": SETS[recipe.data].terms} if recipe.data in SETS else {}),
        "words": known.total,  # of the corpus
        "vocab": len(known),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "steps": trained.step,
        "minutes": round(seconds / 60, 1),
        "words_per_second": round(words / max(seconds, 1e-9)),
        "seed": recipe.seed,
        "recipe": run.recipe,
        "measured": {METRIC: round(loss, 4)},
        "trained_with": flags | {"threads": trained.threads, "config": asdict(config)},
        "machine": machine.describe(),
    }
    save(run.model, model, family=FAMILY, card=card, tokenizer=tokenizer, dtype=recipe.dtype)
