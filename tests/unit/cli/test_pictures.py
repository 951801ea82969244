"""`regard classify`, `detect` and `look` on pictures, as a user meets them."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from PIL import Image

from regard.cli.main import main
from regard.cli.seen import OF_A_CLASS, OF_BLOCKS, WAYS
from regard.hub import save
from regard.models import build
from regard.models.family import family

Captured = pytest.CaptureFixture[str]
LABELS = ["cat", "dog", "fox", "hen", "owl"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a photo, a ViT and a DETR."""
    folder = tmp_path_factory.mktemp("pictures")
    pixels = np.random.default_rng(0).integers(0, 255, (40, 60, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "photo.png")
    for name, task, labels in (("vit", "recognize", LABELS), ("detr", "detect", LABELS[:4])):
        torch.manual_seed(0)
        model = build(f"{name}-nano").eval()
        save(folder / name, model, family=family(name), card={"task": task, "labels": labels, "title": name})
    return folder


def test_a_photo_is_classified_by_the_verb_of_texts(place: Path, capsys: Captured) -> None:
    assert main(["classify", "--model", str(place / "vit"), str(place / "photo.png")]) == 0
    assert capsys.readouterr().out.split()[0] in LABELS
    assert main(["classify", "--model", str(place / "vit"), str(place / "photo.png"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["scores"]) == set(LABELS)


def test_a_file_that_is_no_picture_does_not_end_the_others(place: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "broken.png").write_bytes(b"nothing")
    files = [str(tmp_path / "broken.png"), str(place / "photo.png")]
    assert main(["classify", "--model", str(place / "vit"), *files]) == 1
    out, err = capsys.readouterr()
    assert "broken.png is no picture" in err
    assert out.splitlines()[1].split()[0] in LABELS


def test_of_nothing_given_it_is_asked_what_should_be_classified(capsys: Captured) -> None:
    assert main(["classify"]) == 2
    assert "name one by --model, or give what to classify" in capsys.readouterr().err


def test_nobody_is_sent_to_a_way_of_looking_that_is_refused_too(place: Path, tmp_path: Path, capsys: Captured) -> None:
    for name, task, advice in (("monodepth", "depth", "choose a model that has"), ("convnext", "recognize", "gradcam")):
        card = {"task": task, "labels": LABELS, "title": name}
        save(tmp_path / name, build(f"{name}-nano").eval(), family=family(name), card=card)
        assert main(["look", str(tmp_path / name), str(place / "photo.png"), "--how", "rollout"]) == 1
        said = capsys.readouterr().err
        assert "has no attention to look at" in said
        assert advice in said


def test_pairs_and_texts_are_not_for_pictures(place: Path, capsys: Captured) -> None:
    assert main(["classify", "--model", str(place / "vit"), "--pair", "a", "b"]) == 2
    assert "classifies pictures one by one; leave --pair out" in capsys.readouterr().err
    assert main(["look", str(place / "vit"), str(place / "photo.png"), "--how", "lens"]) == 2
    assert "--how lens is for texts" in capsys.readouterr().err


def test_things_are_listed_drawn_and_told_as_json(place: Path, tmp_path: Path, capsys: Captured) -> None:
    call = ["detect", "--model", str(place / "detr"), str(place / "photo.png"), "--threshold", "0"]
    assert main([*call, "--out", str(tmp_path / "boxes.png")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
    drawn, photo = (np.asarray(Image.open(path)) for path in (tmp_path / "boxes.png", place / "photo.png"))
    assert drawn.shape == (320, 480, 3)  # eight times as large, so that there is room for labels
    assert (drawn != np.asarray(Image.fromarray(photo).resize((480, 320)))).any()
    assert main([*call, "--json"]) == 0
    things = json.loads(capsys.readouterr().out)["things"]
    assert {"label", "score", "box"} == set(things[0])
    assert main([*call[:-1], "2"]) == 2
    assert main([*call, "--out", str(tmp_path / "boxes.txt")]) == 2
    capsys.readouterr()
    assert main([*call, "--out", str(tmp_path / "nowhere" / "boxes.png")]) == 2
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.parametrize("how", [how for how in WAYS if how != "sampling"])  # which is for convolutions
def test_every_way_of_looking_draws_a_figure_and_gives_numbers(
    place: Path, tmp_path: Path, capsys: Captured, how: str
) -> None:
    path = tmp_path / "look.svg"
    assert main(["look", str(place / "vit"), str(place / "photo.png"), "--how", how, "--out", str(path)]) == 0
    figure = ElementTree.parse(path)
    assert [each for each in figure.iter() if each.get("class") == "name"]
    capsys.readouterr()
    assert main(["look", str(place / "vit"), str(place / "photo.png"), "--how", how, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
    assert main(["look", str(place / "vit"), str(place / "photo.png"), "--how", how]) == 0
    assert capsys.readouterr().out.strip()


def test_where_a_deformable_convolution_reads_is_laid_over_the_picture(
    place: Path, tmp_path: Path, capsys: Captured
) -> None:
    torch.manual_seed(1)
    save(
        tmp_path / "resnet",
        build("resnet-nano").eval(),
        family=family("resnet"),
        card={"task": "recognize", "labels": LABELS},
    )
    call = ["look", str(tmp_path / "resnet"), str(place / "photo.png"), "--how", "sampling"]
    assert main([*call, "--out", str(tmp_path / "look.svg")]) == 0
    assert "2 maps" in capsys.readouterr().out
    assert "where the taps of the middle cell read" in (tmp_path / "look.svg").read_text()
    assert main([*call, "--place", "0,1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {name: each["cell"] for name, each in found.items()} == {
        "stages.1.0.branch.2.0": [0, 1],
        "stages.1.1.branch.2.0": [0, 1],
    }
    assert all(np.array(each["places"]).shape == (9, 2) for each in found.values())
    assert main([*call, "--place", "9,9"]) == 2
    assert "--place 9,9 is no place on the picture" in capsys.readouterr().err
    assert main(["look", str(place / "vit"), str(place / "photo.png"), "--how", "sampling"]) == 1
    assert "has no deformable convolution" in capsys.readouterr().err


def test_models_are_shown_beside_each_other(place: Path, tmp_path: Path, capsys: Captured) -> None:
    torch.manual_seed(1)
    card = {"task": "recognize", "labels": LABELS}
    save(tmp_path / "swin", build("swin-nano").eval(), family=family("swin"), card=card)
    both = [str(place / "vit"), str(place / "photo.png"), "--beside", str(tmp_path / "swin"), "--how", "gradcam"]
    assert main(["look", *both, "--out", str(tmp_path / "two.svg")]) == 0
    assert "2 maps" in capsys.readouterr().out
    names = [each.text for each in ElementTree.parse(tmp_path / "two.svg").iter() if (each.text or "").strip()]
    assert sum("Grad-CAM" in str(name) for name in names) >= 2
    assert main(["look", *both, "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {str(place / "vit"), str(tmp_path / "swin")}
    assert main(["look", str(place / "vit"), str(place / "photo.png"), "--beside", "de-en"]) == 2
    assert "de-en reads no pictures" in capsys.readouterr().err


def test_maps_of_what_matters_are_compared_by_their_ranks(place: Path, capsys: Captured) -> None:
    assert main(["look", str(place / "vit"), str(place / "photo.png"), "--how", "saliency", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["class"] in LABELS
    assert len(found["rank correlation"]) == len(found["maps"]) * (len(found["maps"]) - 1) / 2
    assert all(-1 <= value <= 1 for value in found["rank correlation"].values())


@pytest.mark.parametrize("how", OF_A_CLASS)
def test_a_detector_names_no_class_of_a_whole_picture(place: Path, capsys: Captured, how: str) -> None:
    assert main(["look", str(place / "detr"), str(place / "photo.png"), "--how", how]) == 2
    assert "names no class of a whole picture" in capsys.readouterr().err


@pytest.mark.parametrize("how", [*OF_A_CLASS, *OF_BLOCKS])
def test_a_model_that_writes_has_no_class_of_a_picture_and_no_blocks_to_see(
    place: Path, capsys: Captured, how: str
) -> None:
    assert main(["look", "world-captions", str(place / "photo.png"), "--how", how]) == 2
    said = "names no class of a whole picture" if how in OF_A_CLASS else "does not say which blocks it has"
    assert f"world-captions {said}, which --how {how} is about; choose another" in capsys.readouterr().err


@pytest.mark.parametrize("out", ["look.svg", "views.json"])
def test_a_file_that_is_no_picture_is_looked_at_in_vain(
    place: Path, tmp_path: Path, capsys: Captured, out: str
) -> None:
    (tmp_path / "broken.png").write_bytes(b"nothing")
    assert main(["look", str(place / "vit"), str(tmp_path / "broken.png"), "--out", str(tmp_path / out)]) == 1
    assert capsys.readouterr().err.startswith(f"regard: {tmp_path / 'broken.png'} is no picture of a known format")


def test_networks_are_compared_by_what_their_layers_know(place: Path, tmp_path: Path, capsys: Captured) -> None:
    torch.manual_seed(1)
    card = {"task": "recognize", "labels": LABELS}
    save(tmp_path / "resnet", build("resnet-nano").eval(), family=family("resnet"), card=card)
    dice = np.random.default_rng(0)
    for label in ("left", "right"):
        (tmp_path / "album" / label).mkdir(parents=True)
        for i in range(60):
            pixels = dice.integers(0, 255, (20, 24, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / "album" / label / f"{i}.png")
    call = ["look", str(place / "vit"), str(tmp_path / "album"), "--how", "cka", "--beside", str(tmp_path / "resnet")]
    assert main([*call, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    within = np.array(found[f"within {place / 'vit'}"]["cka"])
    np.testing.assert_allclose(np.diag(within), 1, atol=1e-3)
    between = found[f"{place / 'vit'} (rows), {tmp_path / 'resnet'} (columns)"]
    assert np.array(between["cka"]).shape == (len(between["rows"]), len(between["columns"]))
    assert main([*call, "--out", str(tmp_path / "alike.svg")]) == 0
    assert "3 maps" in capsys.readouterr().out
    assert main(["look", str(place / "vit"), "nowhere", "--how", "cka"]) == 1
    assert "no set of pictures is called 'nowhere'" in capsys.readouterr().err


def test_one_head_of_one_place_is_shown_and_a_file_for_the_explorer_written(
    place: Path, tmp_path: Path, capsys: Captured
) -> None:
    call = ["look", str(place / "vit"), str(place / "photo.png")]
    assert main([*call, "--layer", "0", "--head", "1", "--place", "2,3", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["attention"] == "blocks.0.attn"
    assert np.array(found["heads"]["head 1"]).shape == (4, 4)
    assert main([*call, "--out", str(tmp_path / "views.json")]) == 0
    views = json.loads((tmp_path / "views.json").read_text())
    assert views["views"][0]["rows"]["leading"] == ["[CLS]", "[REG 0]", "[REG 1]"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--place", "9,9"], "--place 9,9 is no place on the picture; choose of [CLS], [REG 0], [REG 1], 0,0 to 3,3"),
        (["--layer", "7"], "there is no layer 7; they are numbered 0 to 1"),
        (["--head", "7"], "there is no head 7; they are numbered 0 to 3"),
        (["--how", "gradcam", "--label", "cow"], "no class is called 'cow'"),
        (["--how", "distance", "--label", "cat"], "--label does nothing for --how distance"),
    ],
)
def test_what_is_not_there_is_told(place: Path, capsys: Captured, flags: list[str], said: str) -> None:
    assert main(["look", str(place / "vit"), str(place / "photo.png"), *flags]) == 2
    assert said in capsys.readouterr().err


def test_classifying_a_folder_of_pictures_is_recognizing(tmp_path: Path, capsys: Captured) -> None:
    for side in ("left", "right"):
        (tmp_path / "album" / side).mkdir(parents=True)
        for i in range(60):
            Image.new("RGB", (16, 16), (i, 100, 200)).save(tmp_path / "album" / side / f"{i}.png")
    flags = ["--model", "vit-nano", "--steps", "2", "--evaluate", "2", "--batch-size", "8", "--threads", "1"]
    call = ["train", "classify", "--data", str(tmp_path / "album"), *flags, "--out", str(tmp_path / "run"), "--json"]
    assert main(call) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["recipe"] == "recognize"


def test_a_picture_is_embedded_by_the_bundled_eye_where_no_model_is_named(place: Path, capsys: Captured) -> None:
    assert main(["embed", str(place / "photo.png")]) == 0
    assert len(capsys.readouterr().out.split()) == 128
