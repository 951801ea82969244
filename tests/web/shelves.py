"""Small models of words and pictures that have learnt nothing, in folders; and a window onto a server that has them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch
from tests.web.conftest import SIZE, Server, Watched, _foreign, _said, serving
from tests.web.hands import PATIENCE, address, answered, until
from tests.web.test_page_frame import CONTRAST

from regard.data.captions import captioned
from regard.hub import save
from regard.models import build
from regard.models.clip import PRESETS as CLIP
from regard.models.dalle import PRESETS as DALLE
from regard.models.family import family
from regard.models.unclip import PRESETS as UNCLIP
from regard.recipes.paint import phrases_of
from regard.text import Tokenizer
from regard.vision import Processor, Size
from regard.web.models import Models
from regard.web.pictures import Pictures
from regard.web.state import AppState
from regard.web.worker import Worker

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CAPTIONS = [text for (text,) in captioned("world/1-4", limit=200).captions]
ABOUT = {"data": "world", "knows": "nothing yet", "examples": ["world:7", "world:12"]}
KEPT = "([key, value]) => new URLSearchParams(location.hash.split('?')[1]).get(key) === value"


def save_captioners(shelf: Path) -> Path:
    """One that gets a vector of the picture, and two that look."""
    words = Tokenizer.train(CAPTIONS, vocab=500)
    for name, way in (("a-soft", "soft"), ("b-transformer", "transformer"), ("c-fixed", "fixed")):
        torch.manual_seed(0)
        model = build("caption-nano", way=way, vocab=words.vocab)
        _decide(model)
        card = ABOUT | {"task": "caption", "title": f"Untaught {way}"}
        processor = Processor(size=Size(height=32, width=32))
        save(shelf / name, model, family=family("caption"), card=card, tokenizer=words, processor=processor)
    return shelf


def save_matchers(shelf: Path) -> Path:
    """One that chooses among texts, and one that judges each by itself."""
    words = Tokenizer.train(CAPTIONS, kind="words", vocab=200)
    for name, alone in (("a-clip", False), ("b-siglip", True)):
        torch.manual_seed(0)
        text: Any = CLIP["clip-nano"].text
        model = build("clip-nano", bias=alone, text=replace(text, vocab=max(words.vocab, text.vocab)))
        card = ABOUT | {"task": "match", "title": f"Untaught {name[2:]}"}
        save(shelf / name, model, family=family("clip"), card=card, tokenizer=words)
    return shelf


def save_painters(shelf: Path) -> Path:
    """One that takes noise out, one that writes tokens, and one that looks at a vector."""
    words = Tokenizer.train(phrases_of(), vocab=1000, kind="words", lower=True)
    nano, clip = DALLE["dalle-nano"], UNCLIP["unclip-nano"].clip
    wishes: dict[str, dict[str, Any]] = {
        "diffusion": {"vocab": words.vocab},
        "dalle": {"vocab": words.vocab, "writer": replace(nano.writer, vocab=words.vocab + nano.coder.codes + 1)},
        "unclip": {"clip": replace(clip, text=replace(clip.text, vocab=words.vocab))},
    }
    for letter, (name, changes) in zip("abc", wishes.items(), strict=True):
        torch.manual_seed(0)
        model = build(f"{name}-nano", **changes)
        with torch.no_grad():
            for each in model.parameters():
                each.add_(0.1 * torch.randn_like(each))
        card = ABOUT | {"task": "paint", "title": f"Untaught {name}", "examples": ["a pink ring"]}
        save(shelf / f"{letter}-{name}", model, family=family(name), card=card, tokenizer=words)
    return shelf


def _decide(model: torch.nn.Module) -> None:
    """Let looks prefer some places to others."""
    with torch.no_grad():
        for key, weight in model.named_parameters():
            if "attn" in key or "cross" in key:
                weight.mul_(6.0)


@contextmanager
def onto(
    browser: "Browser", shelf: Path, *, worker: Worker | None = None, pictures: Path | None = None
) -> Iterator[Watched]:
    """A window onto a server with the models of a shelf; its words and pictures do not move."""
    state = AppState(Models(shelf=shelf), worker=worker or Worker(), pictures=Pictures(folder=pictures))
    with serving(state) as server:
        found = browser.new_context(base_url=server.url, viewport=SIZE, locale="en-GB", reduced_motion="reduce")
        found.set_default_timeout(1000 * PATIENCE)
        found.add_init_script("try { localStorage.setItem('regard.guided', 'yes') } catch {}")
        complaints: list[str] = []
        _listen(found, server, complaints)
        yield Watched(found, found.new_page(), complaints)
        found.close()


def _listen(found: Any, server: Server, complaints: list[str]) -> None:
    found.on("request", lambda request: complaints.extend(_foreign(request.url, server.url)))
    found.on("weberror", lambda failed: complaints.append(f"the page threw {failed.error}"))
    found.on("console", lambda said: complaints.extend(_said(said.type, said.text)))


@contextmanager
def watching(window: Watched) -> "Iterator[Page]":
    """An empty page; what it complains of fails the test."""
    window.complaints.clear()
    yield window.page
    window.page.unroute_all(behavior="ignoreErrors")
    window.page.goto("about:blank")
    window.page.set_viewport_size(SIZE)
    window.page.emulate_media(color_scheme="null", reduced_motion="reduce")
    assert not window.complaints, "\n".join(window.complaints)


def visit(page: "Page", room: str, **state: str) -> None:
    """Open a room in a state, and wait until every panel shows what was asked."""
    page.goto("about:blank")
    page.goto(f"/#/{room}?{address(**state)}")
    answered(page)


def barriers(page: "Page") -> list[str]:
    """What keeps people out of a room, in both themes: by axe, and letters that cannot be read."""
    path = Path(__file__).parents[2] / ".venv/axe.min.js"
    found: list[str] = []
    themes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for theme in themes:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        until(page, "theme => document.documentElement.dataset.theme === theme", theme)
        found += page.evaluate(CONTRAST)
        if path.exists() or os.environ.get("CI"):
            page.evaluate(path.read_text(encoding="utf-8"))
            found += page.evaluate(AXE)
    return found


AXE = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
  .filter(each => ['serious', 'critical'].includes(each.impact))
  .map(each => `${each.id}: ${each.nodes.map(node => node.html.slice(0, 120)).join(' | ')}`)"""


def small_buttons(page: "Page") -> list[str]:
    """Buttons of a room that a finger would miss."""
    found: list[str] = page.evaluate(
        """[...document.querySelectorAll("main :is(button, summary, select)")]
             .filter((each) => each.getClientRects().length && !each.matches(".said, .word, .look-heads *"))
             .filter((each) => each.getBoundingClientRect().height < 39)
             .map((each) => each.textContent || each.ariaLabel)"""
    )
    return found
