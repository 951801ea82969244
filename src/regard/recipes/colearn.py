"""Co-learning: the detections of one sensor, projected to what another sees, teach a detector of the other.

The little world is seen by a camera, and from beside it by a range finder or a camera for warmth. A detector of the
camera's pictures marks scenes that nobody has labelled, behind those that it learnt from itself; its boxes are carried
through the known projection, by the depth of what they hold, and a DETR of the other sensor learns them. The card tells
its average precision against the true boxes of that sensor, beside the camera's own detector on the same pictures,
which nobody has taught what warmth looks like. `--supervised` trains a twin on the true boxes.

regard train colearn --sensor infrared
regard train colearn --sensor infrared --supervised --out runs/labelled
regard train colearn --sensor range --teacher runs/detect-0/model
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from regard.recipes import detect

if TYPE_CHECKING:
    from regard.data.annotated import Detections, Objects
    from regard.train.task import Task

WATCHED, ASKED = 200, 1000  # pictures that are scored on the way, and at the end


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(detect.Recipe):
    data: str = "world"
    """The world, since nothing else is seen by several sensors."""
    sensor: Literal["range", "infrared"] = "infrared"
    """The sensor that is taught: a range finder, or a camera for warmth."""
    teacher: str = "world-detr"
    """The detector of the camera: a bundled one, or a folder as `regard train detect` leaves one."""
    sure: float = 0.7
    """How sure the teacher must be of a thing that it teaches."""
    supervised: bool = False
    """Learn from the true boxes of the sensor instead: what the taught one is compared with."""
    limit: int = 4000
    """Learn from so many pictures; 0 takes all."""
    steps: int = 2000
    """Optimizer steps: how many times the weights change."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {**detect.Recipe.bounds, "sure": (0, 1)}


def build(recipe: Recipe) -> "Task":
    """A detector of another sensor, scored by average precision against that sensor's true boxes."""
    import torch

    from regard.data.rigged import sensed_detections, taught_detections
    from regard.layers.mimetic import mimetic
    from regard.recipes import choose
    from regard.recipes.pictured import MEAN, STD
    from regard.train.task import Task
    from regard.vision import Processor, Size

    if recipe.data != "world":
        raise ValueError(f"{recipe.data} has one sensor; leave --data out, since the world alone has several")
    if recipe.supervised:
        choose.refuse(recipe, ("sure",), "with --supervised")
    camera = camera_of(recipe.teacher)
    first = unlabelled()
    known = sensed_detections(recipe.sensor, "train", count=recipe.limit, first=first)
    if not recipe.supervised:
        found = marks(camera, "train", len(known), recipe.sure)
        known = taught_detections(recipe.sensor, "train", found, first=first)
    held = sensed_detections(recipe.sensor, "val", count=WATCHED)
    classes = len(known.labels)
    torch.manual_seed(recipe.seed)
    family, model = choose.build(recipe.model, recipe.set, {"classes": classes, "size": recipe.size})
    if family.name != "detr":
        raise ValueError(f"{recipe.model} is a {family.name}, which finds no boxes; choose a preset of detr")
    if recipe.init == "mimetic":
        mimetic(model)
    processor = Processor(size=Size(height=recipe.size, width=recipe.size), image_mean=MEAN, image_std=STD)
    learnt = detect.batches(recipe, processor, known, count=len(known))
    watched = detect.batches(recipe, processor, held, count=len(held))
    return Task(
        model=model,
        family=family,
        processor=processor,
        batches=learnt,
        size=lambda batch: len(batch.rows),
        loss=detect.loss,
        teacher=None if recipe.supervised else camera.model,
        score=lambda model: detect.told(detect.score(model, watched, classes)),
        metric="ap",
        higher_is_better=("ap", "ap50"),
        unit="pictures",
        task="detect",
        card={
            "title": f"What is where, by {recipe.sensor}: detr",
            "data": "world",
            "labels": list(known.labels),
            "sensor": recipe.sensor,
            "taught by": "true boxes" if recipe.supervised else f"the camera ({recipe.teacher})",
        },
        measure=lambda model: measure(recipe, processor, model, camera),
    )


def camera_of(teacher: str) -> Any:
    """The detector of the camera."""
    from regard.pipelines import load
    from regard.world import KINDS

    found: Any = load(teacher)
    if found.task != "detect" or tuple(found.labels) != tuple(KINDS):
        raise ValueError(f"{teacher} does not detect the things of the world; train one by regard train detect")
    return found


def unlabelled() -> int:
    """The first scene of the world that no detector learns from: whoever knows a label by heart need not see it."""
    from regard.data import painted

    return painted.COUNTS["train"]


def marks(camera: Any, split: str, count: int, sure: float) -> "list[Objects]":
    """What the camera's detector finds in so many scenes that nobody has labelled, as it sees them."""
    import numpy as np

    from regard.data.annotated import Objects
    from regard.data.painted import world_detections

    seen, found = world_detections(split, first=unlabelled()), list[Objects]()
    for start in range(0, count, 32):
        for said in camera.find([seen.picture(i) for i in range(start, min(start + 32, count))]):
            kept = said.scores >= sure
            number = int(kept.sum())
            boxes = said.boxes[kept].astype(np.float32)
            found.append(Objects(boxes, said.classes[kept], np.zeros(number, bool), (None,) * number))
    return found


def measure(recipe: Recipe, processor: Any, model: Any, camera: Any) -> dict[str, Any]:
    """What the card says: average precision on the test, beside that of the camera's detector, which is untaught."""
    from regard.data.rigged import sensed_detections

    known = sensed_detections(recipe.sensor, "test", count=ASKED)
    found = detect.score(model, detect.batches(recipe, processor, known, count=len(known)), len(known.labels))
    measured = {f"test {name}": round(value, 2) for name, value in detect.told(found).items()}
    measured |= {f"untaught {name}": round(value, 2) for name, value in detect.told(untaught(camera, known)).items()}
    return {**measured, "signature": found.signature}


def untaught(camera: Any, known: "Detections") -> Any:
    """How well the camera's own detector finds things in what another sensor sees."""
    import numpy as np

    from regard.analysis.detection import Marked, average_precision

    found, truth, last = list[Marked](), list[Marked](), len(known.labels) - 1
    for start in range(0, len(known), 32):
        some = range(start, min(start + 32, len(known)))
        said = camera.find([known.picture(i) for i in some])
        found += [Marked(each.boxes, np.minimum(each.classes, last), each.scores) for each in said]  # 0 of one kind
        truth += [Marked(real.boxes, real.targets) for real in map(known.objects, some)]
    return average_precision(found, truth, len(known.labels))
