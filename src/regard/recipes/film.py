"""Films and sentences find each other (CLIP4Clip): which way things move, and who meets whom.

It begins with a CLIP that was taught pictures (`--clip`), as in the paper, or with none (`--clip ""`). A film is the
mean of its frames, a Transformer looks over them in their order, or over the frames and the sentence together (`--set
similarity=mean`, `sequential`, `tight`). Which way a thing moves is not in the mean: the score `ways` says how often
the sentence of a film is preferred to that of the same film backwards, where half is luck.

regard train film --out runs/film
regard evaluate runs/film world
regard match world:7 "The disc moves left." "The disc moves right." --model runs/film
regard train film --set similarity=mean
regard train film --set similarity=tight
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from regard.train.plan import Plan

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor, nn

    from regard.analysis.scores import Score
    from regard.chance import Chance
    from regard.data import Batches
    from regard.data.filmed import Films
    from regard.text import Tokenizer
    from regard.train.task import Task
    from regard.vision import Processor


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    model: str = "clip4clip-world"
    """The model, by the name of a preset of clip4clip."""
    set: tuple[str, ...] = ()
    """Fields of the preset to change, such as similarity=tight depth=4."""
    clip: str = "world-clip"
    """A trained CLIP to begin with (a folder, a bundled one, hub:owner/name); an empty name draws the preset's anew."""
    init: Literal["normal", "mimetic"] = "mimetic"
    """First weights of fresh attentions: drawn at random, or to look near (mimetic, Trockman 2023)."""
    films: int = 4000
    """How many films of the world to learn from."""
    frames: int = 8
    """Frames of a film."""
    batch_size: int = 32
    """Films in a batch, each with its sentences: all others of the batch are wrong answers."""
    tokens: int = 0
    """Of no use for films, which are counted by --batch-size."""
    watched: int = 300
    """Films that are searched in between."""
    steps: int = 1200
    """Optimizer steps: how many times the weights change."""
    optimizer: Literal["adamw", "muon", "sgd"] = "muon"
    """Muon (Jordan 2024), which needs fewer steps from scratch; AdamW (Loshchilov 2019); or SGD with momentum."""
    lr: float = 4e-3
    """Peak learning rate (the optimizer's step size)."""
    warmup: int = 100
    """Warm-up: steps in which the learning rate rises from zero to its peak."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "films": (2, 10**7),
        "frames": (1, 16),
        "batch_size": (2, 10**6),
        "tokens": (0, 0),
        "watched": (2, 10**6),
    }


class Shown(NamedTuple):
    """A batch of films and what is said of each; equal keys are equal texts."""

    film: "Tensor"
    ids: "Tensor"
    lengths: "Tensor"
    keys: "Tensor"


def build(recipe: Recipe) -> "Task":
    """A model that finds films by sentences, scored by how often it does."""
    from regard.data.filmed import world_films
    from regard.recipes.shown import count_learning, usual_processor
    from regard.train.task import Task

    train, held = (
        world_films(split, frames=recipe.frames, count=count)
        for split, count in (("train", recipe.films), ("val", recipe.watched))
    )
    family, model, tokenizer = begin(recipe, train)
    processor = usual_processor(model.config.size)
    return Task(
        model=model,
        family=family,
        tokenizer=tokenizer,
        processor=processor,
        batches=batches(recipe, tokenizer, processor, train, model.config.context),
        size=lambda batch: len(batch.keys),
        loss=loss,
        score=lambda model: {name: each.value for name, each in score(model, tokenizer, processor, held).items()},
        metric="text to image R@10",
        higher_is_better=("ways", *(f"{way} R@{k}" for way in ("image to text", "text to image") for k in (1, 5, 10))),
        unit="films",
        task="film",
        after_step=lambda model, _: _hold(model),
        card={
            "title": f"Films and sentences: clip4clip, {model.config.similarity}, world",
            "data": "world",
            **({"towers": {"clip": recipe.clip}} if recipe.clip else {}),
        },
        trained_with={"vocab": tokenizer.vocab, "size": model.config.size, "tokens": None},
        measure=lambda model: measure(recipe, model, tokenizer, processor),
        notes=[count_learning(model)],
    )


def begin(recipe: Recipe, train: "Films") -> tuple[Any, Any, "Tokenizer"]:
    """A model whose CLIP may be trained already, and a tokenizer of the words that are said of films."""
    import torch

    from regard.layers.mimetic import mimetic
    from regard.recipes import choose
    from regard.text import Tokenizer

    torch.manual_seed(recipe.seed)
    family = choose.family_of(recipe.model)
    if family.name != "clip4clip":
        raise ValueError(f"{recipe.model} is a {family.name}, which sees no films; choose a preset of clip4clip")
    tokenizer = Tokenizer.train(train.texts, vocab=1000, kind="words", lower=True)
    config: Any = replace(family.presets[recipe.model], **choose.parse(family, recipe.set))
    found = _trained_clip(recipe.clip) if recipe.clip else None
    still = config.clip if found is None else found.model.config
    text = replace(still.text, vocab=tokenizer.vocab)
    # A bias changes no choice among films and texts, so that nothing would teach it.
    model: Any = family.model(replace(config, frames=recipe.frames, clip=replace(still, text=text, bias=False)))
    if recipe.init == "mimetic":
        mimetic(model)
    if found is not None:
        _carry_over(found, model.clip, tokenizer)
    return family, model, tokenizer


def _trained_clip(name: str) -> Any:
    from regard.data import DataError
    from regard.hub import CheckpointError, load
    from regard.models.clip import CLIP, Text

    try:
        found = load(name)
    except CheckpointError as error:
        raise DataError(f"--clip {name} cannot be read: {error}") from None
    if not isinstance(found.model, CLIP) or not isinstance(found.model.config.text, Text) or found.tokenizer is None:
        raise ValueError(f"--clip {name} is no CLIP with a tokenizer; give one, say world-clip")
    return found


def _carry_over(found: Any, clip: Any, tokenizer: "Tokenizer") -> None:
    """Give a CLIP the weights of a trained one; of its words, those that the trained one knows too."""
    import torch

    embedding = "text.embed.weight"
    trained = found.model.state_dict()
    words = trained.pop(embedding)
    trained.pop("bias", None)
    missing, unexpected = clip.load_state_dict(trained, strict=False)
    if missing != [embedding] or unexpected:
        raise ValueError(f"{found.name} has other weights than its config says: {[*missing, *unexpected]}")
    places = {found.tokenizer.entry(i): i for i in range(found.tokenizer.vocab)}
    known = [(i, places[tokenizer.entry(i)]) for i in range(tokenizer.vocab) if tokenizer.entry(i) in places]
    with torch.no_grad():
        for mine, theirs in known:
            clip.text.embed.weight[mine] = words[theirs]


def batches(
    recipe: Recipe, tokenizer: "Tokenizer", processor: "Processor", known: "Films", context: int
) -> "Batches[Shown]":
    """Films with what is said of them, in any order."""
    from zlib import crc32

    import torch

    from regard.data import Batches, Order
    from regard.pipelines.match import encode

    rows, pixels = encode(tokenizer, known.texts, limit=context), known.pixels(processor.size.height or 0)
    keys = torch.tensor([crc32(text.encode()) for text in known.texts])

    def collate(chosen: Any, _: "Chance | None") -> Shown:
        ids, lengths = _side_by_side(tokenizer, [rows[i] for i in chosen.tolist()])
        return Shown(_frames(processor, pixels[chosen]), ids, lengths, keys[chosen])

    order = Order(
        [1] * len(known),
        room=min(recipe.batch_size, len(known)),
        seed=recipe.seed,
        data=crc32(repr(known.texts).encode()),
    )
    return Batches(order, collate)


def loss(model: "nn.Module", batch: Shown) -> "Tensor":
    """The summed loss of choosing films by texts and texts by films, among those of the batch."""
    from regard.train.contrastive import choose_each_other

    inner: Any = getattr(model, "module", model)
    film, ids, lengths, keys = (each.to(next(iter(model.parameters())).device) for each in batch)
    seen = model(film, ids, lengths=lengths)
    return choose_each_other(inner.compare(seen.frames, seen.text), keys)


def score(model: Any, tokenizer: "Tokenizer", processor: "Processor", known: "Films") -> "dict[str, Score]":
    """How often films and texts find each other, and how often a text is preferred to that of the film backwards."""
    from pathlib import Path

    from regard.hub import Checkpoint
    from regard.pipelines.film import Filming

    return Filming(Checkpoint(model, None, tokenizer, {}, Path(), "model", processor=processor)).score(known)


def measure(recipe: Recipe, model: Any, tokenizer: "Tokenizer", processor: "Processor") -> dict[str, Any]:
    """What the card says: every score on the test with its interval."""
    from regard.data.filmed import world_films
    from regard.recipes.tuning import told

    test = world_films("test", frames=recipe.frames, count=min(recipe.watched, 500))
    return told("test", score(model, tokenizer, processor, test))


def _hold(model: Any) -> None:
    from regard.models.clip import MOST

    model.clip.log_scale.clamp_(max=MOST)


def _side_by_side(tokenizer: "Tokenizer", rows: "list[list[int]]") -> "tuple[Tensor, Tensor]":
    import torch

    from regard.data.padded import put_side_by_side

    ids, lengths = put_side_by_side(rows, tokenizer.pad or 0)
    return torch.from_numpy(ids), torch.from_numpy(lengths)


def _frames(processor: "Processor", pixels: "np.ndarray") -> "Tensor":
    """Films "b f s s 3" as the model sees them."""
    import torch

    return torch.unflatten(processor.numbers(pixels.reshape(-1, *pixels.shape[2:])), 0, pixels.shape[:2])
