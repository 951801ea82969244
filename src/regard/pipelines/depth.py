"""Depth (monocular depth estimation): a picture in, how far away each of its pixels is out.

depth = regard.load("runs/monodepth-0/model")
found = depth("left.png", right="right.png")[0]
found.depth, found.checked
depth.evaluate("world").scores["abs rel"]
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Float32
from PIL import Image
from torch import Tensor

from regard.analysis.depth import constant, errors, scores, usual
from regard.analysis.pictures import data_url
from regard.analysis.reading import Reading
from regard.analysis.scores import Score
from regard.analysis.view import Grid
from regard.attention import record
from regard.data import DataError
from regard.data.eyes import EyePairs, Eyes, check
from regard.data.stereo import eye_pairs
from regard.decode.forcing import evaluating
from regard.hub import Checkpoint
from regard.names import NUMBERED
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pictured import TOGETHER, Pictured, Shown
from regard.pipelines.pipeline import Edits, Evaluation
from regard.progress import Progress
from regard.train.stereo import appearance, warp
from regard.vision import Processor, Size, from_array, to_array
from regard.world.sheet import ramp


@dataclass(frozen=True, slots=True)
class Checked:
    """How unlike the left picture is the right one (by structure and colour, 0 to 1), as it is and warped by depth."""

    before: float
    after: float


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """How far away each pixel of a picture is, in its own size."""

    disparity: Float32[np.ndarray, "h w"]  # the share of the width by which it is further left for the right eye
    depth: Float32[np.ndarray, "h w"]  # metres, or else in such units that a disparity of the whole width is at 1
    metric: bool  # whether it is metres
    checked: Checked | None = None  # where the right picture was given

    @property
    def label(self) -> str:
        """Nearest, middle and farthest, in words."""
        near, far = float(self.depth.min()), float(self.depth.max())
        unit = "m" if self.metric else "of an unknown unit"
        return f"{near:.2f} to {far:.2f} {unit}, half of it within {np.median(self.depth):.2f}"

    def picture(self) -> Image.Image:
        """Bright is near, and dark is far."""
        return from_array(ramp(self.disparity, 0.0, float(self.disparity.max())))


class Depth(Pictured):
    """A model that says disparities of two eyes while it sees with one."""

    task, takes, gives = "depth", "picture", "depth"

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(checkpoint, limit=limit)
        config = self.model.config
        if not hasattr(config, "columns"):
            raise ValueError(f"{self.name} is a {type(self.model).__name__}, which says no depth; choose another model")
        usual_size = Processor(size=Size(height=config.size, width=config.columns))
        self.processor = checkpoint.processor or usual_size
        metres: Any = checkpoint.card.get("metres")
        self.metres: float | None = float(metres) if isinstance(metres, int | float) and metres > 0 else None

    def known(self, name: str) -> Any:
        """The test pictures of the world, or of a named set for two eyes, as the left eye sees them."""
        return eye_pairs(name, "test")

    def open_right(self, given: Shown) -> Image.Image:
        """A picture as the right eye saw it: `world:7` is what it sees of scene 7."""
        if isinstance(given, str) and (named := NUMBERED.fullmatch(given)) and not Path(given).exists():
            try:
                pairs: EyePairs = self.known(named[1])
                return pairs[int(named[2])].right
            except (DataError, IndexError) as error:
                raise ValueError(str(error)) from None
        return self.open(given)

    @answer_familiar
    def __call__(
        self,
        inputs: Shown | Sequence[Shown],
        *,
        right: Shown | Sequence[Shown] | None = None,
        progress: Progress | None = None,
    ) -> list[Seen]:
        """The depth of each picture; with what the `right` eye saw of each, how alike the eyes become by it."""
        given = self.listed(inputs)
        others = [None] * len(given) if right is None else self.listed(right)
        if len(others) != len(given):
            raise ValueError(f"{len(others)} right pictures do not go with {len(given)} left ones; give one each")
        found = list[Seen]()
        for start in range(0, len(given), TOGETHER):
            opened = [self.open(each) for each in given[start : start + TOGETHER]]
            for picture, share, other in zip(opened, self.shares(opened), others[start:], strict=False):
                found.append(self._tell(picture, share, None if other is None else self.open_right(other)))
            if progress is not None:
                progress(len(found))
        return found

    def shares(self, pictures: Sequence[Image.Image]) -> Float[Tensor, "b h w"]:
        """Disparities of the left eye at the size that the model sees, as shares of the width."""
        with evaluating(self.model), torch.inference_mode():
            said: Tensor = self.model(self.tensors(pictures)).left
        return said.float().cpu()

    def _tell(self, picture: Image.Image, share: Float[Tensor, "h w"], right: Image.Image | None) -> Seen:
        size = (picture.height, picture.width)
        own = F.interpolate(share[None, None], size=size, mode="bilinear", align_corners=False)[0, 0]
        disparity: Float32[np.ndarray, "h w"] = own.numpy()
        depth = np.float32(self.metres or 1.0) / np.maximum(disparity, np.float32(1e-6))
        checked = None if right is None else _check(picture, right, own)
        return Seen(disparity, depth, self.metres is not None, checked)

    @answer_familiar
    def evaluate(
        self, data: str, *, split: str = "test", limit: int = 0, progress: Progress | None = None
    ) -> Evaluation:
        """How far off depths are on the world, a named set or a folder for two eyes; and what needs no picture to say.

        That is the best one depth for all, and the best for each pixel.
        """
        split = split or "test"
        known = eye_pairs(data, split)
        count = min(limit or len(known), len(known))
        height, width = self.processor.size.height or 0, self.processor.size.width or 0
        began, (left, _, truth) = time.perf_counter(), known.arrays(height, width, count)
        real, parts = truth[:, 0], list[np.ndarray]()
        if not (real > 0).any():
            raise ValueError(f"{data} has no true disparities, so that nothing can be scored; choose other data")
        for start in range(0, count, TOGETHER):
            parts.append(self.shares([from_array(each) for each in left[start : start + TOGETHER]]).numpy())
            if progress is not None:
                progress(start + len(parts[-1]))
        seconds, metres = time.perf_counter() - began, known.metres or 1.0
        named = dict[str, Score]()
        for way, said in (("", np.concatenate(parts)), ("/constant", constant(real)), ("/usual", usual(real))):
            named |= {f"{name}{way}": score for name, score in scores(errors(said, real, metres)).items()}
        order = sorted(named, key=lambda name: (name.partition("/")[0], "/" in name))
        return Evaluation(self.name, data, split, count, seconds, {name: named[name] for name in order})

    @answer_familiar
    @torch.no_grad()
    def attend(self, given: Shown, *, edits: Edits | None = None) -> Reading:
        """What the model was shown, and the depth that it said; nothing in it attends, so that there are no maps."""
        picture = self.open(given)
        image = self.tensors([picture])
        with evaluating(self.model), record(self.model, edits=edits) as trace:
            (share,) = self.model(image).left.float().cpu()
        output = self._tell(picture, share, None)
        rows, columns = self.model.grid(*image.shape[-2:])
        axes = {"picture": Grid(rows, columns, data_url(self.seen(picture)))}
        return Reading(self.name, axes, (), trace, output, output.label)


def _check(left: Image.Image, right: Image.Image, share: Float[Tensor, "h w"]) -> Checked:
    try:
        check(Eyes(left, right), "the pair")
    except DataError as error:
        raise ValueError(str(error)) from None
    mine, other = (torch.from_numpy(to_array(each).transpose(2, 0, 1)).float()[None] / 255 for each in (left, right))
    return Checked(float(appearance(other, mine)), float(appearance(warp(other, -share[None]), mine)))


PIPELINE = Depth
