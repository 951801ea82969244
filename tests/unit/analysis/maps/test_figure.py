"""A map as a picture: nothing covers a word, and nothing is fetched from elsewhere."""

import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from regard.analysis.maps.figure import draw, png, svg
from regard.analysis.maps.labels import Box, place_labels

PLACES = np.random.default_rng(0).normal(size=(150, 2)).astype(np.float32)
WORDS = [f"word{i}" for i in range(150)]


def test_words_cover_neither_words_nor_points() -> None:
    drawing = draw(PLACES, words=WORDS)
    boxes = [dot.box for dot in drawing.dots if dot.box]
    assert 20 < len(boxes) == drawing.named <= 150
    assert not any(a.meets(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert not any(
        box.left < dot.x < box.right and box.top < dot.y < box.bottom for dot in drawing.dots for box in boxes
    )
    assert all(box.within(drawing.plot) for box in boxes)


def test_the_first_words_are_placed_first() -> None:
    frame = Box(0.0, 0.0, 200.0, 100.0)
    two = [(50.0, 50.0), (50.0, 50.0)]
    first, second = place_labels(two, ["long enough"] * 2, font=12.0, radius=3.0, frame=frame)
    assert first is not None
    assert second is None or not first.meets(second)
    assert place_labels(two[:1], [""], font=12.0, radius=3.0, frame=frame) == [None]


def test_a_distance_is_as_long_across_as_up() -> None:
    drawing = draw(np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]], np.float32))
    (_, a, b, c) = drawing.dots
    assert a.x - b.x == pytest.approx(c.y - c.y + a.y - b.y)


def test_the_picture_is_well_formed_and_stands_alone() -> None:
    words = ["<b>&\x00", *WORDS[1:]]
    drawn = svg(draw(PLACES, words=words, groups=["a", "b", "c"] * 50, title="T <1>", caption="PCA, 50 %"))
    tree = ET.fromstring(drawn)
    said = "".join(tree.itertext())
    assert "T <1>" in said
    assert "PCA, 50 %" in said
    assert not re.search(r"http(?!://www.w3.org/2000/svg)|href|url\(|<script|nan", drawn)
    assert sum(element.tag.endswith("circle") for element in tree.iter()) == 150 + 3


def test_after_eight_groups_there_are_other_shapes() -> None:
    drawn = svg(draw(PLACES, groups=[f"kind {i % 30}" for i in range(150)]))
    assert "<path" in drawn
    assert "… and 6 more" in drawn


def test_three_dimensions_show_what_is_nearer_larger() -> None:
    places = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    radii = [dot.radius for dot in draw(places).dots]
    assert radii == sorted(radii)
    assert radii[-1] > 1.5 * radii[0]


def test_a_png_is_a_picture() -> None:
    picture = Image.open(io.BytesIO(png(draw(PLACES, words=WORDS, groups=["a", "b"] * 75, title="T"), scale=1)))
    assert picture.width == 960
    assert len(picture.getcolors(100_000) or ()) > 10


def test_one_place_and_places_that_are_all_the_same_can_be_drawn() -> None:
    for places in (np.zeros((1, 2), np.float32), np.zeros((3, 3), np.float32), np.zeros((2, 1), np.float32)):
        assert "nan" not in svg(draw(places))
    with pytest.raises(ValueError, match="2 words are not those of 1 places"):
        draw(np.zeros((1, 2), np.float32), words=["a", "b"])
    with pytest.raises(ValueError, match="give points in 2 or 3 dimensions"):
        draw(np.zeros((3, 4), np.float32))
