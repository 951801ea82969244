"""Detect things in pictures: what they are, where, and how sure.

Pictures are files, as arguments or as lines on standard input; `world:7` is scene 7 of the little world's test.

    regard detect world:7 --out boxes.png
    regard detect photo.jpg --model hub:facebook/detr-resnet-50
    regard detect *.jpg --json
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.lines import Failure, print_answers
from regard.cli.load import load_model
from regard.names import Dtype

ROOM = 320  # pixels of the shorter side that boxes with labels need
GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class Flags:
    pictures: Annotated[Positional[tuple[str, ...]], arg(metavar="PICTURE")] = ()
    """Files of pictures; without them, standard input line by line."""
    model: str = ""
    """A name that `regard list zoo` shows, a folder, or hub:owner/name; the default detector if left out."""
    threshold: float = 0.5
    """Leave out what is less sure than this probability."""
    out: Path | None = None
    """Where to write the picture with its boxes: a name that ends in .png or .jpg; for one picture alone."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one picture a line: the label, score and box (left, top, right, bottom in pixels) of each thing."""


def main(flags: Flags) -> None:
    """Print what is in each picture."""
    if not 0 <= flags.threshold <= 1:
        raise UsageError(f"--threshold {flags.threshold} is no probability; give 0 to 1")
    if flags.out is not None and (len(flags.pictures) != 1 or flags.out.suffix not in (".png", ".jpg", ".jpeg")):
        raise UsageError(f"--out {flags.out} is for one picture, and ends in .png or .jpg")
    if flags.out is not None and not flags.out.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {flags.out.absolute().parent}; make it, or write elsewhere by --out")
    detect: Any = load_model(flags.model, task="detect", dtype=flags.dtype)

    def answer(paths: Sequence[str]) -> Any:
        return detect(paths, threshold=flags.threshold)

    def show(path: str, found: Any) -> str:
        if flags.json:
            failed = isinstance(found, Failure)
            things = [] if failed else [{"label": one.label, "score": one.score, "box": one.box} for one in found]
            return json.dumps({"picture": path, **({"error": found.reason} if failed else {"things": things})})
        if isinstance(found, Failure):
            return ""
        if flags.out is not None:
            draw(detect.open(path), found).save(flags.out)
        lines = [f"{one.label}  {one.score:.0%}  {' '.join(f'{side:.0f}' for side in one.box)}" for one in found]
        return "\n".join(lines) or f"nothing surer than {flags.threshold:.0%}"

    print_answers(flags.pictures, answer, show, what="picture")


def draw(picture: Any, found: Sequence[Any]) -> Any:
    """The picture with a box around each thing, and its label; a small one is made larger, so that there is room."""
    from PIL import ImageDraw

    times = max(1, -(-ROOM // min(picture.size)))
    drawn = picture.resize((picture.width * times, picture.height * times))
    pen = ImageDraw.Draw(drawn)
    for one in found:
        left, top, right, bottom = (side * times for side in one.box)
        pen.rectangle((left, top, right, bottom), outline=(255, 176, 0), width=max(1, drawn.width // 160))
        words = f"{one.label} {one.score:.0%}"
        ground = pen.textbbox((left + 2, top + 1), words)
        pen.rectangle((left, top, ground[2] + 2, ground[3] + 1), fill=(255, 176, 0))
        pen.text((left + 2, top + 1), words, fill=(0, 0, 0))
    return drawn
