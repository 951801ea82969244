"""`regard segment`, as a user meets it."""

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
from regard.vision import rle

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a photo and a SAM that has learnt nothing."""
    folder = tmp_path_factory.mktemp("segment")
    pixels = np.random.default_rng(0).integers(0, 255, (40, 60, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "photo.png")
    (folder / "letter.png").write_text("dear reader")
    torch.manual_seed(0)
    save(folder / "sam", build("sam-nano").eval(), family=family("sam"), card={"task": "segment", "title": "sam"})
    save(folder / "vit", build("vit-nano").eval(), family=family("vit"), card={"task": "recognize", "title": "vit"})
    return folder


def call(place: Path, *flags: str, picture: str = "photo.png", model: str = "sam") -> int:
    return main(["segment", str(place / picture), "--model", str(place / model), *flags])


def test_a_click_gives_three_masks_of_which_the_surest_is_written(
    place: Path, tmp_path: Path, capsys: Captured
) -> None:
    assert call(place, "--point", "12,8", "--out", str(tmp_path / "mask.png")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    with Image.open(tmp_path / "mask.png") as opened:
        drawn = np.asarray(opened)
    assert drawn.shape == (40, 60)
    assert set(np.unique(drawn)) <= {0, 255}
    assert f"{(drawn > 0).sum()} pixels" in lines[0]


def test_clicks_and_boxes_are_told_as_json_with_run_lengths(place: Path, capsys: Captured) -> None:
    for flags in (["--point", "12,8", "30,9", "--not-point", "3,3"], ["--box", "5,5,40,30"], ["--not-point", "3,3"]):
        assert call(place, *flags, "--json") == 0
        told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert len(told) == (3 if flags == ["--not-point", "3,3"] else 1)
        mask = rle.decode(rle.unpack(told[0]["mask"]["counts"]), *told[0]["mask"]["size"])
        assert mask.shape == (40, 60)
        assert mask.sum() == told[0]["area"]
        assert {"score", "stability", "box", "area", "mask"} == set(told[0])


def test_everything_is_painted_over_the_picture(place: Path, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "all.png"
    assert call(place, "--all", "--threshold", "0", "--out", str(path)) == 0
    with Image.open(path) as opened:
        assert opened.size == (60, 40)
    assert capsys.readouterr().out
    assert call(place, "--all", "--threshold", "1") == 0
    told = "nothing surer than 100% and stable to 95%; try a lower --threshold or --stability\n"
    assert capsys.readouterr().out == told
    assert call(place, "--all", "--threshold", "0", "--stability", "0", "--json") == 0
    assert all(json.loads(line)["area"] for line in capsys.readouterr().out.splitlines())


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ([], "give --point, --not-point or --box for one thing, or --all for everything, and not both"),
        (["--all", "--point", "1,1"], "and not both"),
        (["--point", "60,8"], "60, 8 lies outside of the picture, which is 60 wide and 40 high"),
        (["--point=-3,8"], "-3, 8 lies outside of the picture"),
        (["--point", "nan,8"], "nan, 8 lies outside of the picture"),
        (["--point", "twelve"], "--point twelve is not x,y; give 2 numbers in pixels"),
        (["--not-point", "1,2,3"], "--not-point 1,2,3 is not x,y"),
        (["--box", "1,2,3"], "--box 1,2,3 is not left,top,right,bottom; give 4 numbers in pixels"),
        (["--box", "30,5,10,20"], "a box of 30, 5, 10, 20 holds nothing"),
        (["--all", "--threshold", "2"], "--threshold 2.0 is no share; give 0 to 1"),
        (["--all", "--stability", "-1"], "--stability -1.0 is no share; give 0 to 1"),
        (["--point", "1,1", "--out", "mask.jpg"], "--out mask.jpg is no .png"),
        (["--point", "1,1", "--out", "/nowhere/mask.png"], "there is no folder /nowhere"),
    ],
)
def test_what_means_nothing_is_answered_with_a_way_out(
    place: Path, capsys: Captured, flags: list[str], said: str
) -> None:
    assert call(place, *flags) == 2
    assert said in capsys.readouterr().err


def test_what_is_no_picture_or_no_segmenter_is_refused_in_a_sentence(place: Path, capsys: Captured) -> None:
    assert call(place, "--point", "1,1", picture="letter.png") == 2
    assert "letter.png is no picture of a known format" in capsys.readouterr().err
    assert call(place, "--point", "1,1", picture="nothing.png") == 2
    assert "nothing.png" in capsys.readouterr().err
    assert call(place, "--point", "1,1", model="vit") == 2
    assert "does recognize, not segment" in capsys.readouterr().err
    torch.save({"weight": torch.zeros(2)}, place / "my_sam.pt")
    assert call(place, "--point", "1,1", model="my_sam.pt") == 2
    assert "load it with pickle=True or --pickle" in capsys.readouterr().err
    assert call(place, "--point", "1,1", "--pickle", model="my_sam.pt") == 2
    assert "is no SAM" in capsys.readouterr().err
