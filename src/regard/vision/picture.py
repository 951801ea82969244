"""Pictures of strangers: opened within bounds, turned upright, and always red, green and blue in 8 bits.

Whatever is wrong with a file is a `PictureError` in one sentence. Size and format are read from the header and checked
before anything is decoded.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageOps, UnidentifiedImageError

from regard import files

BYTES = 64 * 2**20  # of a file
PIXELS = 64_000_000  # of a picture: 192 MB when it is decoded
MOVING = 1_000_000_000  # of all frames of a moving picture: some seconds
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM")
_SIXTEEN = ("I;16", "I;16L", "I;16B", "I;16N", "I")  # grey in more than 8 bits
_WHITE = (255, 255, 255, 255)


class PictureError(ValueError):
    """A picture that cannot be opened, with the reason and the way out in one sentence."""


@runtime_checkable
class Readable(Protocol):
    """A file that is open for reading bytes."""

    def read(self, size: int, /) -> bytes: ...


def open_picture(
    source: str | Path | bytes | Readable, *, name: str = "", most_bytes: int = BYTES, most_pixels: int = PIXELS
) -> Image.Image:
    """A picture from a path, from bytes or from an open file, as RGB; of several frames or pages, the first.

    It is turned as its EXIF data say. What is transparent is laid over white. `name` is what an error calls bytes.
    """
    with _opened(source, name, most_bytes, most_pixels) as (image, called):
        image.load()
        _turn_upright(image)
        return _rgb(image, called)


def open_frames(
    source: str | Path | bytes | Readable,
    count: int,
    *,
    name: str = "",
    most_bytes: int = BYTES,
    most_pixels: int = MOVING,
) -> list[Image.Image]:
    """So many frames of a moving picture (GIF, WEBP, PNG, TIFF), evenly spread from the first to the last.

    A short one shows frames more than once; of a still one, all are the same.
    """
    if count < 1:
        raise ValueError(f"{count} frames are no film; ask for 1 or more")
    with _opened(source, name, most_bytes, min(most_pixels, PIXELS // count)) as (image, called):
        frames, (width, height) = getattr(image, "n_frames", 1), image.size
        # To know a frame, all before it are decoded.
        if frames * width * height > most_pixels:
            raise PictureError(_large(called, f"{frames} × {width} × {height}", most_pixels))
        shown = np.linspace(0, frames - 1, count).round().astype(np.int64).tolist()
        found = {}
        for place in dict.fromkeys(shown):
            image.seek(place)
            if image.size != (width, height):  # pages of a TIFF, of which each may be a giant
                raise PictureError(
                    f"the frames of {called} differ in size; save them alike, or as a folder of pictures"
                )
            found[place] = _rgb(image.copy(), called)
        return [found[place] for place in shown]


@contextmanager
def _opened(
    source: str | Path | bytes | Readable, name: str, most_bytes: int, most_pixels: int
) -> Iterator[tuple[Image.Image, str]]:
    """A file within bounds, and what an error calls it; whatever a decoder stumbles over is a `PictureError`."""
    name = name or (str(source) if isinstance(source, str | Path) else "the picture")
    data = _bytes(source, name, most_bytes)
    try:
        with Image.open(BytesIO(data), formats=FORMATS) as image:
            width, height = image.size
            if width * height > most_pixels:
                raise PictureError(_large(name, f"{width} × {height}", most_pixels))
            yield image, name
    except PictureError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise PictureError(_large(name, "too many", most_pixels)) from None
    except UnidentifiedImageError:
        raise PictureError(
            f"{name} is no picture of a known format, or its beginning is damaged; give {', '.join(FORMATS)}"
        ) from None
    except Exception as error:  # a decoder of Pillow raises whatever it stumbles over in a damaged file
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise PictureError(f"{name} is cut short or damaged ({said}); save it again, or leave it out") from None


def to_array(picture: Image.Image) -> UInt8[np.ndarray, "h w 3"]:
    """The pixels of a picture, as an array of its own."""
    return np.array(picture if picture.mode == "RGB" else _rgb(picture, "the picture"))


def from_array(pixels: UInt8[np.ndarray, "h w 3"]) -> Image.Image:
    """A picture of such pixels."""
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8:
        raise PictureError(f"{pixels.dtype} of shape {pixels.shape} is no picture; give uint8 of (height, width, 3)")
    return Image.fromarray(np.ascontiguousarray(pixels))


def _bytes(source: str | Path | bytes | Readable, name: str, limit: int) -> bytes:
    try:
        if isinstance(source, bytes):
            data = source
        elif isinstance(source, str | Path):
            data = files.read(Path(source), limit)
        else:
            data = source.read(limit + 1)
    except FileNotFoundError:
        raise PictureError(f"{name} is not there; give the path of a picture") from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        told = said if name in said else f"{name} cannot be read ({said})"
        raise PictureError(f"{told}; give a smaller file with a picture") from None
    if len(data) > limit:
        raise PictureError(f"{name} has more than {limit:,} bytes; save it smaller, or raise most_bytes")
    if not data:
        raise PictureError(f"{name} is empty; give a file with a picture")
    return data


def _large(name: str, pixels: str, limit: int) -> str:
    return f"{name} has {pixels} pixels, and at most {limit:,} are decoded; make it smaller, or raise most_pixels"


def _turn_upright(image: Image.Image) -> None:
    # Damaged EXIF data tell nothing of how it was held, and the pixels are good.
    with suppress(Exception):
        ImageOps.exif_transpose(image, in_place=True)


def _rgb(image: Image.Image, name: str) -> Image.Image:
    if image.mode in _SIXTEEN:
        return _from_sixteen(image, name)
    if image.mode == "F":
        raise PictureError(f"{name} holds real numbers, and nobody says which is white; save it in 8 or 16 bits")
    # A palette of bytes has a transparency for each colour; grey and colour have one colour that is not seen.
    if image.mode in ("LA", "La", "PA", "RGBA", "RGBa") or image.info.get("transparency") is not None:
        seen = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", seen.size, _WHITE), seen).convert("RGB")
    return image.convert("RGB")


def _from_sixteen(image: Image.Image, name: str) -> Image.Image:
    """Grey of 16 bits in 8: white stays white, which dividing by 256 and cutting off at 255 both miss."""
    pixels = np.asarray(image).astype(np.int64)
    if pixels.size and not 0 <= pixels.min() <= pixels.max() <= 65535:
        raise PictureError(f"{name} holds numbers beyond 16 bits, and nobody says which is white; save it in 8 or 16")
    grey = ((pixels * 255 + 32767) // 65535).astype(np.uint8)
    unseen = image.info.get("transparency")
    if isinstance(unseen, int):
        grey[pixels == unseen] = 255
    return Image.fromarray(grey).convert("RGB")
