"""The gallery and every place that tours lead to: each opens with the bundled models, and nothing complains."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from fastapi.testclient import TestClient
from PIL import Image
from playwright.sync_api import expect
from tests.web.conftest import SIZE, serving
from tests.web.hands import PATIENCE, answered, shared, until

from regard.claims import claims, load
from regard.cli.flags import parse
from regard.cli.verbs import verbs
from regard.lectures import PLACES, Place
from regard.lectures.places import claim_at
from regard.web.assets import PAGE
from regard.web.gallery import ENTRIES, FOLDER, Entry, describe
from regard.web.models import Models
from regard.web.state import AppState
from regard.web.worker import Worker
from regard.zoo import card, readings, zoo

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

# fmt: off
ROOMS = {
    "build", "words", "lectures", "gallery", "translate", "read", "see", "caption", "match", "ask", "segment", "depth",
    "sense", "file", "claims", "world", "runs",
}
# fmt: on
OPENED = PLACES | {entry.name: entry.place for entry in ENTRIES}
BYTES = 25_000
# A room is there, and nothing in it waits.
STILL = """(() => {
  const [first] = document.querySelector("main .room")?.children ?? [];
  const busy = document.querySelectorAll("main .wait, main .waiting, main [aria-busy]:not([aria-busy=false])");
  return first && !/^(Opening|Fetching)/.test(first.textContent) && [...busy].every((each) => !each.checkVisibility());
})()"""


@dataclass
class Visited:
    """A page with the bundled models, what it asks and has no answer to yet, and what it complained of."""

    page: "Page"
    asked: "set[Request]" = field(default_factory=set)
    told: list[str] = field(default_factory=list)

    def go(self, place: Place) -> None:
        """Open a place: a room anew, and another place in it by its link; wait until nothing is under way."""
        if f"/#/{place.room}" in self.page.url:
            self.page.evaluate("address => { location.hash = address; }", place.address)
        else:
            self.page.goto("about:blank")
            self.told.clear()
            self.page.goto("/" + place.address)
        calm, until = 0, monotonic() + PATIENCE
        while calm < 4:
            assert monotonic() < until, f"{place.address} still waits for {[each.url for each in self.asked]}"
            self.page.wait_for_timeout(50)
            calm = calm + 1 if not self.asked and self.page.evaluate(STILL) else 0


@pytest.fixture(scope="module")
def bundled(browser: "Browser", kept: Worker) -> Iterator[Visited]:
    """A page on a server with the bundled models."""
    with serving(AppState(Models(), worker=kept)) as server:
        context = browser.new_context(base_url=server.url, viewport=SIZE, locale="en-GB", reduced_motion="reduce")
        context.set_default_timeout(1000 * PATIENCE)
        context.add_init_script("try { localStorage.setItem('regard.guided', 'yes') } catch {}")
        found = Visited(context.new_page())
        context.on("weberror", lambda failed: found.told.append(f"the page threw {failed.error}"))
        context.on("console", lambda said: found.told.append(said.text) if said.type in ("error", "warning") else None)
        own = (server.url, "data:", "blob:", "about:")
        context.on("request", lambda sent: None if sent.url.startswith(own) else found.told.append(sent.url))
        context.on("request", lambda sent: found.asked.add(sent))
        context.on("requestfinished", lambda sent: found.asked.discard(sent))
        context.on("requestfailed", lambda sent: found.asked.discard(sent))
        yield found
        context.close()


@pytest.mark.parametrize("name", OPENED)
def test_a_place_opens_in_its_state_without_an_error(bundled: Visited, name: str) -> None:
    page, told, place = bundled.page, bundled.told, OPENED[name]
    told.clear()
    bundled.go(place)
    assert page.evaluate("document.body.dataset.room") == place.room
    assert page.evaluate("location.hash").startswith(f"#/{place.room}")
    for key, value in place.state.items():
        assert f"{key}={value.split(',')[0].partition(' ')[0]}" in unquote(page.evaluate("location.hash")), (
            place.address
        )
    alarms = "main [role=alert]:not([hidden]), .toast-error, main .problem:not([hidden])"
    said = [each for each in page.locator(alarms).all_inner_texts() if each.strip()]
    assert not said, said
    assert "does not have" not in page.inner_text("main"), "another model is shown than the one that the link names"
    _check_shared(page)
    assert not told, told


def _check_shared(page: "Page") -> None:
    """What is shared of a place is sound Python, and a command that the command line understands."""
    same = shared(page)
    assert same["Link"] == page.url
    compile(same.get("Python", ""), "shared", "exec")
    if "Command" in same:
        regard, verb, *rest = shlex.split(same["Command"])
        module = import_module(f"regard.cli.{verb}")
        flags = module.flags_of(rest) if hasattr(module, "flags_of") else module.Flags
        assert regard == "regard"
        assert parse(flags, verbs()[verb], rest) is not None


@pytest.mark.parametrize(
    ("model", "text", "said"),
    [
        ("de-en", "Ein Hund läuft durch den Schnee.", []),
        ("de-en", "A dog is running through the snow.", ["This looks like English. de-en reads German"]),
        ("de-en", "今天天气很好", ["This is written in Chinese characters", "de-en has no pieces for"]),
        ("it-en", card(zoo()["it-en"])["examples"][0], []),
    ],
)
def test_a_translator_warns_of_what_it_does_not_read_and_of_nothing_else(
    bundled: Visited, model: str, text: str, said: list[str]
) -> None:
    bundled.go(Place("", "translate", {"m": model, "in": f"t:{text}"}))
    answered(bundled.page)
    expect(bundled.page.locator(".bench-says .warning")).to_contain_text(said)
    expect(bundled.page.locator(".bench-says .warning")).to_have_count(len(said))


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
    expect(page.locator(".gallery-card")).to_have_count(len(ENTRIES))
    page.locator(".gallery-card img").last.scroll_into_view_if_needed()
    until(page, "[...document.images].at(-1).naturalWidth === 640")
    assert page.evaluate("[...document.images].filter(each => each.complete).every(each => each.naturalWidth === 640)")
    page.locator(".gallery-card", has_text="Scores become shares").locator("a").first.click()
    until(page, "document.body.dataset.room === 'build' && location.hash.includes('step=softmax')")


def test_the_gallery_fits_a_phone(page: "Page") -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/#/gallery")
    page.wait_for_selector(".gallery-card")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
