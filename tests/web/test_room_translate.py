"""The translate room in a real browser: what a reader clicks, types and presses, and what the page answers."""

import csv
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np
from PIL import Image
from playwright.sync_api import expect
from tests.web.hands import PATIENCE, answered, becomes, choose_model, save_as, thumb, translate, until

from regard.text import Tokenizer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def test_a_typed_sentence_is_translated_and_drawn(page: "Page") -> None:
    """Nothing is asked while one still writes; then output, lines and the thumbnails of all heads are there."""
    translate(page)
    page.get_by_label("Sentence to translate").fill("La stella verde.")
    page.get_by_label("Sentence to translate").press("Enter")
    until(page, "document.querySelector('.word.columns')?.parentElement.textContent.includes('verde')")
    expect(page.locator(".output .said")).not_to_have_count(0)
    # Two layers of two heads, in encoder, decoder and between them.
    expect(page.locator("button.thumb")).to_have_count(12)
    until(page, "location.hash.includes('verde')")


def test_what_is_written_is_not_lost_to_what_is_chosen_before_it_was_asked(page: "Page") -> None:
    translate(page)
    page.evaluate(
        """() => {
          const field = document.querySelector(".composer");
          field.focus();
          field.value = "La stella verde.";
          field.dispatchEvent(new Event("input", {bubbles: true}));
          field.blur();
          document.querySelector(".tabs [role=tab]:not([aria-selected=true])").click();
        }"""
    )
    until(page, "location.hash.includes('verde') && location.hash.includes('as=')")
    expect(page.locator(".composer")).to_have_value("La stella verde.")


def test_only_translators_are_offered_and_a_link_to_another_model_says_that_it_opens_the_first_of_them(
    page: "Page",
) -> None:
    """A model of another task is replaced by the first translator, and never without a word."""
    translate(page, m="a-classifier")
    expect(page.locator(".notice")).to_contain_text("“a-classifier”, which this server does not have")
    until(page, "location.hash.includes('m=attentive@')")
    page.get_by_role("button", name="Choose another").click()
    titles = ["Untaught additive", "Untaught none", "Untaught transformer", "Untaught transformer"]
    expect(page.locator(".models-name")).to_have_text(titles)


def test_a_chosen_word_shows_where_it_looked(page: "Page") -> None:
    """The word of the output is the row that the lines keep, and the link says so."""
    translate(page)
    page.locator(".output .said").first.click()
    expect(page.locator(".word.rows.on")).to_have_attribute("data-id", "rows-0")
    expect(page.locator(".matrix-readout")).to_contain_text("looks at")
    until(page, "location.hash.includes('at=0')")


def test_pointing_at_a_word_isolates_it(page: "Page") -> None:
    translate(page)
    page.locator(".word.columns").first.hover()
    until(page, "document.querySelector('.matrix-readout').textContent.includes('is looked at by')")
    expect(page.locator(".word.columns.on")).to_have_count(1)


def test_the_matrix_tells_the_number_of_the_cell_that_keys_walk_to(page: "Page") -> None:
    """What is announced for a cell is what the server has for it."""
    translate(page, view="matrix", look="decoder.blocks.1.cross:0", merge="pieces")
    canvas = page.locator(".matrix-canvas")
    canvas.focus()
    with page.expect_response(lambda response: "encoding=f32" in response.url) as exact:
        for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
            canvas.press(key)
    look = exact.value.url.split("/looks/")[1].split("/")[0]
    until(page, "document.querySelector('.matrix-readout output')?.textContent.length > 3")
    place = {"name": "decoder.blocks.1.cross", "head": "0", "rows": "1:2", "columns": "1:2", "encoding": "f32"}
    shown = page.evaluate(
        """async ([look, place]) => {
          const answer = await fetch(`/api/looks/${look}/weights?` + new URLSearchParams(place));
          return new Float32Array(await answer.arrayBuffer())[0];
        }""",
        [look, place],
    )
    until(
        page,
        "wanted => Math.abs(Number(document.querySelector('.matrix-readout output').textContent) - wanted) < 1e-6",
        arg=shown,
    )


def test_a_thumbnail_opens_its_head(page: "Page") -> None:
    translate(page)
    thumb(page, "encoder.blocks.1.attn", 1).click()
    page.wait_for_selector("button.thumb.current[data-name='encoder.blocks.1.attn'][data-head='1']")
    until(page, "location.hash.includes('look=encoder.blocks.1.attn:1')")
    expect(page.locator(".look-name")).to_have_text("encoder.blocks.1.attn")


def test_arrow_keys_walk_over_the_thumbnails_of_all_groups(page: "Page") -> None:
    """From the last layer of one group the arrow leads to the first of the next."""
    translate(page)
    first = page.locator("button.thumb[tabindex='0']")
    first.focus()
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector("button.thumb.current[data-name='decoder.blocks.0.attn'][data-head='1']")


def test_a_head_switched_off_is_marked_and_reset(page: "Page") -> None:
    """Uniform or off, the edit is in the link, in the request and on the thumbnail; reset takes all back."""
    translate(page)
    with page.expect_request(lambda request: request.method == "POST" and "uniform" in (request.post_data or "")):
        thumb(page, "decoder.blocks.0.cross", 1).click(button="right")
        page.get_by_role("menuitemradio", name="Make it uniform").click()
    page.wait_for_selector("button.thumb[data-mark='uniform']")
    until(page, "location.hash.includes('edits=decoder.blocks.0.cross:1:uniform')")
    page.wait_for_selector(".verdict")
    thumb(page, "decoder.blocks.1.cross", 0).focus()
    page.keyboard.press("m")
    page.get_by_role("menuitemradio", name="Switch it off").click()
    page.wait_for_selector("button.thumb[data-mark='off']")
    page.get_by_role("button", name="Reset", exact=True).click()
    until(page, "!document.querySelector('.thumb[data-mark=off], .thumb[data-mark=uniform]')")
    until(page, "!location.hash.includes('edits')")


def test_neurons_show_the_sum_that_becomes_the_score(page: "Page") -> None:
    translate(page, view="neuron", look="decoder.blocks.0.cross:1")
    page.wait_for_selector(".neuron-figure")
    rows = page.locator(".neuron-keys tbody tr")
    rows.nth(1).hover()
    page.wait_for_selector(".neuron-keys tr.on[data-key='1']")
    # A width of 16 in two heads: eight dimensions of query, key and product.
    expect(page.locator(".neuron-figure rect")).to_have_count(3 * 8 + 2)


def test_additive_scores_have_no_neurons_and_the_page_says_why(page: "Page") -> None:
    translate(page, m="attentive", view="neuron", look="decoder.attn:0")
    note = page.locator(".blind-note, .neuron")
    note.first.wait_for()
    until(page, "document.querySelector('.look-stage').textContent.includes('small network')")


def test_the_beam_is_a_tree_with_one_winner(page: "Page") -> None:
    translate(page, view="beam", beam="3")
    page.wait_for_selector(".tree-node")
    kept = page.locator(".tree-node").count()
    page.get_by_label("show what was given up").check()
    until(page, "count => document.querySelectorAll('.tree-node').length > count", arg=kept)
    page.locator(".tree-node").first.focus()
    page.keyboard.press("ArrowRight")
    until(page, "document.querySelector('.matrix-readout').textContent.includes('log probability')")


def test_three_models_stand_side_by_side_and_one_of_them_is_blind(page: "Page") -> None:
    """Another kind of model is added each time: with attention, without it, and nothing but it."""
    translate(page, m="small")
    page.get_by_role("button", name="Compare models").click()
    until(page, "document.querySelectorAll('.look-box').length === 2")
    page.get_by_role("button", name="Add a model").click()
    until(page, "document.querySelectorAll('.look-box').length === 3")
    page.get_by_text("This model has no attention").wait_for()
    until(page, "document.querySelectorAll('.lines').length === 2")
    expect(page.get_by_role("button", name="Add a model")).to_have_count(0)
    page.get_by_role("button", name="Take ").last.click()
    until(page, "document.querySelectorAll('.look-box').length === 2")


def test_the_thumbnails_come_back_after_a_model_that_has_none(page: "Page") -> None:
    translate(page)
    choose_model(page, "Untaught none")
    page.get_by_text("This model has no attention").wait_for()
    expect(page.locator("button.thumb:visible")).to_have_count(0)
    page.get_by_role("button", name="Choose another").first.click()
    page.locator(".models-name", has_text="Untaught transformer").last.click()
    until(page, "document.querySelectorAll('.look-stage .lines').length === 1")
    expect(page.locator("button.thumb:visible")).to_have_count(12)


def test_sentences_of_the_world_come_with_gold_and_error_rates(page: "Page") -> None:
    page.goto("/#/translate?m=small&in=w:it-en-7&force=1&as=matrix")
    page.wait_for_selector(".matrix-canvas")
    expect(page.locator(".others")).to_contain_text("Alignment error of this head")
    page.get_by_label("Next sentence").click()
    until(page, "location.hash.includes('in=w:it-en-8')")
    page.get_by_label("write the reference").uncheck()
    page.get_by_text("The reference says").wait_for()


def test_a_language_is_chosen_where_a_model_writes_several(page: "Page") -> None:
    translate(page, m="many")
    with page.expect_request(lambda request: request.method == "POST" and '"to":"cs"' in (request.post_data or "")):
        page.get_by_label("into").select_option("cs")
    until(page, "location.hash.includes('to=cs')")


def test_a_link_brings_back_everything(page: "Page") -> None:
    """Model, sentence, view, head, word and edits are in the address, and in nothing else."""
    translate(
        page,
        m="small",
        view="matrix",
        look="decoder.blocks.0.cross:1",
        at="0",
        edits="encoder.blocks.0.attn:0:off",
    )
    page.wait_for_selector("button.thumb[data-mark='off'][data-name='encoder.blocks.0.attn']")
    page.wait_for_selector("button.thumb.current[data-name='decoder.blocks.0.cross'][data-head='1']")
    expect(page.locator(".segments.tabs [aria-selected='true']")).to_have_text("Matrix")
    expect(page.locator(".output .said[aria-pressed='true']")).to_have_count(1)


def test_a_link_outlives_the_server(browser: "Browser", start: Any) -> None:
    """What is killed and started again on the same port shows the same sentence, head and edit to the same page."""
    state = "m=small&in=t:La+casa+rossa.&look=decoder.blocks.0.cross:1&edits=encoder.blocks.0.attn:0:off"
    page = browser.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    with start() as first:
        page.goto(f"{first.url}/#/translate?{state}")
        until(page, "document.querySelector('.look .verdict')")
        before = page.locator(".output").inner_text()
    thumb(page, "decoder.blocks.1.cross", 0).click()  # what is asked now, nobody answers
    page.get_by_text("The server does not answer").first.wait_for()
    with start(int(first.url.rsplit(":", 1)[1])):
        page.get_by_text("The server is back").wait_for()
        page.wait_for_selector("button.thumb.current[data-name='decoder.blocks.1.cross'][data-head='0']")
        page.wait_for_selector("button.thumb[data-mark='off'][data-name='encoder.blocks.0.attn']")
        until(page, "before => document.querySelector('.output').innerText === before", arg=before)
        page.close()


def test_undo_goes_back_to_the_head_before(page: "Page") -> None:
    translate(page, look="decoder.blocks.0.cross:0")
    thumb(page, "decoder.blocks.1.cross", 1).click()
    page.wait_for_selector("button.thumb.current[data-name='decoder.blocks.1.cross'][data-head='1']")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector("button.thumb.current[data-name='decoder.blocks.0.cross'][data-head='0']")


def test_what_the_server_forgot_is_asked_again(page: "Page") -> None:
    """A look that has expired is looked again without a word."""
    translate(page, view="matrix")
    gone: list[str] = []

    def forget(route: Any) -> None:
        gone.append(route.request.url)
        route.fulfill(status=410, json={"error": "this look is forgotten; ask again"})

    page.route("**/weights?*encoding=f16*", forget, times=1)
    with page.expect_request(lambda request: request.method == "POST"):
        thumb(page, "encoder.blocks.0.attn", 1).click()
    page.wait_for_selector("button.thumb.current[data-name='encoder.blocks.0.attn'][data-head='1']")
    becomes(page, lambda: len(gone), 1)
    expect(page.locator(".toast-error")).to_have_count(0)


def test_a_sentence_that_is_too_long_is_refused_in_words(page: "Page") -> None:
    page.goto(f"/#/translate?m=small&in=t:{quote('qx' * 900)}")
    page.locator(".look .problem", has_text="512").wait_for()


def test_512_tokens_are_translated_and_seen(page: "Page", zoo: Path) -> None:
    """The longest input there is, from the field to lines, matrix and the thumbnails of all heads."""
    tokenizer, text = Tokenizer.load(zoo / "small/tokenizer.json"), "La casa rossa. " * 100
    while len(tokenizer.encode([text], stop=True)[0]) > 512:
        text = text[:-1]
    page.goto(f"/#/translate?m=small&beam=1&in=t:{quote(text)}")
    answered(page)
    until(page, "document.querySelectorAll('.word').length > 20 && document.querySelectorAll('.thumb').length === 12")
    page.keyboard.press("x")
    page.wait_for_selector(".matrix-key i")
    expect(page.locator(".matrix-canvas")).to_have_attribute("aria-label", re.compile("rows look at"))


def test_figures_and_numbers_leave_as_the_server_has_them(page: "Page") -> None:
    """The SVG names the model, the sentence and the head, the PNG shows something, and the CSV is exact."""
    with page.expect_request(lambda request: "/api/looks/" in request.url) as asked:
        translate(page, view="matrix", look="decoder.blocks.1.cross:1")
    look = asked.value.url.split("/looks/")[1].split("/")[0]
    page.get_by_role("button", name="Export", exact=True).click()
    figure = save_as(page, "SVG").decode()
    words = " ".join(ElementTree.fromstring(figure).itertext())
    assert "decoder.blocks.1.cross, layer 2, head 2" in re.sub(r"\s+", " ", words)
    assert "casa" in words
    with Image.open(io.BytesIO(save_as(page, "PNG"))) as picture:
        assert len(picture.convert("RGB").getcolors(1 << 24) or []) > 50, "there is something to see"
    place = "name=decoder.blocks.1.cross&head=1&encoding=f32&merge=words"
    exact = np.frombuffer(page.request.get(f"/api/looks/{look}/weights?{place}").body(), "<f4")
    header, *rows = csv.reader(io.StringIO(save_as(page, "CSV").decode("utf-8-sig")))
    assert "casa" in header
    assert np.array_equal(np.array([row[1:] for row in rows], float).ravel().astype("f4"), exact)
