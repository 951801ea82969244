"""Paint what words say: one picture of each text, or several side by side.

The pictures are those of the little world: things of eight kinds and colours, one alone or two and how they stand. The
same seed paints the same picture again.

    regard paint "a red disc left of a blue star" --out disc.png
    regard paint "a green heart" --count 8 --guidance 5 --steps 50 --seed 3 --out hearts.png
    regard paint "a pink ring" "a brown cross above a ring" --model runs/paint --json --out both.png
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.load import load_model
from regard.names import Dtype

ROOM = 128  # pixels that a side is made to have at least, so that people see something
GAP = 4
GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class Flags:
    texts: Annotated[Positional[tuple[str, ...]], arg(metavar="TEXT")]
    """What to paint; several texts are several rows of one sheet."""
    out: Path = Path("painted.png")
    """Where to write the picture, or the sheet of all: a name that ends in .png or .jpg."""
    model: str = ""
    """A name that `regard list zoo` shows, or a folder as `regard train paint` leaves one; the default if left out."""
    count: int = 1
    """Pictures of each text."""
    steps: int | None = None
    """Steps of denoising (DDIM); 30 if left out, and more are finer."""
    guidance: float | None = None
    """Classifier-free guidance (Ho 2022): how much the words are minded; 3 if left out, and 1 is as they are."""
    temperature: float | None = None
    """Of a model that writes tokens: below 1 the likely become likelier, and 0 takes the likeliest."""
    top_k: int | None = None
    """Top-k sampling of tokens: draw among so many likeliest."""
    top_p: float | None = None
    """Nucleus (top-p) sampling of tokens: draw among the fewest that hold this much probability."""
    seed: int = 0
    """Random seed: the noise, or the dice, that a picture begins with."""
    size: int = 0
    """Side of each picture in pixels; enlarged by whole steps to 128 or more, if left out."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON: the file, its side, and where each picture lies on it (left, top, right, bottom in pixels)."""


def main(flags: Flags) -> None:
    """Write a picture, or a sheet of them."""
    if not flags.texts:
        raise UsageError('there is nothing to paint; say what, as in regard paint "a red disc"')
    if flags.out.suffix.lower() not in (".png", ".jpg", ".jpeg"):
        raise UsageError(f"--out {flags.out} is no picture; give a name that ends in .png or .jpg")
    if not flags.out.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {flags.out.absolute().parent}; make it, or write elsewhere by --out")
    if not 0 <= flags.size <= 4096:
        raise UsageError(f"--size {flags.size} cannot be painted; give up to 4096 pixels, or 0 for what is usual")
    if not 1 <= flags.count <= 64:
        raise UsageError(f"--count {flags.count} makes no sheet; give 1 to 64")
    paint: Any = load_model(flags.model, task="paint", dtype=flags.dtype)
    from regard.progress import bar

    wishes = {name: getattr(flags, name) for name in ("steps", "guidance", "temperature", "top_k", "top_p", "seed")}
    try:
        with bar("painting") as progress:
            found = paint(flags.texts, count=flags.count, progress=progress, **wishes)
    except ValueError as error:
        raise UsageError(str(error)) from None
    sheet, places = lay_out([each.pictures for each in found], flags.size)
    sheet.save(flags.out)
    if flags.json:
        rows = [
            {"text": each.text, "pictures": [list(place) for place in row]}
            for each, row in zip(found, places, strict=True)
        ]
        print(json.dumps({"file": str(flags.out), "model": paint.name, "seed": flags.seed, "rows": rows}))
    else:
        pictures = sum(len(each.pictures) for each in found)
        print(f"{flags.out}: {pictures} picture{'s' if pictures > 1 else ''} by {paint.name}")


def lay_out(rows: Sequence[Sequence[Any]], size: int = 0) -> tuple[Any, list[list[tuple[int, int, int, int]]]]:
    """A sheet of pictures, a row for each text, and where each of them lies."""
    from PIL import Image

    own = rows[0][0].width
    side = size or own * max(1, -(-ROOM // own))
    # By whole steps a pixel stays a square, as it was painted.
    how = Image.Resampling.NEAREST if side % own == 0 else Image.Resampling.LANCZOS
    width, height = (count * (side + GAP) - GAP for count in (max(map(len, rows)), len(rows)))
    sheet, places = Image.new("RGB", (width, height), (255, 255, 255)), list[list[tuple[int, int, int, int]]]()
    for i, row in enumerate(rows):
        places.append([])
        for j, picture in enumerate(row):
            left, top = j * (side + GAP), i * (side + GAP)
            sheet.paste(picture.resize((side, side), how), (left, top))
            places[-1].append((left, top, left + side, top + side))
    return sheet, places
