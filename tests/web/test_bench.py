"""The bench in a real browser: heads together and apart, edits by row and column, visible waiting, honest models."""

import base64
import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect
from tests.web.hands import (
    address,
    answered,
    becomes,
    drop,
    open_file,
    painted,
    resize,
    save_as,
    thumb,
    translate,
    until,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

CROSS = "decoder.blocks.1.cross"
WORDS = ["[CLS]", "the", "cat", "sat", ".", "[SEP]", "it", "slept", ",", "too", ".", "[SEP]"]
# An answer that comes as the page is told to let it come: two words, and then nothing until `window.go`.
SLOWLY = """() => {
  const plain = window.fetch;
  window.asked = [];
  window.fetch = async (address, init) => {
    if (!String(address).endsWith("api/ask")) return plain(address, init);
    window.asked.push(JSON.parse(init.body));
    init.signal?.addEventListener("abort", () => (window.gaveUp = true));
    const letters = new TextEncoder();
    const said = (told) => letters.encode(JSON.stringify(told) + "\\n");
    const body = new ReadableStream({
      start(line) {
        line.enqueue(said({event: "queued", before: 2}));
        line.enqueue(said({event: "step", done: 2, of: 9, text: "two words"}));
        init.signal?.addEventListener("abort", () => line.error(new DOMException("", "AbortError")));
        window.go = async () => {
          const found = await (await plain(address, init)).text();
          line.enqueue(letters.encode(found));
          line.close();
        };
      },
    });
    return new Response(body, {headers: {"Content-Type": "application/x-ndjson"}});
  };
}"""


def _packed(weights: np.ndarray) -> dict[str, Any]:
    data = base64.b64encode(weights.astype("<f4").tobytes()).decode()
    return {"shape": list(weights.shape), "encoding": "f32", "data": data}


def _file(layers: int = 12, heads: int = 12, axis: dict[str, Any] | None = None) -> dict[str, Any]:
    """Attention of a model with so many layers and heads over a pair of sentences, or over another axis."""
    words = axis or {"kind": "words", "labels": WORDS, "special": [word.startswith("[") for word in WORDS]}
    count = len(words["labels"]) if "labels" in words else words["height"] * words["width"] + len(words["leading"])
    weights = np.random.default_rng(0).dirichlet(np.full(count, 0.3), (layers, heads, count))
    views = [
        {"name": f"layer.{i}", "layer": i, "rows": words, "columns": words, "weights": _packed(each)}
        for i, each in enumerate(weights)
    ]
    return {"format": "regard-views-1", "title": "Mine", "views": views}


def _box(page: "Page", what: str) -> dict[str, float]:
    found = page.locator(what).first.bounding_box()
    assert found, f"{what} is not seen"
    return {"x": found["x"], "y": found["y"], "width": found["width"], "height": found["height"]}


def _paths(page: "Page") -> int:
    """How many ribbons there are, in the figure that is taken away."""
    page.keyboard.press("e")
    count = save_as(page, "SVG").count(b"<path")
    page.keyboard.press("Escape")
    return count


def test_waiting_is_seen_and_the_answer_before_is_dimmed_until_the_words_are_there(page: "Page") -> None:
    translate(page)
    before = page.locator(".output").inner_text()
    page.evaluate(SLOWLY)
    page.get_by_label("Sentence to translate").fill("La stella verde.")
    page.locator(".streaming", has_text="two words").wait_for()
    expect(page.locator(".progress-line")).to_contain_text("2 of 9")
    expect(page.locator(".clock")).to_have_text(re.compile(r"\d\.\d s"))
    assert page.locator(".output").inner_text() == before
    until(page, "Number(getComputedStyle(document.querySelector('.look-answer')).opacity) < 0.6")
    page.evaluate("window.go()")
    answered(page)
    expect(page.locator(".streaming:visible")).to_have_count(0)
    until(page, "Number(getComputedStyle(document.querySelector('.look-answer')).opacity) === 1")
    until(page, "document.querySelector('.word.columns').parentElement.textContent.includes('stella')")


def test_a_question_is_cancelled_and_can_be_asked_again(page: "Page") -> None:
    """To cancel closes the line, which ends the work on the server."""
    translate(page)
    page.evaluate(SLOWLY)
    page.get_by_label("Sentence to translate").fill("La stella verde.")
    page.get_by_role("button", name="Cancel").click()
    until(page, "window.gaveUp")
    expect(page.locator(".look .problem")).to_have_text(re.compile(r"^Stopped after \d+\.\d s"))
    expect(page.locator(".look"), "what is shown is not what was asked").to_have_class(re.compile(r"\bold\b"))
    page.get_by_role("button", name="Ask again").click()
    until(page, "window.asked.length === 2")
    page.evaluate("window.go()")
    until(page, "document.querySelector('.word.columns').parentElement.textContent.includes('stella')")
    expect(page.locator(".look .problem:visible")).to_have_count(0)


def test_a_text_is_never_cut_without_a_word(page: "Page") -> None:
    translate(page)
    text = "parola " * 2000
    field = page.get_by_label("Sentence to translate")
    field.fill(text)
    page.get_by_text("14,000 characters, and at most 10,000").wait_for()
    expect(field).to_have_value(text)
    expect(page.locator(".look")).to_have_class(re.compile(r"\bold\b"))
    field.fill("La casa rossa.")
    until(page, "!document.querySelector('.look.old, .bench-says .problem:not([hidden])')")


def test_a_link_names_model_revision_and_input_from_the_first_moment(page: "Page") -> None:
    """Another server opens the same, or says that it cannot."""
    page.goto("about:blank")
    page.goto("/#/translate")
    answered(page)
    until(page, "/m=attentive@[0-9a-f]{8}&in=w:it-en-7/.test(location.hash)")
    expect(page.locator(".notice")).to_have_count(0)
    page.goto("about:blank")
    page.goto("/#/translate?m=small@00000000&in=t:La+casa.")
    page.locator(".notice", has_text="revision 00000000 of Untaught transformer; this server has").wait_for()
    page.goto("about:blank")
    page.goto("/#/translate?m=unheard-of&in=t:La+casa.")
    page.locator(".notice", has_text="“unheard-of”, which this server does not have").wait_for()
    page.goto("about:blank")
    page.goto("/#/translate?m=small,fixed,attentive,many&in=t:La+casa.")
    page.locator(".notice", has_text="at most 3 stand side by side; many is left out").wait_for()


def test_the_picture_says_who_looks_at_whom(page: "Page") -> None:
    """Who looks stands above or on the left, as in BertViz and in Build up."""
    for width in (1440, 420):
        resize(page, width, 900)
        translate(page)
        page.wait_for_selector(".lines.upright .word.rows" if width == 420 else ".lines:not(.upright) .word.rows")
        painted(page)
        looks, looked = (_box(page, f".lines-way.{way}") for way in ("from", "to"))
        row, column = (_box(page, f".word.{side}") for side in ("rows", "columns"))
        side = "x" if width == 420 else "y"
        assert looks[side] < looked[side]
        assert row[side] < column[side], "the words that look stand under “looks at”"
        expect(page.locator(".lines-way.from")).to_contain_text("looks at")


def _changed(page: "Page", **facts: object) -> None:
    """Let the cards say something else."""

    def about(route: "Route") -> None:
        found = route.fetch().json()
        for model in found["models"]:
            model |= facts
        route.fulfill(json=found)

    page.route("**/api/about", about)


def test_what_a_model_knows_and_can_be_asked_stands_under_the_input(page: "Page") -> None:
    _changed(
        page, knows="captions of photographs", takes="text in Italian", examples=["Due cani corrono.", "Un gatto."]
    )
    translate(page)
    expect(page.locator(".knows")).to_contain_text("Knows captions of photographs; takes text in Italian")
    page.get_by_role("button", name="Un gatto.").click()
    until(page, "document.querySelector('.composer').value === 'Un gatto.'")
    until(page, "location.hash.includes('in=t:Un+gatto.')")
    expect(page.locator(".knows .chip"), "what is asked needs no chip").to_have_text(["Due cani corrono."])


def test_warnings_of_an_answer_stand_under_the_input(page: "Page") -> None:
    def careful(route: "Route") -> None:
        *before, last = route.fetch().text().splitlines()
        warning = {"kind": "unknown", "text": "Some words are strange to this model:", "words": ["rossa"]}
        answer = json.loads(last) | {"warnings": [warning]}
        route.fulfill(body="\n".join([*before, json.dumps(answer)]), content_type="application/x-ndjson")

    page.route("**/api/ask", careful)
    translate(page)
    expect(page.locator(".warning")).to_have_text("Some words are strange to this model: rossa")
    expect(page.locator(".word.columns.odd"), "and are marked where they stand").to_have_text("rossa")


def test_the_world_is_offered_only_to_models_that_know_it_and_gold_only_where_it_is_drawn(page: "Page") -> None:
    translate(page, given="w:it-en-7")
    page.get_by_text("The reference says").wait_for()
    expect(page.locator(".key-gold"), "the model did not write the reference").to_have_count(0)
    page.get_by_label("write the reference").check()
    page.locator(".key-gold").wait_for()
    _changed(page, data="multi30k", examples=["Due cani corrono."])
    translate(page)
    expect(page.get_by_role("button", name="A sentence of the world")).to_have_count(0)
    page.unroute("**/api/about")
    translate(page)
    page.get_by_role("button", name="A sentence of the world").wait_for()


def test_the_tag_of_a_language_is_one_token_and_counts(page: "Page") -> None:
    translate(page, m="many", given="w:it-en-7", force="1")
    expect(page.locator(".word.columns").first).to_have_text("[en]")
    expect(page.locator(".others")).to_contain_text("looks most at the language tag [en] counts as an error")


@pytest.mark.parametrize(("layers", "heads"), [(12, 12), (24, 16)])
def test_an_overview_of_many_heads_fits_and_has_numbers(page: "Page", layers: int, heads: int) -> None:
    resize(page, 1280, 800)
    open_file(page, _file(layers, heads))
    expect(page.locator("button.thumb")).to_have_count(layers * heads)
    painted(page)
    grid, room = (_box(page, name) for name in (".overview-grid", ".look-heads"))
    assert grid["x"] + grid["width"] <= room["x"] + room["width"] + 1
    assert grid["height"] < 660
    edges = [*map(str, range(1, heads + 1)), *map(str, range(1, layers + 1))]
    expect(page.locator(".edge")).to_have_text(edges)


def test_heads_are_chosen_by_dragging_and_shown_in_colours_or_as_their_mean(page: "Page") -> None:
    """From head 2 of layer 1 to head 3 of layer 2: four heads. Their mean is the mean of their numbers."""
    file = _file(3, 4)
    open_file(page, file, look="layer.0:0")
    painted(page)
    start, end = (_box(page, f".thumb[data-name='layer.{i}'][data-head='{j}']") for i, j in ((0, 1), (1, 2)))
    page.mouse.move(start["x"] + 9, start["y"] + 9)
    page.mouse.down()
    page.mouse.move(end["x"] + 9, end["y"] + 9, steps=4)
    page.mouse.up()
    until(page, "document.querySelectorAll('.thumb.current').length === 4")
    until(page, "location.hash.includes('look=layer.0:1,layer.0:2,layer.1:1,layer.1:2')")
    hue = "all => all.map((one) => one.style.getPropertyValue('--hue'))"
    becomes(page, lambda: len(set(page.locator(".thumb.current").evaluate_all(hue))), 2)  # a colour for each
    page.get_by_role("group", name="Several heads").get_by_text("mean").click()
    until(page, "location.hash.includes('mix=mean')")
    page.keyboard.press("e")
    _, *rows = csv.reader(io.StringIO(save_as(page, "CSV").decode("utf-8-sig")))
    page.keyboard.press("Escape")
    all_heads = [np.frombuffer(base64.b64decode(view["weights"]["data"]), "<f4") for view in file["views"][:2]]
    wanted = np.stack([each.reshape(4, len(WORDS), -1)[1:3] for each in all_heads]).mean((0, 1))
    assert np.allclose(np.array([row[1:] for row in rows], float), wanted, atol=1e-6)


def test_a_click_on_a_colour_adds_a_head_and_a_double_click_leaves_it_alone(page: "Page") -> None:
    translate(page, look=f"{CROSS}:0")
    page.locator(".head-chip").nth(1).click()
    until(page, f"location.hash.includes('look={CROSS}:0,{CROSS}:1')")
    expect(page.locator(".head-chip[aria-pressed='true']")).to_have_count(2)
    page.locator(".head-chip").nth(1).dblclick()
    until(page, f"location.hash.endsWith('look={CROSS}:1')")
    page.keyboard.press("[")
    until(page, f"location.hash.includes('look={CROSS}:0')")


def test_the_mean_of_some_heads_is_what_the_server_says(page: "Page") -> None:
    with page.expect_request(lambda request: "/weights?" in request.url and "head=mean" in request.url):
        translate(page, look=f"{CROSS}:0,{CROSS}:1", mix="mean", view="matrix")


def test_a_threshold_leaves_the_strong_ribbons(page: "Page") -> None:
    open_file(page, _file(1, 1))
    page.wait_for_selector(".word.rows")
    painted(page)
    many = _paths(page)
    page.get_by_label("Draw weights from").fill("0.3")
    until(page, "location.hash.includes('min=0.3')")
    painted(page)
    assert _paths(page) < many


def test_special_tokens_and_punctuation_can_be_hidden(page: "Page") -> None:
    open_file(page, _file(1, 2))
    page.get_by_label("hide special tokens").check()
    page.get_by_label("hide punctuation").check()
    seen = ["the", "cat", "sat", "it", "slept", "too"]
    expect(page.locator(".word.rows")).to_have_text(seen)
    expect(page.locator(".word.columns")).to_have_text(seen)
    page.locator(".word.rows", has_text="slept").click()
    until(page, f"location.hash.includes('at={WORDS.index('slept')}')")
    page.keyboard.press("x")
    canvas = page.locator(".matrix-canvas")
    canvas.focus()
    canvas.press("ArrowDown")
    until(page, "document.querySelector('.matrix-readout').textContent.startsWith('the looks at the with')")


def test_a_pair_of_sentences_is_looked_at_from_the_first_to_the_second(page: "Page") -> None:
    open_file(page, _file(1, 2))
    page.get_by_label("sentences").select_option("ab")
    expect(page.locator(".word.rows")).to_have_text(WORDS[:6])
    expect(page.locator(".word.columns")).to_have_text(WORDS[6:])


def test_a_layer_or_a_column_is_switched_off_and_the_page_says_so(page: "Page") -> None:
    """By the numbers on the edges, and by a menu that can be seen and touched."""
    translate(page, look=f"{CROSS}:0")
    page.locator(".edge[aria-label='Layer 2, all heads']").first.click(button="right")
    with page.expect_request(lambda request: '"head":null,"kind":"off"' in (request.post_data or "")):
        page.get_by_role("menuitemradio", name="Switch them off").click()
    until(page, f"location.hash.includes('edits={CROSS}:*:off')")
    page.get_by_text("This head is switched off.").wait_for()
    expect(page.locator(".lines"), "no empty figure").to_have_count(0)
    page.get_by_role("button", name="Switch it on again").click()
    page.wait_for_selector(".lines")
    until(page, "!location.hash.includes('edits')")
    page.locator(".edge[aria-label='Head 2 of all layers']").first.click()
    until(page, "document.querySelectorAll('.thumb.current').length === 2")
    page.locator(".overview-more").first.click()
    page.get_by_role("menuitemradio", name="Make them uniform").click()
    heads = "[...document.querySelectorAll('.thumb[data-mark=uniform]')].map((one) => one.dataset.head)"
    becomes(page, lambda: page.evaluate(heads), ["1", "1"])


def test_a_model_of_one_head_can_be_edited(page: "Page") -> None:
    translate(page, m="attentive")
    page.locator(".overview-more").click()
    page.get_by_role("menuitemradio", name="Make it uniform").click()
    page.wait_for_selector(".thumb[data-mark='uniform']")
    page.wait_for_selector(".verdict")


def test_models_side_by_side_have_their_own_heads_and_edits_and_whole_titles(page: "Page") -> None:
    translate(page, m="small,many")
    until(page, "document.querySelectorAll('.look-box .overview').length === 2")
    second = page.locator(".look-box").nth(1)
    second.locator(".thumb[data-name='encoder.blocks.0.attn'][data-head='1']").click(button="right")
    page.get_by_role("menuitemradio", name="Switch it off").click()
    until(page, "location.hash.includes('edits=;encoder.blocks.0.attn:1:off')")
    second.locator(".verdict").wait_for()
    expect(page.locator(".look-box").first.locator(".verdict")).to_have_count(0)
    wide = """[...document.querySelectorAll('.model b')]
      .filter((one) => one.scrollWidth > one.parentElement.clientWidth + 1).map((one) => one.textContent)"""
    becomes(page, lambda: page.evaluate(wide), [])


def test_the_figure_of_a_matrix_has_numbers_axes_direction_and_scale(page: "Page") -> None:
    translate(page, view="matrix", look=f"{CROSS}:0")
    page.wait_for_selector(".matrix-key i")
    page.keyboard.press("e")
    words = [text.strip() for text in ElementTree.fromstring(save_as(page, "SVG").decode()).itertext()]
    assert {"looks ↓", "at →", "weight 0", "casa"} <= set(words)
    assert any(re.fullmatch(r"0?\.\d\d", word) for word in words), "the numbers of the cells"


# Texts of a drawing that reach beyond it.
OUTSIDE = """async () => {
  await document.fonts.ready;
  const whole = document.querySelector("svg").getBoundingClientRect();
  const found = [...document.querySelectorAll("text")].filter((each) => {
    const box = each.getBoundingClientRect();
    return box.left < whole.left - 1 || box.right > whole.right + 1 || box.bottom > whole.bottom + 1;
  });
  return found.map((each) => each.textContent);
}"""


def test_a_figure_is_transparent_unless_its_ground_is_wished_and_no_word_is_cut_off(page: "Page") -> None:
    def corner() -> int:
        with Image.open(io.BytesIO(save_as(page, "PNG"))) as picture:
            return picture.convert("RGBA").getpixel((0, 0))[3]

    said = "the big red house stands before the small old church in the middle of the town"
    for view in ("lines", "matrix"):
        translate(page, view=view, given="t:La grande casa rossa sta davanti alla chiesa.", force=said, merge="pieces")
        page.keyboard.press("e")
        alone = page.context.new_page()
        alone.set_content(save_as(page, "SVG").decode())
        assert alone.evaluate(OUTSIDE) == []
        alone.close()
        assert corner() == 0
        page.get_by_label("with the page's ground").check()
        assert corner() == 255
        page.keyboard.press("Escape")


def test_a_word_that_is_longer_than_its_place_is_shortened_in_the_figure_and_told_whole(page: "Page") -> None:
    long = "casa" * 30
    translate(page, given=f"t:La grande {long}.")
    page.keyboard.press("e")
    figure = save_as(page, "SVG").decode()
    titles = [each.text for each in ElementTree.fromstring(figure).iter("{http://www.w3.org/2000/svg}title")]
    assert any(long in str(each) for each in titles)
    alone = page.context.new_page()
    alone.set_content(figure)
    assert alone.evaluate(OUTSIDE) == []
    assert alone.evaluate("[...document.querySelectorAll('text')].some(each => each.firstChild.data.endsWith('…'))")
    alone.close()


def test_a_long_name_leans_over_those_behind_it_and_stays_in_the_figure(page: "Page") -> None:
    axis = {
        "kind": "words",
        "labels": [
            "the",
            "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
            "is",
            "a",
            "law",
        ],
    }
    open_file(page, _file(1, 2, axis), view="matrix")
    page.wait_for_selector(".matrix-key i")
    page.keyboard.press("e")
    assert _cut_off(page, save_as(page, "SVG")) == []


def test_on_a_phone_the_scale_and_the_key_to_the_heads_fit_the_figure(page: "Page") -> None:
    resize(page, 320, 700)
    looks = [f"decoder.blocks.{layer}.cross:{head}" for layer in (0, 1) for head in (0, 1)]
    translate(page, look=",".join(looks))
    page.wait_for_selector(".word.rows")
    painted(page)
    page.keyboard.press("e")
    figure = save_as(page, "SVG")
    assert figure.count(b">layer ") == 4
    assert _cut_off(page, figure) == []


def _cut_off(page: "Page", figure: bytes) -> list[str]:
    """The texts of a figure that reach beyond it."""
    alone = page.context.new_page()
    alone.set_content(figure.decode())
    found: list[str] = alone.evaluate(OUTSIDE)
    alone.close()
    return found


def test_ten_megabytes_of_text_get_one_sentence_and_stay_as_they_are(page: "Page") -> None:
    translate(page)
    text = "parola " * 1_500_000
    page.get_by_label("Sentence to translate").fill(text)
    page.get_by_text("10,500,000 characters, and at most 10,000 are read").wait_for()
    expect(page.locator(".bench-says .problem:visible")).to_have_count(1)
    assert page.evaluate("document.querySelector('.composer').value.length") == len(text)
    open_file(page, _file(1, 2))
    drop(page, text)
    page.get_by_text("This is no JSON").wait_for()
    expect(page.get_by_text("This is no JSON")).to_have_count(1)


def test_neurons_and_beam_leave_with_numbers_of_their_own(page: "Page") -> None:
    translate(page, view="neuron", look=f"{CROSS}:0")
    page.wait_for_selector(".neuron-figure")
    page.keyboard.press("e")
    header, *rows = csv.reader(io.StringIO(save_as(page, "CSV").decode("utf-8-sig")))
    assert header[:3] == ["key", "score", "weight"]
    assert len(header) == 3 + 8, "a product for each of eight dimensions"
    assert sum(float(row[2]) for row in rows) == pytest.approx(1, abs=1e-3)
    assert set(json.loads(save_as(page, "JSON"))) >= {"q", "keys", "products", "scores", "weights"}
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    page.wait_for_selector(".tree-node")
    page.keyboard.press("e")
    header, *rows = csv.reader(io.StringIO(save_as(page, "CSV").decode("utf-8-sig")))
    assert header == ["id", "parent", "step", "piece", "log probability", "kept", "place"]
    assert len(rows) == len(json.loads(save_as(page, "JSON"))["nodes"]) > 3


def test_a_matrix_of_200_words_uses_the_width_it_has(page: "Page") -> None:
    axis = {"kind": "words", "labels": [f"word{i}" for i in range(200)]}
    open_file(page, _file(1, 2, axis), view="matrix")
    canvas = page.locator(".matrix-canvas")
    page.wait_for_selector(".matrix-key i")
    painted(page)
    box = canvas.bounding_box()
    assert box
    canvas.hover(position={"x": box["width"] - 60, "y": box["height"] / 2})
    until(page, "/looks at word19\\d with/.test(document.querySelector('.matrix-readout').textContent)")
    canvas.hover(position={"x": 160, "y": box["height"] / 2})
    until(page, "/looks at word1?\\d with/.test(document.querySelector('.matrix-readout').textContent)")


def test_ribbons_that_lead_out_of_sight_say_where_and_lead_there(page: "Page") -> None:
    axis = {"kind": "words", "labels": [f"word{i}" for i in range(200)]}
    open_file(page, _file(1, 1, axis))
    page.locator(".word.rows").nth(3).click()
    down = page.locator(".lines-edge.down")
    expect(down).to_have_text(re.compile(r"^↓ word\d+ 0\.\d+ and \d+ more"))
    said = re.match(r"↓ (word\d+)", down.inner_text())
    assert said
    down.click()
    until(page, "document.querySelector('.lines-scroll').scrollTop > 100")
    there = "name => [...document.querySelectorAll('.word.columns')].some((one) => one.textContent === name)"
    until(page, there, said[1])


def test_a_grid_with_leading_tokens_is_seen_as_lines_and_as_a_matrix(page: "Page") -> None:
    """A ViT has a [CLS] before its 14 by 14 places."""
    file = _file(2, 3, {"kind": "grid", "height": 14, "width": 14, "leading": ["[CLS]"]})
    open_file(page, file, view="lines")
    expect(page.locator(".word.rows").first).to_have_text("[CLS]")
    expect(page.locator(".word.rows").nth(1)).to_have_text("1·1")
    page.get_by_role("tab", name="Matrix").click()
    canvas = page.locator(".matrix-canvas")
    canvas.focus()
    for key in ("ArrowDown", "ArrowRight"):
        canvas.press(key)
    until(page, "document.querySelector('.matrix-readout').textContent.startsWith('[CLS] looks at 1·1 with')")


def test_a_bad_file_over_an_open_one_says_its_error_once(page: "Page") -> None:
    open_file(page, _file(1, 2))
    page.wait_for_selector(".word.rows")
    for _ in range(5):
        drop(page, "attention!")
    page.get_by_text("This is no JSON").first.wait_for()
    painted(page)
    expect(page.get_by_text("This is no JSON")).to_have_count(1)
    expect(page.locator(".word.rows"), "and the open one stays").to_have_count(len(WORDS))
    drop(page, json.dumps(_file(2, 2)))
    until(page, "document.querySelectorAll('.thumb').length === 4")
    expect(page.get_by_text("This is no JSON")).to_be_hidden()


def test_a_link_opens_a_file_again_here_and_says_elsewhere_what_is_missing(page: "Page") -> None:
    file = _file(3, 2)
    open_file(page, file, look="layer.1:1")
    until(page, "location.hash.includes('in=f:')")
    page.locator(".thumb[data-name='layer.2'][data-head='1']").click()
    until(page, "location.hash.includes('look=layer.2:1')")
    link = page.evaluate("location.hash")
    page.goto("about:blank")
    page.goto(f"/{link}")
    page.wait_for_selector(".thumb.current[data-name='layer.2'][data-head='1']")
    expect(page.locator(".file-top h2")).to_have_text("Mine")
    # The same in a browser that does not have it.
    page.evaluate("new Promise((done) => (indexedDB.deleteDatabase('regard').onsuccess = done))")
    page.goto("about:blank")
    page.goto(f"/{link}")
    page.get_by_text("that this browser does not have").wait_for()
    page.wait_for_selector(".drop")
    drop(page, json.dumps(file))
    page.wait_for_selector(".thumb.current[data-name='layer.2'][data-head='1']")


def test_layers_and_heads_of_a_file_are_chosen_by_name_number_and_key(page: "Page") -> None:
    open_file(page, _file(12, 12))
    page.locator(".look-bar select").first.select_option("layer.4")
    until(page, "location.hash.includes('look=layer.4:mean')")
    page.keyboard.press("]")
    until(page, "location.hash.includes('look=layer.4:0')")
    expect(page.locator(".look-name")).to_have_text("layer.4")
    expect(page.locator(".overview-more"), "what is only looked at cannot be switched off").to_have_count(0)
    page.locator(".look-bar select").nth(1).select_option("mean")
    until(page, "document.querySelectorAll('.thumb.current').length === 12")


def test_old_keys_of_a_link_are_no_trouble(page: "Page") -> None:
    page.goto("about:blank")
    page.goto(f"/#/translate?{address(model='small', text='La casa', view='nonsense', look='nobody:7', at='zz')}")
    answered(page)
    expect(page.locator(".segments.tabs [aria-selected='true']")).to_have_text("Lines")
    expect(thumb(page, "decoder.attn", 0), "the first translator").to_have_count(1)
