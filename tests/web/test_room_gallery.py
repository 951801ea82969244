"""The gallery and every place that tours lead to: each opens with the bundled models, and nothing complains."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from fastapi.testclient import TestClient
from PIL import Image
from tests.web.conftest import SIZE, serving
from tests.web.hands import until

from regard.claims import claims, load
from regard.lectures import PLACES, Place
from regard.lectures.places import claim_at
from regard.web.assets import PAGE
from regard.web.gallery import ENTRIES, FOLDER, Entry, describe
from regard.web.models import Models
from regard.web.state import AppState
from regard.zoo import readings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOMS = {"build", "words", "lectures", "gallery", "translate", "read", "see", "file", "claims", "world", "runs"}
OPENED = PLACES | {entry.name: entry.place for entry in ENTRIES}
BYTES = 25_000
BUSY = "main .wait, main .waiting, main [aria-busy]:not([aria-busy=false])"


@pytest.fixture(scope="module")
def bundled(browser: "Browser") -> "Iterator[tuple[Page, list[str]]]":
    """A page on a server with the bundled models, and what it complained of."""
    with serving(AppState(Models())) as server:
        context = browser.new_context(base_url=server.url, viewport=SIZE, locale="en-GB", reduced_motion="reduce")
        context.set_default_timeout(120_000)
        context.add_init_script("try { localStorage.setItem('regard.guided', 'yes') } catch {}")
        told: list[str] = []
        context.on("weberror", lambda failed: told.append(f"the page threw {failed.error}"))
        context.on("console", lambda said: told.append(said.text) if said.type in ("error", "warning") else None)
        own = (server.url, "data:", "blob:", "about:")
        context.on("request", lambda sent: None if sent.url.startswith(own) else told.append(sent.url))
        yield context.new_page(), told
        context.close()


@pytest.mark.parametrize("name", OPENED)
def test_a_place_opens_in_its_state_without_an_error(bundled: "tuple[Page, list[str]]", name: str) -> None:
    page, told = bundled
    place = OPENED[name]
    page.goto("about:blank")
    told.clear()
    page.goto("/" + place.address)
    page.wait_for_load_state("networkidle")
    until(page, "document.querySelector('main .room')?.childElementCount > 0")
    until(page, f"[...document.querySelectorAll('{BUSY}')].every(each => !each.checkVisibility())")
    assert page.evaluate("document.body.dataset.room") == place.room
    assert page.evaluate("location.hash").startswith(f"#/{place.room}")
    for key in place.state:
        assert f"{key}=" in page.evaluate("location.hash"), f"{place.address} lost {key}"
    alarms = "main [role=alert]:not([hidden]), .toast-error, main .problem:not([hidden])"
    said = [each for each in page.locator(alarms).all_inner_texts() if each.strip()]
    assert not said, said
    assert "does not have" not in page.inner_text("main"), "another model is shown than the one that the link names"
    assert not told, told


def test_places_are_rooms_that_exist() -> None:
    assert {place.room for place in OPENED.values()} <= ROOMS


def test_a_place_in_build_up_is_a_step_that_exists() -> None:
    lesson = (PAGE / "js/build/lesson.js").read_text(encoding="utf-8")
    steps = {place.state["step"] for place in PLACES.values() if place.room == "build"}
    assert steps
    assert all(f'id: "{step}"' in lesson for step in steps)


def test_a_recorded_place_is_a_reading_that_is_there() -> None:
    wanted = {place.state["in"].removeprefix("r:") for place in PLACES.values() if place.room == "file"}
    assert wanted <= set(readings())


def test_an_address_is_written_as_the_page_writes_it() -> None:
    place = Place("", "translate", {"m": "de-en,it-en", "in": "t:Ein Hund, läuft & bellt."})
    assert place.address == "#/translate?m=de-en,it-en&in=t:Ein+Hund,+l%C3%A4uft+%26+bellt."
    assert claim_at("heads", opened=True).address == "#/claims?name=heads&show=1"


def test_a_recorded_reading_is_told_and_an_unknown_one_is_refused(client: TestClient) -> None:
    told = client.get("/api/readings/minilm-tired").json()
    assert told["title"].startswith("all-MiniLM-L6-v2")
    refused = client.get("/api/readings/minilm-tierd")
    assert refused.status_code == 404
    assert refused.json()["error"].startswith("no reading is called 'minilm-tierd'; try minilm-tired")


def test_there_are_many_entries_and_each_says_one_sentence() -> None:
    assert len(ENTRIES) >= 16
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES)
    assert all(entry.says.endswith((".", "?")) and len(entry.says) <= 120 for entry in ENTRIES)
    assert {entry.claim for entry in ENTRIES} <= {"", *claims()}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda one: one.name)
def test_an_entry_has_a_small_picture(entry: Entry) -> None:
    path = PAGE / FOLDER / f"{entry.name}.webp"
    assert path.is_file(), f"take it: python docs/gallery.py {entry.name}"
    assert path.stat().st_size <= BYTES
    with Image.open(path) as picture:
        assert picture.size == (640, 400)


def test_no_picture_is_of_an_entry_that_is_gone() -> None:
    assert {path.stem for path in (PAGE / FOLDER).iterdir()} <= {entry.name for entry in ENTRIES}


def test_an_entry_has_the_verdict_of_its_claim() -> None:
    told = {entry.name: describe(entry) for entry in ENTRIES}
    result = load("room")
    assert result is not None
    assert told["claim-room"]["claim"] == {"name": "room", "verdict": result.verdict}
    assert told["world-scene"]["claim"] is None


def test_the_gallery_shows_every_picture_and_leads_to_it(page: "Page") -> None:
    page.goto("/#/gallery")
    page.wait_for_selector(".gallery-card")
    assert page.locator(".gallery-card").count() == len(ENTRIES)
    page.locator(".gallery-card img").last.scroll_into_view_if_needed()
    until(page, "[...document.images].filter(each => each.complete).every(each => each.naturalWidth === 640)")
    page.locator(".gallery-card", has_text="Scores become shares").locator("a").first.click()
    until(page, "document.body.dataset.room === 'build' && location.hash.includes('step=softmax')")


def test_the_gallery_fits_a_phone(page: "Page") -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/#/gallery")
    page.wait_for_selector(".gallery-card")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
