"""The middle of a picture."""

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from regard.vision.picture import to_array
from regard.vision.sizing import shortest


def crop_centre(pixels: UInt8[np.ndarray, "h w 3"], height: int, width: int) -> UInt8[np.ndarray, "p q 3"]:
    """The middle of a picture; where it is too small, black is put around it."""
    rows, columns = pixels.shape[:2]
    if height > rows or width > columns:
        tall, broad = max(height, rows), max(width, columns)
        top, left = -(-(tall - rows) // 2), -(-(broad - columns) // 2)
        around = np.zeros((tall, broad, 3), np.uint8)
        around[top : top + rows, left : left + columns] = pixels
        # Where a picture is cut in one direction and padded in the other, both begin from the old middle.
        top, left = max(0, (rows - height) // 2 + top), max(0, (columns - width) // 2 + left)
        return around[top : top + height, left : left + width]
    top, left = (rows - height) // 2, (columns - width) // 2
    return pixels[top : top + height, left : left + width]


def centre_square(
    picture: Image.Image, size: int, resample: Image.Resampling = Image.Resampling.BICUBIC
) -> UInt8[np.ndarray, "s s 3"]:
    """The largest square in the middle of a picture, resized: its shortest edge becomes `size`."""
    height, width = shortest(picture.height, picture.width, size)
    if picture.size != (width, height):
        picture = picture.resize((width, height), resample)
    return crop_centre(to_array(picture), size, size)
