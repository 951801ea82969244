"""`regard classify`, `look` and `train` on sounds and clouds, as a user meets them."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from tests.unit.sound.test_recording import TONE, wav

from regard.cli.classify import _tasks
from regard.cli.main import main
from regard.cli.train import _means
from regard.hub import save
from regard.models.perceiver import FAMILY, PRESETS, Perceiver

Captured = pytest.CaptureFixture[str]
LABELS = ["cat", "dog", "fox", "hen", "owl", *"fghij"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a sound, a cloud, and a Perceiver for each."""
    folder = tmp_path_factory.mktemp("perceived")
    twice = np.repeat(TONE, 2)
    (folder / "seven.wav").write_bytes(wav(np.stack([twice, twice], axis=1), rate=16_000))
    np.savez(folder / "chair.npz", points=np.random.default_rng(0).standard_normal((80, 3)))
    for kind, fields in (("sounds", {}), ("points", {"count": 64})):
        torch.manual_seed(0)
        model = Perceiver(PRESETS["perceiver-any"]).eval()
        save(folder / kind, model, family=FAMILY, card={"task": "perceive", "labels": LABELS, kind: fields})
    return folder


@pytest.mark.parametrize(("kind", "file"), [("sounds", "seven.wav"), ("points", "chair.npz")])
def test_a_sound_and_a_cloud_are_classified_by_the_verb_of_texts(
    place: Path, capsys: Captured, kind: str, file: str
) -> None:
    assert main(["classify", "--model", str(place / kind), str(place / file)]) == 0
    out, err = capsys.readouterr()
    assert out.split()[0] in LABELS
    if kind == "sounds":
        assert "its 2 channels were mixed to one" in err
        assert "it was resampled to 8,000 Hz" in err
    assert main(["classify", "--model", str(place / kind), str(place / file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["scores"]) == set(LABELS)
    assert ("notes" in found) == (kind == "sounds")


def test_a_broken_file_does_not_end_the_others(place: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "silent.wav").write_bytes(wav(np.zeros(800, np.float32)))
    assert (
        main(["classify", "--model", str(place / "sounds"), str(tmp_path / "silent.wav"), str(place / "seven.wav")])
        == 1
    )
    out, err = capsys.readouterr()
    assert "silent.wav is silent, all samples are equal" in err
    assert err.startswith("regard: file 1 cannot be answered: ")
    assert err.endswith("1 of 2 files could not be answered; the others were\n")
    assert out.splitlines()[1].split()[0] in LABELS


def test_what_is_given_says_which_model_serves() -> None:
    assert _tasks(["seven.wav"])[0] == _tasks(["chair.xyz", "b.npz"])[0] == "perceive"
    assert _tasks(["photo.jpg", "world:7"])[0] == "recognize"
    assert _tasks(["What a film."])[0] == _tasks(["photo.jpg", "seven.wav"])[0] == "classify"


@pytest.mark.parametrize(("kind", "file"), [("sounds", "seven.wav"), ("points", "chair.npz")])
def test_where_latents_look_is_drawn(place: Path, tmp_path: Path, capsys: Captured, kind: str, file: str) -> None:
    out = tmp_path / "look.svg"
    assert main(["look", str(place / kind), str(place / file), "--out", str(out)]) == 0
    assert "4 maps" in capsys.readouterr().out
    drawn = out.read_text()
    ElementTree.fromstring(drawn)
    assert drawn.count("<image") == (4 if kind == "sounds" else 0)
    assert main(["look", str(place / kind), str(place / file), "--place", "7", "--head", "0", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["asks"] == "7"
    assert np.sum(facts["heads"]["head 0"]) == pytest.approx(1, abs=1e-3)
    assert main(["look", str(place / kind), str(place / file), "--out", str(tmp_path / "views.json")]) == 0
    assert json.loads((tmp_path / "views.json").read_text())["views"]


def test_a_latent_that_is_not_there_is_refused(place: Path, capsys: Captured) -> None:
    assert main(["look", str(place / "sounds"), str(place / "seven.wav"), "--place", "48"]) == 2
    assert "--place 48 is no latent; they are numbered 0 to 47" in capsys.readouterr().err


def test_classifying_sounds_or_clouds_is_perceiving(tmp_path: Path) -> None:
    assert _means(["classify", "--data", "spoken-digits"]) == "perceive"
    assert _means(["classify", "--data=modelnet10"]) == "perceive"
    assert _means(["classify", "--data", "cifar10"]) == "recognize"
    (tmp_path / "a").mkdir()
    (tmp_path / "a/1.wav").write_bytes(wav(TONE))
    assert _means(["classify", "--data", str(tmp_path)]) == "perceive"
