"""Contrastive language–image training (CLIP): pictures and their captions learn to find each other.

Each picture must choose its caption among those of the batch, and each caption its picture (`--loss softmax`, Radford
2021); or each pair says alone whether it belongs together (`sigmoid`, SigLIP, Zhai 2023). Large batches fit into memory
by `--chunk`. Towers that were trained before may stay as they are (`--freeze`); what they make of pictures and captions
is then kept in the cache. A whole model that was trained before goes on with pictures and captions of your own.

regard train match
regard train match --loss sigmoid --set bias=true
regard train match --model groupvit-world --out runs/groups
regard evaluate runs/groups world/1-2
regard train match --data flickr8k --model clip-flickr8k --tower efficientnet-lite0-57934424.pth --pickle --text minilm
regard train match --data my-photos --model hub:openai/clip-vit-base-patch32 --batch-size 64
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from regard.train.plan import Plan

if TYPE_CHECKING:
    from torch import Tensor, nn

    from regard.recipes.matched import Begin, Pairs, Rows
    from regard.train.task import Task

TRAINED_LR, FRESH_LR = 1e-4, 4e-3
NOVEL = 500  # pictures with pairs that were never seen together, for the score on the way
WATCHED = 1000  # pictures that are retrieved among on the way


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    data: str = "world"
    """The world (`world/1-3`: of one to three things), a named set with captions, or a folder of your own."""
    model: str = "clip-world-resnet"
    """A trained model to begin with (a folder, a bundled one, hub:owner/name), or a preset that is drawn anew: of clip,
    or of groupvit, which also segments what it sees."""
    set: tuple[str, ...] = ()
    """Fields of the preset to change, such as joint=256 pool=attention bias=true."""
    tower: str = ""
    """A trained model of pictures to see with: a folder, hub:owner/name, or a file; without it, it is drawn anew."""
    text: str = ""
    """A trained BERT to read with, and its tokenizer: a folder or hub:owner/name; without it, it is drawn anew."""
    pickle: bool = False
    """Also take a tower from a pickle, such as a .pth: of a file that you trust, tensors and plain values alone."""
    freeze: Literal["trained", "image", "text", "both", "none"] = "trained"
    """Towers that stay as they are, and whose features are kept: those of --tower and --text, or as you say."""
    tower_lr: float = 1.0
    """Towers of --tower and --text that are not frozen learn at this share of the learning rate, say 0.1."""
    init: Literal["normal", "mimetic"] = "mimetic"
    """First weights of fresh attentions: drawn at random, or to look near (mimetic, Trockman 2023)."""
    size: int = 0
    """Side of the pictures in pixels, which are squeezed to squares; 0 is the preset's."""
    batch_size: int = 128
    """Pictures in a batch, each with one of its captions: all others of the batch are wrong answers."""
    tokens: int = 0
    """Of no use for pairs, which are counted by --batch-size."""
    chunk: int = 0
    """Gradient caching (Gao 2021): read so many of a batch at once, and again for gradients; 0 reads all at once."""
    loss: Literal["softmax", "sigmoid"] = "softmax"
    """Choose among the batch (CLIP), or judge each pair alone (SigLIP, with --set bias=true)."""
    gather: bool = True
    """Under torchrun, tell the pairs of all processes apart, and not those of each process alone."""
    vocab: int = 4000
    """Vocabulary size of a fresh tokenizer, in pieces of words."""
    lower: bool = True
    """Lower-case all captions, for a fresh tokenizer."""
    mirror: bool = True
    """Show half of the pictures in a mirror, with their captions changed to fit; not where features are kept."""
    move: int = 4
    """Move pictures by up to so many pixels in either direction; not where features are kept."""
    limit: int = 0
    """Learn from so many pictures; 0 takes all."""
    steps: int = 1500
    """Optimizer steps: how many times the weights change."""
    optimizer: Literal["adamw", "muon", "sgd"] = "muon"
    """Muon (Jordan 2024), which needs fewer steps from scratch; AdamW (Loshchilov 2019); or SGD with momentum."""
    lr: float = 0.0
    """Peak learning rate (the optimizer's step size); 0 is 4e-3 for a fresh model and 1e-4 for a trained one."""
    warmup: int = 100
    """Warm-up: steps in which the learning rate rises from zero to its peak."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "size": (0, 10**4),
        "batch_size": (2, 10**6),
        "tokens": (0, 0),
        "chunk": (0, 10**6),
        "vocab": (4, 10**7),
        "move": (0, 1000),
        "limit": (0, 10**9),
        "lr": (0, 1e3),
        "tower_lr": (0, 1),
    }


def build(recipe: Recipe) -> "Task":
    """Two towers that agree, scored by retrieval; in the world also by naming pairs that were never seen together."""
    from regard.data import SETS
    from regard.data.captions import captioned, first
    from regard.recipes import choose
    from regard.recipes.matched import batches, read, rows_of, start
    from regard.train.task import Task

    if recipe.text:
        choose.refuse(recipe, ("vocab", "lower"), "with --text, which brings a tokenizer along")
    train, held = read(recipe), captioned(recipe.data, "val")
    begin = start(recipe, train)
    if recipe.tower_lr != 1 and not set(begin.before) - begin.frozen:
        raise ValueError(
            f"--tower-lr {recipe.tower_lr} is for towers of --tower and --text that learn; let them by --freeze none"
        )
    world = train.truth is not None
    watched = first(held, WATCHED)
    title = f"Pictures and texts: {begin.family.name}, {recipe.data}"
    card: dict[str, Any] = {"title": title, "data": recipe.data}
    card |= {"languages": ["en"]} if world or recipe.data == "flickr8k" else {}
    card |= {"terms": SETS[recipe.data].terms} if recipe.data in SETS else {}
    novel = _novel(begin) if world else None
    scored = rows_of(recipe, begin, watched)
    return Task(
        model=begin.model,
        family=begin.family,
        tokenizer=begin.tokenizer,
        processor=begin.processor,
        batches=batches(recipe, begin, train),
        size=lambda batch: len(batch.keys),
        loss=lambda model, batch: loss(recipe, model, batch),
        score=lambda model: score(begin, model, scored, novel),
        metric="r1",  # R@10 is soon full on the world; and not by unseen pairs, which the card reports
        higher_is_better=("novel", "r1", "r10", "image_to_text", "text_to_image"),
        unit="pairs",
        settled={} if recipe.lr else {"lr": TRAINED_LR if begin.story else FRESH_LR},
        parameter_groups=None if recipe.tower_lr == 1 else lambda model: groups(recipe, begin, model),
        after_step=lambda model, _: hold(model),
        task="match",
        card=card
        | ({"towers": dict(begin.before)} if begin.before else {})
        | ({"before": dict(begin.story)} if begin.story else {}),
        trained_with={"vocab": begin.tokenizer.vocab, "size": begin.model.config.size, "tokens": None},
        measure=lambda model: measure(recipe, begin, model),
        notes=notes(begin),
    )


def loss(recipe: Recipe, model: "nn.Module", batch: "Pairs") -> "Tensor":
    """The summed loss of the pairs of a batch, which may be those of all processes."""
    from regard.train.contrastive import contrast

    device = next(iter(model.parameters())).device
    given = {name: each.to(device) for name, each in batch._asdict().items() if each is not None and name != "keys"}
    matched = model(**given, **({"chunk": recipe.chunk} if recipe.chunk else {}))
    return contrast(matched, batch.keys.to(device), loss=recipe.loss, gathered=recipe.gather)


def groups(recipe: Recipe, begin: "Begin", model: "nn.Module") -> "list[dict[str, Any]]":
    """Matrices, and vectors without weight decay; of towers that were trained before, at a smaller learning rate."""
    found: dict[tuple[bool, bool], dict[str, Any]] = {}
    for name, parameter in model.named_parameters():
        trained, vector = name.partition(".")[0] in begin.before, parameter.ndim < 2
        usual = {"params": [], "lr_scale": recipe.tower_lr if trained else 1.0} | (
            {"weight_decay": 0.0} if vector else {}
        )
        found.setdefault((trained, vector), usual)["params"].append(parameter)
    return list(found.values())


def hold(model: "nn.Module") -> None:
    """Cosines are never multiplied by more than 100 (Radford 2021, §2.5)."""
    from regard.models.clip import CLIP, MOST
    from regard.models.groupvit import GroupViT

    if isinstance(model, CLIP | GroupViT):
        model.log_scale.clamp_(max=MOST)


def _novel(begin: "Begin") -> "tuple[Tensor, list[int], list[str]]":
    """Pictures of pairs of colour and kind that were never seen together, the number of the class of each, and all."""
    import torch

    from regard.data.strange import world_strange

    known = world_strange("novel")
    pixels = torch.cat([begin.processor(known.picture(i)) for i in range(NOVEL)])
    return pixels, known.targets[:NOVEL].tolist(), list(known.labels)


def score(
    begin: "Begin", model: Any, rows: "Rows", novel: "tuple[Tensor, list[int], list[str]] | None"
) -> dict[str, float]:
    """Recall among the 10 nearest, both ways; and the accuracy of naming what was never seen."""
    import numpy as np
    import torch

    from regard.analysis.retrieval import ranks
    from regard.analysis.zero_shot import WORLD, class_vectors
    from regard.pipelines.match import encode
    from regard.recipes.matched import seen_vectors, text_vectors, told_vectors

    owners = np.repeat(np.arange(len(rows.first) - 1), np.diff(rows.first))
    alike = seen_vectors(begin, model, rows) @ told_vectors(begin, model, rows).T
    to_text, to_image = ranks(alike.float().cpu().numpy(), owners)
    found = {"image_to_text": 100 * float((to_text < 10).mean()), "text_to_image": 100 * float((to_image < 10).mean())}
    found |= {"r10": sum(found.values()) / 2, "r1": 50 * float((to_text < 1).mean() + (to_image < 1).mean())}
    if novel is not None:
        pixels, targets, labels = novel
        classes = class_vectors(lambda some: text_vectors(begin, model, encode(begin.tokenizer, some)), labels, WORLD)
        seen = torch.cat([model.encode_image(part.to(classes.device)) for part in pixels.split(64)])
        said = (seen @ classes.T).argmax(dim=1).cpu()
        found["novel"] = 100 * float((said == torch.tensor(targets)).float().mean())
    return found


def measure(recipe: Recipe, begin: "Begin", model: Any) -> dict[str, Any]:
    """What the card says: retrieval on the validation data and the test; in the world, naming with every shift.

    What a GroupViT segments is scored beside its retrieval.
    """
    from pathlib import Path

    from regard.data import DataError
    from regard.data.strange import STRANGE
    from regard.hub import Checkpoint
    from regard.pipelines.registry import pipeline
    from regard.recipes.tuning import told

    checkpoint = Checkpoint(model, begin.family, begin.tokenizer, {}, Path(), "model", processor=begin.processor)
    matching, found = pipeline("match")(checkpoint), dict[str, Any]()
    world = recipe.data.startswith("world")
    data = "world/1-2" if recipe.data == "world" else recipe.data
    for split in ("val", "test"):
        try:
            found |= told(split, matching.evaluate(data, split=split).scores)
        except (DataError, ValueError):  # a folder need not have a test
            continue
    for name in ("world", *(f"world/{each}" for each in STRANGE)) if world else ():
        found |= told(name, matching.evaluate(name, split="test", limit=NOVEL).scores)
    return found


def notes(begin: "Begin") -> "Sequence[str]":
    """How much of the model learns."""
    from regard.recipes.shown import count_learning

    towers = "".join(f"; its {name} tower is {which}" for name, which in begin.before.items())
    story = "; all weights are carried over" if begin.story else ""
    return [f"{count_learning(begin.model)}{towers}{story}"]
