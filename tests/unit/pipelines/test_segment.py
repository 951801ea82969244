"""Segment: a picture is seen once, prompts are in its own pixels, and masks have its size."""

from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from regard.analysis.view import Grid
from regard.attention import off
from regard.hub.tables.sam import processor
from regard.models import build
from regard.models.sam import Segmented
from regard.pipelines.segment import Prompt, Segment, stability
from regard.text import Words

PICTURE = Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 60, 3), dtype=np.uint8))


def segmenter(**changes: Any) -> Segment:
    """An untaught one, which pads pictures as published ones do."""
    torch.manual_seed(0)
    model = build("sam-nano", **changes).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(1.5)  # so that its masks have borders
    one = Segment.of(model, name="mine")
    one.processor = processor(32)
    return one


class Painter(nn.Module):
    """Draws what is left of each click, as sure as it is told; a box is drawn as it is."""

    def __init__(self, one: Segment, sure: tuple[float, ...] = (0.5, 0.9, 0.6, 0.7)) -> None:
        super().__init__()
        self.sure, self.inner, self.config, self.asked = sure, one.model, one.model.config, list[Any]()

    def encode(self, image: torch.Tensor) -> Any:
        return self.inner.encode(image)

    def prompt(self, _: Any, points: Any, labels: Any, boxes: Any = None, rough: Any = None) -> Segmented:
        self.asked.append((points, labels, boxes, rough))
        x = torch.arange(16) * 2 + 0.5  # in pixels of the picture as the model sees it
        if boxes is not None:
            left, top, right, bottom = boxes[0]
            inside = ((x >= left) & (x <= right))[None] & ((x >= top) & (x <= bottom))[:, None]
            drawn = inside[None].float() * 20 - 10
        else:
            drawn = (points[:, -1, :1] - x)[:, None].expand(-1, 16, -1) * 5
        masks = torch.stack([drawn + i for i in range(4)], dim=1)
        return Segmented(masks, torch.tensor(self.sure).expand(len(masks), -1))


def drawn_by(**changes: Any) -> tuple[Segment, Painter]:
    one = segmenter()
    painter = Painter(one, **changes)
    one.model = painter
    return one, painter


def test_a_click_is_answered_by_three_masks_the_surest_first_and_a_clear_prompt_by_one() -> None:
    one = segmenter()
    (found,) = one(PICTURE, points=[(20, 30)])
    assert len(found) == 3
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert {each.mask.shape for each in found} == {(40, 60)}
    for prompt in (
        {"points": [(20, 30), (3, 3)]},
        {"box": (3, 4, 30, 30)},
        {"points": [(2, 2)], "not_points": [(9, 9)]},
    ):
        assert len(one(PICTURE, **prompt)[0]) == 1
    assert len(one([PICTURE, PICTURE], points=[(20, 30)])) == 2


def test_prompts_are_in_pixels_of_the_picture_and_masks_lie_where_they_point() -> None:
    one, painter = drawn_by()
    (found,) = one(PICTURE, points=[(30, 10)])
    assert painter.asked[0][0].flatten().tolist() == pytest.approx([16, 5.25])  # of 60 by 40 pixels, 32 by 21 are left
    assert [round(each.score, 2) for each in found] == [0.9, 0.7, 0.6]
    columns = np.flatnonzero(found[0].mask.all(axis=0))
    assert columns[-1] == pytest.approx(30, abs=2)  # half of the picture
    assert found[0].box[0] == 0
    assert found[0].area == found[0].mask.sum()
    (boxed,) = one(PICTURE, box=(15, 6, 45, 30))
    assert boxed[0].box == pytest.approx((15, 6, 45, 30), abs=4)
    (tall,) = one(PICTURE.rotate(90, expand=True), points=[(20, 59)])  # nothing of the padding is left
    assert tall[0].mask.shape == (60, 40)
    assert np.flatnonzero(tall[0].mask.all(axis=0))[-1] == pytest.approx(20, abs=2)


def test_a_picture_that_was_seen_is_asked_again_without_being_seen() -> None:
    one = segmenter()
    looked, seen = one.see(PICTURE), list[Any]()
    one.model.eye.register_forward_hook(lambda *given: seen.append(given))
    first = one.cuts(looked, Prompt(points=((20, 30),)))
    assert not seen
    assert np.array_equal(first[0].mask, one(PICTURE, points=[(20, 30)])[0][0].mask)


def test_a_rough_mask_of_an_earlier_answer_changes_the_next() -> None:
    one = segmenter()
    looked, prompt = one.see(PICTURE), Prompt(points=((20, 30),))
    said = one.ask(looked, prompt)
    assert not one.ask(looked, prompt, said.masks[:, :1]).masks.allclose(said.masks, atol=1e-4)


def test_everything_is_found_once_if_it_is_sure_and_stable() -> None:
    one, _ = drawn_by(sure=(0.5, 0.9, 0.5, 0.5))
    looked = one.see(PICTURE)
    found = one.everything(looked, grid=4, steady=0.5)
    assert 1 < len(found) <= 4  # of sixteen clicks, those of a column mean the same
    assert len({each.box for each in found}) == len(found)
    assert len(one.everything(looked, grid=4, steady=0.5, overlap=0.3)) < len(found)
    assert one.everything(looked, grid=4, sure=0.95) == []
    told: list[float] = []
    one.everything(looked, grid=10, progress=told.append)
    assert told == [0.16, 0.32, 0.48, 0.64, 0.8, 0.96, 1.0]
    (all_of_it,) = one(PICTURE)
    assert len(all_of_it) <= 4


def test_how_sure_a_mask_must_be_among_everything_is_what_the_card_says() -> None:
    card = {"task": "segment", "everything": {"sure": 0.3, "steady": 0.5}}
    lax, strict = Segment.of(build("sam-nano").eval(), card=card), segmenter()
    assert (lax.sure, lax.steady) == (0.3, 0.5)
    assert (strict.sure, strict.steady) == (0.88, 0.95)
    strict.model, strict.sure, strict.steady = drawn_by(sure=(0.5, 0.6, 0.2, 0.2))[1], 0.5, 0.5
    assert strict(PICTURE)[0]
    assert not strict(PICTURE, threshold=0.88)[0]
    with pytest.raises(ValueError, match="says 'all' of everything; give sure and steady, each from 0 to 1"):
        Segment.of(build("sam-nano").eval(), card={"everything": "all"})


def test_a_mask_that_is_empty_in_the_picture_s_size_is_not_found() -> None:
    """A model that draws one dot of its own size, which vanishes when it is made larger."""
    one, painter = drawn_by()

    class Dotted(Painter):
        def prompt(self, *given: Any, **named: Any) -> Segmented:
            said = super().prompt(*given, **named)
            masks = torch.full_like(said.masks, -30.0)
            masks[..., 5, 5] = 2.0
            return Segmented(masks, said.iou)

    one.model = Dotted(one)
    one.model.inner = painter.inner
    assert one.everything(one.see(PICTURE), grid=2, sure=0.5, steady=0.5) == []


def test_a_box_may_end_where_the_picture_does() -> None:
    one, painter = drawn_by()
    (found,) = one(PICTURE, box=(0, 0, 60, 40))
    assert found[0].box[2] == 60
    assert one(PICTURE, box=found[0].box)[0][0].area == found[0].area  # what is told can be given
    one(PICTURE, box=(0, 0, 59, 39))  # from pixel to pixel, as masks are boxed in training
    assert painter.asked[0][2].tolist() == painter.asked[-1][2].tolist()
    with pytest.raises(ValueError, match=r"61, 40 lies outside of the picture, .* give x from 0 to 60"):
        one(PICTURE, box=(0, 0, 61, 40))


def test_the_bundled_segmenter_finds_the_things_of_a_scene() -> None:
    """By its own thresholds, since it is never as sure as SAM."""
    import regard

    one: Any = regard.load("world-sam")
    found = one.everything(one.see("world:7"), grid=4)
    assert found
    assert all(each.area for each in found)


def test_stability_is_what_two_thresholds_agree_on() -> None:
    steep, flat = torch.linspace(-50, 50, 101).expand(2, 101), torch.linspace(-2, 2, 101).expand(2, 101)
    empty = torch.full((2, 101), -9.0)
    found = stability(torch.stack((steep, flat, empty)))
    assert found[0] > 0.9
    assert found[1] == pytest.approx(1 / 3, abs=0.02)
    assert found[2] == 0


def test_tokens_look_at_places_and_places_look_back() -> None:
    one = segmenter()
    reading = one.attend(PICTURE, points=[(20, 30)], not_points=[(3, 4)], box=(1, 2, 50, 35))
    groups = {each.group for each in reading.maps}
    assert groups == {"tokens look at tokens", "tokens look at places", "places look at tokens"}
    (tokens,) = (axis for axis in reading.axes.values() if isinstance(axis, Words))
    names = ["IoU", "single mask", "mask 1", "mask 2", "mask 3", "in 20,30", "not 3,4", "first corner", "last corner"]
    assert list(tokens.pieces) == names
    (grid,) = (axis for axis in reading.axes.values() if isinstance(axis, Grid))
    assert (grid.height, grid.width) == (4, 4)
    for each in reading.maps:
        np.testing.assert_allclose(reading.weights(each.name).sum(axis=-1), 1, atol=1e-4)
    assert len(reading.output) == 1
    assert len(one.attend(PICTURE).output) == 3  # a click in the middle
    edited = one.attend(PICTURE, edits={each.name: off for each in reading.maps})
    assert edited.output[0].score != one.attend(PICTURE).output[0].score


def test_a_look_without_a_prompt_has_the_tokens_of_the_model_alone() -> None:
    one = segmenter()
    reading, cuts = one.look(one.see(PICTURE), Prompt())
    (tokens,) = (axis for axis in reading.axes.values() if isinstance(axis, Words))
    assert list(tokens.pieces) == ["IoU", "single mask", "mask 1", "mask 2", "mask 3"]
    assert len(cuts) == 4


def test_the_world_is_scored_by_prompt_and_by_what_is_meant() -> None:
    one = segmenter()
    found = one.evaluate("world", limit=2)
    names = {name.partition("/")[0] for name in found.scores}
    assert names == {
        *("miou point", "miou single mask", "miou best of several", "miou 3 points", "miou 5 points", "miou box"),
    }
    assert {name.partition("/")[2] for name in found.scores} == {"", "thing", "part", "group"}
    assert all(0 <= score.value <= 100 for score in found.scores.values())
    assert found.scores["miou best of several"].value >= found.scores["miou point"].value
    parts = [found.scores[f"miou box/{kind}"] for kind in ("thing", "part", "group")]
    assert sum(score.count or 0 for score in parts) == found.settings["masks"] == found.scores["miou box"].count


@pytest.mark.usefixtures("as_users_meet_it")
@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (
            {"points": [(60, 10)]},
            "60, 10 lies outside of the picture, which is 60 wide and 40 high; give x from 0 to 59",
        ),
        ({"points": [(10, -1)]}, "10, -1 lies outside"),
        ({"points": [(float("nan"), 3)]}, "nan, 3 lies outside"),
        ({"not_points": [(1e9, 3)]}, "lies outside"),
        ({"box": (30, 3, 10, 20)}, "a box of 30, 3, 10, 20 holds nothing; give left, top, right and bottom"),
        ({"box": (3, 3, 99, 20)}, "99, 20 lies outside"),
        ({"box": (3, 3, 20)}, "is no box; give left, top, right and bottom in pixels"),
        ({"points": [(1, 2, 3)]}, "is no point; give x and y in pixels"),
        ({"threshold": 3}, "a threshold of 3 is no share; give 0 to 1"),
    ],
)
def test_prompts_that_mean_nothing_are_answered_with_a_way_out(prompt: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        segmenter()(PICTURE, **prompt)
