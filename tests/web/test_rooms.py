"""The rooms in a real browser: what a reader clicks, types and presses, and what the page answers."""

import base64
import csv
import io
import json
import re
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from regard.text import Tokenizer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

SENTENCE = "La casa rossa."
PATIENCE = 300  # seconds, for a machine that is busy with something else


def test_a_typed_sentence_is_translated_and_drawn(page: "Page") -> None:
    """Nothing is asked while one still writes; then output, lines and the thumbnails of all heads are there."""
    _translate(page)
    page.get_by_label("Sentence to translate").fill("La stella verde.")
    page.get_by_label("Sentence to translate").press("Enter")
    _until(page, "document.querySelector('.word.columns')?.parentElement.textContent.includes('verde')")
    assert page.locator(".output .said").count() > 0
    # Two layers of two heads, in encoder, decoder and between them.
    assert page.locator("button.thumb").count() == 12
    _until(page, "location.hash.includes('verde')")


def test_a_chosen_word_shows_where_it_looked(page: "Page") -> None:
    """The word of the output is the row that the lines keep, and the link says so."""
    _translate(page)
    page.locator(".output .said").first.click()
    page.wait_for_selector(".word.rows.on")
    assert page.locator(".word.rows.on").get_attribute("data-id") == "rows-0"
    assert "looks at" in page.locator(".matrix-readout").inner_text()
    _until(page, "location.hash.includes('word=0')")


def test_pointing_at_a_word_isolates_it(page: "Page") -> None:
    _translate(page)
    page.locator(".word.columns").first.hover()
    _until(page, "document.querySelector('.matrix-readout').textContent.includes('is looked at by')")
    assert page.locator(".word.columns.on").count() == 1


def test_the_matrix_tells_the_number_of_the_cell_that_keys_walk_to(page: "Page") -> None:
    """What is announced for a cell is what the server has for it."""
    _translate(page, view="matrix", look="decoder.blocks.1.cross:0", merge="pieces")
    canvas = page.locator(".matrix-canvas")
    canvas.focus()
    with page.expect_response(lambda response: "encoding=f32" in response.url) as exact:
        for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
            canvas.press(key)
    look = exact.value.url.split("/looks/")[1].split("/")[0]
    _until(page, "document.querySelector('.matrix-readout output')?.textContent.length > 3")
    place = {"name": "decoder.blocks.1.cross", "head": "0", "rows": "1:2", "columns": "1:2", "encoding": "f32"}
    shown = page.evaluate(
        """async ([look, place]) => {
          const answer = await fetch(`/api/looks/${look}/weights?` + new URLSearchParams(place));
          return new Float32Array(await answer.arrayBuffer())[0];
        }""",
        [look, place],
    )
    _until(
        page,
        "wanted => Math.abs(Number(document.querySelector('.matrix-readout output').textContent) - wanted) < 1e-6",
        arg=shown,
    )


def test_a_thumbnail_opens_its_head(page: "Page") -> None:
    _translate(page)
    _thumb(page, "encoder.blocks.1.attn", 1).click()
    page.wait_for_selector("button.thumb.current[data-name='encoder.blocks.1.attn'][data-head='1']")
    _until(page, "location.hash.includes('look=encoder.blocks.1.attn:1')")
    assert page.locator(".look-name").inner_text() == "encoder.blocks.1.attn"


def test_arrow_keys_walk_over_the_thumbnails_of_all_groups(page: "Page") -> None:
    """From the last layer of one group the arrow leads to the first of the next."""
    _translate(page)
    first = page.locator("button.thumb[tabindex='0']")
    first.focus()
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector("button.thumb.current[data-name='decoder.blocks.0.attn'][data-head='1']")


def test_a_head_switched_off_is_marked_and_reset(page: "Page") -> None:
    """Uniform or off, the edit is in the link, in the request and on the thumbnail; reset takes all back."""
    _translate(page)
    with page.expect_request(lambda request: request.method == "POST" and "uniform" in (request.post_data or "")):
        _thumb(page, "decoder.blocks.0.cross", 1).click(button="right")
        page.get_by_role("menuitemradio", name="Make it uniform").click()
    page.wait_for_selector("button.thumb[data-mark='uniform']")
    _until(page, "location.hash.includes('edits=0@decoder.blocks.0.cross:1:uniform')")
    page.wait_for_selector(".verdict")
    _thumb(page, "decoder.blocks.1.cross", 0).focus()
    page.keyboard.press("m")
    page.get_by_role("menuitemradio", name="Switch it off").click()
    page.wait_for_selector("button.thumb[data-mark='off']")
    page.get_by_role("button", name="Reset", exact=True).click()
    _until(page, "!document.querySelector('.thumb[data-mark=off], .thumb[data-mark=uniform]')")
    _until(page, "!location.hash.includes('edits')")


def test_neurons_show_the_sum_that_becomes_the_score(page: "Page") -> None:
    _translate(page, view="neuron", look="decoder.blocks.0.cross:1")
    page.wait_for_selector(".neuron-figure")
    rows = page.locator(".neuron-keys tbody tr")
    rows.nth(1).hover()
    page.wait_for_selector(".neuron-keys tr.on[data-key='1']")
    # A width of 16 in two heads: eight dimensions of query, key and product.
    assert page.locator(".neuron-figure rect").count() == 3 * 8 + 2


def test_additive_scores_have_no_neurons_and_the_page_says_why(page: "Page") -> None:
    _translate(page, model="attentive", view="neuron", look="decoder.attn:0")
    note = page.locator(".blind-note, .neuron")
    note.first.wait_for()
    _until(page, "document.querySelector('.look-stage').textContent.includes('small network')")


def test_the_beam_is_a_tree_with_one_winner(page: "Page") -> None:
    _translate(page, view="beam", beam="3")
    page.wait_for_selector(".tree-node")
    kept = page.locator(".tree-node").count()
    page.get_by_label("show what was given up").check()
    _until(page, "count => document.querySelectorAll('.tree-node').length > count", arg=kept)
    page.locator(".tree-node").first.focus()
    page.keyboard.press("ArrowRight")
    _until(page, "document.querySelector('.matrix-readout').textContent.includes('log probability')")


def test_three_models_stand_side_by_side_and_one_of_them_is_blind(page: "Page") -> None:
    """Another kind of model is added each time: with attention, without it, and nothing but it."""
    _translate(page, model="small")
    page.get_by_role("button", name="Compare models").click()
    _until(page, "document.querySelectorAll('.look-box').length === 2")
    page.get_by_role("button", name="Add a model").click()
    _until(page, "document.querySelectorAll('.look-box').length === 3")
    page.get_by_text("This model has no attention").wait_for()
    _until(page, "document.querySelectorAll('.lines').length === 2")
    assert page.get_by_role("button", name="Add a model").count() == 0
    page.get_by_role("button", name="Take ").last.click()
    _until(page, "document.querySelectorAll('.look-box').length === 2")


def test_sentences_of_the_world_come_with_gold_and_error_rates(page: "Page") -> None:
    page.goto("/#/translate?model=small&pair=it-en-7&force=1&view=matrix")
    page.wait_for_selector(".matrix-canvas")
    assert "Alignment error of this head" in page.locator(".others").inner_text()
    page.get_by_label("Next sentence").click()
    _until(page, "location.hash.includes('pair=it-en-8')")
    page.get_by_label("write the reference").uncheck()
    page.get_by_text("The reference says").wait_for()


def test_a_language_is_chosen_where_a_model_writes_several(page: "Page") -> None:
    _translate(page, model="many")
    with page.expect_request(lambda request: request.method == "POST" and '"to":"cs"' in (request.post_data or "")):
        page.get_by_label("into").select_option("cs")
    _until(page, "location.hash.includes('to=cs')")


def test_a_link_brings_back_everything(page: "Page") -> None:
    """Model, sentence, view, head, word and edits are in the address, and in nothing else."""
    _translate(
        page,
        model="small",
        view="matrix",
        look="decoder.blocks.0.cross:1",
        word="0",
        edits="0@encoder.blocks.0.attn:0:off",
    )
    page.wait_for_selector("button.thumb[data-mark='off'][data-name='encoder.blocks.0.attn']")
    page.wait_for_selector("button.thumb.current[data-name='decoder.blocks.0.cross'][data-head='1']")
    assert page.locator(".segments.tabs [aria-selected='true']").inner_text() == "Matrix"
    assert page.locator(".output .said[aria-pressed='true']").count() == 1


def test_a_link_outlives_the_server(browser: "Browser", start: Any) -> None:
    """What is killed and started again on the same port shows the same sentence, head and edit to the same page."""
    state = "model=small&text=La+casa+rossa.&look=decoder.blocks.0.cross:1&edits=0@encoder.blocks.0.attn:0:off"
    page = browser.new_page()
    page.set_default_timeout(90_000)
    with start() as first:
        page.goto(f"{first.url}/#/translate?{state}")
        _until(page, "document.querySelector('.look .verdict')")
        before = page.locator(".output").inner_text()
    _thumb(page, "decoder.blocks.1.cross", 0).click()  # what is asked now, nobody answers
    page.get_by_text("The server does not answer").first.wait_for()
    with start(int(first.url.rsplit(":", 1)[1])):
        page.get_by_text("The server is back").wait_for()
        page.wait_for_selector("button.thumb.current[data-name='decoder.blocks.1.cross'][data-head='0']")
        page.wait_for_selector("button.thumb[data-mark='off'][data-name='encoder.blocks.0.attn']")
        _until(page, "before => document.querySelector('.output').innerText === before", arg=before)
        page.close()


def test_undo_goes_back_to_the_head_before(page: "Page") -> None:
    _translate(page, look="decoder.blocks.0.cross:0")
    _thumb(page, "decoder.blocks.1.cross", 1).click()
    page.wait_for_selector("button.thumb.current[data-name='decoder.blocks.1.cross'][data-head='1']")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector("button.thumb.current[data-name='decoder.blocks.0.cross'][data-head='0']")


def test_what_the_server_forgot_is_asked_again(page: "Page") -> None:
    """A look that has expired is looked again without a word."""
    _translate(page, view="matrix")
    gone: list[str] = []

    def forget(route: Any) -> None:
        gone.append(route.request.url)
        route.fulfill(status=410, json={"error": "this look is forgotten; ask again"})

    page.route("**/weights?*encoding=f16*", forget, times=1)
    with page.expect_request(lambda request: request.method == "POST"):
        _thumb(page, "encoder.blocks.0.attn", 1).click()
    _until(page, "!document.querySelector('.toast-error')")
    assert gone


def test_a_sentence_that_is_too_long_is_refused_in_words(page: "Page") -> None:
    page.goto(f"/#/translate?model=small&text={quote('qx' * 900)}")
    page.wait_for_selector(".problem")
    assert "512" in page.locator(".problem").inner_text()


def test_512_tokens_are_translated_and_seen(page: "Page", zoo: Path) -> None:
    """The longest input there is, from the field to lines, matrix and the thumbnails of all heads."""
    tokenizer, text = Tokenizer.load(zoo / "small/tokenizer.json"), "La casa rossa. " * 100
    while len(tokenizer.encode([text], stop=True)[0]) > 512:
        text = text[:-1]
    page.goto(f"/#/translate?model=small&beam=1&text={quote(text)}")
    _until(page, "document.querySelector('.look .seconds')")
    _until(page, "document.querySelectorAll('.word').length > 20 && document.querySelectorAll('.thumb').length === 12")
    page.keyboard.press("x")
    page.wait_for_selector(".matrix-key i")
    assert "rows look at" in str(page.locator(".matrix-canvas").get_attribute("aria-label"))


@pytest.mark.parametrize("view", ["lines", "matrix"])
def test_512_words_move_without_stutter(page: "Page", view: str) -> None:
    """Only what is in sight is there and drawn: a frame costs a few milliseconds of the page's own time, however busy
    the machine is."""
    page.goto(f"/#/file?as={view}")
    page.wait_for_selector("#views-file", state="attached")
    words = {"kind": "words", "labels": [f"word{i}" for i in range(512)]}
    weights = np.random.default_rng(0).dirichlet(np.full(512, 0.05), 512).astype("<f4")
    packed = {"shape": [512, 512], "encoding": "f32", "data": base64.b64encode(weights.tobytes()).decode()}
    one = {"name": "long", "rows": words, "columns": words, "weights": packed}
    _drop(page, json.dumps({"format": "regard-views-1", "views": [one]}))
    page.wait_for_selector(".word" if view == "lines" else ".matrix-key i")
    inside = page.context.new_cdp_session(page)
    inside.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        found = {each["name"]: each["value"] for each in inside.send("Performance.getMetrics")["metrics"]}
        return float(found["TaskDuration"])

    before = spent()
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
    frame = (spent() - before) / 40
    inside.detach()
    assert frame < 0.04, f"a frame takes {1000 * frame:.0f} ms"
    if view == "lines":
        assert page.locator(".word").count() < 150, "words out of sight are not there"


def test_figures_and_numbers_leave_as_the_server_has_them(page: "Page") -> None:
    """The SVG names the model, the sentence and the head, the PNG shows something, and the CSV is exact."""
    with page.expect_response(lambda response: response.url.endswith("/api/translate")) as answered:
        _translate(page, view="matrix", look="decoder.blocks.1.cross:1")
    look = answered.value.json()["id"]
    page.get_by_role("button", name="Export", exact=True).click()
    figure = _saved(page, "SVG").decode()
    words = " ".join(ElementTree.fromstring(figure).itertext())
    assert "decoder.blocks.1.cross, layer 2, head 2" in re.sub(r"\s+", " ", words)
    assert "casa" in words
    with Image.open(io.BytesIO(_saved(page, "PNG"))) as picture:
        assert len(picture.convert("RGB").getcolors(1 << 24) or []) > 50, "there is something to see"
    place = "name=decoder.blocks.1.cross&head=1&encoding=f32&merge=words"
    exact = np.frombuffer(page.request.get(f"/api/looks/{look}/weights?{place}").body(), "<f4")
    header, *rows = csv.reader(io.StringIO(_saved(page, "CSV").decode("utf-8-sig")))
    assert "casa" in header
    assert np.array_equal(np.array([row[1:] for row in rows], float).ravel().astype("f4"), exact)


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
    _until(page, "!document.querySelector('.lit')")
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
    _until(page, "location.hash.includes('index=5')")
    page.keyboard.press("ArrowLeft")
    _until(page, "location.hash.includes('index=4')")


def test_eyes_do_not_wiggle_for_those_who_want_no_motion(page: "Page") -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto("/#/world")
    page.wait_for_selector(".named")
    assert page.get_by_role("button", name="wiggle").count() == 0
    assert page.get_by_role("button", name="side by side").get_attribute("aria-pressed") == "true"


def test_curves_of_a_run_are_drawn_and_told_point_by_point(page: "Page") -> None:
    page.goto("/#/runs")
    page.wait_for_selector(".chart path")
    titles = page.locator(".chart figcaption").all_inner_texts()
    assert {"Loss", "BLEU", "Learning rate"} <= set(titles)
    chart = page.locator(".chart svg").first
    chart.hover(position={"x": 300, "y": 100})
    _until(page, "document.querySelector('.chart-tip:not([hidden])')?.textContent.includes('translate-0')")
    page.get_by_label("logarithmic").check()
    _until(page, "location.hash.includes('log=1')")
    page.locator(".run input").uncheck()
    _until(page, "document.querySelector('.chart').textContent.includes('nothing measured')")


def test_models_are_sorted_by_what_was_measured(page: "Page") -> None:
    page.goto("/#/runs")
    header = page.locator(".sortable th", has_text="BLEU")
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert "12.5" in page.locator(".sortable tbody tr").first.inner_text(), "what is not measured comes last"
    page.locator(".sortable tbody tr").first.get_by_role("link").click()
    page.wait_for_selector(".look-box")
    _until(page, "location.hash.includes('model=small')")


def test_a_foreign_file_is_seen_with_the_same_views(page: "Page") -> None:
    page.goto("/#/file")
    page.wait_for_selector("#views-file", state="attached")
    _drop(page, json.dumps(_views()))
    page.wait_for_selector(".word.columns")
    assert page.locator(".word.columns").all_inner_texts() == ["le", "chat"]
    page.get_by_role("button", name="Matrix", exact=True).click()
    canvas = page.locator(".matrix-canvas")
    canvas.focus()
    canvas.press("ArrowDown")
    _until(page, "document.querySelector('.matrix-readout output')?.textContent === '0.75'")


def test_a_file_dropped_anywhere_opens_the_room_that_reads_it(page: "Page") -> None:
    page.goto("/#/build")
    page.wait_for_selector(".steps")
    _drop(page, json.dumps(_views()), "body")
    page.wait_for_selector(".word.columns")
    assert page.locator(".file-top h1").inner_text() == "Mine"


def test_words_look_into_a_picture_and_places_know_who_looked(page: "Page") -> None:
    """A grid of 14 by 14 is a picture, not a list: pointing at a word tells its place, at a place its word."""
    page.goto("/#/file")
    page.wait_for_selector("#views-file", state="attached")
    weights = np.full((2, 196), 0.1 / 195)
    weights[0, 5 * 14 + 3] = weights[1, 0] = 0.9
    picture = io.BytesIO()
    Image.new("RGB", (56, 28), "red").save(picture, "PNG")
    image = f"data:image/png;base64,{base64.b64encode(picture.getvalue()).decode()}"
    columns = {"kind": "grid", "height": 14, "width": 14, "image": image}
    rows = {"kind": "words", "labels": ["cat", "sky"]}
    one = {"name": "cross", "kind": "cross", "rows": rows, "columns": columns, "weights": weights.tolist()}
    boxes = {"kind": "boxes", "boxes": [[0.1, 0.1, 0.2, 0.2], [0.5, 0.5, 0.4, 0.4]], "labels": ["cat", "sky"]}
    _drop(page, json.dumps({"format": "regard-views-1", "views": [one, one | {"name": "boxes", "rows": boxes}]}))
    canvas = page.locator(".patches")
    page.get_by_role("button", name="cat", exact=True).hover()
    _until(page, "document.querySelector('.matrix-readout').textContent.startsWith('cat looks at 6·4 0.900')")
    box = canvas.bounding_box()
    assert box
    assert box["width"] == pytest.approx(2 * box["height"], rel=0.02), "as wide as the picture"
    canvas.hover(position={"x": 0.02 * box["width"], "y": 0.03 * box["height"]})
    _until(page, "document.querySelector('.matrix-readout').textContent.startsWith('1·1 is looked at by sky 0.900')")
    canvas.focus()
    for key in ("ArrowRight", "ArrowDown"):
        canvas.press(key)
    _until(page, "/^[12]·[12] is looked at by/.test(document.querySelector('.matrix-readout').textContent)")
    page.keyboard.press("e")
    assert b"data:image/png" in _saved(page, "SVG")
    page.keyboard.press("Escape")
    page.locator(".look-bar select").select_option("1")
    page.wait_for_selector(".patches >> nth=1")
    seen = page.locator(".patches").first.bounding_box()
    assert seen
    page.locator(".patches").first.hover(position={"x": 0.7 * seen["width"], "y": 0.7 * seen["height"]})
    _until(page, "document.querySelector('.matrix-readout').textContent.startsWith('sky looks at 1·1')")


def test_the_examples_can_be_looked_at(page: "Page") -> None:
    page.goto("/#/file")
    page.get_by_role("button", name="Show an example").click()
    page.wait_for_selector(".word.columns")
    page.get_by_role("button", name="Another file").click()
    page.get_by_role("button", name="An example with a picture").click()
    page.locator(".gaze-words button").nth(3).hover()
    _until(page, "document.querySelector('.matrix-readout').textContent.includes(' looks at ')")


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
        _drop(page, json.dumps(views))
        _until(page, "said => document.querySelector('.drop .problem').textContent.includes(said)", arg=said)
    _drop(page, "attention!")
    _until(page, "document.querySelector('.drop .problem').textContent.includes('no JSON')")


def _translate(page: "Page", **state: str) -> None:
    """Open the room in a state and wait for its translation."""
    query = "&".join(
        f"{key}={quote(value, safe=':@,.')}" for key, value in ({"model": "small", "text": SENTENCE} | state).items()
    )
    page.goto(f"/#/translate?{query}")
    _until(page, "document.querySelector('.look .seconds')")


def _until(page: "Page", true: str, arg: object = None) -> None:
    """Wait for an expression; the browser's own way to wait needs `eval`, which the page forbids."""
    until = monotonic() + PATIENCE
    while not page.evaluate(true, arg):
        assert monotonic() < until, f"waited for {true} in vain; the page says {page.inner_text('main')[:300]!r}"
        page.wait_for_timeout(50)


def _thumb(page: "Page", name: str, head: int) -> "Locator":
    return page.locator(f"button.thumb[data-name='{name}'][data-head='{head}']")


def _saved(page: "Page", label: str) -> bytes:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"as {label}").first.click()
    return waiting.value.path().read_bytes()


def _drop(page: "Page", text: str, onto: str = ".room-file") -> None:
    """Let a file fall onto the page."""
    page.evaluate(
        """([text, onto]) => {
          const held = new DataTransfer();
          held.items.add(new File([text], "views.json", {type: "application/json"}));
          const falls = new DragEvent("drop", {dataTransfer: held, bubbles: true, cancelable: true});
          document.querySelector(onto).dispatchEvent(falls);
        }""",
        [text, onto],
    )


def _views() -> dict[str, Any]:
    rows, columns = ({"kind": "words", "labels": labels} for labels in (["the", "cat"], ["le", "chat"]))
    view = {"name": "layer.0", "kind": "cross", "rows": rows, "columns": columns, "weights": [[0.75, 0.25], [0.2, 0.8]]}
    return {"format": "regard-views-1", "title": "Mine", "views": [view]}
