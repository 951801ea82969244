"""The room for your own file in a real browser: any attention gets the same views, or is refused with its place."""

import base64
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect
from tests.web.hands import becomes, drop, open_file, painted, save_as, until, watching

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.mark.parametrize("view", ["lines", "matrix"])
def test_512_words_move_without_stutter(page: "Page", view: str) -> None:
    """Only what is in sight is there and drawn: a frame costs a few milliseconds of the page's own time, however busy
    the machine is."""
    words = {"kind": "words", "labels": [f"word{i}" for i in range(512)]}
    weights = np.random.default_rng(0).dirichlet(np.full(512, 0.05), 512).astype("<f4")
    packed = {"shape": [512, 512], "encoding": "f32", "data": base64.b64encode(weights.tobytes()).decode()}
    one = {"name": "long", "rows": words, "columns": words, "weights": packed}
    open_file(page, {"format": "regard-views-1", "views": [one]}, view=view)
    page.wait_for_selector(".word" if view == "lines" else ".matrix-key i")
    with watching(page) as worked:
        page.evaluate(
            """async (selector) => {
              const stage = document.querySelector(selector);
              const box = stage.getBoundingClientRect();
              for (let i = 0; i < 40; i++) {
                const at = {clientX: box.left + 300, clientY: box.top + 200, bubbles: true, cancelable: true};
                if (selector === ".lines-scroll") stage.scrollTop += 80;
                else stage.dispatchEvent(new WheelEvent("wheel", {...at, deltaY: i < 20 ? -60 : 40, ctrlKey: i < 20}));
                await new Promise(requestAnimationFrame);
              }
            }""",
            ".lines-scroll" if view == "lines" else ".matrix-canvas",
        )
        frame = worked() / 40
    assert frame < 0.04, f"a frame takes {1000 * frame:.0f} ms"
    if view == "lines":
        until(page, "document.querySelectorAll('.word').length < 150")  # words out of sight are not there


def test_a_foreign_file_is_seen_with_the_same_views(page: "Page") -> None:
    open_file(page, _views())
    expect(page.locator(".word.columns")).to_have_text(["le", "chat"])
    page.get_by_role("tab", name="Matrix", exact=True).click()
    canvas = page.locator(".matrix-canvas")
    canvas.focus()
    canvas.press("ArrowDown")
    until(page, "document.querySelector('.matrix-readout output')?.textContent === '0.75'")


def test_a_file_dropped_anywhere_opens_the_room_that_reads_it(page: "Page") -> None:
    page.goto("/#/build")
    page.wait_for_selector(".steps")
    drop(page, json.dumps(_views()), "body")
    page.wait_for_selector(".word.columns")
    expect(page.locator(".file-top h2")).to_have_text("Mine")


def test_one_word_that_looks_leaves_the_room_to_what_it_sees(page: "Page") -> None:
    rows, columns = {"kind": "words", "labels": ["mean"]}, {"kind": "grid", "height": 4, "width": 4}
    one = {"name": "pool", "kind": "cross", "rows": rows, "columns": columns, "weights": [[1 / 16] * 16]}
    open_file(page, {"format": "regard-views-1", "views": [one]})
    page.locator(".gaze-words button").wait_for()
    words, seen = (page.locator(".gaze figure").nth(i).bounding_box() for i in range(2))
    assert words
    assert seen
    assert 3 * words["width"] < seen["width"]


def test_words_look_into_a_picture_and_places_know_who_looked(page: "Page") -> None:
    """A grid of 14 by 14 is a picture, not a list: pointing at a word tells its place, at a place its word."""
    weights = np.full((2, 196), 0.1 / 195)
    weights[0, 5 * 14 + 3] = weights[1, 0] = 0.9
    picture = io.BytesIO()
    Image.new("RGB", (56, 28), "red").save(picture, "PNG")
    image = f"data:image/png;base64,{base64.b64encode(picture.getvalue()).decode()}"
    columns = {"kind": "grid", "height": 14, "width": 14, "image": image}
    rows = {"kind": "words", "labels": ["cat", "sky"]}
    one = {"name": "cross", "kind": "cross", "rows": rows, "columns": columns, "weights": weights.tolist()}
    boxes = {"kind": "boxes", "boxes": [[0.1, 0.1, 0.2, 0.2], [0.5, 0.5, 0.4, 0.4]], "labels": ["cat", "sky"]}
    two = [one | {"layer": 0}, one | {"name": "boxes", "rows": boxes, "layer": 1}]
    open_file(page, {"format": "regard-views-1", "views": two})
    canvas = page.locator(".patches")
    page.get_by_role("button", name="cat", exact=True).hover()
    until(page, "document.querySelector('.matrix-readout').textContent.startsWith('cat looks at 6·4 0.900')")
    wide = "box => Math.abs(box.clientWidth / box.clientHeight - 2) < 0.04"
    becomes(page, lambda: canvas.evaluate(wide), True)  # as wide as the picture
    box = canvas.bounding_box()
    assert box
    canvas.hover(position={"x": 0.02 * box["width"], "y": 0.03 * box["height"]})
    until(page, "document.querySelector('.matrix-readout').textContent.startsWith('1·1 is looked at by sky 0.900')")
    canvas.focus()
    for key in ("ArrowRight", "ArrowDown"):
        canvas.press(key)
    until(page, "/^[12]·[12] is looked at by/.test(document.querySelector('.matrix-readout').textContent)")
    page.keyboard.press("e")
    assert b"data:image/png" in save_as(page, "SVG")
    page.keyboard.press("Escape")
    page.locator(".look-bar select").first.select_option("boxes")
    page.wait_for_selector(".patches >> nth=1")
    painted(page)
    seen = page.locator(".patches").first.bounding_box()
    assert seen
    page.locator(".patches").first.hover(position={"x": 0.7 * seen["width"], "y": 0.7 * seen["height"]})
    until(page, "document.querySelector('.matrix-readout').textContent.startsWith('sky looks at 1·1')")


def test_the_examples_can_be_looked_at(page: "Page") -> None:
    page.goto("/#/file")
    page.get_by_role("button", name="Show an example").click()
    page.wait_for_selector(".word.columns")
    page.get_by_role("button", name="Another file").click()
    page.get_by_role("button", name="An example with a picture").click()
    page.locator(".gaze-words button").nth(3).hover()
    until(page, "document.querySelector('.matrix-readout').textContent.includes(' looks at ')")


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"format": "other"}, "regard-views-1"),
    ({"views": []}, "no views"),
    ({"weights": [[0.5]]}, "2 rows and 2 columns"),
    ({"weights": [[0.5, 0.5], [0.5, -1.0]]}, "-1 at row 1, column 1"),
    ({"rows": {"kind": "colours"}}, "colours"),
    ({"rows": {"kind": "grid", "height": 1, "width": 2, "image": "https://example.org/a.png"}}, "carry its picture"),
    ({"rows": {"kind": "boxes", "boxes": [[0, 0, 1, 1], [0, 0, 1]], "labels": ["a", "b"]}}, "boxes[1]"),
    ({"weights": {"shape": [2, 2], "encoding": "u8", "data": "AAA="}}, "2 bytes"),
]


def test_a_bad_file_is_refused_with_its_place(page: "Page") -> None:
    page.goto("/#/file")
    page.wait_for_selector("#views-file", state="attached")
    for change, said in BROKEN:
        views = _views()
        for name, value in change.items():
            (views if name in ("format", "views") else views["views"][0])[name] = value
        drop(page, json.dumps(views))
        until(page, "said => document.querySelector('.bench-input .problem').textContent.includes(said)", arg=said)
    drop(page, "attention!")
    until(page, "document.querySelector('.bench-input .problem').textContent.includes('no JSON')")


def _views() -> dict[str, Any]:
    rows, columns = ({"kind": "words", "labels": labels} for labels in (["the", "cat"], ["le", "chat"]))
    view = {"name": "layer.0", "kind": "cross", "rows": rows, "columns": columns, "weights": [[0.75, 0.25], [0.2, 0.8]]}
    return {"format": "regard-views-1", "title": "Mine", "views": [view]}
