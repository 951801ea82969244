"""Pictures in: what recognizing, embedding and detecting share."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from jaxtyping import Float, UInt8
from PIL import Image
from torch import Tensor

from regard.hub import Checkpoint
from regard.pipelines.pipeline import Pipeline
from regard.vision import Processor, Size, from_array, open_picture

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
        """A picture, wherever it is."""
        if isinstance(given, Image.Image):
            return given
        return from_array(given) if isinstance(given, np.ndarray) else open_picture(given)

    def tensors(self, pictures: Sequence[Image.Image]) -> Float[Tensor, "b c h w"]:
        """Pictures as the model reads them; one that reads grey ones gets the mean of the colours."""
        batch = self.processor(pictures)
        grey = batch.mean(dim=1, keepdim=True) if self.channels == 1 else batch
        return grey.to(self.device)

    def batches(self, given: Sequence[Shown]) -> Iterator[Float[Tensor, "b c h w"]]:
        """Pictures as tensors, some at a time."""
        for start in range(0, len(given), TOGETHER):
            yield self.tensors([self.open(each) for each in given[start : start + TOGETHER]])

    def listed(self, inputs: Any) -> list[Shown]:
        """One picture or several, as a list of them."""
        one = isinstance(inputs, str | Path | bytes | Image.Image) or hasattr(inputs, "read")
        alone = one or (isinstance(inputs, np.ndarray) and inputs.ndim == 3)
        return [inputs] if alone else list(inputs)

    def seen(self, picture: Image.Image) -> Image.Image:
        """What the model sees of a picture, for people to look at."""
        return from_array(self.processor.cut(picture))

    def run(self, image: Float[Tensor, "b c h w"]) -> Any:
        """The model, without gradients."""
        with torch.inference_mode():
            return self.model(image)
