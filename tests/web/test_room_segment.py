"""The room Segment in a real browser, with small segmenters that have learnt nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from fastapi.testclient import TestClient
from tests.web.asking import read_events
from tests.web.conftest import Watched
from tests.web.hands import answered, until
from tests.web.shelves import ABOUT, KEPT, barriers, onto, small_buttons, visit, watching

from regard.hub import save
from regard.hub.tables.sam import processor
from regard.models import build
from regard.models.family import family
from regard.pipelines import load
from regard.vision import Processor, Size
from regard.web.answers import compose
from regard.web.app import make_app
from regard.web.models import Models
from regard.web.opened import Place
from regard.web.outputs import run
from regard.web.pictures import photo
from regard.web.question import Edit, Picture, Question
from regard.web.state import AppState
from regard.web.ticket import Ticket

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CARDS = "document.querySelectorAll('.segment-cards button').length"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that squeezes pictures, as that of the world does, and one that pads them, as published ones do."""
    folder = tmp_path_factory.mktemp("segmenters")
    for name, shown in (("a-squeezes", Processor(size=Size(height=32, width=32))), ("b-pads", processor(32))):
        torch.manual_seed(0)
        model = build("sam-nano")
        with torch.no_grad():
            for weight in model.parameters():
                weight.mul_(1.5)  # so that masks have borders, and looks prefer some places
        card = ABOUT | {"task": "segment", "title": f"Untaught {name[2:]}"}
        save(folder / name, model, family=family("sam"), card=card, processor=shown)
    return folder


@pytest.fixture(scope="module")
def window(browser: "Browser", shelf: Path) -> Iterator[Watched]:
    with onto(browser, shelf) as found:
        yield found


@pytest.fixture
def page(window: Watched) -> "Iterator[Page]":
    with watching(window) as found:
        yield found


def asked(pipeline: Any, picture: Picture | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
    """A reading of scene 7 or another picture, and its output."""
    edits = options.pop("edits", ())
    question = Question(Place("a-squeezes", ""), picture or Picture("world:7", "world:7"), options, edits)
    return run(pipeline, question, compose(edits), Ticket(60.0, lambda _: None))


def press(page: "Page", x: float, y: float, *, alt: bool = False) -> None:
    """A click on the picture, at shares of it."""
    box = page.locator(".segment-canvas").bounding_box()
    assert box
    if alt:
        page.keyboard.down("Alt")
    page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])
    if alt:
        page.keyboard.up("Alt")


# What the server answers


def test_a_picture_is_seen_once_and_clicks_are_answered_by_four_masks(shelf: Path) -> None:
    pipeline: Any = load(shelf / "a-squeezes")
    seen: list[Any] = []
    pipeline.model.eye.stem.register_forward_hook(lambda *given: seen.append(given))
    reading, output = asked(pipeline)
    assert (output["kind"], output["masks"], output["truth"]) == ("masks", [], None)
    assert {each.group for each in reading.maps} >= {"tokens look at places", "places look at tokens"}
    _, clicked = asked(pipeline, points=[(40, 50)])
    assert len(seen) == 1
    assert len(clicked["masks"]) == 4
    assert not clicked["clear"]
    assert [round(each.score, 3) for each in reading.output] != []
    wanted = pipeline("world:7", points=[(40, 50)])[0]
    assert max(each["score"] for each in clicked["masks"][1:]) == pytest.approx(wanted[0].score, abs=1e-4)
    _, boxed = asked(pipeline, box=(10, 10, 60, 60), not_points=[(5, 5)])
    assert boxed["clear"]
    for i in range(12):  # more than are kept
        asked(pipeline, Picture(f"world:{i}", f"world:{i}"))
    assert len(seen) == 13  # scene 7 is kept
    asked(pipeline, Picture("world:0", "world:0"))
    assert len(seen) == 14


def test_in_the_world_masks_are_compared_with_what_may_be_meant(shelf: Path) -> None:
    from regard.web.scenes import render

    pipeline: Any = load(shelf / "a-squeezes")
    scene = render(7, "")
    row, column = (int(each[0]) for each in (scene.instance >= 0).nonzero())
    _, output = asked(pipeline, points=[(column, row)])
    assert [each["name"] for each in output["truth"]] == ["part", "thing", "group"]
    assert all(len(each["iou"]) == 4 and all(0 <= one <= 1 for one in each["iou"]) for each in output["truth"])
    row, column = (int(each[0]) for each in (scene.instance < 0).nonzero())
    assert asked(pipeline, points=[(column, row)])[1]["truth"] is None  # the backdrop
    assert asked(pipeline, Picture(photo("cat"), "photo:cat"), points=[(9, 9)])[1]["truth"] is None


def test_prompts_are_in_pixels_of_the_picture_however_large(shelf: Path) -> None:
    from io import BytesIO

    from PIL import Image

    pipeline: Any = load(shelf / "b-pads")
    file = BytesIO()
    Image.effect_mandelbrot((1600, 800), (-2, -1, 1, 1), 50).convert("RGB").save(file, "PNG")
    picture = Picture(file.getvalue(), "0" * 64)
    _, output = asked(pipeline, picture, points=[(1500, 700)])
    assert (output["width"], output["height"], output["inside"]) == (1600, 800, [1.0, 0.5])
    with pytest.raises(ValueError, match="1600, 700 lies outside of the picture, which is 1600 wide and 800 high"):
        asked(pipeline, picture, points=[(1600, 700)])


def test_a_head_that_is_switched_off_changes_the_masks(shelf: Path) -> None:
    pipeline: Any = load(shelf / "a-squeezes")
    plain = asked(pipeline, points=[(40, 50)])[1]
    edited = asked(pipeline, points=[(40, 50)], edits=(Edit("blocks.0.cross", None, "off"),))[1]
    assert [each["score"] for each in plain["masks"]] != [each["score"] for each in edited["masks"]]


def test_what_means_nothing_is_refused(shelf: Path) -> None:
    with TestClient(make_app(AppState(Models(shelf=shelf))), base_url="http://127.0.0.1") as client:
        for given, options, said in (
            ({"text": "a dog"}, {}, "takes a picture"),
            ({"picture": "world:7"}, {"points": [[999, 3]]}, "999, 3 lies outside of the picture"),
            ({"picture": "world:7"}, {"box": [30, 3, 3, 30]}, "holds nothing; give left, top, right and bottom"),
            ({"picture": "world:7"}, {"beam": 3}, "beam is no option of segment; it has points, not_points, box"),
        ):
            answer = client.post("/api/ask", json={"model": "a-squeezes", "input": given, "options": options})
            assert said in read_events(answer)[-1]["error"]
        for options in ({"points": [[1, 2, 3]]}, {"points": [[1, 1]] * 65}, {"box": [1, 2]}):
            asked_for = {"model": "a-squeezes", "input": {"picture": "world:7"}, "options": options}
            assert client.post("/api/ask", json=asked_for).status_code == 422


# What the page shows


def test_it_opens_with_a_click_on_the_ring_of_its_scene(page: "Page") -> None:
    visit(page, "segment")
    until(page, KEPT, ["pt", "i19,58"])
    until(page, KEPT, ["in", "p:world:7"])
    until(page, f"{CARDS} === 4")


def test_clicks_and_boxes_are_in_the_link_and_can_be_taken_back(page: "Page") -> None:
    visit(page, "segment", m="a-squeezes", given="p:world:7")
    until(page, "document.querySelector('.segment-says').textContent.includes('Click on what you mean')")
    assert page.evaluate(CARDS) == 0
    press(page, 0.501, 0.251)
    until(page, f"{CARDS} === 4")
    size = page.evaluate("new URLSearchParams(location.hash.split('?')[1]).get('pt')")
    x, y = (int(each) for each in size[1:].split(","))
    assert x == pytest.approx(2 * y, abs=2)
    assert x > 10
    until(page, "document.querySelectorAll('.segment-cards [aria-pressed=true]').length === 1")
    assert "given: the surest" in page.locator(".segment-cards [aria-pressed=true]").inner_text()
    press(page, 0.2, 0.2, alt=True)
    until(page, "/^i\\d+,\\d+;o\\d+,\\d+$/.test(new URLSearchParams(location.hash.split('?')[1]).get('pt'))")
    answered(page)
    until(page, "document.querySelector('.segment-cards').textContent.includes('given: the prompt is clear')")
    page.get_by_role("button", name="Undo last").click()
    until(page, KEPT, ["pt", size])
    page.get_by_role("button", name="Take away").click()
    press(page, 0.8, 0.8)
    until(page, "new URLSearchParams(location.hash.split('?')[1]).get('pt').includes(';o')")
    page.get_by_role("button", name="Clear", exact=True).click()
    until(page, f"{CARDS} === 0")
    box = page.locator(".segment-canvas").bounding_box()
    assert box
    page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.6 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.2 * box["height"], steps=4)
    page.mouse.up()
    until(page, "/^b\\d+,\\d+,\\d+,\\d+$/.test(new URLSearchParams(location.hash.split('?')[1]).get('pt'))")
    left, top, right, bottom = map(
        int, page.evaluate("new URLSearchParams(location.hash.split('?')[1]).get('pt')")[1:].split(",")
    )
    assert left < right
    assert top < bottom
    page.keyboard.press("Control+z")
    until(page, f"{CARDS} === 0")


def test_keys_do_what_a_pointer_does(page: "Page") -> None:
    visit(page, "segment", m="b-pads", given="p:photo:cat")
    page.locator(".segment-canvas").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    until(page, f"{CARDS} === 4")
    page.keyboard.press("Backspace")
    until(page, f"{CARDS} === 0")


def test_another_mask_is_chosen_and_its_token_is_looked_at_both_ways(page: "Page") -> None:
    visit(page, "segment", m="a-squeezes", given="p:world:7", pt="i40,50")
    until(page, f"{CARDS} === 4")
    until(page, "document.querySelectorAll('.both-maps .see-canvas').length === 5")
    until(page, "document.querySelectorAll('.both-tokens button').length === 7")
    page.locator(".segment-cards [data-mask='0']").click()
    until(page, "document.querySelector('.both-tokens [aria-pressed=true]')?.textContent === 'single mask'")
    until(page, "document.querySelector('.both-maps h3').textContent === 'Where “single mask” looks'")
    page.get_by_role("button", name="in 40,50").click()
    until(page, KEPT, ["tok", "5"])
    until(page, "document.querySelector('.both-maps h3').textContent === 'Where “in 40,50” looks'")
    page.get_by_role("tab", name="Regions").click()
    until(page, "document.querySelectorAll('.regions-words button').length === 7")


def test_the_truth_of_the_world_is_told_where_it_is_wished_for(page: "Page") -> None:
    visit(page, "segment", m="a-squeezes", given="p:world:7", pt="i40,50")
    until(page, f"{CARDS} === 4")
    assert "truth" not in page.locator(".segment-says").inner_text()
    page.get_by_label("show the truth").check()
    until(page, "/IoU with the truth|No thing lies/.test(document.querySelector('.segment-says').textContent)")
    visit(page, "segment", m="a-squeezes", given="p:photo:cat")
    assert page.get_by_label("show the truth").count() == 0


def test_what_is_true_is_told_in_one_sentence_beside_the_picture(page: "Page") -> None:
    visit(page, "segment", m="a-squeezes", given="p:world:7", pt="i19,58", truth="1")
    page.locator(".segment-says .hit").wait_for()
    assert page.evaluate("getComputedStyle(document.querySelector('.segment-says .hit')).display") == "inline"
    picture, masks = (page.locator(each).bounding_box() for each in (".segment-canvas", ".segment-cards"))
    assert picture
    assert masks
    assert 0 < masks["x"] - picture["x"] - picture["width"] < 60


def test_every_layer_has_a_name_of_its_own_and_a_chip_says_what_it_shows(page: "Page") -> None:
    visit(page, "segment", m="a-squeezes", given="p:world:7")
    rows = page.locator(".overview-grid", has=page.get_by_role("rowheader", name="last, all heads"))
    names = rows.get_by_role("rowheader").all_inner_texts()
    assert names[-1] == "last"
    assert len(set(names)) == len(names)
    assert page.locator(".chip.example").all_inner_texts() == ["scene 12"]
    page.get_by_role("button", name="scene 12").click()
    until(page, KEPT, ["in", "p:world:12"])


def test_what_is_seen_can_be_taken_away(page: "Page") -> None:
    visit(page, "segment", m="a-squeezes", given="p:world:7", pt="i40,50")
    until(page, f"{CARDS} === 4")
    page.keyboard.press("e")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Untaught squeezes, masks as SVG").click()
    assert waiting.value.path().read_text(encoding="utf-8").count("<image") == 5
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Untaught squeezes, masks as CSV").click()
    assert waiting.value.path().read_text(encoding="utf-8-sig").startswith("mask,expected IoU,stability")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Untaught squeezes, both ways as SVG").click()
    assert waiting.value.path().read_text(encoding="utf-8").count("<image") == 5
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Share").click()
    until(page, "document.querySelector('dialog')?.textContent.includes('--point 40,50')")
    page.keyboard.press("Escape")


def test_on_a_phone_nothing_is_cut_off_and_fingers_hit(page: "Page") -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, "segment", m="a-squeezes,b-pads", given="p:world:7", pt="i40,50")
    until(page, f"{CARDS} === 8")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert small_buttons(page) == []


def test_nothing_keeps_anybody_out(page: "Page") -> None:
    visit(page, "segment", m="a-squeezes", given="p:world:7", pt="i40,50", truth="1")
    until(page, f"{CARDS} === 4")
    assert barriers(page) == []


def test_without_a_model_the_room_says_how_to_get_one(browser: "Browser", tmp_path: Path) -> None:
    with onto(browser, tmp_path) as empty, watching(empty) as page:
        page.goto("/#/segment")
        until(page, "document.querySelector('.empty')?.textContent.includes('regard train segment')")
