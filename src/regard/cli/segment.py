"""Segment a picture: masks of what a click or a box means, or of everything there is.

Points are x,y and boxes left,top,right,bottom, in pixels; `world:7` is scene 7 of the little world's test. One click
may mean a part or a whole, so that it is answered by three masks, the surest first.

    regard segment photo.jpg --point 120,80 --out mask.png
    regard segment photo.jpg --point 120,80 200,90 --not-point 60,60 --out mask.png
    regard segment photo.jpg --box 40,30,200,180 --json
    regard segment photo.jpg --all --out everything.png --model mobile_sam.pt --pickle
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

GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class Flags:
    picture: Annotated[Positional[str], arg(metavar="PICTURE")]
    """The file of a picture."""
    point: tuple[str, ...] = ()
    """Points in what is meant, each as x,y in pixels."""
    not_point: tuple[str, ...] = ()
    """Points that are not in it, each as x,y in pixels."""
    box: str = ""
    """A box around what is meant: left,top,right,bottom in pixels."""
    all: bool = False
    """Look for everything, by a grid of clicks."""
    model: str = ""
    """A name that `regard list zoo` shows, a folder, or hub:owner/name; the default segmenter if left out."""
    pickle: bool = False
    """Read a pickle such as mobile_sam.pt, of which only tensors and plain values are taken."""
    threshold: float | None = None
    """Of everything, leave out what is expected to overlap the truth by less than this share; what the model's card
    says if left out, or 0.88."""
    stability: float | None = None
    """Of everything, leave out masks of which less than this share stays when the threshold of their pixels is moved;
    what the model's card says if left out, or 0.95."""
    out: Path | None = None
    """Where to write the surest mask, white on black, or with --all the picture with every mask in a colour; .png."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one mask a line: score, stability, box, area, and run lengths as COCO has them."""


def main(flags: Flags) -> None:
    """Print the masks of a picture."""
    points, others = (
        tuple(_numbers(each, 2, flag) for each in getattr(flags, flag)) for flag in ("point", "not_point")
    )
    box = _numbers(flags.box, 4, "box") if flags.box else None
    prompted = bool(points or others or box)
    if flags.all == prompted:
        raise UsageError("give --point, --not-point or --box for one thing, or --all for everything, and not both")
    for flag, share in (("threshold", flags.threshold), ("stability", flags.stability)):
        if share is not None and not 0 <= share <= 1:
            raise UsageError(f"--{flag} {share} is no share; give 0 to 1")
    if flags.out is not None and flags.out.suffix != ".png":
        raise UsageError(f"--out {flags.out} is no .png; masks are not written in other forms")
    if flags.out is not None and not flags.out.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {flags.out.absolute().parent}; make it, or write elsewhere by --out")
    segment: Any = load_model(flags.model, task="segment", dtype=flags.dtype, pickle=flags.pickle)
    try:
        picture, prompt = segment.open(flags.picture), _prompt(points, others, box)
        prompt.check(picture.width, picture.height)  # before anything is seen, which takes longer
        looked = segment.see(picture)
        found = _everything(segment, looked, flags) if flags.all else segment.cuts(looked, prompt)
    except (ValueError, OSError) as error:
        raise UsageError(str(error)) from None
    if flags.out is not None:
        (paint(picture, found) if flags.all else white(picture, found)).save(flags.out)
    for one in found:
        print(_told(one) if flags.json else _line(one))
    if not found and not flags.json:
        sure, steady = (
            own if said is None else said
            for own, said in ((segment.sure, flags.threshold), (segment.steady, flags.stability))
        )
        print(f"nothing surer than {sure:.0%} and stable to {steady:.0%}; try a lower --threshold or --stability")


def _everything(segment: Any, looked: Any, flags: Flags) -> Any:
    from regard.progress import bar

    with bar("Clicks everywhere") as progress:
        return segment.everything(looked, sure=flags.threshold, steady=flags.stability, progress=progress)


def _prompt(points: Any, others: Any, box: Any) -> Any:
    from regard.pipelines.segment import Prompt

    return Prompt(points, others, box)


def _numbers(text: str, count: int, flag: str) -> tuple[float, ...]:
    names = ("left", "top", "right", "bottom") if count == 4 else ("x", "y")
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if len(found) != count:
        raise UsageError(f"--{flag.replace('_', '-')} {text} is not {','.join(names)}; give {count} numbers in pixels")
    return found


def _line(one: Any) -> str:
    left, top, right, bottom = one.box
    return f"{one.score:.0%}  {one.area} pixels  {left} {top} {right} {bottom}"


def _told(one: Any) -> str:
    from regard.vision import rle

    counts = {"size": list(one.mask.shape), "counts": rle.pack(rle.encode(one.mask))}
    told = {"score": one.score, "stability": one.stability, "box": one.box, "area": one.area, "mask": counts}
    return json.dumps(told)


def white(picture: Any, found: Sequence[Any]) -> Any:
    """The surest mask, white on black."""
    import numpy as np
    from PIL import Image

    mask = found[0].mask if found else np.zeros((picture.height, picture.width), bool)
    return Image.fromarray(np.where(mask, 255, 0).astype(np.uint8))


def paint(picture: Any, found: Sequence[Any]) -> Any:
    """The picture with every mask in a colour of its own, small ones over large ones."""
    import colorsys

    import numpy as np
    from PIL import Image

    pixels = np.asarray(picture.convert("RGB"), np.float32).copy()
    for i, one in enumerate(sorted(found, key=lambda one: -one.area)):
        # The golden ratio keeps colours apart, however many there are.
        colour = np.array(colorsys.hsv_to_rgb(i * 0.618034 % 1, 0.8, 1.0), np.float32) * 255
        pixels[one.mask] = 0.45 * pixels[one.mask] + 0.55 * colour
    return Image.fromarray(pixels.astype(np.uint8))
