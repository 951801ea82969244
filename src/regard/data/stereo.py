"""Pictures of two eyes: of the world, of a named set, or from your own folder."""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from jaxtyping import Float32
from PIL import Image

from regard import files
from regard.data.arrays import map_array, short
from regard.data.classes import ENDS
from regard.data.errors import DataError
from regard.data.eyes import Arrays, EyePairs, Eyes
from regard.data.places import ALSO
from regard.data.rows import SPLITS, belongs
from regard.data.sets import MODULES, SETS, names
from regard.data.told import FAR
from regard.vision.picture import PIXELS, from_array, open_picture
from regard.world import Scene, render_batch, scenes, stereo
from regard.world.scene import BASELINE, FOCAL

COUNTS = {"train": 10_000, "val": 200, "test": 1_000}  # of the world
SIDE = 64  # pixels of its pictures, at which disparities are whole
KITTI = 256  # in a PNG of 16 bits, a disparity of one pixel (Menze 2015)
LARGEST = 2**28  # bytes of a file of disparities
_TOGETHER = 128  # pictures that are drawn at once


@dataclass(frozen=True, slots=True)
class Drawn:
    """Scenes of the world from a number on, drawn for both eyes when they are asked for."""

    split: str
    first: int

    def scene(self, index: int) -> Scene:
        return scenes(split=self.split)[self.first + index]

    def __call__(self, index: int) -> Eyes:
        pair = stereo(self.scene(index), SIDE)
        other = (BASELINE * FOCAL * SIDE / pair.right.depth.astype(np.float64)).astype(np.float32)
        return Eyes(from_array(pair.left.rgb), from_array(pair.right.rgb), pair.disparity, other)

    def at(self, count: int, size: int) -> Arrays:
        """The first so many, in any size."""
        parts = list[tuple[np.ndarray, ...]]()
        for start in range(0, count, _TOGETHER):
            some = [self.scene(i) for i in range(start, min(start + _TOGETHER, count))]
            both = [render_batch(some, size, outputs=("rgb", "depth"), baseline=each) for each in (0.0, BASELINE)]
            truth = np.stack([np.float32(BASELINE * FOCAL) / each["depth"] for each in both], axis=1)
            parts.append((both[0]["rgb"], both[1]["rgb"], truth))
        return Arrays(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def eye_pairs(name: str | Path, split: str = "train") -> EyePairs:
    """Pairs of pictures: of the world, of a named set, or of your own folder.

    Your folder has `left` and `right`, in which the pictures of a pair have the same name, and maybe `disparity`: of
    the left pictures, in pixels, as NumPy's .npy or as PNGs of 16 bits in 256ths. They may lie within train, val and
    test; else they are divided by their names.
    """
    if str(name) == "world":
        return world_eyes(split)
    if str(name) in SETS:
        dataset, module = SETS[str(name)], MODULES[str(name)]
        if not hasattr(module, "eyes"):
            raise ValueError(f"{name} has {dataset.kind}, not pictures of two eyes; choose world, {names('stereo')}")
        dataset.check(split)
        found: EyePairs = module.eyes(split)
        return found
    if split not in SPLITS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(SPLITS)}")
    folder = Path(name)
    if not folder.is_dir():
        raise DataError(
            f"no pictures of two eyes are called {str(name)!r} and no folder lies there; choose world, "
            f"{names('stereo')}, or a folder with left and right"
        )
    return _own(folder, split)


def world_eyes(split: str) -> EyePairs:
    """Scenes of one to six things, seen by two eyes; `val` is far behind what may be learnt from."""
    if split not in COUNTS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(COUNTS)}")
    first, fold = (FAR if split == "val" else 0), "test" if split == "test" else "train"
    named = tuple(f"{split} {first + i}" for i in range(COUNTS[split]))
    return EyePairs(named, Drawn(fold, first), BASELINE * FOCAL)


@dataclass(frozen=True, slots=True)
class _Files:
    """Pairs in files: left, right, and maybe disparities."""

    paths: tuple[tuple[Path, Path, Path | None], ...]

    def __call__(self, index: int) -> Eyes:
        left, right, truth = self.paths[index]
        return Eyes(open_picture(left), open_picture(right), None if truth is None else read_disparity(truth))


def read_disparity(path: Path) -> Float32[np.ndarray, "h w"]:
    """Disparities in pixels, of an array of NumPy or a PNG of 16 bits; what is no number, or below 0, is unknown."""
    found = map_array(path, "disparities") if path.suffix == ".npy" else _png(path)
    if found.size > PIXELS:
        raise DataError(f"{path} has {found.size:,} disparities, and at most {PIXELS:,} are read; make it smaller")
    with np.errstate(over="ignore"):  # what is too large for a float is infinite, and so unknown
        found = found.astype(np.float32)
    known: np.ndarray = np.where(np.isfinite(found) & (found > 0), found, 0).astype(np.float32)
    return known


def _png(path: Path) -> Float32[np.ndarray, "h w"]:
    try:
        data = files.read(path, LARGEST)
        with Image.open(BytesIO(data), formats=("PNG",)) as image:
            if image.width * image.height > PIXELS:
                raise DataError(
                    f"{path} has {image.width} × {image.height} pixels, and at most {PIXELS:,} are read; "
                    "make it smaller"
                )
            if not image.mode.startswith("I"):
                raise DataError(
                    f"{path} has 8 bits or colours, and nobody says what they mean; save disparities in pixels as "
                    f".npy, or times {KITTI} as a PNG of 16 bits"
                )
            found: np.ndarray = np.asarray(image).astype(np.float32) / KITTI
            return found
    except DataError:
        raise
    except Exception as error:  # a decoder of Pillow raises whatever it stumbles over in a damaged file
        raise DataError(f"{path} holds no disparities ({short(error)}); save an array of rows and columns") from None


def _own(folder: Path, split: str) -> EyePairs:
    homes = {each: next((folder / a for a in ALSO[each] if (folder / a / "left").is_dir()), None) for each in SPLITS}
    divided = homes["train"] is not None
    home = (homes[split] or (homes["train"] if split == "val" else None)) if divided else folder
    if home is None:
        raise DataError(f"{folder} has a folder train and none called {split}; put one there, with left and right")
    if not (home / "left").is_dir() or not (home / "right").is_dir():
        raise DataError(f"{home} has no folders left and right; put the pictures of each eye into one of them")
    lefts = sorted(path for path in (home / "left").iterdir() if path.suffix.lower() in ENDS and path.is_file())
    if not divided:
        lefts = [path for path in lefts if belongs(path.name) == split]
    elif homes["val"] is None and split != "test":
        lefts = [path for path in lefts if (belongs(path.name) == "val") == (split == "val")]
    paths = []
    for left in lefts:
        right = home / "right" / left.name
        if not right.is_file():
            raise DataError(f"{left} has no right picture; put {left.name} into {home / 'right'}, or remove it")
        known = (home / "disparity" / f"{left.stem}{end}" for end in (".npy", ".png"))
        paths.append((left, right, next((path for path in known if path.is_file()), None)))
    if not paths:
        raise DataError(f"{home} has no pairs for {split}; put more into left and right, with the same names in both")
    return EyePairs(tuple(left.name for left, _, _ in paths), _Files(tuple(paths)))
