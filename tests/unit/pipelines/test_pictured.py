"""Pictures in: recognizing, features and detecting, on fresh models whose answers are random but must fit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import regard
from regard.analysis.seeing import attention_distances, rollout
from regard.analysis.view import Boxes, Grid
from regard.data.album import Pictures, held
from regard.data.pictures import detections
from regard.hub import export, save
from regard.models import build
from regard.models.family import family
from regard.pipelines import features
from regard.pipelines.detect import Detect
from regard.pipelines.features import Features
from regard.pipelines.pictured import TOGETHER
from regard.pipelines.recognize import Recognize
from regard.vision import Processor, Size

PICTURE = Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 60, 3), dtype=np.uint8))
LABELS = ["cat", "dog", "fox", "hen", "owl"]


def recognizer(name: str = "vit", **changes: Any) -> Recognize:
    torch.manual_seed(0)
    return Recognize.of(build(f"{name}-nano", **changes).eval(), card={"labels": LABELS}, name="mine")


def test_a_picture_is_recognized_wherever_it_comes_from(tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    PICTURE.save(path)
    one = recognizer()
    with path.open("rb") as file:
        given = [path, str(path), path.read_bytes(), PICTURE, np.asarray(PICTURE), file]
        found = one(given)
    assert len(found) == 6
    assert len({each.label for each in found}) == 1
    assert sum(found[0].scores.values()) == pytest.approx(1)
    assert set(found[0].scores) == set(LABELS)
    assert one(path)[0] == found[0]  # one alone


def test_a_picture_of_a_named_set_is_named_by_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = recognizer(), Detect.of(build("detr-nano").eval(), card={"labels": LABELS[:4]})
    # The same scene for every task, though each is taught and scored by pictures of its own.
    scene = np.asarray(detections("world", "test").picture(3))
    for each in (one, other):
        assert np.array_equal(np.asarray(each.open("world:3")), scene)
    with pytest.raises(ValueError, match=r"no set of pictures is called .word."):
        one("word:3")
    with pytest.raises(ValueError, match="picture 1000 is not among these 1000"):
        one("world:1000")
    monkeypatch.chdir(tmp_path)
    PICTURE.save(tmp_path / "world:3", "PNG")  # a file that is there is meant
    assert one.open("world:3").size == PICTURE.size


def test_a_detector_tells_what_it_found_with_its_edits() -> None:
    from regard.attention import off

    torch.manual_seed(0)
    one = Detect.of(build("detr-nano").eval(), card={"labels": LABELS[:4]})
    with torch.no_grad():
        for weight in one.model.parameters():
            weight.mul_(3.0)  # so that it is sure of something
    plain = one.attend("world:3")
    assert plain.output == one("world:3")[0]
    edited = one.attend("world:3", edits={each.name: off for each in plain.maps})
    assert edited.output != plain.output


def test_with_its_mirror_image_a_picture_and_its_mirror_image_are_the_same() -> None:
    one, mirrored = recognizer(), PICTURE.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    here, there = one([PICTURE, mirrored], tta="mirror")
    assert here.scores == pytest.approx(there.scores)
    plain, other = one([PICTURE, mirrored])
    assert plain.scores != pytest.approx(other.scores)


def test_what_is_no_picture_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_text("not a picture")
    with pytest.raises(ValueError, match=r"photo\.jpg is no picture of a known format"):
        recognizer()([tmp_path / "photo.jpg"])


@pytest.mark.usefixtures("as_users_meet_it")  # who has no checks of types
@pytest.mark.parametrize("other", [None, 3, torch.zeros(3, 8, 8)], ids=lambda other: type(other).__name__)
def test_what_is_no_picture_at_all_is_told_what_can_be_given(other: Any) -> None:
    with pytest.raises(TypeError, match=f"{type(other).__name__} is no picture; give a path, bytes, a picture of"):
        recognizer()([other])


def test_a_reading_of_a_picture_has_the_grid_and_its_leading_tokens() -> None:
    reading = recognizer().attend(PICTURE)
    axis = reading.axes[reading.maps[0].rows]
    assert isinstance(axis, Grid)
    assert (axis.height, axis.width, axis.leading) == (4, 4, ("[CLS]", "[REG 0]", "[REG 1]"))
    assert axis.image is not None
    assert axis.image.startswith("data:image/png;base64,")
    assert reading.weights("blocks.0.attn").shape == (4, 19, 19)
    assert len(attention_distances(reading)) == 2
    total, _, _ = rollout(reading)
    assert total.shape == (19, 19)
    assert reading.view("blocks.0.attn").to_json()["rows"]["leading"][0] == "[CLS]"


@pytest.mark.parametrize("name", ["swin", "maxvit", "mvit", "levit", "accvit"])
def test_models_that_look_in_groups_are_read_over_their_whole_map(name: str) -> None:
    classes = family(name).presets[f"{name}-nano"].classes
    one = Recognize.of(build(f"{name}-nano").eval(), card={"labels": [str(i) for i in range(classes)]})
    reading = one.attend(PICTURE)
    for each in reading.maps:
        rows, columns = (reading.axes[side] for side in (each.rows, each.columns))
        weights = reading.weights(each.name)
        assert weights.shape == (each.heads, len(rows), len(columns))
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-4)


def test_a_saved_model_keeps_how_pictures_are_prepared(tmp_path: Path) -> None:
    one = recognizer()
    how = Processor(size=Size(height=16, width=16), image_mean=(0.1, 0.2, 0.3), image_std=(0.4, 0.5, 0.6))
    card = {"task": "recognize", "labels": LABELS}
    save(tmp_path / "mine", one.model, family=family("vit"), card=card, processor=how)
    again = regard.load(tmp_path / "mine")
    assert isinstance(again, Recognize)
    assert again.processor == how
    plain = Recognize.of(one.model, card=card, name="mine")
    assert again(PICTURE)[0].scores != plain(PICTURE)[0].scores


def test_an_exported_model_takes_its_processor_along(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    model = build("vit-nano", registers=0).eval()
    how = Processor(size=Size(height=16, width=16))
    export(tmp_path / "out", model, processor=how)
    found = regard.load(tmp_path / "out")
    assert isinstance(found, Recognize)
    assert found.processor.size == how.size
    theirs = transformers.ViTForImageClassification.from_pretrained(tmp_path / "out").eval()
    with torch.no_grad():
        said = theirs(how([PICTURE])).logits.softmax(-1)[0]
    assert list(found(PICTURE)[0].scores.values()) == pytest.approx(said.tolist(), abs=1e-5)


def test_a_recognizer_is_evaluated_on_named_pictures() -> None:
    pytest.importorskip("sklearn")
    torch.manual_seed(0)
    one = Recognize.of(build("vit-nano", classes=10).eval(), card={"labels": [str(i) for i in range(10)]})
    found = one.evaluate("digits", limit=40)
    assert found.count == 40
    assert 0 <= found.scores["accuracy"].value <= 100
    assert found.confusion is not None
    with pytest.raises(ValueError, match="'0' is none of its classes"):
        recognizer().evaluate("digits")


@pytest.mark.parametrize("kind", [Recognize, Features])
def test_photos_are_open_only_while_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[Recognize] | type[Features]
) -> None:
    for split in ("train", "test"):
        for label in LABELS:
            (tmp_path / split / label).mkdir(parents=True)
            for i in range(20):
                PICTURE.save(tmp_path / split / label / f"{i}.png")
    opened, open_one = list[int](), Pictures.picture

    def count(known: Pictures, index: int) -> Image.Image:
        opened.append(index)
        return open_one(known, index)

    monkeypatch.setattr(Pictures, "picture", count)
    torch.manual_seed(0)
    classes = len(LABELS) if kind is Recognize else 0
    one = kind.of(build("vit-nano", classes=classes, pool="mean").eval(), card={"labels": LABELS})
    seen = list[int]()
    one.evaluate(str(tmp_path), progress=lambda done: seen.append(len(opened)))
    assert seen[0] == TOGETHER < len(opened)


def test_features_find_their_neighbours() -> None:
    pytest.importorskip("sklearn")
    torch.manual_seed(0)
    one = Features.of(build("vit-nano", classes=0, pool="mean").eval())
    (vector,) = one(PICTURE)
    assert vector.shape == (32,)
    # Even a network with random weights tells digits apart better than by chance.
    assert one.evaluate("digits", limit=200).scores["accuracy"].value > 15
    assert len(one.attend(PICTURE).maps) == 2


def test_a_limit_takes_neighbours_of_every_class_of_a_sorted_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    targets, shades = np.repeat([0, 1], 20), np.array([20, 235], np.uint8)

    def sorted_by_class(_: str, split: str) -> Pictures:
        order = targets if split == "train" else targets[::-1]  # the first of one are the last of the other
        return held(LABELS[:2], order, np.tile(shades[order][:, None, None, None], (1, 16, 16, 3)))

    monkeypatch.setattr(features, "pictures", sorted_by_class)
    torch.manual_seed(0)
    found = Features.of(build("vit-nano", classes=0).eval()).evaluate("mine", limit=4)
    assert (found.count, found.settings["of"]) == (4, 4)
    assert found.scores["accuracy"].value == 100


@pytest.mark.parametrize("kind", [Recognize, Features])
def test_attention_is_scored_by_true_masks_whatever_the_task(kind: type[Recognize] | type[Features]) -> None:
    torch.manual_seed(0)
    one = kind.of(build("vit-nano").eval(), card={"labels": LABELS})
    found = one.evaluate("world/big", masks=True, limit=6)
    assert (found.count, found.split, found.settings["mass"]) == (6, "test", 0.6)
    blind = {"disc in the middle", "whole picture", "chance"}
    assert {name for name in found.scores if name.startswith("IoU")} == {
        *("IoU", "IoU/best of each picture"),
        *(f"IoU/head {head}" for head in range(4)),
        *(f"IoU/{name}" for name in blind),
    }
    assert {"pointing", "pointing/middle", "pointing/chance", "covers", "covers/rollout"} <= set(found.scores)
    assert all(score.interval is not None for score in found.scores.values())
    assert set(found.measured()) == {"IoU", "pointing", "covers"}
    most = found.scores["IoU/best of each picture"].value
    assert all(most >= found.scores[f"IoU/head {head}"].value for head in range(4))
    with pytest.raises(ValueError, match="ask for one of them at a time"):
        one.evaluate("world/big", masks=True, **({"tta": "mirror"} if kind is Recognize else {"probe": True}))


def test_grey_pictures_are_scored_by_true_masks_too() -> None:
    torch.manual_seed(0)
    one = Features.of(build("vit-nano", classes=0, channels=1).eval())
    assert one.evaluate("world/big", masks=True, limit=2).count == 2


def test_a_model_without_classes_is_no_recognizer() -> None:
    with pytest.raises(ValueError, match="has 0 classes, so that there is nothing to choose"):
        Recognize.of(build("vit-nano", classes=0))


def test_boxes_are_those_of_the_picture_and_the_surest_come_first() -> None:
    torch.manual_seed(0)
    one = Detect.of(build("detr-nano").eval(), card={"labels": LABELS[:4]})
    (found,) = one(PICTURE, threshold=0.0)
    assert len(found) == 5
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    for each in found:
        left, top, right, bottom = each.box
        assert 0 <= left <= right <= 60
        assert 0 <= top <= bottom <= 40
    assert one(PICTURE, threshold=1.0) == [[]]
    with pytest.raises(ValueError, match=r"a threshold of 2\.0 is no probability"):
        one(PICTURE, threshold=2.0)


def test_the_queries_of_a_detector_are_boxes_and_look_at_the_picture() -> None:
    torch.manual_seed(0)
    reading = Detect.of(build("detr-nano").eval(), card={"labels": LABELS[:4]}).attend(PICTURE)
    groups = {each.group for each in reading.maps}
    assert groups == {"places look at places", "queries look at queries", "queries look at places"}
    (cross,) = {each.rows for each in reading.maps if each.group == "queries look at places"}
    assert isinstance(reading.axes[cross], Boxes)
