"""The picture of a reading as its model read it, for analyses that run the model again."""

import base64
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

from regard.web.see.asked import Asked

if TYPE_CHECKING:
    from torch import Tensor


def image_of(asked: Asked) -> "Tensor":
    """What the model read, from the picture that the reading shows."""
    import numpy as np
    from PIL import Image

    reading = asked.reading
    shown = next((url for axis in reading.axes.values() if (url := getattr(axis, "image", None))), None)
    if shown is None:
        raise ValueError(f"{reading.model} was shown no picture; ask it about one")
    with Image.open(BytesIO(base64.b64decode(shown.partition(",")[2])), formats=("PNG",)) as found:
        pixels = np.array(found.convert("RGB"))
    said: Any = asked.pipeline
    plain = replace(said.processor, do_resize=False, do_center_crop=False)  # it was cut already
    image: Tensor = plain.pad([pixels]).image
    grey = image.mean(dim=1, keepdim=True) if said.channels == 1 else image
    return grey.to(said.device)
