"""The room Caption in a real browser, with small captioners that have learnt nothing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import expect
from tests.web.asking import read_events
from tests.web.conftest import Watched
from tests.web.hands import answered, becomes, until
from tests.web.shelves import KEPT, barriers, onto, save_captioners, small_buttons, visit, watching

from regard.pipelines import load
from regard.web.answers import compose
from regard.web.app import make_app
from regard.web.cautions import cautions
from regard.web.models import Models
from regard.web.opened import Place
from regard.web.outputs import run
from regard.web.question import Edit, Picture, Question
from regard.web.state import AppState
from regard.web.ticket import Ticket
from regard.web.worker import Worker

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SAY = "There is a red disc."
LIT = "document.querySelectorAll('.regions-words button').length"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_captioners(tmp_path_factory.mktemp("captioners"))


@pytest.fixture(scope="module")
def window(browser: "Browser", shelf: Path, kept: Worker) -> Iterator[Watched]:
    with onto(browser, shelf, worker=kept) as found:
        yield found


@pytest.fixture
def page(window: Watched) -> "Iterator[Page]":
    with watching(window) as found:
        yield found


def asked(shelf: Path, name: str = "a-soft", **options: Any) -> tuple[Any, Any, dict[str, Any], list[dict[str, Any]]]:
    """A captioner, its reading of scene 7, its output, and what it told on the way."""
    pipeline: Any = load(shelf / name)
    told: list[dict[str, Any]] = []
    edits = options.pop("edits", ())
    question = Question(Place(name, ""), Picture("world:7"), options, edits)
    reading, output = run(pipeline, question, compose(edits), Ticket(60.0, told.append))
    return pipeline, reading, output, told


# What the server answers


@pytest.mark.parametrize("name", ["a-soft", "b-transformer", "c-fixed"])
def test_a_caption_comes_with_the_next_best_and_how_sure_each_piece_is(shelf: Path, name: str) -> None:
    pipeline, reading, output, told = asked(shelf, name, beam=3)
    assert output["kind"] == "caption"
    assert output["outputs"][0]["text"] == pipeline("world:7", beam=3)[0].text
    assert len(output["outputs"]) == 3
    assert len(output["chances"]) == len(reading.axes["target"])
    found = output["outputs"][0]["log_prob"]
    assert np.log(output["chances"]).sum() == pytest.approx(found, abs=1e-2 * max(1, abs(found)))
    assert [each["done"] for each in told] == list(range(1, len(told) + 1))
    assert not output["forced"]


def test_a_model_is_made_to_say_something_and_an_edit_changes_how_sure_it_is(shelf: Path) -> None:
    _, reading, output, _ = asked(shelf, force=SAY)
    assert output["forced"]
    assert output["outputs"][0]["text"] == SAY
    edit = Edit(next(each.name for each in reading.maps if each.kind == "cross"), None, "uniform")
    _, edited, other, _ = asked(shelf, force=SAY, edits=(edit,))
    assert np.ptp(edited.weights(edit.name)) == pytest.approx(0, abs=1e-6)
    assert other["chances"] != output["chances"]


def test_who_knows_only_the_world_says_so_of_a_photograph(shelf: Path) -> None:
    pipeline: Any = load(shelf / "a-soft")
    for picture, count in ((Picture("world:7"), 0), (Picture(b"a file"), 1)):
        found = cautions(pipeline, Question(Place("a-soft", ""), picture), None, 0)
        assert len(found) == count
    assert "no picture of the little world" in found[0]["text"]


def test_what_is_no_picture_is_refused(shelf: Path, kept: Worker) -> None:
    with TestClient(make_app(AppState(Models(shelf=shelf), worker=kept)), base_url="http://127.0.0.1") as client:
        for given, said in (
            ({"text": "a dog"}, "takes a picture"),
            ({"picture": "/etc/passwd"}, "is no picture"),
            ({"picture": "0" * 64}, "choose its file again"),
        ):
            answer = client.post("/api/ask", json={"model": "a-soft", "input": given})
            told = read_events(answer)[-1] if answer.status_code == 200 else answer.json()
            assert said in told["error"]
        long = {"model": "a-soft", "input": {"picture": "world:7"}, "options": {"force": "red " * 100}}
        assert "is too long; at most" in read_events(client.post("/api/ask", json=long))[-1]["error"]


# What the page shows


def test_each_word_has_its_region_and_a_click_on_it_is_in_the_link(page: "Page") -> None:
    visit(page, "caption", m="a-soft", given="p:world:7", say=SAY)
    until(page, f"{LIT} === 6")
    becomes(page, lambda: [text.strip() for text in page.locator(".regions-words span").all_inner_texts()],
            ["There", "is", "a", "red", "disc", "."])  # fmt: skip
    page.get_by_role("group", name="Caption").get_by_role("button", name="disc").click()
    until(page, KEPT, ["at", "4"])
    until(page, "document.querySelector('.regions .matrix-readout b')?.textContent === 'disc'")
    until(page, "document.querySelector('.regions-words [aria-pressed=true]')?.textContent === 'disc'")
    page.locator(".regions-words button").nth(3).click()
    until(page, KEPT, ["at", "3"])
    page.locator(".regions-words button").nth(3).click()
    until(page, KEPT, ["at", None])


def test_a_click_on_a_region_tells_which_words_looked_there(page: "Page", shelf: Path) -> None:
    _, reading, _, _ = asked(shelf, "b-transformer", force=SAY)
    name = [each.name for each in reading.maps if each.kind == "cross"][-1]
    weights = reading.merge_words(name, reading.weights(name).mean(axis=0))
    visit(page, "caption", m="b-transformer", given="p:world:7", say=SAY)
    until(page, f"{LIT} === 6")
    canvas = page.locator(".regions .see-canvas")
    until(page, "document.querySelector('.regions .see-canvas').style.getPropertyValue('--aspect') !== ''")
    box = canvas.bounding_box()
    assert box
    canvas.click(position={"x": box["width"] * 0.4, "y": box["height"] * 0.6})
    grid: Any = reading.axes["picture"]
    place = int(0.6 * grid.height) * grid.width + int(0.4 * grid.width)
    until(page, KEPT, ["at", f"c{place}"])
    best = ["There", "is", "a", "red", "disc", "."][int(weights[:6, place].argmax())]
    until(page, "best => document.querySelector('.regions .matrix-readout b')?.textContent === best", best)
    until(page, "document.querySelectorAll('.said.shaded').length === 6")
    # The same link shows the same.
    visit(page, "caption", m="b-transformer", given="p:world:7", say=SAY, at=f"c{place}")
    until(page, "best => document.querySelector('.regions .matrix-readout b')?.textContent === best", best)
    canvas.focus()
    page.keyboard.press("ArrowRight")
    until(page, KEPT, ["at", f"c{place + 1}"])


def test_words_appear_one_by_one(page: "Page") -> None:
    visit(page, "caption", m="a-soft", given="p:world:7", say=SAY)
    until(page, f"{LIT} === 6")
    assert page.locator(".unsaid").count() == 0, "nothing moves for whom nothing should"
    page.emulate_media(reduced_motion="no-preference")
    page.evaluate(
        """() => {
          window.seen = [];
          const watch = () => window.seen.push(document.querySelectorAll('.said.unsaid').length);
          new MutationObserver(watch).observe(document.querySelector('main'), {attributes: true, subtree: true});
        }"""
    )
    page.keyboard.press("p")
    until(page, "window.seen.includes(5) && window.seen.includes(1) && window.seen.at(-1) === 0")
    counts = page.evaluate("window.seen")
    assert set(counts) >= {5, 4, 3, 2, 1, 0}


def test_models_stand_side_by_side_and_one_of_them_looks_nowhere(page: "Page") -> None:
    visit(page, "caption", m="a-soft,b-transformer,c-fixed", given="p:world:7", say=SAY)
    until(page, "document.querySelectorAll('.look .seconds').length === 3")
    until(page, "document.querySelectorAll('.regions').length === 2")
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "Regions"
    page.get_by_role("button", name="Take Untaught transformer away").click()
    until(page, "document.querySelectorAll('.look').length === 2")


def test_a_picture_is_dropped_and_the_next_scene_is_a_key_away(page: "Page") -> None:
    visit(page, "caption", m="a-soft", given="p:photo:cat", beam="1")
    until(page, "document.querySelector('.warnings')?.textContent.includes('no picture of the little world')")
    page.evaluate(
        """async () => {
          const held = new DataTransfer();
          const found = await (await fetch('photos/rocket.jpg')).blob();
          held.items.add(new File([found], 'rocket.jpg', {type: 'image/jpeg'}));
          const falls = new DragEvent('drop', {dataTransfer: held, bubbles: true, cancelable: true});
          document.querySelector('.room-caption').dispatchEvent(falls);
        }"""
    )
    until(page, "/in=p:[0-9a-f]{64}/.test(location.hash)")
    answered(page)
    page.get_by_role("button", name="Next scene").click()
    until(page, KEPT, ["in", "p:world:7"])
    answered(page)
    until(page, "document.querySelector('.warnings').textContent === ''")


def test_the_truth_of_a_scene_judges_a_word(page: "Page") -> None:
    visit(page, "caption", m="a-soft", given="p:world:7", say=SAY, at="4")
    until(page, f"{LIT} === 6")
    assert page.locator(".regions .hit, .regions .miss").count() == 0
    page.get_by_label("show the truth").check()
    until(page, "document.querySelector('.regions :is(.hit, .miss)')?.textContent.includes('the highest place lies')")


def test_a_head_is_switched_off_and_what_changed_stands_out(page: "Page") -> None:
    visit(
        page, "caption", m="b-transformer", given="p:world:7", beam="1", edits="decoder.stack.blocks.0.cross:*:uniform"
    )
    until(page, "document.querySelector('.look-done .chip')")
    until(page, "document.querySelector('.verdict')")


def test_what_is_seen_can_be_taken_away(page: "Page") -> None:
    visit(page, "caption", m="a-soft", given="p:world:7", say=SAY)
    until(page, f"{LIT} === 6")
    until(page, "document.querySelector('.regions .see-canvas').style.getPropertyValue('--aspect') !== ''")
    page.keyboard.press("e")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Untaught soft, regions as SVG").click()
    assert waiting.value.path().read_text(encoding="utf-8").count("<image") == 7
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Untaught soft, words as CSV").click()
    assert waiting.value.path().read_text(encoding="utf-8-sig").splitlines()[0] == "word,probability"
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Untaught soft, regions as JSON").click()
    assert json.loads(waiting.value.path().read_bytes())["format"] == "regard-views-1"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Share").click()
    until(page, "document.querySelector('dialog')?.textContent.includes('caption.attend')")
    page.keyboard.press("Escape")


def test_on_a_phone_nothing_is_cut_off_and_fingers_hit(page: "Page") -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, "caption", m="a-soft,b-transformer", given="p:world:7", say=SAY)
    until(page, f"{LIT} === 12")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert small_buttons(page) == []
    expect(page.get_by_text("Make it say something else")).to_have_css("display", "list-item")  # and so with its ▸


def test_nothing_keeps_anybody_out(page: "Page") -> None:
    visit(page, "caption", m="a-soft,b-transformer", given="p:world:7", say=SAY, at="4", truth="1")
    until(page, f"{LIT} === 12")
    assert barriers(page) == []


def test_without_a_model_the_room_says_how_to_get_one(browser: "Browser", tmp_path: Path, kept: Worker) -> None:
    with onto(browser, tmp_path, worker=kept) as empty, watching(empty) as page:
        page.goto("/#/caption")
        until(page, "document.querySelector('.empty')?.textContent.includes('regard train caption')")
