"""Image captioning: train a model that says what a picture shows, in four ways.

From one vector of the picture (`-fixed`), with soft or hard attention before each word (`-soft`, `-hard`: Show, Attend
and Tell, Xu 2015), or by a Transformer over a CNN (`-cnn`) or over a ViT (`-vit`). A frozen tower sees each picture
once; its features are kept in the cache. Your own folder has captions.jsonl or captions.tsv beside its pictures.

regard train caption
regard train caption --model caption-world-soft --doubly 0.05
regard train caption --data flickr8k --lower --model caption-flickr8k-soft --tower efficientnet-lite0.pth --pickle
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from regard.train.plan import Plan

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from regard.chance import Chance
    from regard.data import Batches
    from regard.data.captioned import Captioned
    from regard.text import Tokenizer
    from regard.train.task import Task
    from regard.vision import Processor

WATCHED = 200  # pictures that are scored on the way; at the end all are
SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    data: str = "world"
    """The world (`world/3-4`: of three or four things), a named set with captions, or a folder of your own."""
    model: str = "caption-world-cnn"
    """The model, by the name of a preset of caption."""
    set: tuple[str, ...] = ()
    """Fields of the preset to change, such as way=hard depth=3 cell=gru estimator=reinforce."""
    tower: str = ""
    """A trained model of pictures to see with: a folder, hub:owner/name, or a file; a frozen tower needs one."""
    pickle: bool = False
    """Also take a tower from a pickle, such as a .pth: of a file that you trust, tensors and plain values alone."""
    init: Literal["normal", "mimetic"] = "mimetic"
    """First weights of attentions: drawn at random, or to look near (mimetic, Trockman 2023)."""
    size: int = 0
    """Side of the pictures in pixels, which are squeezed to squares; 0 is the preset's."""
    batch_size: int = 64
    """Captions in a batch, each with its picture."""
    tokens: int = 0
    """Batch size in tokens, in place of --batch-size: captions of equal length side by side, so that none is padded."""
    vocab: int = 4000
    """Vocabulary size of the byte pair encoding."""
    lower: bool = False
    """Lower-case all captions."""
    longest: int = 60
    """Maximum length of a caption in tokens; longer ones are cut off."""
    mirror: bool = True
    """Show half of the pictures in a mirror, with their captions changed to fit; not where features are kept."""
    move: int = 0
    """Move pictures by up to so many pixels in either direction; not where features are kept."""
    doubly: float = 0.0
    """Doubly stochastic attention (Xu 2015, §4.2.1): how much it costs if a cell is not looked at about once in all."""
    label_smoothing: float = 0.0
    """Label smoothing (Szegedy 2016): this share of the target probability is spread over all words."""
    beam: int = 3
    """Beam size by which the finished model is measured."""
    limit: int = 0
    """Learn from so many pictures; 0 takes all."""
    steps: int = 3000
    """Optimizer steps: how many times the weights change."""
    optimizer: Literal["adamw", "muon", "sgd"] = "muon"
    """Muon (Jordan 2024), which needs fewer steps from scratch; AdamW (Loshchilov 2019); or SGD with momentum."""
    lr: float = 2e-3
    """Peak learning rate (the optimizer's step size)."""
    warmup: int = 100
    """Warm-up: steps in which the learning rate rises from zero to its peak."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "size": (0, 10**4),
        "batch_size": (1, 10**6),
        "tokens": (0, 10**9),
        "vocab": (4, 10**7),
        "longest": (3, 10**4),
        "move": (0, 1000),
        "doubly": (0, 1000),
        "label_smoothing": (0, 1),
        "beam": (1, 100),
        "limit": (0, 10**9),
    }


class Shown(NamedTuple):
    """A batch of pictures, or of what a frozen tower saw in them, and a caption of each between start and stop."""

    image: "Tensor | None"
    features: "Tensor | None"
    target: "Tensor"
    lengths: "np.ndarray"  # of the targets, without padding
    rows: "np.ndarray"


class Begin(NamedTuple):
    """What a training begins with."""

    family: Any
    model: Any
    tokenizer: "Tokenizer"
    processor: "Processor"
    before: Mapping[str, Any]  # the story of the tower, where it was trained before


def build(recipe: Recipe) -> "Task":
    """A model that captions, scored by exact sentences in the world and by CIDEr elsewhere."""
    from regard.data import SETS
    from regard.data.captions import captioned, first
    from regard.train.task import Task

    train, held = captioned(recipe.data, "train", limit=recipe.limit), captioned(recipe.data, "val")
    begin = start(recipe, train)
    world = train.truth is not None
    metric = "exact" if world else "cider"
    watched = first(held, WATCHED)
    scored = batches(recipe, begin, watched)
    card: dict[str, Any] = {
        "title": f"What pictures show, in words: {begin.model.config.way}, {recipe.data}",
        "data": recipe.data,
        "lower": begin.tokenizer.lower,
        "languages": ["en"] if world or recipe.data == "flickr8k" else [],
    }
    card |= {"terms": SETS[recipe.data].terms} if recipe.data in SETS else {}
    return Task(
        model=begin.model,
        family=begin.family,
        tokenizer=begin.tokenizer,
        processor=begin.processor,
        batches=batches(recipe, begin, train, learn=True),
        size=words_in,
        loss=lambda model, batch: loss(recipe, model, batch, pad=begin.tokenizer.pad or 0),
        score=lambda model: score(recipe, begin, model, watched, scored),
        metric=metric,
        higher_is_better=("exact", "attributes", "cider", "bleu4"),
        show=lambda model: samples(recipe, begin, model, first(held, SHOWN)),
        task="caption",
        card=card | ({"tower": dict(begin.before)} if begin.before else {}),
        trained_with={"vocab": begin.tokenizer.vocab, "size": begin.processor.size.height},
        measure=lambda model: measure(recipe, begin, model),
        notes=notes(begin),
    )


def start(recipe: Recipe, train: "Captioned") -> Begin:
    """A fresh model around a fresh or a trained tower, with a tokenizer learnt from the captions."""
    import torch

    from regard.layers.mimetic import mimetic
    from regard.recipes import choose
    from regard.recipes.shown import trained_tower, usual_processor, without_head
    from regard.text import Tokenizer

    torch.manual_seed(recipe.seed)
    family = choose.family_of(recipe.model)
    if family.name != "caption":
        raise ValueError(f"{recipe.model} is a {family.name}, which writes no captions; choose a preset of caption")
    said = (caption for some in train.captions for caption in some)
    tokenizer = Tokenizer.train(said, vocab=recipe.vocab, lower=recipe.lower)
    config = replace(family.presets[recipe.model], **choose.parse(family, recipe.set), vocab=tokenizer.vocab)
    if config.way not in ("soft", "hard"):
        choose.refuse(recipe, ("doubly",), f"on a model whose way is {config.way}")
    if config.frozen and not recipe.tower:
        raise ValueError(
            f"{recipe.model} keeps its tower as it was trained, and none is named; give --tower, or let it learn by "
            "--set frozen=false"
        )
    size = recipe.size or config.tower.size
    found = trained_tower(recipe.tower, pickle=recipe.pickle) if recipe.tower else None
    seen = replace(config.tower if found is None else found.model.config, size=size, classes=0)
    model: Any = family.model(replace(config, tower=seen))
    if recipe.init == "mimetic":
        mimetic(model)
    before: dict[str, Any] = {}
    if found is not None:
        model.tower.load_state_dict(without_head(found.model))
        before = {"name": found.name, **({"data": found.card["data"]} if "data" in found.card else {})}
    return Begin(family, model, tokenizer, usual_processor(size, found), before)


def batches(recipe: Recipe, begin: Begin, known: "Captioned", *, learn: bool = False) -> "Batches[Shown]":
    """Captions with their pictures, varied each time they are met; of a frozen tower, with what it saw."""
    import torch

    from regard.data import Batches, Order
    from regard.data.contents import contents
    from regard.data.padded import put_side_by_side
    from regard.recipes.shown import plain_name, vary
    from regard.train.features import pixels_of, tower_features

    tokenizer, processor = begin.tokenizer, begin.processor
    pairs = known.pairs()
    ids = tokenizer.encode([known.captions[i][j] for i, j in pairs], start=True, stop=True, limit=recipe.longest)
    frozen, learn = begin.model.config.frozen, learn and not begin.model.config.frozen
    mirrored = (
        tokenizer.encode([known.mirror(i, j) for i, j in pairs], start=True, stop=True, limit=recipe.longest)
        if learn and recipe.mirror
        else ids
    )
    name = plain_name(recipe.data)
    seen = (
        tower_features(begin.model.tower, known, processor, name=name)
        if frozen
        else pixels_of(known, processor, name=name)
    )

    def collate(rows: Any, chance: "Chance | None") -> Shown:
        chosen, shown = [ids[row] for row in rows.tolist()], seen[[pairs[row][0] for row in rows.tolist()]]
        if frozen:
            image, features = None, torch.from_numpy(shown)
        else:
            if chance is not None:
                turned = [mirrored[row] for row in rows.tolist()]
                shown = vary(shown, chosen, turned, chance, mirror=recipe.mirror, move=recipe.move)
            image, features = processor.numbers(shown), None
        padded, lengths = put_side_by_side(chosen, tokenizer.pad or 0)
        return Shown(image, features, torch.from_numpy(padded), lengths, rows)

    sizes = [len(row) for row in ids] if recipe.tokens else [1] * len(ids)
    room = max(recipe.tokens, max(sizes)) if recipe.tokens else min(recipe.batch_size, len(ids))
    order = Order(sizes, room=room, seed=recipe.seed, data=known.checksum, contents=contents(known.source))
    return Batches(order, collate)


def words_in(batch: Shown) -> int:
    """How many words of a batch are predicted: all of the target but the start."""
    return int(batch.lengths.sum()) - len(batch.rows)


def loss(recipe: Recipe, model: Any, batch: Shown, *, pad: int) -> "Tensor":
    """The cross entropy of every next word, summed; and what attention costs that leaves cells unseen."""
    import torch

    from regard.train.loss import cross_entropy

    device = next(iter(model.parameters())).device
    target = batch.target.to(device)
    image, features = (None if each is None else each.to(device) for each in (batch.image, batch.features))
    if image is not None:
        image = image.to(memory_format=torch.channels_last)
    told = model.tell(image, target[:, :-1], features=features)
    wanted = target[:, 1:]
    lost = cross_entropy(told.logits, wanted, label_smoothing=recipe.label_smoothing, ignore_index=pad)
    if told.weights is not None and recipe.doubly and model.training:
        looked = (told.weights * (wanted != pad)[..., None]).sum(dim=1)
        lost = lost + recipe.doubly * (1 - looked).square().sum()
    if told.log_prob is not None and model.config.estimator == "reinforce" and model.training:
        lost = lost + reinforce(told, wanted, pad)
    return lost


def reinforce(told: Any, wanted: "Tensor", pad: int) -> "Tensor":
    """What makes lucky choices of cells likelier (Xu 2015, §4.1).

    The reward of a caption is its mean log probability. The baseline is the mean of the batch and no running one, so
    that a step depends on nothing before it.
    """
    real = wanted != pad
    words = told.logits.detach().float().log_softmax(dim=-1).gather(-1, wanted[..., None])[..., 0] * real
    reward = words.sum(dim=1) / real.sum(dim=1).clamp(min=1)
    found: Tensor = -((reward - reward.mean())[:, None] * told.log_prob * real).sum()
    return found


def score(recipe: Recipe, begin: Begin, model: Any, known: "Captioned", held: "Batches[Shown]") -> dict[str, float]:
    """The loss of a word, and how good what the model writes greedily is."""
    from regard.analysis import captioning, described

    lost, words, said = 0.0, 0, dict[int, str]()
    pairs, pipeline = known.pairs(), _pipeline(begin, model, recipe)
    for batch in held.once():
        lost += loss(recipe, model, batch, pad=begin.tokenizer.pad or 0).item()
        words += words_in(batch)
        chosen = [k for k, row in enumerate(batch.rows.tolist()) if pairs[row][1] == 0]
        if chosen:
            image, features = (None if each is None else each[chosen] for each in (batch.image, batch.features))
            written = pipeline.write(image, features=features, beam=1)
            said |= {pairs[batch.rows[k]][0]: each.text for k, each in zip(chosen, written, strict=True)}
    texts = [said[i] for i in range(len(known))]
    found = {"val_loss": lost / words}
    if known.truth is None:
        return found | {
            "cider": 100 * sum(captioning.ciders(texts, known.captions)) / len(texts),
            "bleu4": captioning.corpus_bleu(texts, known.captions),
        }
    scenes = [known.truth(i).picture.scene for i in range(len(known))]
    right = [hit for text, scene in zip(texts, scenes, strict=True) for hit in described.hits(text, scene)]
    exact = [described.is_exact(text, scene) for text, scene in zip(texts, scenes, strict=True)]
    return found | {"exact": 100 * sum(exact) / len(exact), "attributes": 100 * sum(right) / len(right)}


def samples(recipe: Recipe, begin: Begin, model: Any, some: "Captioned") -> list[dict[str, str]]:
    """Some held-out pictures and what the model says of them."""
    written = _pipeline(begin, model, recipe)([some.picture(i) for i in range(len(some))], beam=1)
    return [
        {"read": some.names[i] if some.names else str(i), "wanted": some.captions[i][0], "written": each.text}
        for i, each in enumerate(written)
    ]


def measure(recipe: Recipe, begin: Begin, model: Any) -> dict[str, Any]:
    """What the card says: every score with its interval on the validation data, and on the test, where there is one."""
    from regard.data import DataError
    from regard.recipes.tuning import told

    found: dict[str, Any] = {"beam": recipe.beam}
    for split in ("val", "test"):
        try:
            scored = _pipeline(begin, model, recipe).evaluate(recipe.data, split=split, beam=recipe.beam)
        except (DataError, ValueError):  # a folder need not have a test
            continue
        found |= told(split, {name: each for name, each in scored.scores.items() if "/" not in name})
    return found


def notes(begin: Begin) -> Sequence[str]:
    """How much of the model learns."""
    from regard.recipes.shown import count_learning

    seen = f"; the tower is {begin.before['name']}" if begin.before else ""
    return [f"{count_learning(begin.model)}{seen}"]


def _pipeline(begin: Begin, model: Any, recipe: Recipe) -> Any:
    from pathlib import Path

    from regard.hub import Checkpoint
    from regard.pipelines.registry import pipeline

    checkpoint = Checkpoint(model, begin.family, begin.tokenizer, {}, Path(), "model", processor=begin.processor)
    return pipeline("caption")(checkpoint, limit=recipe.longest)
