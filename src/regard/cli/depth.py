"""Tell how far away everything in a picture is, as a picture in which bright is near.

Pictures are files; `world:7` is scene 7 of the little world's test, and `stereo:0` a scene of Middlebury's. With the
picture of the right eye, the right picture is warped by the depth and compared with the left one: how unlike they are
before, and after.

    regard depth left.png --out depth.png --model runs/monodepth-0/model
    regard depth left.png --right right.png --out depth.png --model runs/monodepth-0/model
    regard depth world:7 --right world:7 --json --out depth.npy --model runs/monodepth-0/model
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.load import load_model
from regard.names import Dtype

ROOM = 128  # pixels that the shorter side is made to have at least, so that people see something
ENDS = (".png", ".jpg", ".jpeg", ".npy")
GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class Flags:
    picture: Annotated[Positional[str], arg(metavar="PICTURE")]
    """The file of a picture, as the left eye sees it."""
    right: str = ""
    """What the right eye saw at the same moment, to check the depth by."""
    out: Path | None = None
    """Where to write the depth: a picture that ends in .png or .jpg, or the numbers themselves as .npy."""
    model: str = ""
    """A name that `regard list zoo` shows, or a folder as `regard train monodepth` leaves one; the default if left
    out."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON: the nearest, the middle and the farthest depth, whether they are metres, and how the check went."""


def main(flags: Flags) -> None:
    """Write and tell the depth of a picture."""
    if flags.out is not None and flags.out.suffix.lower() not in ENDS:
        raise UsageError(f"--out {flags.out} is no picture and no array; give a name that ends in {', '.join(ENDS)}")
    if flags.out is not None and not flags.out.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {flags.out.absolute().parent}; make it, or write elsewhere by --out")
    depth: Any = load_model(flags.model, task="depth", dtype=flags.dtype)
    try:
        (found,) = depth([flags.picture], right=[flags.right] if flags.right else None)
    except ValueError as error:
        raise SystemExit(str(error)) from None
    if flags.out is not None:
        save(found, flags.out)
    import numpy as np

    near, middle, far = (float(each) for each in np.quantile(found.depth, (0.0, 0.5, 1.0)))
    checked = found.checked
    if flags.json:
        facts = {"nearest": near, "middle": middle, "farthest": far, "metres": found.metric}
        facts |= {} if checked is None else {"unlike before": checked.before, "unlike after": checked.after}
        print(json.dumps({"picture": flags.picture, **facts}))
        return
    print(found.label)
    if checked is not None:
        print(f"the right picture differs by {checked.before:.3f}, and by {checked.after:.3f} once it is warped")
    if flags.out is not None:
        print(f"{flags.out}: {found.depth.shape[1]}×{found.depth.shape[0]} pixels")


def save(found: Any, out: Path) -> None:
    """Write the depth as a picture, enlarged by whole steps if it is small, or as an array of numbers."""
    import numpy as np

    if out.suffix.lower() == ".npy":
        np.save(out, found.depth)
        return
    drawn = found.picture()
    times = max(1, -(-ROOM // min(drawn.size)))
    drawn.resize((drawn.width * times, drawn.height * times), 0).save(out)
