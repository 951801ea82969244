"""The room Match in a real browser, with small models of pictures and texts that have learnt nothing."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import expect
from tests.web.asking import read_events
from tests.web.conftest import Watched
from tests.web.hands import address, answered, becomes, painted, resize, until
from tests.web.shelves import KEPT, barriers, onto, save_matchers, small_buttons, visit, watching

from regard.pipelines import index, load
from regard.pipelines.index import fingerprint, update
from regard.web import matching
from regard.web.answers import compose
from regard.web.app import make_app
from regard.web.errors import RefusedError
from regard.web.models import Models
from regard.web.opened import Place
from regard.web.outputs import run
from regard.web.pictures import Pictures, tell
from regard.web.question import Edit, Matched, Picture, Question, draw
from regard.web.scenes import shifts
from regard.web.state import AppState
from regard.web.ticket import Ticket
from regard.web.worker import Worker

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TEXTS = ("a red disc", "a blue star")
NAMES = ("world:7", "world:7/sketch", "world:29")
CELLS = "document.querySelectorAll('.match-table td button').length"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_matchers(tmp_path_factory.mktemp("matchers"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty pictures, one of them below and with a comma in its name, and a file that only says it is one."""
    home = tmp_path_factory.mktemp("album") / "photos"
    (home / "sea").mkdir(parents=True)
    for i in range(20):
        place = home / "sea" / "boat, red.png" if i == 7 else home / f"{i}{'-and-a-long-name' * 4 * (i > 9)}.png"
        draw(Picture(f"world:{i}/sketch")).save(place)
    (home / "broken.png").write_text("no picture")
    return home


@pytest.fixture(scope="module")
def window(browser: "Browser", shelf: Path, kept: Worker, folder: Path) -> Iterator[Watched]:
    with onto(browser, shelf, worker=kept, pictures=folder) as found:
        yield found


@pytest.fixture
def page(window: Watched) -> "Iterator[Page]":
    with watching(window) as found:
        yield found


def asked(pipeline: Any, given: Matched, edits: tuple[Edit, ...] = (), **options: Any) -> tuple[Any, dict[str, Any]]:
    return run(pipeline, Question(Place("x", ""), given, options, edits), compose(edits), Ticket(60.0))


def table(**changes: Any) -> Matched:
    return Matched(tuple(Picture(name, name) for name in NAMES), TEXTS, **changes)


# What the server answers


@pytest.mark.parametrize("name", ["a-clip", "b-siglip"])
def test_the_table_is_what_the_pipeline_says_of_each_picture(shelf: Path, name: str) -> None:
    pipeline: Any = load(shelf / name)
    reading, output = asked(pipeline, table(), pair=(2, 1))
    wanted = pipeline([(draw(Picture(each)), TEXTS) for each in NAMES])
    np.testing.assert_allclose(output["chances"], [list(each.scores.values()) for each in wanted], atol=1e-4)
    np.testing.assert_allclose(output["cosines"], [list(each.cosines.values()) for each in wanted], atol=1e-4)
    assert output["alone"] == (name == "b-siglip")
    assert (output["pair"], output["read"]) == ([2, 1], "a blue star")
    assert len(output["images"]) == 3
    assert reading.axes[reading.maps[-1].rows] != reading.axes["words"], "the picture's attentions come last"


def test_templates_are_an_ensemble_and_an_edit_changes_the_table(shelf: Path) -> None:
    pipeline: Any = load(shelf / "a-clip")
    labels, templates = ["red disc", "blue star"], ["There is {a}.", "There is a big {}."]
    given = Matched((Picture("world:7"),), tuple(labels))
    reading, output = asked(pipeline, given, templates=templates)
    (wanted,) = pipeline.classify(["world:7"], labels, templates=templates)
    np.testing.assert_allclose(output["chances"][0], list(wanted.scores.values()), atol=1e-4)
    assert output["read"] == "There is a red disc."
    edit = Edit(reading.maps[-1].name, None, "off")
    assert asked(pipeline, given, (edit,), templates=templates)[1]["chances"] != output["chances"]


def test_a_sentence_finds_the_nearest_of_all_pictures_and_the_second_search_reads_none(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline: Any = load(shelf / "a-clip")
    monkeypatch.setattr(matching, "AMONG", 40)
    _, output = asked(pipeline, table(find="a red disc"), top=4)
    (wanted,) = pipeline.texts(["a red disc"])
    near = {f"world:{i}": float(pipeline.images(f"world:{i}")[0] @ wanted) for i in range(0, 40, 8)}
    hits = {each["picture"]: each["cosine"] for each in output["hits"]}
    assert list(hits.values()) == sorted(hits.values(), reverse=True)
    assert len(hits) == 4
    assert all(cosine <= min(hits.values()) + 1e-4 for name, cosine in near.items() if name not in hits)
    assert output["among"] > 40
    told: list[Any] = []
    again = Question(Place("x", ""), table(find="a blue star"))
    run(pipeline, again, {}, Ticket(60.0, told.append))
    assert told == []


def test_a_folder_is_searched_as_the_command_line_does(shelf: Path, folder: Path) -> None:
    pipeline: Any = load(shelf / "a-clip")
    _, output = asked(pipeline, Matched((), (), "a red disc", folder), top=20)
    (wanted,) = pipeline.texts(["a red disc"])
    found = update(folder, pipeline.images, fingerprint(pipeline.model))
    names = [unquote(each["picture"]).removeprefix("folder:") for each in output["hits"]]
    assert names == [each.name for each in found.search(wanted, 20)]
    assert (output["among"], output["broken"], found.new) == (20, 1, 0)
    with pytest.raises(RefusedError, match="take back what you switched off"):
        asked(pipeline, Matched((), (), "a red disc", folder), (Edit("x", None, "off"),))


def test_a_search_that_runs_out_of_time_says_so_and_the_next_goes_on(
    shelf: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline: Any = load(shelf / "a-clip")
    album = shutil.copytree(folder, tmp_path / "album")
    monkeypatch.setattr(index, "TOGETHER", 8)
    question = Question(Place("x", ""), Matched((), (), "a red disc", album))
    hasty = Ticket(0.0)
    hasty.begin()
    with pytest.raises(RefusedError, match=r"38 % of album are read; search again to go on"):
        run(pipeline, question, {}, hasty)
    told: list[Any] = []
    run(pipeline, question, {}, Ticket(60.0, told.append))
    assert [each["done"] for each in told] == [61, 100], "eight of them were kept"


def test_no_name_leads_out_of_the_folder(folder: Path) -> None:
    (folder.parent / "secret.png").write_bytes((folder / "0.png").read_bytes())
    (folder / "away").symlink_to(folder.parent)
    pictures = Pictures(folder=folder)
    assert pictures.find("folder:sea/boat%2C%20red.png") == (folder / "sea" / "boat, red.png").read_bytes()
    for name in ("../secret.png", f"{folder.parent}/secret.png", "away/secret.png", "sea", "gone.png", "0.png%00"):
        with pytest.raises(RefusedError, match="photos has no picture"):
            pictures.find(f"folder:{name}")
    with pytest.raises(RefusedError, match="is no picture"):
        pictures.find("folder:broken.png")
    with pytest.raises(RefusedError, match="regard explore --pictures FOLDER"):
        Pictures().find("folder:0.png")


def test_a_scene_under_a_shift_is_the_same_for_the_page_and_the_model() -> None:
    for shift in shifts():
        told = tell(29, shift)
        assert told["image"] != tell(29)["image"]
        assert told["things"][0]["kind"] == "star"
        assert np.asarray(draw(Picture(f"world:29/{shift}"))).shape == (96, 96, 3)


def test_strangers_are_refused_in_a_sentence(shelf: Path, kept: Worker) -> None:
    pipeline: Any = load(shelf / "a-clip")
    with pytest.raises(RefusedError, match="there is nothing to compare"):
        asked(pipeline, Matched((), TEXTS))
    with TestClient(make_app(AppState(Models(shelf=shelf), worker=kept)), base_url="http://127.0.0.1") as client:

        def told(**given: Any) -> str:
            answer = client.post("/api/ask", json={"model": "a-clip", "input": given, "options": options})
            found = read_events(answer)[-1] if answer.status_code == 200 else answer.json()
            return str(found["error"])

        options: dict[str, Any] = {}
        assert "takes match, pictures and texts" in told(picture="world:7")
        assert "is no picture" in told(match={"pictures": ["../etc/passwd"], "texts": ["a dog"]})
        assert "no shift is called 'upside'" in told(match={"pictures": ["world:7/upside"], "texts": ["a dog"]})
        assert "at most 12" in told(match={"pictures": ["world:7"] * 13, "texts": ["a dog"]})
        assert "at most 300 characters" in told(match={"pictures": ["world:7"], "texts": ["a" * 301]})
        assert "has 22 tokens" in told(match={"pictures": ["world:7"], "texts": ["red " * 20]})
        options = {"templates": ["nothing"]}
        assert "no place for a class" in told(match={"pictures": ["world:7"], "texts": ["a dog"]})
        assert "no shift is called" in client.get("/api/pictures/world?index=7&shift=x").json()["error"]


# What the page shows


def test_it_opens_with_a_table_and_a_cell_is_in_the_link(page: "Page") -> None:
    visit(page, "match", m="a-clip")
    until(page, f"{CELLS} === 25")
    page.get_by_role("button", name="scene 27, red star").click()
    until(page, KEPT, ["pair", "2.3"])
    until(page, "document.querySelector('.match-choice')?.textContent.includes('There is a red star.')")
    until(page, "document.querySelector('.match-choice h3').textContent.startsWith('scene 27')")
    until(page, "document.activeElement.getAttribute('aria-label')?.startsWith('scene 27, red star')")
    page.keyboard.press("ArrowDown")
    until(page, "document.activeElement.getAttribute('aria-label')?.startsWith('scene 29, red star')")


def test_prompts_are_edited_live_and_bars_follow(page: "Page") -> None:
    visit(page, "match", m="a-clip", given="p:world:7,world:29", says="\n".join(TEXTS))
    until(page, f"{CELLS} === 4")
    page.get_by_label("Texts, one a line").fill("a red disc\na blue star\na green ring")
    until(page, f"{CELLS} === 6")
    answered(page)
    until(page, "document.querySelectorAll('.match-bars li').length === 3")
    shares = page.locator(".match-bars .bar-number").all_inner_texts()
    assert sum(float(each.split()[0]) for each in shares) == pytest.approx(100, abs=0.5)
    page.get_by_label("Which numbers").select_option("text")
    until(page, KEPT, ["num", "text"])
    becomes(page, lambda: [round(sum(column), 1) for column in columns(page)], [1.0, 1.0, 1.0])


def columns(page: "Page") -> list[list[float]]:
    rows = page.locator(".match-table tbody tr").all()
    numbers = [[float(cell) for cell in row.locator("td").all_inner_texts()] for row in rows]
    return [list(each) for each in zip(*numbers, strict=True)]


def test_one_scene_is_seen_under_every_shift(page: "Page") -> None:
    visit(page, "match", m="a-clip", given="p:world:29", says="\n".join(TEXTS))
    until(page, f"{CELLS} === 2")
    page.get_by_role("button", name="Scene 29 under every shift").click()
    until(page, f"{CELLS} === {2 * (1 + len(shifts()))}")
    becomes(page, lambda: page.locator(".match-table tbody th span").all_inner_texts(), ["scene 29", *shifts()])
    page.get_by_role("button", name="Take sketch away").click()
    until(page, f"{CELLS} === {2 * len(shifts())}")


def test_a_sentence_finds_pictures_and_one_is_taken_into_the_table(page: "Page") -> None:
    visit(page, "match", m="a-clip", given="p:world:7", says="\n".join(TEXTS), find="a red disc")
    until(page, "document.querySelectorAll('.match-hits li').length === 8")
    page.locator(".match-hits button").nth(1).click()
    until(page, "!location.hash.includes('find=')")
    until(page, f"{CELLS} === 4 || {CELLS} === 2")


def test_a_sentence_finds_pictures_of_a_folder_and_one_is_taken_into_the_table(page: "Page") -> None:
    visit(page, "match", m="a-clip", given="p:world:7", says="\n".join(TEXTS))
    until(page, f"{CELLS} === 2")
    page.get_by_label("Which pictures are searched").select_option(label="the folder photos")
    page.get_by_label("Find pictures by a sentence").fill("a red disc")
    until(page, "document.querySelectorAll('.match-hits li').length === 8")
    until(page, "document.querySelector('.match-answer').textContent.includes('The nearest of 20 pictures')")
    until(page, "document.querySelector('.match-answer').textContent.includes('1 more cannot be read')")
    for width in (1280, 390):
        resize(page, width, 800)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "however long a name is"
    name = page.locator(".match-hits button span").first.inner_text()
    page.locator(".match-hits button").first.click()
    until(page, f"{CELLS} === 4")
    becomes(page, lambda: page.locator(".match-table tbody th span").all_inner_texts(), ["scene 7", name])


def test_what_is_not_asked_is_said(page: "Page") -> None:
    page.goto(f"/#/match?{address(m='a-clip', given='p:world:7', says='a dog', tpl='nothing')}")
    until(page, "document.querySelector('.bench-says .problem')?.textContent.includes('no place for a class')")


def test_what_is_seen_can_be_taken_away(page: "Page") -> None:
    visit(page, "match", m="a-clip", given="p:world:7,world:29", says="\n".join(TEXTS))
    until(page, f"{CELLS} === 4")
    page.keyboard.press("e")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Untaught clip, pictures × texts as SVG").click()
    assert waiting.value.path().read_text(encoding="utf-8").count("<rect") >= 4
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Untaught clip, pictures × texts as CSV").click()
    assert waiting.value.path().read_text(encoding="utf-8-sig").splitlines()[0] == "picture,a red disc,a blue star"
    page.keyboard.press("Escape")


def test_two_models_on_a_phone(page: "Page") -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, "match", m="a-clip,b-siglip", given="p:world:7,world:29", says="\n".join(TEXTS))
    until(page, f"{CELLS} === 8")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert small_buttons(page) == []
    expect(page.get_by_text("Templates: the sentences")).to_have_css("display", "list-item")  # and so with its ▸


def test_on_a_wall_every_column_of_the_table_is_in_sight(page: "Page") -> None:
    resize(page, 1280, 720)
    visit(page, "match", m="a-clip")
    until(page, f"{CELLS} === 25")
    page.keyboard.press("Shift+F")
    expect(page.locator(".top")).to_be_hidden()
    painted(page)
    wider = "each => each.scrollWidth - each.clientWidth"
    assert page.locator(".match-scroll").evaluate(wider) == 0
    page.keyboard.press("Shift+F")
    expect(page.locator(".top")).to_be_visible()


def test_nothing_keeps_anybody_out(page: "Page") -> None:
    visit(page, "match", m="a-clip", given="p:world:7,world:29", says="\n".join(TEXTS), tpl="There is {a}.")
    until(page, f"{CELLS} === 4")
    assert barriers(page) == []


def test_without_a_model_the_room_says_how_to_get_one(browser: "Browser", tmp_path: Path, kept: Worker) -> None:
    with onto(browser, tmp_path, worker=kept) as empty, watching(empty) as page:
        page.goto("/#/match")
        until(page, "document.querySelector('.empty')?.textContent.includes('regard train match')")
