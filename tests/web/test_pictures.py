"""Pictures of strangers: kept by their hash within bounds, or refused in one sentence; and the truth of the world."""

import hashlib
import struct
import zlib
from io import BytesIO

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from regard.vision import open_picture
from regard.web.errors import RefusedError
from regard.web.pictures import BYTES, PHOTOS, Pictures, photos, tell


def encoded(picture: Image.Image, form: str = "PNG", **wishes: object) -> bytes:
    file = BytesIO()
    picture.save(file, form, **wishes)
    return file.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def upload(client: TestClient, data: bytes) -> tuple[int, dict[str, object]]:
    answer = client.post("/api/pictures", content=data, headers={"Content-Type": "application/octet-stream"})
    return answer.status_code, answer.json()


def sentence(said: object) -> str:
    """What was said, which must be one sentence about the file."""
    assert isinstance(said, str)
    assert "\n" not in said
    assert len(said) < 250
    assert "most_" not in said, "a reader of the page has no such argument"
    return said


def test_a_picture_is_kept_by_its_hash_and_shown_small(client: TestClient) -> None:
    data = encoded(Image.new("RGB", (900, 300), "red"), "JPEG")
    status, said = upload(client, data)
    name = hashlib.sha256(data).hexdigest()
    assert (status, said) == (200, {"picture": name, "width": 900, "height": 300, "note": None})
    shown = client.get(f"/api/pictures/{name}.png")
    assert shown.headers["content-type"] == "image/png"
    assert open_picture(shown.content).size == (512, 171)
    assert client.get(f"/api/pictures/{'0' * 64}.png").status_code == 410
    assert client.get("/api/pictures/cat.png").status_code == 422


def huge() -> bytes:
    """A small file that says it has 50,000 × 50,000 pixels."""
    header = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 1000)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*each) for each in parts)


def test_a_picture_of_50000_by_50000_pixels_is_refused_before_it_is_decoded(client: TestClient) -> None:
    status, said = upload(client, huge())
    assert status == 422
    assert "at most 64,000,000 are decoded" in sentence(said["error"])


def test_of_a_moving_picture_the_first_frame_is_taken_and_said(client: TestClient) -> None:
    frames = [Image.new("RGB", (20, 10), colour) for colour in ("red", "blue")]
    status, said = upload(client, encoded(frames[0], "GIF", save_all=True, append_images=frames[1:]))
    assert status == 200
    assert sentence(said["note"]) == "It has several frames, and a model sees the first."
    shown = open_picture(client.get(f"/api/pictures/{said['picture']}.png").content)
    assert shown.getpixel((5, 5)) == (255, 0, 0)


@pytest.mark.parametrize(
    "data",
    [
        b"this is no picture, whatever it is called",
        b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        b"\x89PNG\r\n\x1a\n and then nothing",
        b"words and more words\n" * 500_000,
    ],
    ids=["text called .png", "svg with script", "cut short", "10 MB of text"],
)
def test_what_is_no_picture_is_refused_in_one_sentence(client: TestClient, data: bytes) -> None:
    status, said = upload(client, data)
    assert status == 422
    assert "the file is" in sentence(said["error"])


def test_nothing_is_no_picture(client: TestClient) -> None:
    status, said = upload(client, b"")
    assert status == 422
    assert sentence(said["error"]) == "the file is empty; give a file with a picture"


def test_a_file_of_more_than_20_mb_is_not_read(client: TestClient) -> None:
    status, said = upload(client, b"\0" * (BYTES + 1))
    assert status == 413
    assert str(BYTES) in sentence(said["error"])


def test_other_requests_stay_small(client: TestClient) -> None:
    assert client.post("/api/ask", content=b" " * 300_000).status_code == 413


def test_the_store_forgets_the_oldest_and_never_the_newest() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (3, 64, 64, 3), np.uint8)
    files = [encoded(Image.fromarray(each)) for each in noise]
    store = Pictures(room=5 * len(files[0]))
    first, second, third = (store.keep(data).picture for data in files)
    assert store.find(second) == files[1]
    assert store.find(third) == files[2]
    with pytest.raises(RefusedError, match="choose its file again") as forgotten:
        store.find(first)
    assert forgotten.value.status == 410
    assert Pictures(room=1).keep(files[0]).picture == first


@pytest.mark.parametrize("name", ["photo:../../secret", "photo:", "photo:dog", "/etc/passwd", "x" * 500])
def test_a_name_never_becomes_a_path(name: str) -> None:
    with pytest.raises(RefusedError):
        Pictures().find(name)


def test_bundled_photographs_are_small_and_their_terms_are_stated(client: TestClient) -> None:
    assert client.get("/api/pictures/photos").json() == sorted(photos())
    assert 3 <= len(photos()) <= 5
    terms = (PHOTOS / "README.md").read_text(encoding="utf-8")
    for name, path in photos().items():
        assert path.stat().st_size <= 40_000
        assert max(open_picture(Pictures().find(f"photo:{name}")).size) <= 256
        (line,) = [line for line in terms.splitlines() if f"`{path.name}`" in line]
        assert "CC0" in line or "public domain" in line
        shown = client.get(f"/photos/{path.name}")
        assert shown.headers["content-type"] == "image/jpeg"


@pytest.mark.parametrize("index", [3, 5, 7])
def test_the_truth_is_that_of_the_picture_which_a_model_is_shown(index: int) -> None:
    from regard.data.painted import clearly_largest, world_detections
    from regard.world import scenes

    known, told = world_detections("test"), tell(index)
    shown = known.picture(index)
    drawn = _open(told["image"]).resize(shown.size, Image.Resampling.BOX)
    assert np.abs(np.asarray(shown, np.int16) - np.asarray(drawn, np.int16)).mean() < 4
    masks = np.asarray(_open(told["masks"]).convert("L"))
    assert set(np.unique(masks)) <= set(range(len(told["things"]) + 1))
    for number, thing in enumerate(told["things"], start=1):
        x, y, width, height = (round(each * 256) for each in thing["box"])
        inside = np.zeros_like(masks, bool)
        inside[y : y + height, x : x + width] = True
        assert not (masks == number)[~inside].any()
    scene = scenes(split="test")[index]
    assert [thing["kind"] for thing in told["things"]] == [thing.kind for thing in scene.things]
    assert told["largest"] == clearly_largest(scene)


def test_a_picture_is_named_after_a_thing_that_is_clearly_the_largest() -> None:
    from regard.data.painted import Drawn, clearly_largest, world_pictures

    known = world_pictures("test")
    assert isinstance(known.source, Drawn)
    for i in range(20):
        scene = known.source.view[known.source.numbers[i]]
        largest = clearly_largest(scene)
        assert largest is not None
        thing = scene.things[largest]
        assert known.labels[int(known.targets[i])] == f"{thing.colour} {thing.kind}"
    assert [tell(index)["largest"] is None for index in (3, 5, 7)] == [True, False, True]


def _open(url: str) -> Image.Image:
    import base64

    return Image.open(BytesIO(base64.b64decode(url.partition(",")[2])))
