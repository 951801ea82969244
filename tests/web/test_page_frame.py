"""The frame around the rooms: where one is, the way back, what can be taken away, and what happens when things fail."""

import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect
from tests.web.hands import PATIENCE, becomes, painted, resize

STEPS = [
    *("words", "additive", "dot", "scaled", "softmax", "values", "self", "order"),
    *("heads", "mask", "cross", "block", "learning", "next"),
]


@pytest.fixture
def again(page: Page) -> Page:
    """Build up, which needs no server once it is there."""
    page.goto("/#/build")
    expect(page.locator("h1")).to_be_visible()
    return page


@pytest.fixture
def careless(browser: Browser, server: Any) -> Iterator[Page]:
    """A page that may complain on its console: the network is taken away from it."""
    context = browser.new_context(base_url=server.url, viewport={"width": 1440, "height": 900})
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    page.add_init_script("localStorage.setItem('regard.guided', 'yes')")
    yield page
    context.close()


def here(page: Page) -> Locator:
    return page.locator("#rooms [aria-current=page]")


def press(page: Page, *keys: str) -> None:
    """Keys one after the other, in no time however slow the machine is."""
    page.evaluate(
        """keys => keys.forEach((key) => (document.activeElement ?? document.body)
             .dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true})))""",
        keys,
    )


# Rooms


def test_the_page_opens_on_a_live_picture_that_waits_for_no_model(page: Page) -> None:
    page.route("**/api/**", lambda route: None)  # a server that thinks for ever
    page.goto("/")
    page.locator(".word.rows", has_text="vediamo").hover()
    expect(page.locator(".matrix-readout")).to_contain_text(re.compile(r"vediamo looks at we 0\.5\d+, see 0\.4\d+"))
    page.unroute_all(behavior="ignoreErrors")


def test_no_word_of_the_first_picture_is_cut_off(page: Page) -> None:
    page.goto("/")
    page.locator(".word").first.wait_for()
    for width in (320, 390, 700, 1001, 1280, 1440, 1920):
        resize(page, width, 800)
        painted(page)
        cut = page.evaluate(
            """[...document.querySelectorAll('.word')]
              .filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)"""
        )
        assert cut == [], width


ROOMS = {
    "Learn": ["Build up", "Words", "Lectures", "Gallery"],
    "Look": ["Translate", "Read", "See", "Caption", "Match", "Ask", "Paint", "Segment", "Depth", "Sense", "Your file"],
    "Check": ["Claims", "World", "Runs", "Views"],
}


def test_every_door_of_the_first_page_leads_to_its_room_and_the_mark_leads_back(page: Page) -> None:
    page.goto("/")
    expect(page.locator(".door")).to_have_count(sum(map(len, ROOMS.values())))
    for title in (title for rooms in ROOMS.values() for title in rooms):
        page.locator(".door", has=page.get_by_role("heading", name=title, exact=True)).click()
        expect(here(page)).to_contain_text(title)
        page.locator(".mark").click()
        expect(page.locator("h1")).to_have_text("See where a model looks")


def test_keys_and_clicks_open_the_rooms_and_back_goes_back(again: Page) -> None:
    expect(here(again)).to_contain_text("Build up")
    for key, title in (("t", "Translate"), ("o", "World"), ("u", "Runs")):
        press(again, "g", key)
        expect(here(again)).to_contain_text(title)
    again.get_by_role("link", name="Learn").click()
    expect(here(again)).to_contain_text("Build up")
    again.go_back()
    expect(here(again)).to_contain_text("Runs")


def test_an_area_shows_its_rooms_and_is_found_in_the_room_that_was_left(again: Page) -> None:
    for area, rooms in ROOMS.items():
        again.locator("#areas").get_by_role("link", name=area).click()
        expect(again.locator("#areas [aria-current=page]")).to_have_text(area)
        expect(again.locator("#rooms a")).to_have_text(rooms)
    again.get_by_role("link", name="World", exact=True).click()
    again.locator("#areas").get_by_role("link", name="Learn").click()
    expect(here(again)).to_have_text("Build up")
    again.locator("#areas").get_by_role("link", name="Check").click()
    expect(here(again)).to_have_text("World")


def test_on_a_phone_the_room_that_one_is_in_stands_in_the_row_of_rooms(page: Page) -> None:
    page.goto("/")
    resize(page, 390, 844)
    for room in ("file", "translate", "paint"):
        page.goto(f"/#/{room}")
        expect(here(page)).to_be_in_viewport(ratio=1)


def test_doors_stand_beside_the_name_of_their_area_and_never_below_it(page: Page) -> None:
    page.goto("/")
    expect(page.locator(".door")).to_have_count(sum(map(len, ROOMS.values())))
    for width in (1001, 1280, 1920):
        resize(page, width, 800)
        left = page.evaluate("[...document.querySelectorAll('.door')].map(each => each.getBoundingClientRect().left)")
        right = page.evaluate("document.querySelector('.doors header').getBoundingClientRect().right")
        assert min(left) > right, width


def test_the_palette_finds_rooms_models_and_commands(again: Page) -> None:
    again.keyboard.press("Control+k")
    field = again.get_by_role("combobox", name="Find")
    field.fill("wor")
    expect(again.get_by_role("listbox").get_by_role("option")).to_contain_text(["Words", "World"])
    field.press("ArrowDown")
    field.press("Enter")
    expect(here(again)).to_have_text("World")
    again.keyboard.press("Control+k")
    field.fill("transformer small")
    again.get_by_role("listbox").get_by_role("option").first.click()
    expect(here(again)).to_have_text("Translate")
    again.keyboard.press("Control+k")
    field.fill("light or dark")
    field.press("Enter")
    expect(again.locator("html")).to_have_attribute("data-theme", "dark")
    again.keyboard.press("Control+k")
    field.fill("zzzz")
    expect(again.get_by_role("listbox")).to_contain_text("Nothing is called that")


def test_models_are_a_sheet_that_can_be_searched_and_opens_the_room_of_the_task(again: Page) -> None:
    again.get_by_role("button", name="Models").click()
    sheet = again.get_by_role("dialog", name="Models")
    expect(sheet.locator(".models-entry")).not_to_have_count(0)
    sheet.get_by_label("Search models").fill("translate italian no-such-word")
    expect(sheet).to_contain_text("No model fits")
    sheet.get_by_label("Search models").fill("fixed")
    sheet.get_by_role("button", name="Untaught none").click()
    expect(here(again)).to_have_text("Translate")
    expect(again).to_have_url(re.compile("fixed"))


def test_an_embedded_room_is_the_room_alone_and_a_presented_one_too(page: Page) -> None:
    page.goto("/?embed=1#/build?step=dot")
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator(".top")).to_be_hidden()
    page.goto("/#/build?step=dot")
    expect(page.locator(".top")).to_be_visible()
    size = "parseFloat(getComputedStyle(document.documentElement).fontSize)"
    before = page.evaluate(size)
    page.keyboard.press("Shift+F")
    expect(page.locator(".top")).to_be_hidden()
    becomes(page, lambda: page.evaluate(size) > before, True)
    page.keyboard.press("Shift+F")
    expect(page.locator(".top")).to_be_visible()
    for _ in range(4):
        page.keyboard.press("Shift+F")
    expect(page.locator(".toast")).to_have_text(["Back to the whole page."])


def test_the_letters_are_the_pages_own(again: Page) -> None:
    loaded = again.evaluate(
        "document.fonts.ready.then(all => [...all].filter(f => f.status === 'loaded').map(f => f.family))"
    )
    assert {"regard text", "regard serif"} <= {name.strip('"') for name in loaded}
    assert again.evaluate("document.fonts.load('1em \"regard text\"', 'čřž').then(found => found.length === 1)")


def test_every_sign_that_the_page_writes_is_in_its_own_fonts(page: Page) -> None:
    """Arrows and marks too; otherwise they would look, and take room, as the fonts of the machine have them."""
    from regard.web.assets import PAGE

    texts = [path.read_text(encoding="utf-8") for path in PAGE.rglob("*") if path.suffix in {".js", ".html"}]
    signs = sorted({sign for text in texts for sign in text if ord(sign) > 0xA0})
    assert {"→", "×", "✓"} <= set(signs)
    page.goto("/")
    page.evaluate(
        """async (signs) => {
          const probe = document.createElement("p");
          probe.id = "probe";
          for (const sign of signs) {
            const one = document.createElement("span");
            one.textContent = sign;
            probe.append(one);
          }
          document.body.append(probe);
          for (let i = 0; i < 4; i++) {
            await new Promise(requestAnimationFrame);
            await document.fonts.ready;
          }
        }""",
        signs,
    )
    inside = page.context.new_cdp_session(page)
    inside.send("DOM.enable")
    inside.send("CSS.enable")
    root = inside.send("DOM.getDocument")["root"]["nodeId"]
    nodes = inside.send("DOM.querySelectorAll", {"nodeId": root, "selector": "#probe span"})["nodeIds"]
    used = [inside.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"] for node in nodes]
    inside.detach()
    strange = {
        sign: font["familyName"]
        for sign, fonts in zip(signs, used, strict=True)
        for font in fonts
        if not font["isCustomFont"]
    }
    assert strange == {}


def test_a_key_pressed_in_a_field_is_a_letter(again: Page) -> None:
    again.get_by_label("The sentence", exact=True).fill("")
    again.get_by_label("The sentence", exact=True).press_sequentially("route 2 ?")
    expect(here(again)).to_contain_text("Build up")
    expect(again.locator("dialog")).to_have_count(0)


def test_a_room_is_found_as_it_was_left(again: Page) -> None:
    again.get_by_label("The sentence", exact=True).fill("two birds")
    again.get_by_label("The sentence", exact=True).blur()
    press(again, "g", "o")
    expect(here(again)).to_contain_text("World")
    press(again, "g", "b")
    expect(again.get_by_label("The sentence", exact=True)).to_have_value("two birds")


def test_an_address_that_leads_nowhere_leads_to_the_beginning(page: Page) -> None:
    first, other = "See where a model looks", "A word is a list of numbers"
    page.goto("/")
    expect(page.locator("h1")).to_have_text(first)
    for address in ("#/nowhere?x=1", "#/", "#//?&&=", "#/__proto__"):
        for place, title in (("#/build?%E0%A4%A", other), (address, first)):
            page.evaluate("place => { location.hash = place; }", place)
            expect(page.locator("h1")).to_have_text(title)


def test_an_address_holds_any_text(again: Page) -> None:
    states = [
        {"text": "a & b = c? #1 100% +plus; über 日本語 \u202e"},
        {"layer": "3", "head": "0", "text": "two  spaces"},
        {"x": "1,2;3,4", "name": "decoder.blocks.2.cross"},
    ]
    found = again.evaluate(
        """async (states) => { const m = await import('/js/state.js');
        return states.map((state) => m.parse(m.format({room: 'r', state}))); }""",
        states,
    )
    assert found == [{"room": "r", "state": state} for state in states]


# Undo


def test_undo_and_redo_stand_in_the_bar_and_know_when_there_is_nothing_to_do(again: Page) -> None:
    undo, redo = again.get_by_role("button", name="Undo"), again.get_by_role("button", name="Redo")
    expect(undo).to_be_disabled()
    again.get_by_label("vectors, we, number 1").press("ArrowUp")
    expect(redo).to_be_disabled()
    undo.click()
    expect(again.get_by_label("vectors, we, number 1")).to_have_value("1.7")
    expect(undo).to_be_disabled()
    redo.click()
    expect(again.get_by_label("vectors, we, number 1")).to_have_value("1.8")


def test_a_held_key_is_one_step_and_does_not_flood_the_history(again: Page) -> None:
    before = again.evaluate("history.length")
    cell = again.get_by_label("vectors, we, number 1")
    cell.focus()
    press(again, *["ArrowDown"] * 9)
    expect(cell).to_have_value("0.8")
    assert again.evaluate("history.length") <= before + 2
    again.keyboard.press("Control+z")
    expect(cell).not_to_have_value("0.8")


# Links, themes, help


def test_the_copied_link_opens_the_same_picture(again: Page) -> None:
    context = again.context
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    again.get_by_label("vectors, we, number 1").fill("-2")
    again.get_by_label("vectors, we, number 1").blur()
    again.keyboard.press("c")
    expect(again.get_by_role("status").filter(has_text="Link copied")).to_be_visible()
    other = context.new_page()
    other.goto(again.evaluate("navigator.clipboard.readText()"))
    expect(other.get_by_label("vectors, we, number 1")).to_have_value("−2.0")


def test_what_is_seen_can_be_shared_as_a_link(again: Page) -> None:
    again.get_by_role("button", name="Share").click()
    sheet = again.get_by_role("dialog", name="Share")
    expect(sheet.locator("pre").first).to_have_text(re.compile(r"#/build"))
    expect(sheet).to_contain_text("lets no other page embed it")


def test_the_chosen_theme_is_kept(again: Page) -> None:
    ground = again.evaluate("getComputedStyle(document.body).backgroundColor")
    again.keyboard.press("t")
    expect(again.locator("body")).not_to_have_css("background-color", ground)
    again.reload()
    expect(again.locator("html")).to_have_attribute("data-theme", "dark")


def test_until_somebody_chooses_the_system_does(again: Page) -> None:
    again.emulate_media(color_scheme="dark")
    expect(again.locator("html")).to_have_attribute("data-theme", "dark")
    again.emulate_media(color_scheme="light")
    expect(again.locator("html")).to_have_attribute("data-theme", "light")


def test_the_question_mark_lists_the_keys_and_escape_closes_it(again: Page) -> None:
    again.keyboard.press("?")
    keys = again.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("Next step")
    expect(keys).to_contain_text("Undo")
    again.keyboard.press("ArrowRight")
    again.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    expect(again.locator("h1")).to_have_text("A word is a list of numbers")


# What can be taken away


def save_as(page: Page, label: str, folder: Path) -> bytes:
    page.keyboard.press("e")
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"as {label}").click()
    # Outside of the dialog it would lie behind its veil.
    expect(page.get_by_role("dialog").locator(".toast", has_text=waiting.value.suggested_filename)).to_be_visible()
    page.keyboard.press("Escape")
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    assert path.suffix == f".{label.lower()}"
    return path.read_bytes()


def test_a_figure_leaves_with_its_caption_and_its_numbers(again: Page, tmp_path: Path) -> None:
    again.goto("/#/build?step=self")
    expect(again.locator("h1")).to_have_text("Every word asks")
    drawing = save_as(again, "SVG", tmp_path).decode()
    assert "Sentence: we see the sky" in re.sub(r"</text><text[^>]*>", " ", drawing)
    assert ElementTree.fromstring(drawing).tag.endswith("svg")
    assert "class=" not in drawing
    assert "var(" not in drawing, "nothing that a style sheet would have to explain"
    with Image.open(io.BytesIO(save_as(again, "PNG", tmp_path))) as picture:
        assert len(picture.convert("RGB").getcolors(1 << 24) or []) > 50, "there is something to see"
    lines = save_as(again, "CSV", tmp_path).decode("utf-8-sig").splitlines()
    assert lines[0] == "matrix,row,column,value"
    assert len([line for line in lines if line.startswith("shares,")]) == 16
    matrices = {each["name"]: each for each in json.loads(save_as(again, "JSON", tmp_path))["matrices"]}
    assert [sum(row) for row in matrices["shares"]["values"]] == pytest.approx([1, 1, 1, 1], abs=1e-5)


def test_a_caption_is_left_out_where_nobody_wants_it(again: Page) -> None:
    again.keyboard.press("e")
    again.get_by_label("with its caption").uncheck()
    with again.expect_download() as waiting:
        again.get_by_role("button", name="as SVG").click()
    assert "Sentence:" not in waiting.value.path().read_text(encoding="utf-8")


def test_words_that_look_like_formulas_stay_words_in_a_spreadsheet(again: Page) -> None:
    text = again.evaluate(
        """async () => {
            const m = await import('/js/export.js');
            return await m.csv({columns: ['word', 'value'], rows: [['=1+1', -1.5], ['a "b", c', 2]]}).text();
        }"""
    )
    assert text.splitlines()[1:] == ["'=1+1,-1.5", '"a ""b"", c",2']


# The first visit


def test_the_first_visit_is_guided_once_and_nothing_is_covered(browser: Browser, server: Any) -> None:
    page = browser.new_page(base_url=server.url)
    page.set_default_timeout(1000 * PATIENCE)
    page.goto("/#/build")
    guide = page.get_by_role("complementary", name="First steps")
    expect(guide).to_contain_text("Small steps, one idea each")
    top, below = guide.bounding_box(), page.locator("main").bounding_box()
    assert top is not None
    assert below is not None
    assert top["y"] + top["height"] <= below["y"] + 1
    for _ in range(2):
        guide.get_by_role("button", name="Next").click()
    guide.get_by_role("button", name="Done").click()
    expect(guide).to_be_hidden()
    expect(page.locator(".pointed")).to_have_count(0)
    page.reload()
    expect(page.locator("h1")).to_be_visible()
    expect(guide).to_be_hidden()
    page.close()


# When things go wrong


def test_a_server_that_is_gone_is_said_and_its_return_is_noticed(careless: Page) -> None:
    careless.goto("about:blank")  # so that no code of a step is known from a test before
    careless.goto("/#/build?step=dot")
    expect(careless.locator(".code pre")).to_be_visible()
    careless.route("**/api/**", lambda route: route.abort())
    careless.keyboard.press("ArrowRight")
    careless.keyboard.press("ArrowRight")
    banner = careless.get_by_role("alert").filter(has_text="regard explore")
    expect(banner).to_be_visible()
    expect(careless.locator("h1")).to_have_text("Scores become shares")
    careless.unroute("**/api/**")
    expect(banner).to_be_hidden()


def test_a_room_that_does_not_open_says_so_and_tries_again(careless: Page) -> None:
    careless.route("**/rooms/world.js", lambda route: route.abort())
    careless.goto("/#/world")
    expect(careless.get_by_role("heading", name="World did not open")).to_be_visible()
    expect(careless.get_by_role("button", name="Try again")).to_be_visible()
    press(careless, "g", "b")
    expect(careless.locator("h1")).to_have_text("A word is a list of numbers")


def test_the_servers_own_words_reach_the_reader(again: Page) -> None:
    said = again.evaluate(
        """async () => {
            const m = await import('/js/api.js');
            try { await m.post('/api/ask', {model: 'small', input: {text: 'x'}, options: {beam: 99}}); }
            catch (e) { return [e.name, e.status, e.message]; }
        }"""
    )
    assert said[:2] == ["ApiError", 422]
    assert "beam" in said[2]


# For everybody


CONTRAST = """() => {
    const known = new Map();
    const pen = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
    const parse = (c) => {  // whatever way CSS writes it, as bytes
        if (!known.has(c)) {
            pen.clearRect(0, 0, 1, 1);
            pen.fillStyle = c;
            pen.fillRect(0, 0, 1, 1);
            const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
            known.set(c, [r, g, b, a / 255]);
        }
        return known.get(c);
    };
    const linear = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    const ground = (e) => {
        for (; e; e = e.parentElement) {
            const style = getComputedStyle(e);
            const colour = parse(style.backgroundColor);
            if ((colour[3] ?? 1) > 0.99 && style.backgroundImage === 'none') return colour;
        }
        return [255, 255, 255];
    };
    const poor = [];
    for (const e of document.querySelectorAll('body *')) {
        const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
        if (!own && !e.matches('input:not([type=range])')) continue;
        if (!e.checkVisibility() || e.closest(':disabled, svg, .barred, noscript')) continue;
        const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) poor.push(`${e.tagName}.${e.className} "${e.textContent.slice(0, 20)}" ${ratio.toFixed(2)}`);
    }
    return poor;
}"""


# What must be there before a room is judged.
READY = {
    "home": ".word",
    "translate?m=small&in=t:La+casa": ".seconds",
    "translate?m=small&in=w:it-en-7&force=1&as=matrix&edits=encoder.blocks.0.attn:0:off": ".verdict",
    "translate?m=small&in=t:La+casa&as=neuron": ".neuron-keys td",
    "translate?m=small&in=t:La+casa&as=beam": ".tree-node",
    "translate?m=small,fixed&in=t:La+casa": ".blind-note",
    "read?m=a-classifier&in=t:La+casa": ".seconds",
    "see": ".room-see .empty:has-text('No model of pictures')",
    "caption": ".room-caption .empty:has-text('regard train caption')",
    "match": ".room-match .empty:has-text('regard train match')",
    "ask": ".room-ask .empty:has-text('regard train ask')",
    "paint": ".room-paint .empty:has-text('regard train paint')",
    "segment": ".room-segment .empty:has-text('regard train segment')",
    "depth": ".room-depth .empty:has-text('regard train monodepth')",
    "sense": ".room-sense .empty:has-text('regard train perceive')",
    "words": ".room-words canvas",
    "words?w=king": ".near-list li",
    "words?as=sums&sum=king+-+man+%2B+woman": ".answer .near-list",
    "words?as=concepts": ".concepts .chart",
    "words?as=own": ".own",
    "lectures": ".room-lectures :is(a, button)",
    "lectures?deck=003&topic=caption-attention": ".quiz-choice",
    "gallery": ".room-gallery a",
    "claims": ".room-claims :is(a, button)",
    "claims?name=heads&show=1": "svg.panel-picture",
    "world?index=12&thing=1": ".named.lit",
    "runs": ".chart path",
    "views": ".room-views .first-run",
    "file": ".drop",
    "file?in=r:minilm-tired": ".word.rows",
} | {f"build?step={step}": f".steps [aria-current=step]:has-text('{step}')" for step in STEPS}


@pytest.fixture(scope="session")
def axe() -> str:
    """axe-core, which knows what keeps people out of a page; the Makefile puts it beside the environment."""
    path = Path(__file__).parents[2] / ".venv/axe.min.js"
    if not path.exists():
        leave = pytest.fail if os.environ.get("CI") else pytest.skip
        leave(f"{path} is not there: make browser fetches it by npm")
    return path.read_text(encoding="utf-8")


def opened(page: Page) -> Iterator[str]:
    """Every place, once it is there."""
    for place, ready in READY.items():
        page.evaluate("place => { location.hash = `#/${place}`; }", place)
        page.locator(ready).first.wait_for()
        yield place


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_keeps_anybody_out_of_a_room_and_all_text_can_be_read(
    again: Page, axe: str, theme: Literal["light", "dark"]
) -> None:
    """WCAG AA: 4.5 to 1, in every room and in both themes; of a theme only what depends on colours."""
    again.emulate_media(color_scheme=theme, reduced_motion="reduce")  # what fades in is read when it is there
    expect(again.locator("html")).to_have_attribute("data-theme", theme)
    again.evaluate(axe)
    rules = {} if theme == "light" else {"runOnly": ["color-contrast", "link-in-text-block"]}
    for place in opened(again):
        found = again.evaluate(
            """async (rules) => (await axe.run(document, {...rules, resultTypes: ['violations']})).violations
              .filter(each => ['serious', 'critical'].includes(each.impact))
              .map(each => `${each.id}: ${each.nodes.map(node => node.html.slice(0, 120)).join(' | ')}`)""",
            rules,
        )
        assert found == [], place
        assert again.evaluate(CONTRAST) == [], place
    again.keyboard.press("?")
    expect(again.get_by_role("dialog", name="Keys")).to_be_visible()
    assert again.evaluate(CONTRAST) == []


def test_no_room_is_wider_than_a_phone_and_all_that_can_be_pressed_has_a_name(again: Page) -> None:
    resize(again, 390, 844)
    for place in opened(again):
        assert again.evaluate("document.documentElement.scrollWidth") <= 390, place
        nameless = again.evaluate(
            """[...document.querySelectorAll('main :is(button, input, select, textarea, a, [tabindex="0"])')]
              .filter(e => e.checkVisibility() && !(e.ariaLabel || e.textContent.trim() || e.labels?.length))
              .map(e => e.outerHTML.slice(0, 120))"""
        )
        assert nameless == [], place


def test_at_200_percent_and_on_a_wall_no_room_is_wider_than_its_screen(again: Page) -> None:
    for place in opened(again):
        resize(again, 640, 400)  # what a browser has of 1280 by 800 when all is twice as large
        assert again.evaluate("document.documentElement.scrollWidth") <= 640, place
        resize(again, 1280, 720)
        again.evaluate("document.activeElement?.blur()")
        again.keyboard.press("Shift+F")
        expect(again.locator(".top")).to_be_hidden()
        assert again.evaluate("document.documentElement.scrollWidth") <= 1280, place
        again.keyboard.press("Shift+F")
        expect(again.locator(".top")).to_be_visible()


def test_everything_that_can_be_used_has_a_name_and_a_place_in_the_order(page: Page) -> None:
    page.goto("/#/build?step=values")
    expect(page.locator("h1")).to_have_text("Take what you looked at")
    expect(page.locator(".code pre")).to_be_visible()
    reached: list[str] = []
    while "Code of" not in "".join(reached[-1:]):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("(e => e.getAttribute('aria-label') || e.textContent.trim())(document.activeElement)")
        )
        assert reached[-1], f"what comes after {reached[-2:]} has no name"
        assert len(reached) < 100
    parts = (
        "To the content",
        "Learn",
        "Models",
        "Share",
        "Build up",
        "Words",
        "Next",
        "The sentence",
        "q: ",
        "values, we",
        "Code of",
    )
    order = [next(i for i, name in enumerate(reached) if part in name) for part in parts]
    assert order == sorted(order), reached


def test_who_wants_no_motion_sees_none(again: Page) -> None:
    again.emulate_media(reduced_motion="reduce")
    moving = """() => [...document.querySelectorAll('*')].filter((e) => { const s = getComputedStyle(e);
        return parseFloat(s.transitionDuration) > 0 || s.animationName !== 'none'; }).length"""
    becomes(again, lambda: again.evaluate(moving), 0)


def test_no_script_and_no_style_is_written_into_the_page() -> None:
    from regard.web.assets import PAGE

    text = (PAGE / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=", text)
    markup = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function")
    elsewhere = re.compile(r"https?://(?!www\.w3\.org/)")  # names of languages, never fetched
    for file in (each for each in PAGE.rglob("*") if each.suffix in {".js", ".css", ".html"}):
        assert not markup.search(file.read_text(encoding="utf-8")), file
        assert not elsewhere.search(file.read_text(encoding="utf-8")), file
