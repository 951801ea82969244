"""The room Ask in a real browser, with a small Flamingo that has learnt nothing."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from tests.flamingos import save_flamingo
from tests.web.asking import read_events
from tests.web.conftest import Watched
from tests.web.hands import answered, becomes, until
from tests.web.shelves import KEPT, barriers, onto, small_buttons, visit, watching

from regard.pipelines import load
from regard.web.answers import compose
from regard.web.app import make_app
from regard.web.models import Models
from regard.web.opened import Place
from regard.web.outputs import run
from regard.web.question import Edit, Picture, Question, Told
from regard.web.state import AppState
from regard.web.ticket import Ticket
from regard.web.worker import Worker

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SHOTS = "s:world:1 This is a dax.\nworld:29 This is a wug.\nworld:27 This is a"
PROMPT: tuple[Any, ...] = (
    (Picture("world:1"), "This is a dax."),
    (None, "Is it plain? yes."),
    (Picture("world:29"), "This is a"),
)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("askers")
    save_flamingo(found / "a-flamingo")
    return found


@pytest.fixture(scope="module")
def window(browser: "Browser", shelf: Path, kept: Worker) -> Iterator[Watched]:
    with onto(browser, shelf, worker=kept) as found:
        yield found


@pytest.fixture
def page(window: Watched) -> "Iterator[Page]":
    with watching(window) as found:
        yield found


def asked(shelf: Path, edits: tuple[Edit, ...] = ()) -> tuple[Any, Any, dict[str, Any]]:
    pipeline: Any = load(shelf / "a-flamingo")
    question = Question(Place("a-flamingo", ""), Told(PROMPT), {"max_new": 4}, edits)
    return pipeline, *run(pipeline, question, compose(edits), Ticket(60.0))


# What the server answers


def test_an_answer_says_where_pictures_stand_and_how_far_gates_are_open(shelf: Path) -> None:
    pipeline, reading, output = asked(shelf)
    prompt = [(None if picture is None else picture.file, text) for picture, text in PROMPT]
    assert output["text"] == pipeline([prompt], max_new_tokens=4)[0].text
    words = reading.axes["words"].pieces
    assert [words[place] for place in output["shown"]] == ["this", "this"]
    assert len(words) == output["read"] + 4
    assert output["gates"] == [[pytest.approx(np.tanh(0.7), abs=1e-4)] * 2]


def test_a_word_sees_its_own_picture_alone_and_through_its_latents(shelf: Path) -> None:
    _, reading, output = asked(shelf)
    maps = output["maps"]
    found = np.frombuffer(base64.b64decode(maps["weights"]), "<f4")
    found = found.reshape(2, maps["words"], maps["height"] * maps["width"])
    second = output["shown"][1]
    assert found[0, 1:second].sum(axis=-1).min() > 0
    assert found[0, second:].max() == 0, "what stands behind another picture"
    assert found[1, :second].max() == 0, "what is still to come"
    words, places = reading.weights("gated.0.cross").mean(axis=0), reading.maps
    name = [each.name for each in places if each.columns == "picture 2"][-1]
    latents = len(reading.axes["latents of picture 2"])
    wanted = words[:, latents:] @ reading.weights(name).mean(axis=0)[:, latents:]
    np.testing.assert_allclose(found[1], wanted, atol=1e-5)


def test_an_edit_of_a_gated_block_changes_the_maps(shelf: Path) -> None:
    _, _, plain = asked(shelf)
    _, reading, edited = asked(shelf, (Edit("gated.0.cross", None, "off"),))
    assert reading.weights("gated.0.cross").max() == 0
    assert edited["log_prob"] != plain["log_prob"]


def test_what_cannot_be_asked_is_refused_in_a_sentence(shelf: Path, kept: Worker) -> None:
    with TestClient(make_app(AppState(Models(shelf=shelf), worker=kept)), base_url="http://127.0.0.1") as client:
        turn = {"picture": "world:7", "text": "What is there?"}
        for given, said in (
            ({"text": "What is there?"}, "takes told, turns of pictures and texts"),
            ({"told": []}, "at least 1"),
            ({"told": [turn] * 18}, "at most 17"),
            ({"told": [turn | {"text": " "}]}, "nothing is asked behind the last picture"),
            ({"told": [turn | {"text": "a" * 1001}]}, "at most 1000 characters"),
            ({"told": [turn | {"picture": "/etc/passwd"}]}, "is no picture"),
            ({"told": [turn | {"text": "red " * 120}]}, "tokens, and at most"),
        ):
            answer = client.post("/api/ask", json={"model": "a-flamingo", "input": given})
            told = read_events(answer)[-1] if answer.status_code == 200 else answer.json()
            assert said in told["error"]
        blind = {"model": "a-flamingo", "input": {"told": [{"text": "What is there?"}]}, "options": {"max_new": 2}}
        assert read_events(client.post("/api/ask", json=blind))[-1]["output"]["maps"] is None


# What the page shows


def test_pictures_stand_between_words_and_a_word_lights_what_it_sees(page: "Page") -> None:
    visit(page, "ask", m="a-flamingo", given=SHOTS)
    until(page, "document.querySelectorAll('.told-picture canvas').length === 3")
    until(page, "document.querySelectorAll('.transcript .said.new').length > 0")
    page.get_by_role("group", name="Prompt and answer").get_by_role("button", name="wug").click()
    until(page, "location.hash.includes('at=')")
    until(page, "document.querySelector('.told .quiet').textContent.startsWith('“wug” sees picture 2')")
    until(page, "document.querySelectorAll('.told-picture .unseen-by').length === 2")
    becomes(page, lambda: page.locator(".gates tbody tr").count(), 1)
    page.reload()
    answered(page)
    until(page, "document.querySelector('.told .quiet').textContent.startsWith('“wug” sees picture 2')")


def test_turns_are_written_added_and_taken_away(page: "Page") -> None:
    visit(page, "ask", m="a-flamingo", given="s:world:29 What is there?")
    page.get_by_label("What is asked").fill("What colour is the star?")
    until(page, KEPT, ["in", "s:world:29 What colour is the star?"])
    page.get_by_label("What is asked").press("End")
    page.keyboard.type(" Say it.")
    until(page, KEPT, ["in", "s:world:29 What colour is the star? Say it."])
    answered(page)
    page.keyboard.type(" Now.")
    until(page, KEPT, ["in", "s:world:29 What colour is the star? Say it. Now."])
    page.get_by_label("What is asked").fill("What colour is the star?")
    until(page, KEPT, ["in", "s:world:29 What colour is the star?"])
    page.get_by_role("button", name="Add a turn before").click()
    until(page, KEPT, ["in", "s:world:1 This is a dax.\nworld:29 What colour is the star?"])
    until(page, "document.querySelectorAll('.ask-turns li').length === 2")
    page.get_by_role("button", name="Picture of turn 1").click()
    until(page, "document.querySelector('.ask-picture').getAttribute('aria-pressed') === 'true'")
    page.get_by_role("button", name="Photograph: cat").click()
    until(page, KEPT, ["in", "s:photo:cat This is a dax.\nworld:29 What colour is the star?"])
    until(page, "document.querySelector('.warnings')?.textContent.includes('pictures of the little world')")
    page.get_by_role("button", name="Take turn 1 away").click()
    until(page, KEPT, ["in", "s:world:29 What colour is the star?"])
    page.get_by_role("button", name="A dialogue").click()
    until(page, "document.querySelectorAll('.ask-turns li').length === 3")
    until(page, "document.querySelectorAll('.told-picture').length === 1")


def test_the_resampler_is_looked_into_over_its_picture(page: "Page") -> None:
    name = "resampler.blocks.0.attn of picture 2"
    visit(page, "ask", m="a-flamingo", given=SHOTS, look=f"{name}:mean")
    until(page, "document.querySelector('.gaze canvas.patches')")
    becomes(page, lambda: page.locator(".look-name").inner_text(), name)


def test_a_layer_that_saw_several_pictures_says_which(page: "Page") -> None:
    visit(page, "ask", m="a-flamingo", given=SHOTS)
    edges = page.locator(".overview-grid[aria-label='latents look at places']").get_by_role("rowheader")
    assert edges.all_inner_texts()[:3] == ["1.1", "1.2", "1.3"]
    assert edges.first.get_by_role("button", name="Layer 1, picture 1, all heads").count() == 1


def test_what_is_seen_can_be_taken_away(page: "Page") -> None:
    visit(page, "ask", m="a-flamingo", given=SHOTS)
    until(page, "document.querySelectorAll('.told-picture canvas').length === 3")
    page.keyboard.press("e")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Small and untaught, gates as CSV").click()
    assert waiting.value.path().read_text(encoding="utf-8-sig").splitlines()[0] == "block,look,mlp"
    page.keyboard.press("Escape")


def test_on_a_phone_nothing_is_cut_off_and_fingers_hit(page: "Page") -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, "ask", m="a-flamingo", given=SHOTS)
    until(page, "document.querySelectorAll('.told-picture canvas').length === 3")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert small_buttons(page) == []


def test_nothing_keeps_anybody_out(page: "Page") -> None:
    visit(page, "ask", m="a-flamingo", given=SHOTS, at="9")
    until(page, "document.querySelectorAll('.told-picture .unseen-by').length === 2")
    assert barriers(page) == []


def test_without_a_model_the_room_says_how_to_get_one(browser: "Browser", tmp_path: Path, kept: Worker) -> None:
    with onto(browser, tmp_path, worker=kept) as empty, watching(empty) as page:
        page.goto("/#/ask")
        until(page, "document.querySelector('.empty')?.textContent.includes('regard train ask')")
