"""A trace in a notebook: in one piece, without a script, and with nothing to fetch."""

import html
import re

import numpy as np
import pytest
import torch

from regard.attention import Trace, multihead, record
from regard.web.show import Shown, show


def watch(tokens: int = 4, batch: int = 2) -> Trace:
    attn = torch.nn.ModuleDict({"one": multihead(8, 2), "two": multihead(8, 2)})
    x = torch.randn(batch, tokens, 8)
    with record(attn) as trace:
        for each in attn.values():
            each(x)
    return trace


def test_a_notebook_shows_every_head_with_its_words() -> None:
    trace = watch()
    shown = show(trace, rows=["we", "see", "<b>", "sky"], title="A & B")
    assert isinstance(shown, Shown)
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', shown._repr_html_())[1])
    assert page == shown.html()
    assert page.count("<details") == 2
    assert page.count('class="row"') == 8  # of the first head of either attention
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    np.testing.assert_array_equal(shown.views.views[1].weights, trace.weights("two")[0].numpy())


@pytest.mark.parametrize("tokens", [4, 60])
def test_what_is_shown_runs_nothing_and_fetches_nothing(tokens: int) -> None:
    page = show(watch(tokens)).html()
    assert "<script" not in page
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert "url(" not in page
    assert "@import" not in page


def test_many_words_become_pictures_that_stay_small() -> None:
    page = show(watch(300, batch=1)).html()
    assert page.count("data:image/png") == 4
    assert len(page) < 600_000


def test_words_that_do_not_fit_become_numbers_and_examples_are_counted() -> None:
    trace = watch()
    assert show(trace, rows=["too", "few"]).views.views[0].rows.labels == ("0", "1", "2", "3")
    np.testing.assert_array_equal(show(trace, example=1).views.views[0].weights, trace.weights("one")[1].numpy())
    with pytest.raises(ValueError, match="no example 2 in a batch of 2"):
        show(trace, example=2)
    assert [view.name for view in show(trace, names=["two"]).views.views] == ["two"]


def test_an_empty_trace_says_what_to_do() -> None:
    with record(multihead(8, 2)) as trace:
        pass
    with pytest.raises(ValueError, match="inside the scope"):
        show(trace)
