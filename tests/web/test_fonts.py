"""A figure carries the fonts of its texts, so that it looks elsewhere as it does on the page."""

import base64
import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from tests.web.hands import painted, save_as, until

if TYPE_CHECKING:
    from playwright.sync_api import Page

SVG = "{http://www.w3.org/2000/svg}"
FACE = re.compile(
    r'@font-face \{ font-family: "([\w ]+)"; (?:font-weight: ([\d ]+); )?'
    r'.*?src: url\("data:font/woff2;base64,([^"]+)"\)'
)
Face = tuple[str, int, int]  # a family, and its weights from and to


def faces(drawing: ElementTree.Element) -> dict[Face, bytes]:
    """The fonts within a drawing."""
    style = drawing.findtext(f"{SVG}style") or ""
    found = {}
    for family, weights, data in FACE.findall(style):
        low, *high = map(int, (weights or "1 1000").split())
        found[family, low, *(high or [low])] = base64.b64decode(data)
    return found


def families(element: ElementTree.Element, family: str = "", weight: str = "400") -> set[tuple[str, int]]:
    """The first family and the weight of every text of a drawing."""
    family, weight = element.get("font-family", family), element.get("font-weight", weight)
    own = {(family.split(",")[0].strip('" '), int(weight))} if (element.text or "").strip() else set()
    below = (families(each, family, weight) for each in element if each.tag != f"{SVG}style")
    return own.union(*below)


@pytest.mark.parametrize(
    ("address", "ready", "most"), [("words?w=king", ".near-list li", 900_000), ("build?step=self", "h1", 500_000)]
)
def test_a_drawing_holds_the_fonts_of_its_texts_and_no_others(
    page: "Page", address: str, ready: str, most: int
) -> None:
    page.goto("about:blank")
    page.goto(f"/#/{address}")
    page.wait_for_selector(ready)
    painted(page)
    page.keyboard.press("e")
    raw = save_as(page, "SVG")
    drawing = ElementTree.fromstring(raw.decode())
    carried, used = faces(drawing), families(drawing)
    assert used, "there are texts"
    for family, weight in used:
        # The serifs end at 600, which is what the page shows, too, where more is asked for.
        able = [low <= weight <= high or low == 600 < weight for name, low, high in carried if name == family]
        assert any(able), (family, weight)
    assert {name for name, *_ in carried} <= {family for family, _ in used} | {"regard math"}
    assert all(data.startswith(b"wOF2") for data in carried.values())
    assert len(raw) < most, "a slide is no place for a library of fonts"


DRAW = """async ([family, text, png]) => {
  const {captioned, png: paint, svgBlob} = await import("/js/export.js");
  const {withFonts} = await import("/js/fonts.js");
  const {svg} = await import("/js/dom.js");
  const words = svg("text", {x: 10, y: 60, "font-size": 40, "font-family": family, fill: "black"}, text);
  const drawn = svg("svg", {viewBox: "0 0 600 100", width: 600, height: 100}, words);
  const whole = await withFonts(captioned(drawn, {caption: "", ground: false}));
  if (!png) return svgBlob(whole).text();
  const reader = new FileReader();
  reader.readAsDataURL(await paint(whole));
  await new Promise((done) => reader.addEventListener("load", done));
  return reader.result.split(",")[1];
}"""


def wide(page: "Page", family: str) -> int:
    """How wide a text is on the PNG of a drawing, in its pixels."""
    picture = Image.open(io.BytesIO(base64.b64decode(page.evaluate(DRAW, [family, "Where do illicit", True]))))
    assert picture.mode == "RGBA"
    inked = np.flatnonzero((np.asarray(picture)[..., 3] > 60).any(axis=0))
    return int(inked[-1] - inked[0])


def test_a_png_is_set_in_the_fonts_of_the_page(page: "Page") -> None:
    page.goto("/#/home")
    until(page, "document.fonts.status === 'loaded'")
    for family in ("regard mono", "regard text", "regard serif"):
        right = page.evaluate(
            """async (family) => {
              await document.fonts.load(`40px "${family}"`);
              const pen = document.createElement("canvas").getContext("2d");
              pen.font = `40px "${family}"`;
              const box = pen.measureText("Where do illicit");
              return box.actualBoundingBoxRight + box.actualBoundingBoxLeft;
            }""",
            family,
        )
        assert wide(page, f'"{family}", serif') == pytest.approx(2 * right, abs=6), family


def test_only_the_letters_that_are_there_ask_for_a_font(page: "Page") -> None:
    page.goto("/#/home")
    wishes = {
        "plain": {"text-latin"},
        "čeština": {"text-latin", "text-latin-ext"},
        "x → α": {"text-latin", "text-greek", "math"},
        "犬": set(),  # no font of the page has it, and the one for mathematics is not carried for nothing
    }
    for text, names in wishes.items():
        raw = page.evaluate(DRAW, ['"regard text", "regard math", sans-serif', text, False])
        sizes = {len(data) for data in re.findall(r"base64,([^\"]+)", raw)}
        files = {4 * -(-len(page.request.get(f"/fonts/{name}.woff2").body()) // 3) for name in names}
        assert sizes == files, text


def test_a_font_that_cannot_be_had_does_not_keep_a_figure_back(page: "Page") -> None:
    page.goto("/#/home")
    page.route("**/fonts/mono-latin.woff2", lambda route: route.fulfill(status=410))
    raw = page.evaluate(DRAW, ['"regard mono", monospace', "plain", False])
    assert "@font-face" not in raw
    assert ">plain</text>" in raw
