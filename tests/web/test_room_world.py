"""The world room in a real browser: words and things light each other up, and scenes are walked."""

import base64
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image
from playwright.sync_api import expect
from tests.web.hands import becomes, until

from regard.web.static import PICTURES, SCENES, STYLES, file_name, stand_alone

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route
    from tests.web.conftest import Server

STOPS = """() => [...document.querySelectorAll('.room-world :is(a[href], button, input, select, [tabindex])')]
    .filter((each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility())
    .map((each) => each.textContent || each.getAttribute('aria-label'))"""


def test_a_word_lights_its_thing_and_a_thing_its_words(page: "Page") -> None:
    page.goto("/#/world?index=12")
    page.wait_for_selector(".named")
    word = page.locator(".caption[lang=en] .named").first
    thing = word.get_attribute("data-things")
    word.hover()
    page.wait_for_selector(f".things button.lit[data-things='{thing}']")
    for language in ("de", "it", "cs"):
        expect(page.locator(f".caption[lang={language}] .named.lit")).not_to_have_count(0)
    page.mouse.move(0, 0)
    until(page, "!document.querySelector('.lit')")
    scene = page.request.get("/api/world/scene?index=12").json()
    left, top, width, height = scene["things"][1]["box"]
    canvas = page.locator(".tile canvas").first
    box = canvas.bounding_box()
    assert box
    canvas.hover(position={"x": (left + width / 2) * box["width"], "y": (top + height / 2) * box["height"]})
    page.wait_for_selector(".things button.lit")


def test_a_thing_that_was_taken_stays_lit_and_is_in_the_link(page: "Page") -> None:
    page.goto("/#/world?index=12")
    page.wait_for_selector(".named")
    page.locator(".things button").nth(1).click()
    until(page, "location.hash.includes('thing=1')")
    page.mouse.move(0, 0)
    page.locator(".things button").nth(1).blur()
    expect(page.locator(".things button[aria-pressed=true].lit")).to_have_count(1)
    page.reload()
    page.wait_for_selector(".things button[aria-pressed=true].lit")
    page.go_back()
    until(page, "!document.querySelector('.lit, .things [aria-pressed=true]')")


def test_a_scene_is_shared_as_the_python_that_makes_it(page: "Page") -> None:
    page.goto("/#/world?index=12&split=novel")
    page.wait_for_selector(".named")
    page.locator("#link").click()
    made: dict[str, Any] = {}
    exec(page.get_by_role("dialog").locator("pre").last.inner_text(), made)
    told = page.request.get("/api/world/scene?index=12&split=novel").json()
    assert [thing.kind for thing in made["scene"].things] == [each["kind"] for each in told["things"]]
    assert made["picture"].rgb.shape[:2] == (256, 256)


def test_scenes_are_walked_by_keys(page: "Page") -> None:
    page.goto("/#/world?index=4")
    page.wait_for_selector(".named")
    page.keyboard.press("ArrowRight")
    until(page, "location.hash.includes('index=5')")
    page.keyboard.press("ArrowLeft")
    until(page, "location.hash.includes('index=4')")


def test_tab_stops_are_few_and_arrow_keys_reach_every_word(page: "Page") -> None:
    page.goto("/#/world?index=12")
    page.wait_for_selector(".named")
    words, stops = page.locator(".named").count(), page.evaluate(STOPS)
    assert words > 60, "a scene with much to say"
    assert len(stops) <= 14, stops
    english = page.locator(".caption[lang=en] .named")
    english.first.focus()
    seen = [page.evaluate("document.activeElement.textContent")]
    for _ in range(english.count() - 1):
        page.keyboard.press("ArrowRight")
        seen.append(page.evaluate("document.activeElement.textContent"))
    assert seen == english.all_inner_texts()
    assert page.evaluate(STOPS).count(seen[-1]) >= 1, "Tab comes back to where the reader was"
    assert len(page.evaluate(STOPS)) == len(stops)
    page.keyboard.press("Tab")
    becomes(page, lambda: page.evaluate("document.activeElement.closest('.caption')?.lang"), "de")
    assert "index=12" in page.evaluate("location.hash"), "arrow keys among words walk no scenes"


def test_the_facts_are_those_of_the_scene_in_view(page: "Page") -> None:
    told = [page.request.get(f"/api/world/scene?index={index}").json() for index in range(6)]
    facts = [f"{len(scene['things'])} things, {scene['facts']['palette']}" for scene in told]
    assert len(set(facts)) > 1
    page.goto("/#/world?index=0")
    for index, expected in enumerate(facts):
        if index:
            page.keyboard.press("ArrowRight")
        until(
            page, "text => document.querySelector('.caption[lang=en] p')?.textContent === text", _english(told[index])
        )
        expect(page.locator(".facts"), str(index)).to_have_text(expected)


def _english(scene: dict[str, Any]) -> str:
    return str(scene["captions"]["en"]["text"])


def test_eyes_do_not_wiggle_for_those_who_want_no_motion(page: "Page") -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto("/#/world?stereo=wiggle")
    page.wait_for_selector(".named")
    expect(page.get_by_role("button", name="side by side")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="wiggle")).to_have_count(0)


@pytest.mark.parametrize("index", [0, 7, 41])
def test_models_number_their_pictures_as_the_room_its_scenes(client: TestClient, index: int) -> None:
    told = client.get(f"/api/pictures/world?index={index}").json()
    scene = client.get(f"/api/world/scene?index={index}&split=test").json()
    assert [thing["name"] for thing in told["things"]] == [thing["name"] for thing in scene["things"]]
    picture = client.get(f"/api/world/scene/rgb.png?index={index}&split=test").content
    shown = base64.b64decode(told["image"].partition(",")[2])
    assert np.array_equal(*(np.asarray(Image.open(BytesIO(each)).convert("RGB")) for each in (picture, shown)))


def test_a_scene_leads_to_a_model_that_finds_its_things(page: "Page") -> None:
    def with_detector(route: "Route") -> None:
        about = route.fetch().json()
        about["models"].append({"name": "finder", "task": "detect", "data": "world"})
        route.fulfill(json=about)

    page.route("**/api/about", with_detector)
    page.goto("/#/world?index=7")
    see = page.locator(".scene-models a[href^='#/see']")
    expect(see).to_have_attribute("href", "#/see?m=finder&in=p:world:7")
    # Other scenes have no number among the pictures that models know.
    for other in ("index=7&split=novel", "index=1000"):
        page.goto(f"/#/world?{other}")
        expect(see, other).to_have_count(0)
        page.wait_for_selector(".scene-models a[href^='#/translate']")


def test_a_sentence_of_the_world_is_shown_to_a_model_that_knows_them(page: "Page") -> None:
    page.goto("/#/world?index=7")
    link = page.locator(".scene-models a[href^='#/translate']")
    expect(link).to_have_attribute("href", "#/translate?m=many&in=w:it-en-7")
    expect(page.locator(".scene-models a[href^='#/see']"), "no model here finds things").to_have_count(0)


def visit_site(page: "Page", server: "Server") -> list[str]:
    """Let the page below /site be a static one, with the answers it is written with; what else it asks is told."""
    asked = [f"scene?index={i}&split=test&style={style}" for i in range(SCENES) for style in STYLES]
    asked += [f"scene/{one}.png?index={i}&seed=0&split=test" for i in range(SCENES) for one in PICTURES]
    files = {file_name(address): address for address in ("/api/about", *(f"/api/world/{each}" for each in asked))}
    missing: list[str] = []

    def answer(route: "Route") -> None:
        name = unquote(urlsplit(route.request.url).path).removeprefix("/site/") or "index.html"
        if name.startswith("api/") and name not in files:
            missing.append(name)
            route.fulfill(status=404)
            return
        response = route.fetch(url=server.url + files.get(name, f"/{name}"))
        if name == "index.html":
            route.fulfill(content_type="text/html", body=stand_alone(response.text()))
        elif name == "api/about.json":
            about = response.json()
            about["limits"]["scenes"] = SCENES
            route.fulfill(json=about)
        else:
            route.fulfill(response=response)

    page.route("**/site/**", answer)
    return missing


def test_a_site_without_a_server_keeps_to_its_scenes_and_says_why(page: "Page", server: "Server") -> None:
    missing = visit_site(page, server)
    page.goto("/site/#/world?index=500&split=novel&style=whole")
    page.wait_for_selector(".named")
    number = page.get_by_label("Number of the scene")
    expect(number).to_have_value(str(SCENES - 1))
    said = f"This site holds {SCENES} scenes; regard explore has no end of them."
    expect(page.locator(".scene-bar")).to_contain_text(said)
    expect(page.locator(".scene-bar select"), "how it is told can be chosen, the split cannot").to_have_count(1)
    expect(page.get_by_role("button", name="Next scene")).to_be_disabled()
    page.keyboard.press("ArrowRight")
    expect(number).to_have_value(str(SCENES - 1))
    number.fill("99")
    number.press("Enter")
    expect(number).to_have_value(str(SCENES - 1))
    page.get_by_role("button", name="Scene before").click()
    until(page, f"location.hash.includes('index={SCENES - 2}')")
    expect(page.locator(".scene-models"), "no model can be asked").to_be_hidden()
    page.get_by_label("tell").select_option("relations")
    until(page, "location.hash.includes('style=relations')")
    told = page.request.get(f"/api/world/scene?index={SCENES - 2}&split=test&style=relations").json()
    expect(page.locator(".caption[lang=en] p")).to_have_text(_english(told))
    assert missing == []


def test_any_scene_of_a_site_is_one_that_it_has(page: "Page", server: "Server") -> None:
    missing = visit_site(page, server)
    page.goto("/site/#/world")
    page.wait_for_selector(".named")
    number, seen = page.get_by_label("Number of the scene"), set()
    for _ in range(12):
        page.get_by_role("button", name="Any scene").click()
        seen.add(int(number.input_value()))
    told = page.request.get(f"/api/world/scene?index={number.input_value()}&split=test").json()
    expect(page.locator(".caption[lang=en] p")).to_have_text(_english(told))
    assert len(seen) > 1
    assert max(seen) < SCENES
    assert missing == []
