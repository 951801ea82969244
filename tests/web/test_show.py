"""A trace in a notebook: the bench in one piece, with nothing to fetch, and pictures where scripts do not run."""

import html
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from playwright.sync_api import expect
from tests.web.hands import PATIENCE

from regard.attention import Trace, multihead, record
from regard.web import show as module
from regard.web.show import Shown, show

if TYPE_CHECKING:
    from playwright.sync_api import Browser


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
    assert "<b>" not in page, "also not among the numbers, where a tag could end the script"
    np.testing.assert_array_equal(shown.views.views[1].weights, trace.weights("two")[0].numpy())


@pytest.mark.parametrize("tokens", [4, 60])
def test_what_is_shown_fetches_nothing(tokens: int) -> None:
    page = show(watch(tokens)).html()
    assert not re.search(r'<[^>]*\s(src|href)="(?!data:)', page)
    assert "url(" not in page
    assert "@import" not in page
    assert page.count("</script>") == 2


def test_a_notebook_has_the_bench_and_its_frame_reaches_nothing_else(browser: "Browser") -> None:
    page = browser.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    said: list[str] = []
    page.on("console", lambda each: said.append(each.text))
    page.on("request", lambda each: said.append(each.url) if each.url.startswith("http") else None)
    page.set_content(show(watch(), rows=["we", "see", "</script>", "sky"])._repr_html_())
    frame = page.frame_locator("iframe")
    expect(frame.locator("button.thumb")).to_have_count(4)
    frame.locator("button.thumb").last.click()
    expect(frame.locator(".look-name")).to_have_text("two")
    frame.get_by_role("tab", name="Matrix").click()
    expect(frame.locator("canvas").last).to_be_visible()
    expect(page.locator("iframe")).to_have_attribute("sandbox", "allow-scripts allow-downloads")
    assert said == []
    page.close()


def test_a_model_of_transformers_is_shown_with_its_tokenizer_and_a_text() -> None:
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {"[UNK]": 0, "the": 1, "dog": 2, "sleeps": 3}
    plain = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=plain, unk_token="[UNK]")
    config = transformers.GPT2Config(vocab_size=4, n_embd=8, n_layer=2, n_head=2, n_positions=16)
    shown = show(transformers.GPT2Model(config), tokenizer, "the dog sleeps")
    assert len(shown.views.views) == 2
    assert shown.views.views[0].rows.labels == ("the", "dog", "sleeps")
    with pytest.raises(TypeError, match="with its tokenizer and a text"):
        show(transformers.GPT2Model(config))


def test_many_words_become_pictures_that_stay_small() -> None:
    page = show(watch(300, batch=1)).html()
    assert page.count('src="data:image/png') == 4
    assert len(page) < 2_000_000


def test_words_that_do_not_fit_become_numbers_and_examples_are_counted() -> None:
    trace = watch()
    assert show(trace, rows=["too", "few"]).views.views[0].rows.labels == ("0", "1", "2", "3")
    np.testing.assert_array_equal(show(trace, example=1).views.views[0].weights, trace.weights("one")[1].numpy())
    with pytest.raises(ValueError, match="no example 2 in a batch of 2"):
        show(trace, example=2)
    assert [view.name for view in show(trace, names=["two"]).views.views] == ["two"]


def test_a_page_holds_as_many_layers_as_their_weights_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = torch.nn.ModuleDict({f"layer{i}": multihead(8, 2) for i in range(32)})
    with record(deep) as trace:
        for each in deep.values():
            each(torch.randn(1, 4, 8))
    assert len(show(trace).views.views) == 32
    monkeypatch.setattr(module, "MOST", 32 * 2 * 4 * 4 - 1)
    with pytest.raises(ValueError, match="32 attentions have more than 1,023 weights, too many for one page; name"):
        show(trace)


def test_an_empty_trace_says_what_to_do() -> None:
    with record(multihead(8, 2)) as trace:
        pass
    with pytest.raises(ValueError, match="inside the scope"):
        show(trace)
