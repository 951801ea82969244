"""A figure needs nothing but itself, says what it shows, and takes no text for anything else."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from regard.analysis.figure import Panel, html, panels, svg
from regard.analysis.reading import Map, Reading
from regard.analysis.view import Latents
from regard.attention import multihead, record

SOURCE, TARGET = ("la", "regina", "canta"), ("the", "queen", "sings", "!")
NAME = "{http://www.w3.org/2000/svg}"


def panel(name: str = "", source: tuple[str, ...] = SOURCE, target: tuple[str, ...] = TARGET) -> Panel:
    weights = np.random.default_rng(0).dirichlet(np.ones(len(source)), len(target)).astype(np.float32)
    return Panel(name, target, source, weights)


def texts(drawn: str, kind: str | None = None) -> list[str]:
    found = ElementTree.fromstring(drawn).iter(f"{NAME}text")
    return [each.text or "" for each in found if kind in (None, (each.get("class") or "").split()[0])]


def test_every_word_stands_at_its_margin_and_every_cell_tells_its_number() -> None:
    one = Panel("", ("queen",), ("la", "regina"), np.array([[0.25, 0.75]], np.float32))
    drawn = svg([one], title="Where it looks", caption="a model")
    assert texts(drawn, "word") == ["la", "regina"]
    assert texts(drawn, "row") == ["queen"]
    assert texts(drawn, "title") == ["Where it looks"]
    assert texts(drawn, "number") == ["25", "75"]
    said = [each.text for each in ElementTree.fromstring(drawn).iter(f"{NAME}title")]
    assert said == ["queen looked at la: 25 %", "queen looked at regina: 75 %"]


def test_more_attention_is_another_colour() -> None:
    one = Panel("", ("x",), ("a", "b", "c"), np.array([[0.0, 0.2, 0.8]], np.float32))
    cells = re.findall(r'</title><rect class="c(\d+)"', svg([one]))
    assert len(cells) == 2, "what is not looked at is not drawn"
    assert 0 < int(cells[0]) < int(cells[1])


def test_small_multiples_share_their_words_and_have_their_names() -> None:
    several = [panel(f"layer {layer}, head {head}") for layer in (0, 1) for head in (0, 1, 2)]
    drawn = svg(several, columns=3)
    assert texts(drawn, "name") == [each.name for each in several]
    assert texts(drawn, "word") == list(SOURCE) * 3  # over the first row
    assert texts(drawn, "row") == list(TARGET) * 2  # beside the first column
    assert len(re.findall('rect class="c0"', svg(several, columns=2))) >= 6


def test_nothing_lies_outside() -> None:
    for drawn, columns in (([panel("one")], None), ([panel("head")] * 5, 3)):
        root = ElementTree.fromstring(svg(drawn, columns=columns, title="t", caption="many words " * 40))
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
        for each in root.iter(f"{NAME}rect"):
            if each.get("class") != "ground":
                assert 0 <= float(each.attrib["x"]) <= float(each.attrib["x"]) + float(each.attrib["width"]) <= width
                assert 0 <= float(each.attrib["y"]) <= float(each.attrib["y"]) + float(each.attrib["height"]) <= height
        for each in root.iter(f"{NAME}text"):
            assert float(each.get("y", 0)) < height


nasty = st.text(min_size=1, max_size=30)


@settings(max_examples=30)
@given(nasty, nasty, nasty, nasty)
def test_any_text_is_only_text(source: str, target: str, name: str, caption: str) -> None:
    hostile = '<script>alert("1")</script>&]]>'
    one = panel(name, (source, hostile), (target,))
    drawn = svg([one, one], title=name + hostile, caption=caption)
    root = ElementTree.fromstring(drawn)
    assert {each.tag.removeprefix(NAME) for each in root.iter()} <= {"svg", "style", "rect", "text", "g", "title"}
    assert "<script" not in drawn
    assert "<script" not in html([one], title=hostile, caption=caption)


def test_it_needs_nothing_from_elsewhere_and_knows_the_night() -> None:
    for drawn in (svg([panel("")]), html([panel("")], title="a page")):
        assert re.findall(r"https?://[^\"]*", drawn) == ["http://www.w3.org/2000/svg"]
        assert not re.search(r"<script|<link|@import|url\(|@font-face", drawn)
        assert "prefers-color-scheme:dark" in drawn
    assert drawn.startswith("<!doctype html>")
    assert "<title>a page</title>" in drawn


def test_a_long_word_is_cut_at_the_margin_but_told_whole() -> None:
    word = "Donaudampfschifffahrtsgesellschaft"
    drawn = svg([panel("", (word, "x"))])
    assert texts(drawn, "word") == ["Donaudampfschifffah…", "x"]
    assert f"looked at {word}:" in drawn


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to draw; give one panel or more"):
        svg([])
    with pytest.raises(ValueError, match="3 words read and 0 written leave nothing to draw"):
        svg([panel("", target=())])
    with pytest.raises(ValueError, match="these panels are about different words"):
        svg([panel(""), panel("", ("x",))])


def test_layers_of_unlike_sizes_are_drawn_one_by_one() -> None:
    class Shrinking(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(multihead(8, 2) for _ in range(2))

        def forward(self, x: Tensor) -> Tensor:
            for layer in self.layers:
                x = layer(x)[:, ::2]
            return x

    with torch.no_grad(), record(model := Shrinking()) as trace:
        model(torch.rand(1, 4, 8))
    axes = {"4": Latents(4), "2": Latents(2)}
    maps = tuple(Map(f"layers.{i}", "self", i, 2, size, size) for i, size in enumerate(axes))
    reading = Reading("shrinking", axes, maps, trace)
    with pytest.raises(ValueError, match=r"layers of different sizes \(4 × 4, 2 × 2\) .*: choose one by --layer"):
        panels(reading)
    assert [panels(reading, layer=layer)[0].weights.shape for layer in (0, 1)] == [(4, 4), (2, 2)]
