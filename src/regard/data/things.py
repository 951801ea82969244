"""Sounds, clouds of points or films with labels: of a named set, of the world, or from your own folders."""

from pathlib import Path

from regard.data.classes import ENDS as PICTURES
from regard.data.classes import class_files
from regard.data.errors import DataError
from regard.data.moving import world_clips
from regard.data.rows import SPLITS
from regard.data.sensed import FILES, Files, Sense, Sensed
from regard.data.sets import MODULES, SETS, names


def things(name: str | Path, split: str = "train") -> Sensed:
    """Sounds or clouds and the class of each: of a named set, or of your own folder; of the world films.

    Your folder has one for each class, with .wav files or with .npy, .npz or .xyz files, maybe within train, val and
    test; else they are divided by their names. A folder as the home of a named set publishes it is known too.
    """
    choice = f"choose {names('sounds')}, {names('points')}, world, or a folder with a folder of files for each class"
    if str(name) == "world":
        return world_clips(split)
    if str(name) in SETS:
        dataset = SETS[str(name)]
        if dataset.kind not in FILES:
            raise ValueError(f"{name} has {dataset.kind}, not sounds or points with labels; {choice}")
        dataset.check(split)
        found: Sensed = MODULES[dataset.name].read(split)
        return found
    path = Path(name)
    if not path.is_dir():
        raise DataError(f"no set of sounds or points is called {str(name)!r} and no folder lies there; {choice}")
    for module in MODULES.values():
        if module.DATASET.kind in FILES and hasattr(module, "recognise") and module.recognise(path):
            module.DATASET.check(split)
            own: Sensed = module.read_own(path, split)
            return own
    if split not in SPLITS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(SPLITS)}")
    kind = kind_of(path)
    if kind is None:
        every = ", ".join(end for ends in FILES.values() for end in ends)
        raise DataError(f"{path} has no sounds or points; put files there that end in {every}, a folder for each class")
    known = class_files(path, split, FILES[kind], "sounds" if kind == "sounds" else "clouds")
    return Sensed(kind, known.labels, known.targets, Files(known.paths), known.names)


def kind_of(folder: Path) -> Sense | None:
    """Whether a folder has sounds or points: what the first file in it is that could be heard or seen."""
    for path in folder.rglob("*"):
        end = path.suffix.lower()
        if end in PICTURES:
            return None
        for kind, ends in FILES.items():
            if end in ends and not path.name.startswith(".") and path.is_file():
                return kind
    return None
