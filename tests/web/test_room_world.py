"""The world room in a real browser: words and things light each other up, and scenes are walked."""

from typing import TYPE_CHECKING, Any

from tests.web.hands import until

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_a_word_lights_its_thing_and_a_thing_its_words(page: "Page") -> None:
    page.goto("/#/world?index=12")
    page.wait_for_selector(".named")
    word = page.locator(".caption[lang=en] .named").first
    thing = word.get_attribute("data-things")
    word.hover()
    page.wait_for_selector(f".things button.lit[data-things='{thing}']")
    for language in ("de", "it", "cs"):
        assert page.locator(f".caption[lang={language}] .named.lit").count() > 0
    page.mouse.move(0, 0)
    until(page, "!document.querySelector('.lit')")
    scene = page.request.get("/api/world/scene?index=12").json()
    left, top, width, height = scene["things"][1]["box"]
    canvas = page.locator(".tile canvas").first
    box = canvas.bounding_box()
    assert box
    canvas.hover(position={"x": (left + width / 2) * box["width"], "y": (top + height / 2) * box["height"]})
    page.wait_for_selector(".things button.lit")


def test_scenes_are_walked_by_keys(page: "Page") -> None:
    page.goto("/#/world?index=4")
    page.wait_for_selector(".named")
    page.keyboard.press("ArrowRight")
    until(page, "location.hash.includes('index=5')")
    page.keyboard.press("ArrowLeft")
    until(page, "location.hash.includes('index=4')")


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
        assert page.locator(".facts").inner_text() == expected, index


def _english(scene: dict[str, Any]) -> str:
    return str(scene["captions"]["en"]["text"])


def test_eyes_do_not_wiggle_for_those_who_want_no_motion(page: "Page") -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto("/#/world")
    page.wait_for_selector(".named")
    assert page.get_by_role("button", name="wiggle").count() == 0
    assert page.get_by_role("button", name="side by side").get_attribute("aria-pressed") == "true"
