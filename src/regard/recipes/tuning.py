"""What every fine-tuning shares: a model to begin with, what of it learns, and the flags that follow from both."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from regard.train.plan import Plan

if TYPE_CHECKING:
    from torch import nn

    from regard.analysis.scores import Score
    from regard.models import gpt_tasks
    from regard.models.family import Family
    from regard.text import Tokenizer

# Where nobody says otherwise, of a trained model and of a fresh one.
TRAINED_LR, FRESH_LR = 1e-4, 2e-3
EPOCHS, FRESH_STEPS = 3.0, 1200
_SECOND_HEADS = ("distill_head.", "teacher_head.")  # of DeiT and LeViT


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning(Plan):
    model: str = ""
    """A trained model to begin with (a folder, a bundled one, hub:owner/name), or a preset that is drawn anew."""
    pickle: bool = False
    """Also begin with weights in a pickle, such as a .pth: of a file that you trust, tensors and plain values alone."""
    set: tuple[str, ...] = ()
    """Fields of the model to change, such as dropout=0.2; of a preset also width=192 depth=6."""
    lora: int = 0
    """LoRA (Hu 2021): learn a change of this rank beside each frozen matrix, and the head; 0 learns the matrices."""
    lora_layers: tuple[str, ...] = ("q", "v")
    """The linear layers that LoRA changes, by the ends of their names: q k v out up down gate."""
    freeze: str = "none"
    """Freeze the embeddings and so many first layers: none, 0, 1, 2, …; `all` learns the head alone."""
    layer_decay: float = 1.0
    """Each layer learns at this share of the learning rate of the layer above it (Clark 2020), say 0.9."""
    epochs: float = 0.0
    """Passes over the data, in place of --steps; where both are 0, a trained model makes 3, a fresh one 1200 steps."""
    steps: int = 0
    """Optimizer steps: how many times the weights change; 0 makes as many as --epochs need."""
    lr: float = 0.0
    """Peak learning rate (the optimizer's step size); 0 is 1e-4 for a trained model and 2e-3 for a fresh one."""
    warmup: int = 100
    """Warm-up: steps in which the learning rate rises from zero to its peak."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "steps": (0, 10**9),
        "lr": (0, 1e3),
        "epochs": (0, 10**6),
        "lora": (0, 10**5),
        "layer_decay": (0.01, 1.0),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTuning(Tuning):
    batch_size: int = 0
    """Texts in a batch, of any length; 0 is 32 for a trained model, and goes by --tokens for a fresh one."""
    limit: int = 0
    """Maximum length in tokens; longer texts are cut off. 0 is 128, or the model's context where that is shorter."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Tuning.bounds,
        "batch_size": (0, 10**6),
        "limit": (0, 10**6),
    }


class Begin(NamedTuple):
    """A model to begin with."""

    family: "Family"
    model: Any
    tokenizer: Any  # a Tokenizer; none of a model of pictures
    before: Mapping[str, Any]  # the story of a trained model; empty for a fresh one
    anew: tuple[str, ...]  # what is drawn anew of it, by the names of tensors
    processor: Any = None  # a Processor, of a model of pictures

    @property
    def trained(self) -> bool:
        return bool(self.before)


def begin(
    recipe: TextTuning,
    train: Callable[["Family"], "Tokenizer"],
    *,
    head: str,
    labels: Sequence[str] = (),
    task: "gpt_tasks.Task" = "classify",
) -> Begin:
    """The model of a recipe with a head, for so many labels.

    Of a trained model everything is carried over but a head that says other labels; a GPT gets the inputs of a `task`.
    A preset is drawn anew, and `train` makes its tokenizer.
    """
    import torch

    from regard.models import families
    from regard.recipes import choose

    torch.manual_seed(recipe.seed)
    if task != "classify" and recipe.model in {size for each in families().values() for size in each.presets}:
        raise ValueError(f"--inputs {task} is for a trained GPT, and {recipe.model} is drawn anew; leave it out")
    if recipe.model not in {size for each in families().values() for size in each.presets}:
        return _trained(recipe, head, labels, task)
    family = choose.family_of(recipe.model)
    decided = _decide(family, recipe.model, head, labels)
    tokenizer = train(family)
    _, model = choose.build(recipe.model, recipe.set, decided | {"vocab": tokenizer.vocab})
    return Begin(family, model, tokenizer, {}, tuple(model.state_dict()))


def _trained(recipe: TextTuning, head: str, labels: Sequence[str], task: "gpt_tasks.Task") -> Begin:
    import torch

    from regard.data import DataError
    from regard.hub import CheckpointError, load
    from regard.models import gpt_tasks
    from regard.models.gpt import GPT
    from regard.recipes import choose
    from regard.recipes.writer import story

    try:
        found = load(recipe.model, pickle=recipe.pickle)
    except CheckpointError as error:
        raise DataError(f"training cannot begin from {recipe.model}: {error}; presets: regard list models") from None
    if found.family is None or found.tokenizer is None:
        raise DataError(f"training cannot begin from {recipe.model}, which has no tokenizer; give a model of texts")
    torch.manual_seed(recipe.seed)
    if isinstance(found.model, GPT) and head == "classify":
        begun = gpt_tasks.of(found.model, task, len(labels), **choose.parse(found.family, recipe.set))
        new_head = ("classifier.weight", "classifier.bias")
        return Begin(gpt_tasks.FAMILY, begun, found.tokenizer, story(found.card) or {"name": found.name}, new_head)
    changes = choose.parse(found.family, recipe.set) | _decide(found.family, recipe.model, head, labels)
    config: Any = found.model.config
    if isinstance(config, gpt_tasks.Config):
        changes["task"] = task
    elif task != "classify":
        raise ValueError(f"--inputs {task} is for a GPT, and {recipe.model} is a {found.family.name}; leave it out")
    model: Any = found.family.model(replace(config, **changes))
    anew = carry_over(recipe, found, model, labels)
    return Begin(found.family, model, found.tokenizer, story(found.card) or {"name": found.name}, anew)


def carry_over(recipe: Tuning, found: Any, model: Any, labels: Sequence[str]) -> tuple[str, ...]:
    """Give a model the weights of a trained one but for a head that says other labels; what is drawn anew, by name."""
    mine, theirs = model.state_dict(), found.model.state_dict()
    same = list(found.card.get("labels") or ()) == list(labels)
    kept = {
        name: tensor
        for name, tensor in theirs.items()
        if name in mine and mine[name].shape == tensor.shape and (same or not _says_labels(name))
    }
    anew = tuple(name for name in mine if name not in kept)
    if body := [name for name in anew if not _of_the_head(name)]:
        raise ValueError(
            f"--set {' '.join(recipe.set)} changes the shape of {body[0]}, which was trained; leave it out"
        )
    model.load_state_dict(kept, strict=False)
    return anew


def _says_labels(name: str) -> bool:
    """Whether a tensor is of a classifier: of texts by that name, of pictures the head itself."""
    return "classifier" in name or name.startswith(("head.weight", "head.bias", *_SECOND_HEADS))


def _decide(family: "Family", name: str, head: str, labels: Sequence[str]) -> dict[str, Any]:
    """The fields of a config that a head and its labels decide; a model that has no such head is refused."""
    known = {field.name for field in fields(family.config)}
    if "head" not in known and not (head == "classify" and "classes" in known):
        raise ValueError(f"{name} is a {family.name}, which has no head {head!r}; choose an encoder, say of bert")
    if head == "classify" and not {"vocab", "classes"} <= known:
        raise ValueError(f"{name} begins with a trained GPT; give the folder of one")
    found: dict[str, Any] = {"classes": len(labels)} if labels else {}
    return found | ({"head": head} if "head" in known else {})


def _of_the_head(name: str) -> bool:
    return name.startswith(("head.", *_SECOND_HEADS)) or "classifier" in name


def restrict(recipe: Tuning, begin: Begin) -> Callable[["nn.Module"], None] | None:
    """Freeze what the recipe freezes, and adapt the rest by LoRA; what merges the adapters in the end, if there are."""
    from regard.layers.lora import adapt, merge
    from regard.train.optimizer import layers_of

    model, heights = begin.model, layers_of(begin.model)
    head = {name for name in heights if _of_the_head(name) or (begin.trained and name in begin.anew)}
    highest = max((height for name, height in heights.items() if name not in head), default=0)
    if recipe.freeze not in ("none", "all") and not recipe.freeze.isdecimal():
        raise ValueError(f"--freeze {recipe.freeze} is no number of layers; give none, all, or 0 to {highest}")
    if recipe.freeze.isdecimal() and int(recipe.freeze) > highest:
        raise ValueError(f"--freeze {recipe.freeze}: the model has {highest} layers; give 0 to {highest}, or all")
    below = {"none": -1, "all": highest}.get(recipe.freeze)
    below = int(recipe.freeze) if below is None else below
    if recipe.lora:
        adapt(model, recipe.lora, layers=recipe.lora_layers)
        heights = layers_of(model)
    for name, parameter in model.named_parameters():
        if name in head:
            parameter.requires_grad_(True)
        elif heights[name] <= below:
            parameter.requires_grad_(False)
    return merge if recipe.lora else None


def settle(recipe: Tuning, begin: Begin, epoch: int) -> dict[str, Any]:
    """The flags that follow from the model and from how many batches an epoch has."""
    found: dict[str, Any] = {}
    if not recipe.steps:
        epochs = recipe.epochs or (EPOCHS if begin.trained else 0.0)
        found["steps"] = max(1, round(epochs * epoch / recipe.accumulate)) if epochs else FRESH_STEPS
        found["warmup"] = min(recipe.warmup, found["steps"] // 5)
    if not recipe.lr:
        found["lr"] = TRAINED_LR if begin.trained else FRESH_LR
    return found


def notes(begin: Begin) -> Sequence[str]:
    """What the user should know: how much of a trained model is kept."""
    learning = sum(each.numel() for each in begin.model.parameters() if each.requires_grad)
    whole = sum(each.numel() for each in begin.model.parameters())
    said = [f"{learning:,} of {whole:,} parameters learn"]
    if begin.trained:
        drawn = ", ".join(begin.anew) or "nothing"
        said.append(f"all weights are carried over; drawn anew: {drawn}")
    return said


def told(split: str, scores: Mapping[str, "Score"]) -> dict[str, Any]:
    """Scores as a card tells them; an interval holds 95 of 100 numbers from tests drawn anew from this one."""
    found: dict[str, Any] = {}
    for name, each in scores.items():
        found[f"{split} {name}"] = round(each.value, 2)
        if each.interval is not None:
            found[f"{split} {name} interval"] = [round(edge, 2) for edge in each.interval]
    return found
