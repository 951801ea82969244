"""Views come back from their file the same, and what anybody else wrote is looked at with care."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.analysis import viewfile as module
from regard.analysis.view import Boxes, Grid, Latents, View, Views
from regard.analysis.viewfile import read, schema
from regard.text import Words

DOCS = Path(__file__).parents[3] / "docs/view.schema.json"
LIKE = Words.whole(("a", "b"))


def file(**changes: Any) -> str:
    view = {
        "name": "attn",
        "rows": {"kind": "words", "labels": ["a", "b"]},
        "columns": {"kind": "latents", "count": 3},
        "weights": [[0.5, 0.25, 0.25], [1, 0, 0]],
    } | changes
    return json.dumps({"format": "regard-views-1", "title": "by hand", "views": [view]})


@pytest.mark.parametrize("encoding", ["f16", "f32", "u8"])
@pytest.mark.parametrize(
    "columns",
    [
        Words(("x", "y", "z"), ((0, 1), (2, 2)), ("xy", "z")),
        Grid(1, 3, "data:image/png;base64,iVBORw0KGgo="),
        Grid(1, 2, leading=("[CLS]",)),
        Latents(3),
        Boxes(((0.0, 0.0, 1.0, 1.0),) * 3, ("p", "q", "r")),
        Boxes(((0.0, 0.0, 0.1, 0.1),) * 3, ("p", "q", "r"), ((0.0, 0.5, 1.0),) * 3),
    ],
)
def test_a_view_comes_back_from_its_file(columns: Any, encoding: Any) -> None:
    weights = np.array([[0, 1, 0], [1, 0, 0]], np.float32)
    one = View("attn", LIKE, columns, weights, kind="cross", layer=3, head=1, heads=4, model="m", caption="c")
    found = read(json.dumps(Views("title", (one,)).to_json(encoding)))
    (again,) = found.views
    assert found.title == "title"
    assert (again.name, again.kind, again.layer, again.head, again.heads) == ("attn", "cross", 3, 1, 4)
    assert (again.rows, again.columns, again.model, again.caption) == (LIKE, columns, "m", "c")
    np.testing.assert_array_equal(again.weights, weights)


def test_a_file_written_by_hand_needs_little() -> None:
    (one,) = read(file()).views
    assert (one.kind, one.layer, one.head, one.heads) == ("self", 0, None, 1)
    assert one.weights.tolist() == [[0.5, 0.25, 0.25], [1, 0, 0]]
    (every,) = read(file(weights=[[[0, 1, 0], [1, 0, 0]]] * 4)).views
    assert (every.weights.shape, every.heads) == ((4, 2, 3), 4)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"weights": [[1, 2]]}, "do not fit 2 rows and 3 columns"),
        ({"weights": [[1, 2], [3]]}, r"weights\[1\] is not a row of 2 numbers"),
        ({"weights": [[True, 0, 0], [1, 0, 0]]}, "not a row"),
        ({"weights": [["x", 0, 0], [1, 0, 0]]}, "not a row"),
        ({"weights": []}, "a list of 0"),
        ({"weights": {"href": "http://elsewhere"}}, "nothing is fetched"),
        ({"weights": {"shape": [2, 3], "encoding": "u8", "data": "AAAA"}}, "3 bytes are not the 6"),
        ({"weights": {"shape": [2, 3], "encoding": "u8", "data": "?"}}, "cannot be read"),
        ({"weights": {"shape": [4096, 4096, 4096], "encoding": "u8", "data": ""}}, "one number too many"),
        ({"weights": {"shape": [2, -3], "encoding": "u8", "data": ""}}, "whole number from 1"),
        ({"weights": {"shape": [2, 3], "encoding": "f64", "data": ""}}, "choose u8, f16, f32"),
        (
            {"weights": {"shape": [2, 3], "encoding": "f32", "data": "AACAfwAAgH8AAIB/AACAfwAAgH8AAIB/"}},
            "not all numbers",
        ),
        ({"rows": None}, r"views\[0\]\.rows is None, not an object"),
        ({"rows": {"kind": "cells"}}, "choose words, grid, latents, boxes"),
        ({"rows": {"kind": "words", "labels": ["a", 2]}}, r"labels\[1\] is 2, not a text"),
        ({"rows": {"kind": "words", "labels": ["a", "b"], "words": [[0, 2]]}}, "goes from 0 to 2 among 2 labels"),
        ({"rows": {"kind": "grid", "height": 4096, "width": 4096}}, "at most 4096 are drawn"),
        (
            {"rows": {"kind": "grid", "height": 1, "width": 2, "image": "http://elsewhere"}},
            "carries its picture itself",
        ),
        ({"rows": {"kind": "grid", "height": 1, "width": 2, "image": "data:image/svg+xml,"}}, "carries its picture"),
        ({"rows": {"kind": "boxes", "boxes": [[0, 0, 1]], "labels": ["a"]}}, "four numbers"),
        ({"rows": {"kind": "boxes", "boxes": [[0, 0, 1, 1]], "labels": ["a", "b"]}}, "1 boxes and 2 labels"),
        ({"rows": {"kind": "boxes", "boxes": [[0, 0, 1, 1]], "labels": ["a"], "points": [[0, 1]]}}, "three numbers"),
        ({"rows": {"kind": "boxes", "boxes": [[0, 0, 1, 1]], "labels": ["a"], "points": [[0, 0, 0]] * 2}}, "2 points"),
        ({"head": -1}, "whole number from 0"),
        ({"name": None}, "name is None"),
        ({"kind": "sideways"}, "choose self, causal, cross"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(file(**changes))


@pytest.mark.parametrize("data", ["", "[", "[]", "null", "{}", '{"format": "other"}', "[" * 100_000, b"\xff"])
def test_what_is_no_file_of_views_is_refused(data: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"JSON|format|object"):
        read(data)


def test_a_file_that_is_too_large_is_not_even_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 10)
    with pytest.raises(ValueError, match="more than the 10"):
        read(file())


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["kind", "labels", "shape", "data"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.sampled_from(["name", "rows", "columns", "weights", "head", "layer", "kind", "caption"]), json_values)
def test_whatever_stands_in_a_file_it_is_read_or_refused(name: str, value: Any) -> None:
    with suppress(ValueError):
        assert read(file(**{name: value})).title == "by hand"


def test_the_schema_in_the_docs_is_current() -> None:
    assert DOCS.read_text() == json.dumps(schema(), indent=2) + "\n"


def test_the_schema_takes_what_we_write_and_refuses_what_we_refuse() -> None:
    jsonschema = pytest.importorskip("jsonschema_rs")
    check = jsonschema.validator_for(schema())
    view = View("attn", LIKE, Latents(3), np.zeros((2, 3), np.float32))
    assert check.is_valid(Views("", (view,)).to_json())
    assert check.is_valid(json.loads(file()))
    for wrong in ({"rows": {"kind": "cells"}}, {"kind": "sideways"}, {"weights": "none"}, {"head": -1}):
        assert not check.is_valid(json.loads(file(**wrong)))
