"""Pictures with labels, and pictures with boxes: of a named set, of the world, or from your own folders."""

from pathlib import Path

from regard.data.album import Pictures
from regard.data.annotated import Detections
from regard.data.classes import class_folders
from regard.data.coco import read_own as read_own_coco
from regard.data.errors import DataError
from regard.data.painted import world_detections, world_pictures, world_portraits
from regard.data.rows import SPLITS
from regard.data.sets import MODULES, SETS, names
from regard.data.strange import world_strange


def pictures(name: str | Path, split: str = "train") -> Pictures:
    """Pictures and the class of each: of a named set, of the world, or of your own folder.

    `world/big` has one big thing in each picture; `world/novel`, `world/sketch` and so on are the world as no training
    shows it (`data/strange.py`).

    Your folder has one for each class, maybe within train, val and test; else they are divided by their names. A folder
    as the home of a named set publishes it is known too.
    """
    if str(name) == "world":
        return world_pictures(split)
    if str(name) == "world/big":
        return world_portraits(split)
    if str(name).startswith("world/") and not Path(name).exists():
        return world_strange(str(name).removeprefix("world/"), split)
    if str(name) in SETS:
        dataset = SETS[str(name)]
        if dataset.kind != "images":
            raise ValueError(f"{name} has {dataset.kind}, not images with labels; choose world, {names('images')}")
        dataset.check(split)
        found: Pictures = MODULES[dataset.name].read(split)
        return found
    path = Path(name)
    if not path.exists():
        raise DataError(
            f"no set of pictures is called {str(name)!r} and nothing lies there; choose world, {names('images')}, or a "
            "folder with a folder of pictures for each class"
        )
    for module in MODULES.values():
        if module.DATASET.kind == "images" and hasattr(module, "recognise") and module.recognise(path):
            module.DATASET.check(split)
            own: Pictures = module.read_own(path, split)
            return own
    if split not in SPLITS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(SPLITS)}")
    if not path.is_dir():
        raise DataError(f"{path} is a file; give a folder with a folder of pictures for each class")
    return class_folders(path, split)


def detections(name: str | Path, split: str = "train", *, images: str | Path | None = None) -> Detections:
    """Pictures and what is marked in them: of a named set, of the world, or of annotations of your own.

    Those are a JSON file in the form of COCO, with the pictures beside it or in `images`, or a folder as COCO's.
    """
    if str(name) == "world":
        return world_detections(split)
    if str(name) in SETS:
        dataset, module = SETS[str(name)], MODULES[str(name)]
        if not hasattr(module, "detections"):
            raise ValueError(f"{name} has {dataset.kind} without boxes; choose {_with_boxes()}")
        dataset.check(split)
        found: Detections = module.detections(split)
        return found
    path = Path(name)
    if not path.exists():
        raise DataError(
            f"no set with boxes is called {str(name)!r} and nothing lies there; choose {_with_boxes()}, or a JSON file "
            "or folder in the form of COCO"
        )
    return read_own_coco(path, split, None if images is None else Path(images))


def _with_boxes() -> str:
    return ", ".join(("world", *(name for name, module in MODULES.items() if hasattr(module, "detections"))))
