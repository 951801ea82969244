"""The room Depth in a real browser, with a small model that has learnt nothing."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from tests.web.conftest import Watched
from tests.web.hands import answered, becomes, until
from tests.web.shelves import ABOUT, KEPT, barriers, onto, small_buttons, visit, watching

from regard.data.stereo import world_eyes
from regard.hub import save
from regard.models import build
from regard.models.family import family
from regard.pipelines import load
from regard.web.opened import Place
from regard.web.outputs import run
from regard.web.question import Picture, Question
from regard.web.ticket import Ticket

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DRAWN = "document.querySelectorAll('.depth .see-canvas[style*=aspect]').length"
READS = "document.querySelector('.depth-readout')?.textContent ?? ''"
METRES = 0.09375


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seers")
    for name, card in (("a-metric", {"metres": METRES}), ("b-other", {"data": "stereo"})):
        torch.manual_seed(0)
        about = ABOUT | {"task": "depth", "title": f"Untaught {name[2:]}"} | card
        model = build("monodepth-nano", size=32, columns=32)
        with torch.no_grad():
            for each in model.parameters():
                each.mul_(2.0)  # so that some places are nearer than others
        save(folder / name, model, family=family("monodepth"), card=about)
    return folder


@pytest.fixture(scope="module")
def window(browser: "Browser", shelf: Path) -> Iterator[Watched]:
    with onto(browser, shelf) as found:
        yield found


@pytest.fixture
def page(window: Watched) -> "Iterator[Page]":
    with watching(window) as found:
        yield found


def asked(shelf: Path, picture: str | bytes, name: str = "a-metric") -> tuple[Any, dict[str, Any]]:
    """A model of depth, and its output."""
    pipeline: Any = load(shelf / name)
    _, output = run(pipeline, Question(Place(name, ""), Picture(picture)), None, Ticket(60.0, lambda _: None))
    return pipeline, output


def numbers(packed: str, output: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed), "<f4").reshape(output["height"], output["width"])


# What the server answers


def test_an_answer_has_the_depth_of_each_pixel_and_the_truth_of_a_scene(shelf: Path) -> None:
    pipeline, output = asked(shelf, "world:7")
    np.testing.assert_allclose(numbers(output["disparity"], output), pipeline("world:7")[0].disparity, atol=1e-6)
    assert output["metres"] == METRES
    truth = world_eyes("test")[7].disparity
    assert truth is not None
    np.testing.assert_allclose(numbers(output["truth"]["disparity"], output) * 64, truth, atol=1e-4)
    assert output["truth"]["error"] > output["truth"]["constant"] > 0


def test_a_photograph_is_sent_small_and_nobody_knows_its_truth(shelf: Path) -> None:
    photo = Path(__file__).parents[2] / "src/regard/web/page/photos/cat.jpg"
    _, output = asked(shelf, photo.read_bytes(), "b-other")
    assert max(output["height"], output["width"]) <= 192
    assert output["truth"] is None
    assert output["metres"] is None
    assert numbers(output["disparity"], output).min() > 0


# What the page shows


def test_a_picture_its_depth_and_the_truth_stand_side_by_side(page: "Page") -> None:
    visit(page, "depth", m="a-metric", given="p:world:7")
    until(page, f"{DRAWN} === 3")
    until(page, f"{READS}.startsWith('Off by ')")
    assert page.locator(".depth-scale span").count() == 3
    assert page.locator(".depth-scale").inner_text().count(" m") == 3


def test_nothing_stands_where_a_model_without_attention_would_look(page: "Page") -> None:
    visit(page, "depth", m="a-metric", given="p:world:7")
    assert page.locator(".look-body").is_hidden()


def test_a_pixel_tells_its_depth_and_the_link_remembers_it(page: "Page", shelf: Path) -> None:
    _, output = asked(shelf, "world:7")
    share, real = (numbers(each, output)[32, 16] for each in (output["disparity"], output["truth"]["disparity"]))
    visit(page, "depth", m="a-metric", given="p:world:7")
    until(page, f"{DRAWN} === 3")
    canvas = page.get_by_label("Depth: point at a pixel, or go there by the arrow keys")
    box = canvas.bounding_box()
    assert box
    place: Any = {"x": box["width"] * 16.5 / 64, "y": box["height"] * 32.5 / 64}
    canvas.hover(position=place)
    until(page, f"said => {READS}.startsWith(said)", f"{METRES / share:.2f} m at column 17 of row 33")
    until(page, f"said => {READS}.includes(said)", f"It truly is at {METRES / real:.2f} m")
    canvas.click(position=place)
    until(page, KEPT, ["px", "16,32"])
    page.keyboard.press("ArrowRight")
    until(page, KEPT, ["px", "17,32"])
    visit(page, "depth", m="a-metric", given="p:world:7", px="16,32")
    until(page, f"{READS}.includes('at column 17 of row 33')")


def test_the_eye_moves_and_near_things_move_most(page: "Page") -> None:
    visit(page, "depth", m="a-metric", given="p:world:7")
    until(page, f"{DRAWN} === 3")
    seen = "document.querySelector('.depth .see-canvas').toDataURL()"
    before = page.evaluate(seen)
    slider = page.get_by_role("slider", name="Where the eye is")
    slider.fill("1")
    until(page, KEPT, ["eye", "1"])
    until(page, f"before => {seen} !== before", before)
    until(page, "document.querySelector('.depth .film-told').textContent.includes('to the right')")
    slider.fill("0")
    until(page, KEPT, ["eye", None])
    until(page, f"before => {seen} === before", before)


def test_what_an_eye_would_see_hides_what_is_far(page: "Page") -> None:
    visit(page, "depth", m="a-metric", given="p:world:7")
    row = page.evaluate(
        """async () => {
          const {seenFrom} = await import('/js/depth/field.js');
          const pixels = new Uint8ClampedArray([1, 2, 3, 4].flatMap(each => [each, 0, 0, 255]));
          const field = {height: 1, width: 4, values: new Float32Array([0.01, 0.01, 0.25, 0.01])};
          return [0, 1, -1].map(moved => [0, 1, 2, 3].map(i => seenFrom(pixels, field, moved).data[i * 4]));
        }"""
    )
    assert row == [[1, 2, 3, 4], [1, 3, 4, 4], [1, 2, 2, 3]]


def test_a_photograph_has_no_truth_and_models_stand_side_by_side(page: "Page") -> None:
    visit(page, "depth", m="a-metric,b-other", given="p:photo:cat")
    until(page, "document.querySelectorAll('.look .seconds').length === 2")
    until(page, "document.querySelector('.warnings')?.textContent.includes('no picture of the little world')")
    until(page, f"{DRAWN} === 4")
    becomes(page, lambda: page.locator(".depth-scale small").all_inner_texts(), ["of an unknown unit"])
    page.get_by_role("button", name="Next scene").click()
    until(page, KEPT, ["in", "p:world:7"])
    answered(page)
    until(page, f"{DRAWN} === 6")


def test_what_is_seen_can_be_taken_away(page: "Page") -> None:
    visit(page, "depth", m="a-metric", given="p:world:7")
    until(page, f"{DRAWN} === 3")
    page.keyboard.press("e")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Untaught metric, depth as SVG").click()
    assert waiting.value.path().read_text(encoding="utf-8").count("<image") == 3
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Untaught metric, depth as CSV").click()
    lines = waiting.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert lines[0] == "row,column,depth,true depth"
    assert len(lines) == 1 + 64 * 64
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Untaught metric, depth as JSON").click()
    assert json.loads(waiting.value.path().read_bytes())["metres"] == METRES
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Share").click()
    until(page, "document.querySelector('dialog')?.textContent.includes('regard depth world:7')")
    page.keyboard.press("Escape")


def test_on_a_phone_nothing_is_cut_off_and_fingers_hit(page: "Page") -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, "depth", m="a-metric,b-other", given="p:world:7")
    until(page, f"{DRAWN} === 6")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert small_buttons(page) == []


def test_nothing_keeps_anybody_out(page: "Page") -> None:
    visit(page, "depth", m="a-metric,b-other", given="p:world:7", px="16,32", eye="0.5")
    until(page, f"{DRAWN} === 6")
    assert barriers(page) == []


def test_without_a_model_the_room_says_how_to_get_one(browser: "Browser", tmp_path: Path) -> None:
    with onto(browser, tmp_path) as empty, watching(empty) as page:
        page.goto("/#/depth")
        until(page, "document.querySelector('.empty')?.textContent.includes('regard train monodepth')")
