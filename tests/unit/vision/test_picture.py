"""Files of strangers become upright pictures in red, green and blue, or one sentence."""

import contextlib
import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from regard.vision import PictureError, from_array, open_picture, to_array
from regard.vision.picture import open_frames

PIXELS = np.asarray([[[255, 0, 0], [0, 255, 0], [0, 0, 255]], [[10, 20, 30], [255, 255, 255], [0, 0, 0]]], np.uint8)

NOISE = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)


def saved(image: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def pixel(data: bytes, x: int = 0, y: int = 0) -> tuple[int, ...]:
    found = open_picture(data).getpixel((x, y))
    assert isinstance(found, tuple)
    return found


@pytest.mark.parametrize(
    ("form", "options"), [("PNG", {}), ("BMP", {}), ("TIFF", {}), ("PPM", {}), ("WEBP", {"lossless": True})]
)
def test_lossless_files_give_their_pixels_from_a_path_from_bytes_and_from_a_stream(
    form: str, options: dict[str, Any], tmp_path: Path
) -> None:
    data = saved(from_array(PIXELS), form, **options)
    (tmp_path / "picture").write_bytes(data)
    for source in (tmp_path / "picture", str(tmp_path / "picture"), data, io.BytesIO(data)):
        picture = open_picture(source)
        assert picture.mode == "RGB"
        assert np.array_equal(to_array(picture), PIXELS)


def test_of_a_moving_picture_the_first_frame_is_taken() -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    for form in ("GIF", "WEBP", "TIFF"):
        assert pixel(saved(frames[0], form, save_all=True, append_images=frames[1:]))[0] > 200


def test_frames_are_spread_over_a_moving_picture_and_a_still_one_shows_itself_again() -> None:
    shades = [Image.new("RGB", (4, 6), (40 * i, 0, 255 - 40 * i)) for i in range(7)]
    for form in ("GIF", "PNG", "TIFF", "WEBP"):
        options = {"lossless": True} if form == "WEBP" else {}
        found = open_frames(saved(shades[0], form, save_all=True, append_images=shades[1:], **options), 3)
        assert [np.asarray(each)[0, 0].tolist() for each in found] == [[0, 0, 255], [120, 0, 135], [240, 0, 15]]
    assert [each.size for each in open_frames(saved(shades[1]), 2)] == [(4, 6)] * 2


@pytest.mark.parametrize(
    ("sizes", "options", "said"),
    [
        ([(4, 6), (60, 60)], {}, "the frames of the picture differ in size"),
        ([(40, 60)] * 3, {"most_pixels": 5000}, "the picture has 3 × 40 × 60 pixels, and at most 5,000 are decoded"),
        ([(4000, 4100)], {}, "4000 × 4100 pixels, and at most 16,000,000 are decoded"),  # four of them are kept
    ],
)
def test_moving_pictures_are_decoded_within_bounds(
    sizes: list[tuple[int, int]], options: dict[str, Any], said: str
) -> None:
    frames = [Image.new("1", size, i % 2) for i, size in enumerate(sizes)]
    data = saved(frames[0], "TIFF", save_all=True, append_images=frames[1:])
    with pytest.raises(PictureError, match=said):
        open_frames(data, 4, **options)
    with pytest.raises(ValueError, match="0 frames are no film; ask for 1 or more"):
        open_frames(data, 0)


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_a_photograph_is_turned_as_it_was_held(form: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees
    options = {"lossless": True} if form == "WEBP" else {}
    picture = open_picture(saved(Image.new("RGB", (20, 10)), form, exif=exif, **options))
    assert picture.size == (10, 20)


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
def test_damaged_exif_data_do_not_cost_the_picture() -> None:
    assert open_picture(saved(Image.new("RGB", (20, 10)), "JPEG", exif=b"Exif\0\0MM\0*\0\0\0\x08\xff\xff")).size == (
        20,
        10,
    )


def test_what_is_transparent_lies_over_white() -> None:
    assert pixel(saved(Image.new("RGBA", (2, 2), (255, 0, 0, 0)))) == (255, 255, 255)
    assert pixel(saved(Image.new("RGBA", (2, 2), (255, 0, 0, 128)))) == (255, 127, 127)
    assert pixel(saved(Image.new("LA", (2, 2), (0, 0)))) == (255, 255, 255)
    palette = Image.new("P", (2, 2), 0)
    palette.putpalette([10, 20, 30, 40, 50, 60])
    palette.putpixel((1, 0), 1)
    data = saved(palette, transparency=0)
    assert (pixel(data), pixel(data, 1)) == ((255, 255, 255), (40, 50, 60))
    assert pixel(saved(palette, transparency=b"\x80\xff")) == (132, 137, 142)  # half over white
    assert pixel(saved(palette, "GIF", transparency=0)) == (255, 255, 255)
    assert pixel(saved(Image.new("RGB", (2, 2), (1, 2, 3)), transparency=(1, 2, 3))) == (255, 255, 255)


def test_grey_of_sixteen_bits_keeps_its_white_its_black_and_its_middle() -> None:
    deep = Image.fromarray(np.asarray([[0, 128, 257, 32896, 65407, 65535]], np.uint16))
    for data in (saved(deep), saved(deep, "TIFF")):
        assert to_array(open_picture(data))[0, :, 0].tolist() == [0, 0, 1, 128, 255, 255]


def test_grey_bilevel_and_printing_colours_become_red_green_and_blue() -> None:
    assert pixel(saved(Image.new("L", (2, 2), 77))) == (77, 77, 77)
    assert pixel(saved(Image.new("1", (2, 2), 1))) == (255, 255, 255)
    assert pixel(saved(Image.new("CMYK", (2, 2), (0, 255, 255, 0)), "TIFF")) == (255, 0, 0)
    assert pixel(saved(Image.new("CMYK", (8, 8), (0, 255, 255, 0)), "JPEG", quality=100))[0] > 250


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few bytes that claims to be large."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", r"the picture is empty; give a file with a picture"),
        (
            b"<html>no picture</html>",
            r"the picture is no picture of a known format, or its beginning is damaged; give JPEG, PNG",
        ),
        (saved(from_array(NOISE))[:5000], r"the picture is cut short or damaged \(.*\); save it again"),
        (saved(from_array(NOISE), "JPEG")[:900], r"the picture is cut short or damaged"),
        (bomb(9000, 9000), r"9000 × 9000 pixels, and at most 64,000,000 are decoded; make it smaller"),
        (bomb(12000, 12000), r"has too many pixels"),
        (bomb(60000, 60000), r"has too many pixels"),
        (saved(Image.new("F", (2, 2)), "TIFF"), r"real numbers, and nobody says which is white"),
        (saved(Image.new("RGB", (2, 2)), "ICO"), r"no picture of a known format"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n", r"no picture of a known format"),
    ],
)
def test_whatever_is_no_picture_is_one_sentence(data: bytes, said: str) -> None:
    with pytest.raises(PictureError, match=said):
        open_picture(data)


def test_files_are_read_within_bounds(tmp_path: Path) -> None:
    path = tmp_path / "some.png"
    path.write_bytes(saved(from_array(PIXELS)))
    with pytest.raises(PictureError, match=r"some\.png has \d+ bytes, and at most 10 are read"):
        open_picture(path, most_bytes=10)
    with pytest.raises(PictureError, match=r"mine has more than 10 bytes"):
        open_picture(path.read_bytes(), most_bytes=10, name="mine")
    with pytest.raises(PictureError, match=r"has more than 10 bytes"), path.open("rb") as stream:
        open_picture(stream, most_bytes=10)
    with pytest.raises(PictureError, match=r"3 × 2 pixels, and at most 5 are decoded"):
        open_picture(path, most_pixels=5)
    with pytest.raises(PictureError, match=r"absent\.png is not there"):
        open_picture(tmp_path / "absent.png")
    with pytest.raises(PictureError, match=r"is no regular file"):
        open_picture(tmp_path)


@given(st.data())
def test_a_damaged_file_is_a_picture_or_a_sentence_and_nothing_else(data: st.DataObject) -> None:
    form = data.draw(st.sampled_from(["PNG", "JPEG", "GIF", "BMP", "TIFF", "PPM", "WEBP"]))
    good = bytearray(saved(from_array(NOISE[:16, :16]), form))
    for _ in range(data.draw(st.integers(1, 6))):
        good[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(PictureError):
        assert open_picture(bytes(good)).mode == "RGB"


def test_an_array_that_is_shown_is_the_array() -> None:
    assert np.array_equal(to_array(from_array(PIXELS)), PIXELS)
    assert np.array_equal(to_array(from_array(PIXELS[:, ::-1])), PIXELS[:, ::-1])
    to_array(from_array(PIXELS))[0] = 0  # an array of its own, that may be written
