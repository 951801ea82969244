"""Classification of sounds, of clouds of points and of films: train a Perceiver to say what they are.

A sound is seen as patches of its spectrogram, a cloud as points, a film as patches of space and time; what is learnt is
the same model (Jaegle 2021). The card tells accuracy with an interval, and a report of each class. `regard train
classify` on sounds or clouds is this. `perceiver-any` is one config for all of them, and for pictures in `recognize`.

regard train perceive
regard train perceive --data modelnet10
regard train perceive --data world
regard train perceive --data my-sounds --model runs/perceive-0 --freeze all
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from regard.recipes.tuning import Begin, Tuning, carry_over
from regard.train.plan import Optimizer, Schedule

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor, nn

    from regard.chance import Chance
    from regard.data import Batches
    from regard.data.sensed import Sensed
    from regard.pipelines.sensing import Seen
    from regard.train.task import Task

MODELS = {"sounds": "perceiver-digits", "points": "perceiver-clouds", "films": "perceiver-any"}  # where none is named
UNITS = {"sounds": "sounds", "points": "clouds", "films": "films"}
VARIED = {"sounds": ("speed", "shift", "masks"), "points": ("points", "turn"), "films": ()}  # flags of --augment
READS = {"sounds": (2, 1), "points": (3, 0), "films": (3, 3)}  # axes and channels that a model has at least


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Tuning):
    data: str = "spoken-digits"
    """A named set of sounds or points (`regard data list`), a folder that has a folder of files for each class, or the
    world, whose films show which way something moves."""
    model: str = ""
    """A trained model to begin with, or a preset that is drawn anew; one for what the data are if left out."""
    batch_size: int = 64
    """Sounds, clouds or films in a batch."""
    tokens: int = 0
    """Of no use here: sounds, clouds and films are counted by --batch-size."""
    augment: bool = True
    """Vary sounds (moved, faster or slower, tilted, partly hidden) or clouds (turned, stretched, jittered, thinned)."""
    speed: float = 0.15
    """Of sounds, the largest change of tempo, as a share."""
    shift: float = 0.1
    """Of sounds, how far from the middle they may be moved, as a share of what the model sees."""
    masks: int = 1
    """SpecAugment (Park 2019): how many stretches of time and bands of frequency are hidden in a sound."""
    points: int = 512
    """Of clouds, how many points are shown in training, others each time; all of them in a measurement."""
    turn: float = 20.0
    """Of clouds, the largest rotation about z in degrees; 180 is any, for shapes that stand as they like."""
    label_smoothing: float = 0.1
    """Label smoothing (Szegedy 2016): this share of the target probability is spread over all labels."""
    optimizer: Optimizer = "muon"
    """AdamW (Loshchilov 2019), Muon (Jordan 2024), or SGD; here Muon, which needs fewer steps."""
    schedule: Schedule = "linear"
    """Learning rate schedule: falls to zero along a cosine or a line, with the inverse root of the step, or not."""
    weight_decay: float = 0.05
    """Weight decay: pulls matrices towards zero; vectors have none."""
    lr: float = 0.0
    """Peak learning rate; 0 is 1e-4 for a trained model, and for a fresh one 1e-2 with Muon and 2e-3 with others."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Tuning.bounds,
        "tokens": (0, 0),
        "batch_size": (1, 10**6),
        "shift": (0, 0.5),
        "speed": (0, 0.5),
        "masks": (0, 100),
        "points": (4, 10**6),
        "turn": (0, 180),
        "label_smoothing": (0, 1),
    }


class Shown(NamedTuple):
    """A batch: what a model is given, and what share of each belongs to each class."""

    given: "tuple[Tensor, ...]"
    targets: "Tensor"
    rows: "np.ndarray"


def build(recipe: Recipe) -> "Task":
    """A model that says what a sound, a cloud or a film is, scored by accuracy."""
    from regard.data import SETS, DataError
    from regard.data.things import things
    from regard.recipes import choose, recognize, tuning
    from regard.train.task import Task

    if not recipe.augment:
        choose.refuse(recipe, [name for some in VARIED.values() for name in some], "with --no-augment")
    train, held = (things(recipe.data, split) for split in ("train", "val"))
    for kind in VARIED.keys() - {train.kind}:
        choose.refuse(recipe, VARIED[kind], f"on {train.kind}, which {recipe.data} has")
    labels = list(train.labels)
    if len(labels) < 2 or not len(held):
        raise DataError(
            f"{recipe.data} has {len(labels)} classes and {len(held)} {UNITS[train.kind]} to watch; give more"
        )
    recipe = recipe if recipe.model else replace(recipe, model=MODELS[train.kind])
    begin, sense = begin_with(recipe, train)
    merge = tuning.restrict(recipe, begin)
    learnt, watched = (batches(recipe, sense, each) for each in (train, held))
    settled = tuning.settle(recipe, begin, len(learnt))
    if not recipe.lr and not begin.trained and recipe.optimizer == "muon":
        settled["lr"] = 1e-2
    card: dict[str, Any] = {
        "title": f"What {train.kind} are: {begin.family.name}, {recipe.data}",
        "data": recipe.data,
        "labels": labels,
        train.kind: asdict(sense),
    }
    card |= {"terms": SETS[recipe.data].terms} if recipe.data in SETS else {}
    return Task(
        model=begin.model,
        family=begin.family,
        batches=learnt,
        size=lambda batch: len(batch.rows),
        loss=loss,
        score=lambda model: recognize.score(*answers(model, watched)),
        metric="accuracy",
        higher_is_better=("accuracy",),
        unit=UNITS[train.kind],
        settled=settled,
        layer_decay=recipe.layer_decay,
        merge=merge,
        task="perceive",
        card=card | ({"before": dict(begin.before)} if begin.trained else {}),
        measure=lambda model: measure(recipe, sense, model, labels),
        dtype="float32" if begin.trained else "bfloat16",
        notes=tuning.notes(begin),
    )


def begin_with(recipe: Recipe, known: "Sensed") -> "tuple[Begin, Seen]":
    """The model of a recipe for the classes of some things, and how it is shown them."""
    import torch

    from regard.data import DataError
    from regard.hub import CheckpointError, load
    from regard.models import families
    from regard.pipelines.sensing import SENSES, kind_of, sense_of
    from regard.recipes import choose
    from regard.recipes.writer import story
    from regard.sound import Spectrogram

    torch.manual_seed(recipe.seed)
    classes = {"classes": len(known.labels)}
    if recipe.model in {preset for family in families().values() for preset in family.presets}:
        check(choose.family_of(recipe.model), recipe.model)
        family, model = choose.build(recipe.model, recipe.set, classes)
        config: Any = model.config
        axes, channels = READS[known.kind]
        if config.axes < axes or config.channels < channels or config.words:
            raise ValueError(
                f"{recipe.model} sees {config.axes} axes and {config.channels} channels, and {recipe.data} has "
                f"{known.kind}; take {MODELS[known.kind]}, or set axes and channels"
            )
        alone = known.kind == "sounds" and config.axes == axes  # made for spectrograms, and as long as they are
        sense = Spectrogram(frames=config.size) if alone else SENSES[known.kind]()
        return Begin(family, model, None, {}, tuple(model.state_dict())), sense
    try:
        found = load(recipe.model, pickle=recipe.pickle)
    except CheckpointError as error:
        raise DataError(f"training cannot begin from {recipe.model}: {error}; presets: regard list models") from None
    if found.family is None:
        raise DataError(f"training cannot begin from {recipe.model}, which is no model of regard's; give another")
    check(found.family, recipe.model)
    sense = sense_of(found.card, recipe.model)
    if kind_of(sense) != known.kind:
        raise ValueError(f"{recipe.model} takes other things than {known.kind}; choose another model or other data")
    torch.manual_seed(recipe.seed)
    before: Any = found.model.config
    begun = found.family.model(replace(before, **choose.parse(found.family, recipe.set), **classes))
    anew = carry_over(recipe, found, begun, known.labels)
    return Begin(found.family, begun, None, story(found.card) or {"name": found.name}, anew), sense


def check(family: Any, name: str) -> None:
    """Refuse what looks at no sounds, points or films."""
    if family.name != "perceiver":
        raise ValueError(f"{name} is a {family.name}, which perceives no sounds, points or films; choose a perceiver")


def batches(recipe: Recipe, sense: "Seen", known: "Sensed") -> "Batches[Shown]":
    """Things in any order; each time they are met, sounds and clouds are varied, in a measurement never."""
    import torch

    from regard.data import Batches, Order
    from regard.data.contents import contents
    from regard.pipelines.sensing import batch, whole
    from regard.vision import one_hot

    kept = [whole(sense, known.thing(i)) for i in range(len(known))]

    def collate(rows: Any, chance: "Chance | None") -> Shown:
        some = [kept[row] for row in rows.tolist()]
        arrays = vary(recipe, sense, some, chance) if chance and recipe.augment else [sense.fit(each) for each in some]
        smoothed = 0.0 if chance is None else recipe.label_smoothing
        targets = one_hot(torch.from_numpy(known.targets[rows]), len(known.labels), smoothed)
        return Shown(batch(sense, arrays), targets, rows)

    count, shown = len(known), contents(known.source)
    order = Order(
        [1] * count, room=min(recipe.batch_size, count), seed=recipe.seed, data=known.checksum, contents=shown
    )
    return Batches(order, collate)


def vary(recipe: Recipe, sense: "Seen", some: "Sequence[np.ndarray]", chance: "Chance") -> "Sequence[np.ndarray]":
    """Sounds or clouds as they are met in training; films are shown as they are."""
    import numpy as np

    from regard.sound import Spectrogram
    from regard.sound import vary as vary_sound
    from regard.vision.cloud import Few
    from regard.vision.cloud import vary as vary_clouds

    if isinstance(sense, Spectrogram):
        how: dict[str, Any] = {"shift": recipe.shift, "speed": recipe.speed, "masks": recipe.masks}
        return [vary_sound(each, sense.frames, chance, **how) for each in some]
    if not isinstance(sense, Few):
        return [sense.fit(each) for each in some]
    clouds = np.stack([sense.fit(each) for each in some])
    return list(vary_clouds(clouds, chance, min(recipe.points, sense.count), turn=recipe.turn))


def loss(model: "nn.Module", batch: Shown) -> "Tensor":
    """The summed cross-entropy."""
    import torch.nn.functional as F

    said, targets = _ask(model, batch)
    return F.cross_entropy(said.float(), targets, reduction="sum")


def answers(model: "nn.Module", watched: "Batches[Shown]") -> tuple[list[int], list[int]]:
    """The numbers of the classes that a model names, and of the right ones, in the order of the data."""
    said, right = dict[int, int](), dict[int, int]()
    for batch in watched.once():
        logits, targets = _ask(model, batch)
        said |= dict(zip(batch.rows.tolist(), logits.argmax(dim=-1).tolist(), strict=True))
        right |= dict(zip(batch.rows.tolist(), targets.argmax(dim=-1).tolist(), strict=True))
    return [said[i] for i in sorted(said)], [right[i] for i in sorted(right)]


def _ask(model: "nn.Module", batch: Shown) -> "tuple[Tensor, Tensor]":
    device = next(iter(model.parameters())).device
    return model(*(each.to(device) for each in batch.given)), batch.targets.to(device)


def measure(recipe: Recipe, sense: "Seen", model: "nn.Module", labels: Sequence[str]) -> dict[str, Any]:
    """What the card says: accuracy on the validation data, and on the test, where there is one, with intervals."""
    from regard.analysis import scores
    from regard.data import DataError
    from regard.data.things import things
    from regard.recipes import tuning
    from regard.recipes.classify import report

    found: dict[str, Any] = {}
    for split in ("val", "test"):
        try:
            known = things(recipe.data, split)
        except (DataError, ValueError):  # a folder need not have a test
            continue
        numbers, wanted = answers(model, batches(recipe, sense, known))
        said, right = [labels[i] for i in numbers], [labels[i] for i in wanted]
        named = {"accuracy": scores.accuracy([a == b for a, b in zip(said, right, strict=True)])}
        found |= tuning.told(split, named) | {f"{split} report": report(said, right, labels)}
    return found
