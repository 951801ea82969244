"""The index of a folder follows the folder: what is new is read, what is gone is forgotten, what is broken is said."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from regard.models import build
from regard.pipelines import index
from regard.pipelines.index import fingerprint, place_of, update


class Eye:
    """Sees the mean colour of pictures, and remembers how many it was shown."""

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, pictures: Sequence[Image.Image]) -> Tensor:
        self.seen += len(pictures)
        means = torch.tensor(np.array([np.asarray(each).mean(axis=(0, 1)) for each in pictures]), dtype=torch.float32)
        return torch.nn.functional.normalize(means, dim=-1)


RED, GREEN = torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.0, 1.0, 0.0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "photos"
    (home / "more").mkdir(parents=True)
    for name, colour in (("red.png", (250, 5, 5)), ("more/green.jpg", (5, 250, 5)), ("more/blue.PNG", (5, 5, 250))):
        Image.new("RGB", (8, 6), colour).save(home / name)
    (home / "notes.txt").write_text("no picture")
    return home


def test_pictures_are_found_and_read_once(folder: Path) -> None:
    eye = Eye()
    found = update(folder, eye, "mine")
    assert [hit.name for hit in found.search(RED, 1)] == ["red.png"]
    assert found.search(GREEN, 0)[0].name == str(Path("more/green.jpg"))
    assert (len(found), found.new, eye.seen) == (3, 3, 3)
    again = update(folder, eye, "mine")
    assert (len(again), again.new, eye.seen) == (3, 0, 3)
    assert again.search(RED, 0) == found.search(RED, 0)
    assert place_of(folder) == folder.parent / "photos.regard-index"


def test_only_what_is_new_or_has_changed_is_read_and_what_is_gone_is_forgotten(folder: Path) -> None:
    eye = Eye()
    update(folder, eye, "mine")
    Image.new("RGB", (9, 9), (5, 250, 5)).save(folder / "red.png")
    Image.new("RGB", (9, 9), (200, 0, 0)).save(folder / "new.png")
    (folder / "more" / "blue.PNG").unlink()
    found = update(folder, eye, "mine")
    assert (sorted(found.stamps), found.new, eye.seen) == (["more/green.jpg", "new.png", "red.png"], 2, 5)
    assert found.search(RED, 1)[0].name == "new.png"
    (folder / "new.png").unlink()
    assert len(update(folder, eye, "mine")) == 2
    assert eye.seen == 5


def test_who_stops_it_keeps_what_was_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "TOGETHER", 1)
    eye = Eye()

    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        update(folder, eye, "mine", progress=stop)
    assert (len(update(folder, eye, "mine")), eye.seen) == (3, 3)


def test_another_model_reads_everything_anew(folder: Path) -> None:
    eye = Eye()
    update(folder, eye, "mine")
    update(folder, eye, "other")
    assert eye.seen == 6


def test_what_cannot_be_read_is_left_out_and_remembered_with_its_reason(folder: Path) -> None:
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 and no more")
    (folder / "giant.ppm").write_bytes(b"P6 90000 90000 255\n" + bytes(100))
    (folder / "empty.png").touch()
    eye = Eye()
    for _ in range(2):
        found = update(folder, eye, "mine")
        assert sorted(found.broken) == ["broken.jpg", "empty.png", "giant.ppm"]
        assert "too many pixels" in found.broken["giant.ppm"][1]
        assert (len(found), eye.seen) == (3, 3)
    Image.new("RGB", (8, 8), (250, 0, 0)).save(folder / "empty.png")
    assert len(update(folder, eye, "mine")) == 4


def test_a_folder_may_change_while_it_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.vision.picture import open_picture as opened

    def meanwhile(path: Path, *, name: str) -> Image.Image:
        if name.endswith("green.jpg"):
            path.unlink()
        picture = opened(path, name=name)
        if name == "red.png":  # somebody writes to it while it is read
            Image.new("RGB", (30, 30), (1, 2, 3)).save(path)
        return picture

    monkeypatch.setattr(index, "open_picture", meanwhile)
    found = update(folder, Eye(), "mine")
    assert sorted(found.stamps) == [str(Path("more/blue.PNG"))]
    assert not found.broken
    monkeypatch.undo()
    assert sorted(update(folder, Eye(), "mine").stamps) == [str(Path("more/blue.PNG")), "red.png"]


def test_folders_without_pictures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nowhere is no folder; give one with pictures"):
        update(tmp_path / "nowhere", Eye(), "mine")
    (tmp_path / "bare").mkdir()
    with pytest.raises(ValueError, match="bare has no pictures; put some there"):
        update(tmp_path / "bare", Eye(), "mine")
    (tmp_path / "bare" / "x.png").write_text("no picture")
    with pytest.raises(ValueError, match=r"none of the 1 pictures in .* can be read; the first: x.png is no picture"):
        update(tmp_path / "bare", Eye(), "mine")


@pytest.mark.parametrize("damage", [b"", b"not an index", b"\xff" * 64])
def test_a_damaged_index_is_made_again(folder: Path, damage: bytes) -> None:
    update(folder, Eye(), "mine")
    place_of(folder).write_bytes(damage)
    eye = Eye()
    assert len(update(folder, eye, "mine")) == eye.seen == 3


def test_where_nothing_can_be_written_it_is_said_and_searched_all_the_same(folder: Path) -> None:
    found = update(folder, Eye(), "mine", path=folder / "notes.txt" / "index")
    assert "cannot be written" in found.unkept
    assert len(found) == 3


def test_links_that_lead_in_a_circle_end(folder: Path) -> None:
    (folder / "more" / "again").symlink_to(folder, target_is_directory=True)
    assert len(update(folder, Eye(), "mine")) == 3


def test_models_are_told_apart_by_their_weights() -> None:
    torch.manual_seed(0)
    one, other = build("clip-nano"), build("clip-nano")
    assert fingerprint(one) == fingerprint(one)
    assert fingerprint(one) != fingerprint(other)
