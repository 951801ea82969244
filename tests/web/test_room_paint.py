"""The room Paint in a real browser, with small painters that have learnt nothing."""

import base64
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image
from tests.web.asking import read_events
from tests.web.conftest import Watched
from tests.web.hands import becomes, until
from tests.web.shelves import KEPT, barriers, onto, save_painters, small_buttons, visit, watching

from regard.pipelines import load
from regard.web.app import make_app
from regard.web.models import Models
from regard.web.opened import Place
from regard.web.outputs import run
from regard.web.question import Question
from regard.web.state import AppState
from regard.web.ticket import Ticket
from regard.web.worker import Worker

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TEXT = "a red disc left of a blue star"
STEP = "document.querySelector('.film-told')?.textContent.startsWith('step {} of {}')"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_painters(tmp_path_factory.mktemp("painters"))


@pytest.fixture(scope="module")
def window(browser: "Browser", shelf: Path, kept: Worker) -> Iterator[Watched]:
    with onto(browser, shelf, worker=kept) as found:
        yield found


@pytest.fixture
def page(window: Watched) -> "Iterator[Page]":
    with watching(window) as found:
        yield found


def asked(shelf: Path, name: str, **options: Any) -> tuple[Any, Any, dict[str, Any], list[dict[str, Any]]]:
    pipeline: Any = load(shelf / name)
    told: list[dict[str, Any]] = []
    reading, output = run(pipeline, Question(Place(name, ""), TEXT, options), {}, Ticket(60.0, told.append))
    return pipeline, reading, output, told


def pixels(url: str) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(base64.b64decode(url.partition(",")[2]))))


# What the server answers


def test_every_step_out_of_noise_is_told_and_the_last_is_the_picture(shelf: Path) -> None:
    pipeline, _, output, told = asked(shelf, "a-diffusion", steps=4, seed=3)
    (wanted,) = pipeline(TEXT, steps=4, seed=3)
    np.testing.assert_array_equal(pixels(output["image"]), np.asarray(wanted.pictures[0]))
    np.testing.assert_array_equal(pixels(output["moments"][-1]["clean"]), pixels(output["image"]))
    times = [each["time"] for each in output["moments"]]
    assert times == sorted(times, reverse=True)
    assert [(each["done"], each["of"]) for each in told] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert not output["written"]


def test_the_maps_of_all_steps_have_the_mean_that_a_reading_has(shelf: Path) -> None:
    pipeline, reading, output, _ = asked(shelf, "a-diffusion", steps=4)
    maps = output["maps"]
    found = np.frombuffer(base64.b64decode(maps["weights"]), "<f4")
    found = found.reshape(4, maps["words"], maps["height"], maps["width"])
    np.testing.assert_allclose(found.mean(axis=0), pipeline.word_maps(reading), atol=1e-5)
    assert np.abs(found[0] - found[-1]).max() > 1e-6


def test_who_writes_tokens_has_one_moment_and_who_looks_at_a_vector_no_maps(shelf: Path) -> None:
    _, _, written, told = asked(shelf, "b-dalle")
    assert written["written"]
    assert len(written["moments"]) == 1
    assert told == []
    assert written["maps"]["words"] == 9
    assert asked(shelf, "c-unclip", steps=2)[2]["maps"] is None


def test_what_cannot_be_painted_is_refused_in_a_sentence(shelf: Path, kept: Worker) -> None:
    with TestClient(make_app(AppState(Models(shelf=shelf), worker=kept)), base_url="http://127.0.0.1") as client:
        for given, options, said in (
            ({"text": "a red horse"}, {}, "which is not learnt; it knows a, above"),
            ({"text": " "}, {}, "say what you want to see"),
            ({"text": "red " * 60}, {}, "tokens, and at most"),
            ({"numbers": [3, 4]}, {}, "takes text"),
            ({"picture": "world:7"}, {}, "and this is a picture"),
            ({"text": TEXT}, {"steps": 101}, "steps does not fit"),
            ({"text": TEXT}, {"temperature": 1.0}, "temperature does nothing"),
        ):
            answer = client.post("/api/ask", json={"model": "a-diffusion", "input": given, "options": options})
            told = read_events(answer)[-1] if answer.status_code == 200 else answer.json()
            assert said in told["error"]


# What the page shows


def test_steps_are_scrubbed_and_the_step_is_in_the_link(page: "Page") -> None:
    visit(page, "paint", m="a-diffusion", given=f"t:{TEXT}", steps="6")
    until(page, STEP.format(6, 6))
    slider = page.get_by_role("slider", name="Step", exact=True)
    slider.focus()
    page.keyboard.press("ArrowLeft")
    until(page, KEPT, ["step", "4"])
    until(page, STEP.format(5, 6))
    page.keyboard.press("Home")
    until(page, KEPT, ["step", "0"])
    visit(page, "paint", m="a-diffusion", given=f"t:{TEXT}", steps="6", step="2")
    until(page, STEP.format(3, 6))
    page.locator("h1").evaluate("() => document.activeElement.blur()")
    page.keyboard.press(".")
    until(page, STEP.format(4, 6))


def test_a_word_shows_its_region_in_the_step_and_over_all(page: "Page") -> None:
    visit(page, "paint", m="a-diffusion", given=f"t:{TEXT}", steps="3")
    becomes(page, lambda: page.locator(".film .output .said").all_inner_texts(), TEXT.split())
    page.get_by_role("group", name="Words").get_by_role("button", name="disc").click()
    until(page, KEPT, ["at", "c2"])
    until(page, "document.querySelector('.regions .matrix-readout b')?.textContent === 'disc'")
    until(page, "document.querySelector('.film-maps [aria-pressed=true]')?.textContent === 'disc'")
    page.locator(".film-maps button").nth(6).click()
    until(page, KEPT, ["at", "c6"])
    until(page, "document.querySelector('.regions .matrix-readout b')?.textContent === 'blue'")


def test_a_place_tells_which_words_it_looked_at(page: "Page") -> None:
    visit(page, "paint", m="a-diffusion", given=f"t:{TEXT}", steps="3", at="5")
    until(page, "document.querySelector('.regions .matrix-readout')?.textContent.startsWith('This place looked at')")


def test_out_of_noise_it_plays_and_another_seed_is_another_picture(page: "Page") -> None:
    visit(page, "paint", m="a-diffusion", given=f"t:{TEXT}", steps="3")
    until(page, STEP.format(3, 3))
    page.evaluate(
        """() => {
          window.seen = [];
          const told = document.querySelector('.film-told');
          new MutationObserver(() => window.seen.push(told.textContent)).observe(told, {childList: true});
        }"""
    )
    page.get_by_role("button", name="Out of noise").click()
    until(page, "window.seen.at(-1)?.startsWith('step 3 of 3') && window.seen[0].startsWith('step 1 of 3')")
    page.get_by_role("button", name="Another", exact=True).click()
    until(page, KEPT, ["seed", "1"])
    until(page, "document.querySelector('.look .seconds') && !document.querySelector('.look[aria-busy]')")


def test_three_painters_side_by_side(page: "Page") -> None:
    visit(page, "paint", m="a-diffusion,b-dalle,c-unclip", given=f"t:{TEXT}", steps="2")
    until(page, "document.querySelectorAll('.film:not([hidden])').length === 3")
    becomes(page, lambda: page.locator(".film-bar:visible").count(), 2)
    becomes(page, lambda: page.locator(".regions").count(), 2)


def test_a_word_that_it_never_learnt_is_said(page: "Page") -> None:
    page.goto("/#/paint?m=a-diffusion&in=t:a+red+horse")
    until(page, "document.querySelector('.look .problem:not([hidden])')?.textContent.includes('not learnt')")


def test_what_is_seen_can_be_taken_away(page: "Page") -> None:
    visit(page, "paint", m="a-diffusion", given=f"t:{TEXT}", steps="3")
    until(page, STEP.format(3, 3))
    page.keyboard.press("e")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Untaught diffusion, out of noise as SVG").click()
    assert waiting.value.path().read_text(encoding="utf-8").count("<image") == 6
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Untaught diffusion, out of noise as CSV").click()
    assert len(waiting.value.path().read_text(encoding="utf-8-sig").splitlines()) == 1 + 9 * 16
    page.keyboard.press("Escape")


def test_on_a_phone_nothing_is_cut_off_and_fingers_hit(page: "Page") -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, "paint", m="a-diffusion", given=f"t:{TEXT}", steps="2")
    until(page, STEP.format(2, 2))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert small_buttons(page) == []


def test_nothing_keeps_anybody_out(page: "Page") -> None:
    visit(page, "paint", m="a-diffusion", given=f"t:{TEXT}", steps="2", at="c2")
    until(page, STEP.format(2, 2))
    assert barriers(page) == []


def test_without_a_model_the_room_says_how_to_get_one(browser: "Browser", tmp_path: Path, kept: Worker) -> None:
    with onto(browser, tmp_path, worker=kept) as empty, watching(empty) as page:
        page.goto("/#/paint")
        until(page, "document.querySelector('.empty')?.textContent.includes('regard train paint')")
