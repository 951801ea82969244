"""Sounds, points and films in: what they are, how sure that is, and where the latents look."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.unit.sound.test_recording import TONE, wav

import regard
from regard.analysis.view import Boxes, Grid, Latents
from regard.data.moving import world_clips
from regard.hub import save
from regard.models.perceiver import FAMILY, PRESETS, Perceiver
from regard.pipelines.perceive import Perceive
from regard.sound import Sound

LABELS = [str(digit) for digit in range(10)]
CARDS: dict[str, dict[str, Any]] = {
    "sounds": {"frames": 96},
    "points": {"count": 64},
    "films": {"frames": 8, "size": 32},
}
CLOUD = np.random.default_rng(0).standard_normal((50, 3))
FILM = np.random.default_rng(0).integers(0, 255, (8, 32, 32, 3), dtype=np.uint8)
GIVEN: dict[str, Any] = {"sounds": wav(TONE), "points": CLOUD, "films": FILM}
every_kind = pytest.mark.parametrize("kind", CARDS)


def perceiver(kind: str) -> Perceive:
    """Of one config, whatever it is shown."""
    torch.manual_seed(0)
    card = {"task": "perceive", "labels": LABELS, kind: CARDS[kind]}
    return Perceive.of(Perceiver(PRESETS["perceiver-any"]).eval(), card=card, name="mine")


@every_kind
def test_one_config_names_sounds_points_and_films(kind: str) -> None:
    (one,) = perceiver(kind)(GIVEN[kind])
    assert set(one.scores) == set(LABELS)
    assert sum(one.scores.values()) == pytest.approx(1, abs=1e-5)
    assert one.label == max(one.scores, key=lambda label: one.scores[label])


def test_a_sound_is_the_same_wherever_it_comes_from(tmp_path: Path) -> None:
    (tmp_path / "seven.wav").write_bytes(wav(TONE))
    heard = perceiver("sounds")([tmp_path / "seven.wav", str(tmp_path / "seven.wav"), wav(TONE)])
    assert heard[0] == heard[1] == heard[2]
    (open_one,) = perceiver("sounds")(Sound(TONE, 8000))
    assert open_one.label == heard[0].label


def test_what_was_done_to_a_sound_is_said() -> None:
    twice = np.repeat(TONE, 2)
    (one,) = perceiver("sounds")(wav(np.stack([twice, twice], axis=1), rate=16_000))
    assert one.notes == ("its 2 channels were mixed to one", "it was resampled to 8,000 Hz")


def test_a_long_sound_is_not_heard_whole_and_that_is_said() -> None:
    (short,) = perceiver("sounds")(Sound(TONE[:4000], 8000))
    (long,) = perceiver("sounds")(Sound(np.tile(TONE, 30)[:80_000], 8000))
    assert short.notes == ()
    assert long.notes == ("of its 10.0 seconds the loudest 0.96 were heard",)


@every_kind
def test_latents_look_at_the_whole_input(kind: str) -> None:
    reading = perceiver(kind).attend(GIVEN[kind])
    latents, cells = reading.axes["latents"], reading.axes["input"]
    assert isinstance(latents, Latents)
    assert isinstance(cells, Boxes if kind == "points" else Grid)
    assert len(cells) == {"sounds": 10 * 24, "points": 64, "films": 2 * 8 * 8}[kind]
    groups = [one.group for one in reading.maps]
    assert groups[0] == "latents look at the input"
    assert groups.count("latents look at the input") == 2
    assert groups.count("latents look at latents") == 4
    for one in reading.maps:
        weights = reading.weights(one.name)
        assert weights.shape == (4, 48, len(reading.axes[one.columns]))
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-4)
    reading.views().to_json()


def test_a_spectrogram_stands_upright() -> None:
    """Time goes to the right and low sounds are below: where a low tone sounds late, the picture is bright there."""
    late = np.zeros(6000, np.float32)
    late[4000:] = np.sin(2 * np.pi * 150 * np.arange(2000) / 8000)
    cells = perceiver("sounds").attend(Sound(late, 8000)).axes["input"]
    assert isinstance(cells, Grid)
    assert (cells.height, cells.width) == (10, 24)
    from base64 import b64decode
    from io import BytesIO

    from PIL import Image

    assert cells.image is not None
    picture = np.asarray(Image.open(BytesIO(b64decode(cells.image.partition(",")[2]))).convert("L"))
    assert picture.shape == (40, 96)
    row, column = np.unravel_index(picture.argmax(), picture.shape)
    assert row > 30
    assert column > 48


def test_an_edit_of_a_shared_look_changes_what_is_said() -> None:
    from regard.attention import uniform

    one = perceiver("sounds")
    plain = one.attend(GIVEN["sounds"])
    changed = one.attend(GIVEN["sounds"], edits={plain.maps[0].name: uniform})
    assert changed.output.scores != plain.output.scores


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_a_model_does_not_take_is_refused() -> None:
    with pytest.raises(ValueError, match="mine takes sounds, and these are points; choose another model"):
        perceiver("sounds")(CLOUD)
    with pytest.raises(ValueError, match="mine takes films as arrays of frames, or as world:7"):
        perceiver("films")("film.mp4")
    with pytest.raises(ValueError, match=r"none\.wav is not there"):
        perceiver("sounds")("none.wav")
    with pytest.raises(ValueError, match="has 3 points; give 4"):
        perceiver("points")(CLOUD[:3])
    with pytest.raises(ValueError, match="names 3 labels, and the model has 10"):
        Perceive.of(Perceiver(PRESETS["perceiver-any"]), card={"labels": ["a", "b", "c"], "sounds": {}})
    with pytest.raises(ValueError, match="says none of sounds, points, films"):
        Perceive.of(Perceiver(PRESETS["perceiver-any"]), card={"labels": LABELS})
    with pytest.raises(ValueError, match="in words that are not known"):
        Perceive.of(Perceiver(PRESETS["perceiver-any"]), card={"labels": LABELS, "sounds": {"pitch": 3}})


def test_a_folder_of_films_of_the_world_is_scored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("regard.data.things.world_clips", lambda split: world_clips(split, 12))
    torch.manual_seed(0)
    model = Perceiver(PRESETS["perceiver-any"]).eval()
    card = {"task": "perceive", "labels": ["left", "right", "up", "down", *LABELS[4:]], "films": CARDS["films"]}
    save(tmp_path / "run", model, family=FAMILY, card=card)
    one: Any = regard.load(tmp_path / "run")
    found = one.evaluate("world", limit=10)
    assert (found.count, len(found.outputs)) == (10, 10)
    assert found.scores["accuracy"].count == 10
    assert one("world:3")[0].label in card["labels"]
