"""Sounds, clouds and films with labels: named sets, the world, and folders of one's own."""

from pathlib import Path

import numpy as np
import pytest
from tests.unit.sound.test_recording import TONE, wav

from regard.data import SETS, DataError, locate
from regard.data.moving import world_clips
from regard.data.sensed import Held, Sensed
from regard.data.sets import spoken_digits
from regard.data.things import kind_of, things
from regard.sound import Sound

CHAIR = np.random.default_rng(0).standard_normal((20, 3))


def present(name: str) -> None:
    if any(locate(SETS[name], file) is None for file in SETS[name].files):
        pytest.skip(f"{name} is not here")


def sounds(folder: Path, count: int = 40) -> Path:
    for label in ("high", "low"):
        (folder / label).mkdir(parents=True)
        for i in range(count):
            (folder / label / f"{i}.wav").write_bytes(wav(TONE[: 400 + i]))
    return folder


def test_a_folder_of_sounds_is_divided_by_names(tmp_path: Path) -> None:
    parts = [things(sounds(tmp_path) if split == "train" else tmp_path, split) for split in ("train", "val", "test")]
    assert parts[0].kind == "sounds"
    assert parts[0].labels == ("high", "low")
    assert sum(map(len, parts)) == 80
    names = [set(part.names) for part in parts]
    assert not names[0] & (names[1] | names[2])
    thing, target = parts[0][0]
    assert isinstance(thing, Sound)
    assert parts[0].labels[target] == parts[0].names[0].partition("/")[0]


@pytest.mark.parametrize("end", ["npy", "npz", "xyz"])
def test_a_folder_of_clouds_is_known_by_its_files(tmp_path: Path, end: str) -> None:
    (tmp_path / "train/chair").mkdir(parents=True)
    path = tmp_path / "train/chair" / f"1.{end}"
    if end == "npy":
        np.save(path, CHAIR)
    elif end == "npz":
        np.savez(path, points=CHAIR)
    else:
        np.savetxt(path, CHAIR)
    found = things(tmp_path, "train") if kind_of(tmp_path) == "points" else None
    assert found is not None
    assert np.linalg.norm(found.thing(0), axis=1).max() == pytest.approx(1)


def test_a_folder_of_pictures_is_neither(tmp_path: Path) -> None:
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat/1.png").write_bytes(b"")
    assert kind_of(tmp_path) is None
    with pytest.raises(DataError, match="has no sounds or points; put files there that end in"):
        things(tmp_path)


def test_what_is_not_known_is_answered_with_what_there_is() -> None:
    with pytest.raises(DataError, match=r"no set of sounds or points is called 'spoken-digit'.* choose"):
        things("spoken-digit")
    with pytest.raises(ValueError, match="cifar10 has images, not sounds or points with labels; choose"):
        things("cifar10")


def test_recordings_of_the_home_are_known_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "recordings").mkdir()
    for digit in range(2):
        for number in (0, 5, 12):
            (tmp_path / "recordings" / f"{digit}_jackson_{number}.wav").write_bytes(wav(TONE))
    found = {split: things(tmp_path, split) for split in ("train", "val", "test", "trainval")}
    assert [len(each) for each in found.values()] == [2, 2, 2, 4]
    assert found["test"].names == ("0_jackson_0.wav", "1_jackson_0.wav")
    assert found["test"].targets.tolist() == [0, 1]
    assert spoken_digits.recognise(tmp_path)
    assert not spoken_digits.recognise(tmp_path.parent)


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("name", ["spoken-digits", "modelnet10"])
def test_a_named_set_has_as_many_as_it_says_and_no_split_meets_another(name: str) -> None:
    present(name)
    found = {split: things(name, split) for split in ("train", "val", "test")}
    assert {split: len(each) for split, each in found.items()} == {
        split: count for split, count in SETS[name].splits.items() if split != "trainval"
    }
    names = [set(each.names) for each in found.values()]
    assert sum(map(len, names)) == len(set.union(*names))
    assert all(set(each.targets.tolist()) == set(range(10)) for each in found.values())
    with pytest.raises(ValueError, match="split"):
        things(name, "dev")


@pytest.mark.usefixtures("published")
def test_digits_are_short_sounds_and_furniture_has_a_radius() -> None:
    for name in ("spoken-digits", "modelnet10"):
        present(name)
    digit = things("spoken-digits", "test").thing(7)
    assert isinstance(digit, Sound)
    assert (digit.rate, 0.1 < digit.seconds < 3) == (8000, True)
    chair = things("modelnet10", "test").thing(7)
    assert isinstance(chair, np.ndarray)
    assert chair.shape == (1024, 3)
    assert np.linalg.norm(chair, axis=1).max() == pytest.approx(1, abs=0.02)


def test_films_of_the_world_move_the_way_they_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    known = world_clips("test", 24)
    assert (known.kind, known.labels) == ("films", ("left", "right", "up", "down"))
    for film, target in (known[i] for i in range(24)):
        assert isinstance(film, np.ndarray)
        assert film.shape == (8, 32, 32, 3)
        pixels = film.astype(float)
        changed = np.abs(pixels - np.median(pixels, axis=0)).sum(axis=-1) > 60  # where the thing is, if not always
        if not changed[0].any() or not changed[-1].any():
            continue
        (y0, x0), (y1, x1) = (np.argwhere(frame).mean(axis=0) for frame in (changed[0], changed[-1]))
        moved = {"left": x0 - x1, "right": x1 - x0, "up": y0 - y1, "down": y1 - y0}
        assert max(moved, key=lambda way: moved[way]) == known.labels[target]


def test_a_number_beyond_the_last_is_refused() -> None:
    known = Sensed("points", ("a",), np.zeros(2, np.int64), Held([CHAIR.astype(np.float32)] * 2), ("1", "2"))
    assert np.array_equal(known.thing(-1), known.thing(1))
    with pytest.raises(IndexError, match="number 2 is not among these 2"):
        known.thing(2)


def test_the_checksum_changes_with_what_is_meant() -> None:
    one, other = (Sensed("points", ("a", "b"), np.array([0, i]), Held([]), ("1", "2")) for i in (0, 1))
    assert one.checksum != other.checksum
