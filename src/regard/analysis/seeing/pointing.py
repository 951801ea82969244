"""Scored maps: how well each map that is said to show what matters finds the thing, beside maps that know nothing.

The world knows which pixels belong to the thing that a picture is named after, and of Pets people have said it, so that
every map of a model can be scored: the pointing game and IoU against the true mask, deletion and insertion by the model
itself (see `faithful`). A map is worth something where it beats the middle of the picture and chance::

    from regard.analysis.seeing import marked, score_maps

    for way, found in score_maps(model, marked(count=100, size=32)).items():
        print(way, found.points.value, found.points.interval)

A model that does not name their classes is scored by `marked(..., named=False)`: by maps that need no class, and by the
mask alone.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor, nn

from regard.analysis.scores import Score, accuracy, mean, spearman
from regard.analysis.seeing.decisive import Says, gradcam, gradients, integrated_gradients, occlusion, resize
from regard.analysis.seeing.faithful import covers, deletion, insertion, points_at
from regard.analysis.seeing.heads import last_looks, read_looks
from regard.analysis.seeing.rollout import rollout
from regard.attention import record
from regard.data.masked import outlines
from regard.data.painted import LABELS, SIZE
from regard.names import unknown
from regard.progress import Progress
from regard.world import KINDS

MIDDLE, CHANCE = "middle", "chance"  # maps that know nothing of the picture
OF_ATTENTION = ("attention", "rollout")
OF_A_CLASS = ("Grad-CAM", "gradients", "integrated gradients", "occlusion")
WAYS = (*OF_ATTENTION, *OF_A_CLASS, MIDDLE, CHANCE)

Read = Callable[[UInt8[np.ndarray, "n h w 3"]], Tensor]  # pixels to pictures "n c h w" as a model reads them


@dataclass(frozen=True, slots=True, eq=False)
class Marked:
    """Pictures as a model reads them, the pixels of the thing that each is named after, and the number of its class.

    Without classes there are no `targets`. Pixels that are `unsure`, as a border, are scored as neither thing nor not.
    """

    image: Float[Tensor, "n c h w"]
    masks: Bool[np.ndarray, "n i j"]
    targets: Int64[np.ndarray, " n"] | None
    unsure: Bool[np.ndarray, "n i j"] | None = None

    def __post_init__(self) -> None:
        classes = len(self.image) if self.targets is None else len(self.targets)
        if not len(self.image) == len(self.masks) == classes:
            raise ValueError(
                f"{len(self.image)} pictures, {len(self.masks)} masks and {classes} classes do not belong together; "
                "give one of each for every picture"
            )

    def __len__(self) -> int:
        return len(self.image)


@dataclass(frozen=True, slots=True)
class Scored:
    """How well one kind of map finds things, in percent, each with its interval over pictures."""

    points: Score  # how often its highest place lies on the thing
    covers: Score  # IoU of the thing with as many of the highest places as it has pixels
    deletion: Score | None  # the area under the class as what matters most is taken away; little is good
    insertion: Score | None  # the area as it is put back; both are None where there are no classes


def marked(
    split: str = "test",
    count: int = 100,
    *,
    data: str = "world",
    size: int = SIZE,
    kinds: bool = False,
    named: bool = True,
    read: Read | None = None,
) -> Marked:
    """The first pictures of the world, each with the mask of its largest thing, after which it is named; or of Pets.

    The classes are colour and kind as in `red disc`, or with `kinds` those alone; of Pets, breeds. They are left out
    for a model that does not name them (`named=False`). `read` makes pictures of pixels; left out, they are numbers
    from -1 to 1. Of a photograph it is the square in its middle; where no pet is in that, it is left out.
    """
    if kinds and not data.startswith("world"):
        raise ValueError(f"the classes of {data} are no kinds of the world; leave kinds out")
    if count < 1:
        raise ValueError(f"{count} pictures leave nothing to score; give 1 or more")
    known = outlines(data, split)
    seen, targets = known.cut(range(min(count, len(known))), size), known.targets[:count]
    there = seen.masks.any(axis=(1, 2))
    if kinds:
        targets = np.array([KINDS.index(LABELS[target].rpartition(" ")[2]) for target in targets.tolist()], np.int64)
    unsure = seen.unsure[there] if seen.unsure.any() else None
    return Marked((read or _read)(seen.pixels[there]), seen.masks[there], targets[there] if named else None, unsure)


def make_map(
    way: str, model: nn.Module, image: Float[Tensor, "1 c h w"], *, target: int, chance: np.random.Generator
) -> Float[np.ndarray, "i j"]:
    """One of the `WAYS` to map what matters in a picture for a class; `chance` throws the dice of the one by chance."""
    height, width = image.shape[-2:]
    side = max(2, min(height, width) // 8)
    match way:
        case "attention" | "rollout":
            return _looked(model, image, way)
        case "Grad-CAM":
            return gradcam(model, image, target=target)
        case "gradients":
            return gradients(model, image, target=target)
        case "integrated gradients":
            # What speaks against the class is no part of where it is seen.
            return integrated_gradients(model, image, target=target).sum(dim=0).clamp(min=0).cpu().numpy()
        case "occlusion":
            return occlusion(model, image, patch=side, stride=max(1, side // 2), target=target).clip(0, None)
        case "middle":
            down, right = np.indices((height, width)) + 0.5
            away: np.ndarray = np.hypot(down / height - 0.5, right / width - 0.5)
            return -away.astype(np.float32)
        case "chance":
            return chance.random((height, width), np.float32)
        case _:
            raise ValueError(unknown("map", way, WAYS))


def score_maps(
    model: nn.Module,
    pictures: Marked,
    *,
    ways: Sequence[str] = (),
    steps: int = 20,
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[str, Scored]:
    """Every map of a model, scored on the same pictures by its way; of a model without attention, those without it.

    Of pictures without classes, it is every map that needs none. `steps` are those in which pixels are taken away and
    put back.
    """
    nameless = pictures.targets is None
    chosen = list(ways) or [way for way in ways_of(model, pictures.image[:1]) if not (nameless and way in OF_A_CLASS)]
    if nameless and (blind := [way for way in chosen if way in OF_A_CLASS]):
        raise ValueError(f"{blind[0]} is of a class, and these pictures have none; choose {', '.join(OF_ATTENTION)}")
    targets = [0] * len(pictures) if pictures.targets is None else pictures.targets.tolist()
    found = {}
    for place, way in enumerate(chosen):
        chance = np.random.default_rng(seed)
        maps = (
            make_map(way, model, pictures.image[i : i + 1], target=target, chance=chance)
            for i, target in enumerate(targets)
        )
        found[way] = score(maps, model, pictures, steps=steps)
        if progress is not None:
            progress((place + 1) / len(chosen))
    return found


def ways_of(model: nn.Module, image: Float[Tensor, "1 c h w"]) -> list[str]:
    """The `WAYS` that a model has: all of them, or those without attention."""
    with torch.no_grad(), record(model) as trace:
        model(image)
    return [way for way in WAYS if way not in OF_ATTENTION or len(list(trace)) > 0]


def agree(maps: Mapping[str, Float[np.ndarray, "..."]]) -> dict[tuple[str, str], float]:
    """Spearman's rank correlation of each pair of maps over the cells of the coarsest; 1 is the same order."""
    rows, columns = (min(each.shape[side] for each in maps.values()) for side in (0, 1))
    cells = {name: resize(each, rows, columns).flatten().tolist() for name, each in maps.items()}
    return {pair: spearman(*(cells[name] for name in pair)).value / 100 for pair in combinations(maps, 2)}


def score(maps: Iterable[Float[np.ndarray, "i j"]], model: Says, pictures: Marked, *, steps: int = 20) -> Scored:
    """How well maps, one for each picture, find the thing that it is named after."""
    hits, overlaps, losses, wins = list[bool](), list[float](), list[float](), list[float]()
    for i, numbers in enumerate(maps):
        image, mask = pictures.image[i : i + 1], pictures.masks[i]
        unsure = None if pictures.unsure is None else pictures.unsure[i]
        hits.append(points_at(numbers, mask, unsure))
        overlaps.append(covers(numbers, mask, unsure))
        if pictures.targets is not None:
            target = int(pictures.targets[i])
            losses.append(deletion(model, image, numbers, target=target, steps=steps).area)
            wins.append(insertion(model, image, numbers, target=target, steps=steps).area)
    if len(hits) != len(pictures):
        raise ValueError(f"{len(hits)} maps are not those of {len(pictures)} pictures; give one for each")
    lost = replace(mean(losses), higher_is_better=False) if losses else None
    return Scored(accuracy(hits), mean(overlaps), lost, mean(wins) if wins else None)


def _looked(model: nn.Module, image: Float[Tensor, "1 c h w"], way: str) -> Float[np.ndarray, "i j"]:
    """Where [CLS] looks in the last layer, or in all of them; without one, where all places look on average."""
    reading = read_looks(model, image)
    if way == "attention":
        found: np.ndarray = last_looks(reading).mean(axis=0)
        return found
    weights, rows, columns = rollout(reading)
    row = weights[0] if rows.leading else weights.mean(axis=0)
    looked: np.ndarray = row[len(columns.leading) :].reshape(columns.height, columns.width).astype(np.float32)
    return looked


def _read(pixels: UInt8[np.ndarray, "n h w 3"]) -> Float[Tensor, "n 3 h w"]:
    return torch.from_numpy(pixels.transpose(0, 3, 1, 2).astype(np.float32)) / 127.5 - 1
