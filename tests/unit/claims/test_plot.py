"""Figures are well-formed, tell their marks apart, and put things where the numbers say."""

import math
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.claims.plot import Bars, Heat, Line, Panel, figure

SVG = "{http://www.w3.org/2000/svg}"


def circles(svg: str) -> list[tuple[float, float]]:
    """The markers of the first line, without that of the legend."""
    found = ET.fromstring(svg).iter(f"{SVG}circle")
    return [(float(each.attrib["cx"]), float(each.attrib["cy"])) for each in found]


def test_equal_ratios_are_equally_far_on_a_logarithmic_axis() -> None:
    line = Line("one", [1, 10, 100], [2, 20, 200])
    points = circles(figure("", [Panel("", "", "", [line], log="xy")]))
    (a, b, c) = points
    assert b[0] - a[0] == pytest.approx(c[0] - b[0], abs=0.2)
    assert b[1] - a[1] == pytest.approx(c[1] - b[1], abs=0.2)
    assert a[1] > c[1]


def test_what_a_logarithm_does_not_know_is_left_out() -> None:
    line = Line("one", [1, 2, 3], [0.0, 1.0, 2.0])
    assert len(circles(figure("", [Panel("", "", "", [line], log="y")]))) == 2


def test_a_label_has_one_colour_in_every_panel() -> None:
    one, other = Line("one", [1, 2], [1, 2]), Line("other", [1, 2], [2, 1])
    svg = figure("", [Panel("a", "", "", [one, other]), Panel("b", "", "", [other])])
    assert svg.count('class="line s1"') == 3  # both panels, and the legend
    assert svg.count('class="line s0"') == 2


def test_bars_grow_with_their_numbers_and_may_hang_down() -> None:
    svg = figure(
        "", [Panel("", "", "", [Bars("", [1.0, 2.0, -1.0], [0.5, 1.5, -1.5], [1.5, 2.5, -0.5])], ["a", "b", "c"])]
    )
    bars = [each for each in ET.fromstring(svg).iter(f"{SVG}rect") if each.attrib["class"].startswith("bar")]
    tall = [float(each.attrib["height"]) for each in bars]
    assert tall[1] == pytest.approx(2 * tall[0], abs=0.3)
    assert tall[2] == pytest.approx(tall[0], abs=0.3)
    assert float(bars[2].attrib["y"]) > float(bars[0].attrib["y"])
    assert svg.count('class="whisker"') == 3


def test_cells_of_a_table_are_the_fuller_the_higher_their_number() -> None:
    table = Heat("", "", "", [[0.0, 5.0, 10.0], [20.0, -3.0, math.nan]], ["a", "b"], ["c", "d", "e"], bounds=(0, 10))
    svg = figure("", [table])
    cells = [each for each in ET.fromstring(svg).iter(f"{SVG}rect") if "fill-opacity" in each.attrib]
    assert [float(each.attrib["fill-opacity"]) for each in cells] == [0, 0.5, 1, 1, 0]  # held to the bounds, no NaN
    places = [(float(each.attrib["x"]), float(each.attrib["y"])) for each in cells]
    assert places[0][0] == places[3][0] < places[1][0] < places[2][0]
    assert places[0][1] == places[1][1] < places[3][1]
    assert ">-3.00<" in svg
    assert ">nan<" not in svg


def test_a_figure_is_dark_where_the_screen_is() -> None:
    svg = figure("", [Panel("", "", "", [Line("one", [1], [1])])])
    assert "@media(prefers-color-scheme:dark)" in svg


def test_words_cannot_break_the_figure() -> None:
    svg = figure("a < b & c", [Panel("<", "&", '"', [Line("<script>", [1, 2], [1, 2]), Line("b", [1], [1])])], "n > 0")
    assert "a < b & c" in [each.text for each in ET.fromstring(svg).iter(f"{SVG}text")]


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=6),
    st.sampled_from(["", "x", "y", "xy"]),
)
def test_any_numbers_make_a_figure_within_its_frame(values: list[float], log: str) -> None:
    line = Line("one", list(range(1, len(values) + 1)), values)
    svg = figure("", [Panel("", "", "", [line], log=log)])
    assert not re.search(r"\b(nan|inf)\b", svg)
    assert all(0 <= x <= 960 and 0 <= y <= 470 for x, y in circles(svg))
