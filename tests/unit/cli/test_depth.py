"""`regard depth`, as a user meets it."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from regard.cli.main import main
from regard.hub import save
from regard.models import build
from regard.models.family import family

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("seer") / "mine"
    torch.manual_seed(0)
    fresh = build("monodepth-nano")
    save(folder, fresh, family=family("monodepth"), card={"task": "depth", "title": "mine", "metres": 0.09375})
    return str(folder)


def test_a_small_picture_is_written_large_and_told_in_metres(model: str, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "depth.png"
    assert main(["depth", "world:7", "--model", model, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert " m, half of it within " in said
    assert "64×64 pixels" in said
    with Image.open(out) as drawn:
        assert drawn.size == (128, 128)


def test_the_numbers_themselves_are_saved_and_the_right_eye_is_asked(
    model: str, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "depth.npy"
    assert main(["depth", "world:7", "--right", "world:7", "--model", model, "--out", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    depth = np.load(out)
    assert found["metres"] is True
    assert (found["nearest"], found["farthest"]) == pytest.approx((depth.min(), depth.max()))
    assert 0 < found["unlike before"] < 1
    assert 0 < found["unlike after"] < 1
    assert main(["depth", "world:7", "--right", "world:7", "--model", model]) == 0
    assert "once it is warped" in capsys.readouterr().out


def test_pictures_of_two_sizes_are_no_pair(model: str, tmp_path: Path, capsys: Captured) -> None:
    Image.new("RGB", (20, 12)).save(tmp_path / "left.png")
    Image.new("RGB", (22, 12)).save(tmp_path / "right.png")
    args = ["depth", str(tmp_path / "left.png"), "--right", str(tmp_path / "right.png"), "--model", model]
    assert main(args) != 0
    assert "the left picture has 20×12 pixels and the right one 22×12" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["nowhere.png"], "nowhere.png"),
        (["world:99999"], "is not among these"),
        (["world:7", "--out", "depth.gif"], "is no picture and no array; give a name that ends in .png"),
        (["world:7", "--out", "nowhere/depth.png"], "there is no folder"),
    ],
)
def test_what_cannot_be_done_is_said(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, args: list[str], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["depth", *args, "--model", model]) != 0
    assert complaint in capsys.readouterr().err
