"""Pictures in: what recognizing, embedding and detecting share."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from jaxtyping import Float, UInt8
from PIL import Image
from torch import Tensor

from regard.analysis.pictures import data_url, maps_over
from regard.analysis.reading import Reading
from regard.analysis.unrolled import Unrolled, of_layers
from regard.analysis.view import Grid
from regard.attention import record
from regard.data import DataError
from regard.data.album import Pictures
from regard.data.annotated import Detections
from regard.data.pictures import detections, pictures
from regard.decode.forcing import evaluating
from regard.hub import Checkpoint
from regard.names import NUMBERED
from regard.pipelines.pipeline import Edits, Pipeline
from regard.progress import Progress
from regard.vision import Processor, Size, from_array, open_picture
from regard.vision.views import Tta, views

# A path, the bytes of a file, an open file, a picture of Pillow's, or its pixels.
Shown = str | Path | bytes | BinaryIO | Image.Image | UInt8[np.ndarray, "h w 3"]
TOGETHER = 32  # pictures that are read at once


class Pictured(Pipeline):
    """A model of pictures, and what is done to them before it sees them."""

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(checkpoint, limit=limit)
        config = self.model.config
        size = getattr(config, "size", 224)
        self.processor = checkpoint.processor or Processor(size=Size(height=size, width=size))
        self.channels: int = getattr(config, "channels", 3)

    def open(self, given: Shown) -> Image.Image:
        """A picture, wherever it is; `cifar10:7` is picture 7 of the test of a named set, `world:7` scene 7."""
        if isinstance(given, Image.Image):
            return given
        if isinstance(given, str) and (named := NUMBERED.fullmatch(given)) and not Path(given).exists():
            try:
                return self.known(named[1]).picture(int(named[2]))
            except (DataError, IndexError) as error:
                raise ValueError(str(error)) from None
        if isinstance(given, np.ndarray):
            return from_array(given)
        if not isinstance(given, str | Path | bytes) and not hasattr(given, "read"):
            raise TypeError(
                f"{type(given).__name__} is no picture; give a path, bytes, a picture of Pillow's, or an array of "
                "uint8 of (height, width, 3)"
            )
        return open_picture(given)

    def known(self, name: str) -> Pictures | Detections:
        """The test pictures of a named set; of the world, its scenes as they are numbered, the same for every task."""
        return detections(name, "test") if name == "world" else pictures(name, "test")

    def tensors(self, pictures: Sequence[Image.Image]) -> Float[Tensor, "b c h w"]:
        """Pictures as the model reads them; one that reads grey ones gets the mean of the colours."""
        batch = self.processor(pictures)
        grey = batch.mean(dim=1, keepdim=True) if self.channels == 1 else batch
        return grey.to(self.device)

    def listed(self, inputs: Any) -> list[Shown]:
        """One picture or several, as a list of them."""
        one = isinstance(inputs, str | Path | bytes | Image.Image) or hasattr(inputs, "read")
        alone = one or (isinstance(inputs, np.ndarray) and inputs.ndim == 3)
        return [inputs] if alone else list(inputs)

    def seen(self, picture: Image.Image) -> Image.Image:
        """What the model sees of a picture, for people to look at."""
        return from_array(self.processor.cut(picture))

    def run(self, inputs: Any, progress: Progress | None = None, *, tta: Tta = "none") -> list[Float[Tensor, " o"]]:
        """What the model gives for each picture, one or several; by `tta`, the mean over views of it."""
        given, found = self.listed(inputs), list[Tensor]()
        with evaluating(self.model), torch.inference_mode():
            for start in range(0, len(given), TOGETHER):
                opened = [self.open(each) for each in given[start : start + TOGETHER]]
                said = [weight * self.model(view).float() for weight, view in views(self.tensors(opened), tta)]
                found += torch.stack(said).sum(dim=0)
                if progress is not None:
                    progress(len(found))
        return found

    def over(
        self, known: Pictures, count: int, progress: Progress | None = None, *, tta: Tta = "none"
    ) -> list[Float[Tensor, " o"]]:
        """What the model gives for the first pictures of a set, which are open only while it reads them."""
        found = list[Tensor]()
        for start in range(0, count, TOGETHER):
            some = range(start, min(start + TOGETHER, count))
            found += self.run([known.picture(i) for i in some], tta=tta)
            if progress is not None:
                progress(len(found))
        return found

    @torch.no_grad()
    def watch(self, given: Shown, edits: Edits | None) -> tuple[Float[Tensor, " o"], Reading]:
        """What the model gives for one picture, and a reading of where its places look, without output or caption."""
        picture = self.open(given)
        image = self.tensors([picture])
        with evaluating(self.model), record(self.model, edits=of_layers(edits)) as seen:
            (output,) = self.model(image).float()
        trace = Unrolled(seen) if any(len(seen[name]) > 1 for name in seen) else seen
        grid, shown = self.model.grid(*image.shape[-2:]), data_url(self.seen(picture))
        axes, maps = maps_over(trace, grid, leading=self.model.leading, image=shown)
        if not axes:  # a model without attention: what it was shown can be seen all the same
            axes = {"picture": Grid(grid[0], grid[1], shown, self.model.leading)}
        return output, Reading(self.name, axes, maps, trace)
