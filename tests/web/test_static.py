"""The page without a server: a folder of files below any path, in which every room that runs no model works."""

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect
from tests.web.hands import PATIENCE, drop
from tests.web.test_build import PLAIN, STEPS

from regard.web import static
from regard.web.static import SCENES, StaticError, file_name, questions, write_site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOMS = {
    "home": ".door",
    "build": "h1",
    "words": "canvas",
    "lectures": "h1, h2",
    "gallery": "main a[href]",
    "file": ".drop",
    "claims": "main a, main button",
    "world": ".named",
}


class Quiet(SimpleHTTPRequestHandler):
    """Files, and not a word about it."""

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("host") / "deep/site"
    write_site(folder)
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The site as any web host would serve it, not at its root."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site.parents[1])))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/deep/site/"
    server.shutdown()
    server.server_close()


@pytest.fixture
def visited(browser: "Browser") -> "Iterator[tuple[Page, list[str]]]":
    """A page, and what went wrong on it."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(1000 * PATIENCE)
    page.add_init_script("try { localStorage.setItem('regard.guided', 'yes') } catch {}")
    wrong: list[str] = []
    page.on("console", lambda each: wrong.append(each.text) if each.type in ("error", "warning") else None)
    page.on("pageerror", lambda each: wrong.append(str(each)))
    yield page, wrong
    page.close()


def test_the_site_is_small_and_says_that_it_stands_alone(site: Path) -> None:
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) <= 14_000_000
    index = (site / "index.html").read_text(encoding="utf-8")
    assert "data-static" in index
    assert "Content-Security-Policy" in index
    assert json.loads((site / "api/about.json").read_text())["limits"]["scenes"] == SCENES


def test_every_room_of_the_site_opens_without_a_server(address: str, visited: "tuple[Page, list[str]]") -> None:
    page, wrong = visited
    for room, sign in ROOMS.items():
        page.goto(f"{address}#/{room}")
        expect(page.locator(sign).first).to_be_visible()
        expect(page.get_by_role("alert").filter(has_text="did not open")).to_have_count(0)
        assert wrong == [], room
    expect(page.locator("#areas a")).to_have_text(["Learn", "Look", "Check"])
    page.locator("#areas").get_by_role("link", name="Look").click()
    expect(page.locator("#rooms a")).to_have_text(["Your file"])


def test_every_step_of_build_up_shows_its_code_without_a_server(
    address: str, visited: "tuple[Page, list[str]]"
) -> None:
    page, wrong = visited
    for step in STEPS:
        page.goto(f"{address}#/build?step={step}")
        expect(page.locator(".steps [aria-current=step]")).to_contain_text(step, ignore_case=True)
        expect(page.locator(".code:not([hidden]) .code-file")).to_have_count(0 if step in PLAIN else 1)
        assert wrong == [], step


def test_the_code_of_a_stage_is_written_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "js/build/stages").mkdir(parents=True)
    (tmp_path / "js/build/stages/new.js").write_text('code: { name: "attention.core.weigh", mark: [] },')
    monkeypatch.setattr(static, "PAGE", tmp_path)
    assert "/api/source?name=attention.core.weigh" in set(questions())


def test_the_first_page_of_the_site_leads_nowhere_that_needs_a_server(
    address: str, visited: "tuple[Page, list[str]]"
) -> None:
    page, wrong = visited
    page.goto(address)
    page.get_by_role("button", name="See what models looked at").click()
    expect(page.locator("#rooms [aria-current=page]")).to_have_text("Gallery")
    page.get_by_role("button", name="Models").click()
    page.locator(".models-name:enabled").first.click()
    expect(page.locator(".toast")).to_contain_text("needs a server")
    assert wrong == []


def test_recorded_readings_and_own_files_are_seen_without_a_server(
    address: str, visited: "tuple[Page, list[str]]"
) -> None:
    page, wrong = visited
    page.goto(f"{address}#/file?in=r:minilm-tired")
    page.locator("button.thumb").first.wait_for()
    expect(page.locator(".word.rows", has_text="tired")).to_have_count(1)
    words = {"kind": "words", "labels": ["we", "see"]}
    view = {"name": "layer.0", "rows": words, "columns": words, "weights": [[[0.9, 0.1], [0.2, 0.8]]]}
    drop(page, json.dumps({"format": "regard-views-1", "title": "Mine", "views": [view]}))
    expect(page.locator(".word.rows")).to_have_text(["we", "see"])
    assert wrong == []


def test_a_room_of_the_site_can_be_embedded(site: Path, address: str, visited: "tuple[Page, list[str]]") -> None:
    page, wrong = visited
    page.goto(f"{address}#/build?step=dot")
    page.get_by_role("button", name="Share").click()
    frame = page.get_by_role("dialog", name="Share").locator("pre", has_text="<iframe").inner_text()
    (site.parents[1] / "slides.html").write_text(f"<!doctype html><title>Slides</title>{frame}")
    page.goto(address.replace("deep/site/", "slides.html"))
    inside = page.frame_locator("iframe")
    expect(inside.locator("h1")).to_be_visible()
    expect(inside.locator(".top")).to_be_hidden()
    assert [each for each in wrong if "favicon" not in each and "404" not in each] == []


def test_a_scene_beyond_those_of_the_site_is_not_asked_for(address: str, visited: "tuple[Page, list[str]]") -> None:
    page, wrong = visited
    page.goto(f"{address}#/world?index={SCENES + 100}")
    expect(page.locator(".named").first).to_be_visible()
    assert wrong == []


def test_answers_lie_where_the_page_looks_for_them() -> None:
    assert file_name("/api/about") == "api/about.json"
    assert file_name("/api/world/scene?split=test&index=3") == "api/world/scene/index=3&split=test.json"
    assert file_name("/api/world/scene/rgb.png?index=3") == "api/world/scene/rgb/index=3.png"


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(StaticError, match="has files of something else; give an empty folder or a new one"):
        write_site(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
