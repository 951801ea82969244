"""What trainings of a model that reads one text and writes another have in common: translation, parsing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from regard.train.plan import Plan

if TYPE_CHECKING:
    from torch import Tensor, nn

    from regard.data import Batch, Batches
    from regard.models.family import Family
    from regard.text import Tokenizer
    from regard.train.task import Task

Pairs = Sequence[tuple[str, str]]
SHOWN = 5  # held-out texts that can be read beside what the model makes of them, score by score
STORY = ("recipe", "trained_with", "data", "seed", "steps", "minutes", "before")  # of a model that another began from
OF_THE_MODEL = ("model", "set", "vocab", "lower")  # flags that a trained model has answered already


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer(Plan):
    model: str = "transformer-tiny"
    """The model, by the name of a preset: a Transformer, or seq2seq-tiny, a recurrent network with attention."""
    set: tuple[str, ...] = ()
    """Fields of the preset to change: width=192 depth=6; of seq2seq attention=none, additive, dot, bilinear, concat."""
    vocab: int = 4000
    """Vocabulary size of the byte pair encoding, one for source and target."""
    lower: bool = False
    """Lower-case all text."""
    limit: int = 100
    """Maximum length in tokens; longer texts are cut off."""
    bpe_dropout: float = 0.0
    """BPE dropout by splitting (StochasTok, Sims 2025): in training, this share of the pieces comes as two halves."""
    label_smoothing: float = 0.1
    """Label smoothing (Szegedy 2016): this share of the target probability is spread over all words."""
    init_from: str = ""
    """Fine-tune: start from a trained model (a folder, or the name of a bundled one); size and words are its own."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "vocab": (4, 10**7),
        "limit": (3, 10**6),
        "bpe_dropout": (0, 1),
        "label_smoothing": (0, 1),
    }


class Start(NamedTuple):
    """What a training begins with."""

    family: "Family"
    model: Any
    tokenizer: "Tokenizer"
    card: Mapping[str, Any]  # of the trained model it begins from, if it does

    @property
    def title(self) -> str:
        """What the model is, in words."""
        attention = getattr(self.model.config, "attention", "")
        names = {"none": "without attention", "concat": "with additive attention after each word"}
        if self.family.name == "seq2seq":
            return f"recurrent network {names.get(attention, f'with {attention} attention')}"
        return self.family.name.capitalize()


def check(recipe: Writer) -> None:
    """Refuse flags that a trained model has answered already, before any data are read."""
    usual = {field.name: field.default for field in fields(recipe)}
    useless = [name for name in OF_THE_MODEL if getattr(recipe, name) != usual[name]]
    if recipe.init_from and useless:
        raise ValueError(
            f"--init-from {recipe.init_from} brings its own model and tokenizer, so --{useless[0]} would do nothing; "
            "leave it out, or train a new model without --init-from"
        )


def start(recipe: Writer, train: Pairs) -> Start:
    """A fresh model with a tokenizer learnt from the data, or a trained one with its own."""
    import torch

    from regard.recipes.choose import build
    from regard.text import Tokenizer

    torch.manual_seed(recipe.seed)
    if recipe.init_from:
        return load_trained(recipe.init_from)
    tokenizer = Tokenizer.train((text for pair in train for text in pair), vocab=recipe.vocab, lower=recipe.lower)
    decided: dict[str, Any] = {"vocab": tokenizer.vocab}
    if recipe.model.startswith("seq2seq"):
        decided["target"] = None  # one vocabulary for both sides
    family, model = build(recipe.model, recipe.set, decided)
    return Start(family, model, tokenizer, {})


def load_trained(wanted: str) -> Start:
    """A trained model to go on with, and its tokenizer."""
    from regard.data import DataError
    from regard.hub import CheckpointError, load

    try:
        found = load(wanted)
    except CheckpointError as error:
        raise DataError(f"training cannot begin from {wanted}: {error}") from None
    if found.family is None or found.tokenizer is None:
        raise DataError(f"training cannot begin from {wanted}, which has no tokenizer; give a model that writes text")
    return Start(found.family, found.model, found.tokenizer, found.card)


def story(card: Mapping[str, Any]) -> dict[str, Any]:
    """What the card of a model keeps of the one that it began from."""
    return {key: card[key] for key in STORY if key in card}


def task(
    recipe: Writer,
    begin: Start,
    train: Pairs,
    held: Pairs,
    *,
    name: str,
    metric: str,
    score: Callable[[Any], dict[str, float]],
    card: Mapping[str, Any],
    measure: Callable[[Any], Mapping[str, Any]] | None = None,
    notes: Sequence[str] = (),
) -> "Task":
    """The task of writing the second text of a pair from the first; `score` says how good what it writes is."""
    from regard.train.task import Task

    tokenizer, smoothing = begin.tokenizer, recipe.label_smoothing
    watched = batches(recipe, tokenizer, held, tokens=max(recipe.tokens, 2000))
    before = story(begin.card)
    facts = {"vocab": tokenizer.vocab, "lower": tokenizer.lower}
    return Task(
        model=begin.model,
        family=begin.family,
        tokenizer=tokenizer,
        batches=batches(recipe, tokenizer, train, tokens=recipe.tokens, bpe_dropout=recipe.bpe_dropout),
        size=words_in,
        loss=lambda model, batch: loss(model, batch, pad=tokenizer.pad or 0, label_smoothing=smoothing),
        score=lambda model: {**score(model), "val_loss": val_loss(model, watched, tokenizer.pad or 0)},
        metric=metric,
        higher_is_better=(metric, "exact"),
        show=lambda model: samples(name, model, tokenizer, held[:SHOWN], recipe.limit),
        task=name,
        card={**card, "lower": tokenizer.lower, **({"before": before} if before else {})},
        trained_with=facts | ({"model": None, "set": None} if before else {}),
        measure=measure,
        notes=notes,
    )


def batches(
    recipe: Writer, tokenizer: "Tokenizer", pairs: Pairs, *, tokens: int, bpe_dropout: float = 0.0
) -> "Batches[Batch]":
    """Pairs as padded ids, in an order that resumes."""
    from regard.data import split, token_batches

    halves = tokenizer.halves() if bpe_dropout else []
    return token_batches(
        tokenizer.encode([source for source, _ in pairs], stop=True, limit=recipe.limit),
        tokenizer.encode([target for _, target in pairs], start=True, stop=True, limit=recipe.limit),
        tokens=tokens,
        seed=recipe.seed,
        pad=tokenizer.pad or 0,
        vary=(lambda rows, chance: split(rows, halves, bpe_dropout, chance)) if bpe_dropout else None,
    )


def words_in(batch: "Batch") -> int:
    """How many words of a batch are predicted: all of the target but the start."""
    return int(batch.lengths[1].sum()) - len(batch.rows)


def loss(model: "nn.Module", batch: "Batch", *, pad: int, label_smoothing: float = 0.0) -> "Tensor":
    """The cross entropy of every next word, given those before it and the source."""
    import torch

    from regard.train.loss import cross_entropy

    device = next(iter(model.parameters())).device
    source, target = (torch.as_tensor(side, device=device) for side in batch.sides)
    lengths = torch.as_tensor(batch.lengths[0], device=device)
    logits = model(source, target[:, :-1], lengths=lengths)
    return cross_entropy(logits, target[:, 1:], label_smoothing=label_smoothing, ignore_index=pad)


def val_loss(model: "nn.Module", held: "Batches[Batch]", pad: int) -> float:
    """The mean cross entropy of a word of held-out text, in nats."""
    lost = [(loss(model, batch, pad=pad).item(), words_in(batch)) for batch in held.once()]
    return sum(each for each, _ in lost) / sum(count for _, count in lost)


def write(task: str, model: Any, tokenizer: "Tokenizer", texts: Sequence[str], limit: int) -> list[str]:
    """What a model writes greedily for a task, of texts that are cut off at a limit as they are in training."""
    from regard.pipelines.registry import pipeline

    found: Any = pipeline(task).of(model, tokenizer, limit=limit)
    return [each.text for each in found.write(found.encode(texts, cut=True), beam=1, batch=100)]


def samples(task: str, model: Any, tokenizer: "Tokenizer", held: Pairs, limit: int) -> list[dict[str, str]]:
    """Some held-out texts beside what the model makes of them."""
    written = write(task, model, tokenizer, [source for source, _ in held], limit)
    return [
        {"read": source, "wanted": target, "written": text}
        for (source, target), text in zip(held, written, strict=True)
    ]
