"""A house with small translators that have learnt nothing, the world and one run; and a browser that watches its steps.

`server` is a real one, on a free port of this machine. `page` fails its test where the page complains on the console,
or where anything is asked of another machine.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
import torch
import uvicorn
from fastapi.testclient import TestClient

from regard.hub import save
from regard.models import seq2seq, transformer
from regard.text import Tokenizer
from regard.web.app import House, make_app
from regard.web.looks import Looks
from regard.web.queue import Worker
from regard.web.serve import opened
from regard.web.shelf import Shelf
from regard.world.language import pairs, text

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

LINES = [text(side) for pair in pairs("it", "en")[:80] for side in (pair.source, pair.target)]
CHROMIUM = "/usr/bin/chromium"
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)
# Answers that the page is ready for; the browser writes them on the console all the same.
EXPECTED = re.compile(r"status of (401|409|410|422|429|503)")


@dataclass(frozen=True)
class Server:
    """A server that runs in a thread of this process."""

    url: str
    house: House


def saved(folder: Path, *, kind: str = "transformer", **card: object) -> Path:
    """A model in its folder that reads Italian and writes English, or whatever its card says."""
    torch.manual_seed(0)
    tokenizer = Tokenizer.train(LINES, vocab=330)
    about = {"title": f"Untaught {kind}", "source": "it", "target": "en", "data": "world", "parameters": 12345} | card
    small: torch.nn.Module
    if kind == "transformer":
        family, small = transformer.FAMILY, transformer.Transformer(transformer.Config(tokenizer.vocab, 16, 2, 2, 16))
    else:
        config = seq2seq.Config(tokenizer.vocab, None, 8, 8, attention=kind)
        family, small = seq2seq.FAMILY, seq2seq.Seq2Seq(config)
    with torch.no_grad():
        for parameter in small.parameters():
            parameter.mul_(2.0)  # so that it prefers some words to others
    save(folder, small, family, card=about, extras={"tokenizer.json": tokenizer.to_json()})
    return folder


@pytest.fixture(scope="session")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shelf: a Transformer, recurrent networks with and without attention, and one of several languages."""
    shelf = tmp_path_factory.mktemp("zoo")
    saved(shelf / "small", measured={"bleu": 12.5})
    saved(shelf / "attentive", kind="additive")
    saved(shelf / "fixed", kind="none")
    saved(shelf / "many", source="any", target="any", tagged=True)
    return shelf


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one finished run of 2,500 steps."""
    folder = tmp_path_factory.mktemp("runs")
    run = folder / "translate-0"
    (run / "model").mkdir(parents=True)
    asked = {"recipe": "translate", "fields": {"steps": 2500, "width": 16, "model": "transformer"}}
    (run / "recipe.json").write_text(json.dumps(asked))
    (run / "model/card.json").write_text(json.dumps({"title": "Untaught", "measured": {"bleu": 31.5}}))
    rows = [
        {"step": step, "loss": 8 / step**0.3, "rate": 1e-3, "norm": 1.0, "size": 2000, "seconds": 0.5 * step}
        | ({"bleu": step / 80, "nats": 3 - step / 2500} if step % 250 == 0 else {})
        for step in range(1, 2501)
    ]
    (run / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)) + '\n{"step": 25')
    return folder


@pytest.fixture(scope="session")
def shelf(zoo: Path) -> Shelf:
    """The models, opened once for all tests that run one after the other."""
    return Shelf(shelf=zoo)


@pytest.fixture
def house(shelf: Shelf, runs: Path) -> House:
    """What a server has, for one test alone."""
    return House(shelf, runs, Worker(waiting=4, seconds=60.0), Looks())


@pytest.fixture
def client(house: House) -> Iterator[TestClient]:
    """Questions to a server of one's own, without a network between."""
    with TestClient(make_app(house), base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture(scope="session")
def server(zoo: Path, runs: Path) -> Iterator[Server]:
    """A real server, which all tests share."""
    house, door = House(Shelf(shelf=zoo), runs), opened("127.0.0.1", 0)
    one = uvicorn.Server(uvicorn.Config(make_app(house), log_level="warning", access_log=False))
    thread = threading.Thread(target=one.run, kwargs={"sockets": [door]}, daemon=True)
    thread.start()
    until = monotonic() + 60
    while not one.started and monotonic() < until:
        sleep(0.02)
    yield Server(f"http://127.0.0.1:{door.getsockname()[1]}", house)
    one.should_exit = True
    thread.join(10)
    door.close()


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """Debian's chromium."""
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield found
        found.close()


@pytest.fixture
def context(browser: "Browser", server: Server) -> "Iterator[BrowserContext]":
    """A browser without memory; what it asks of others never leaves, and what it complains of fails the test."""
    found = browser.new_context(base_url=server.url, viewport={"width": 1440, "height": 900}, locale="en-GB")
    found.set_default_timeout(60_000)
    complaints: list[str] = []
    found.on("request", lambda request: complaints.extend(_foreign(request.url, server.url)))
    found.on("weberror", lambda failed: complaints.append(f"the page threw {failed.error}"))
    found.on("console", lambda said: complaints.extend(_said(said.type, said.text)))
    found.route(lambda url: bool(_foreign(url, server.url)), lambda route: route.abort())
    yield found
    found.close()
    assert not complaints, "\n".join(complaints)


@pytest.fixture
def page(context: "BrowserContext") -> "Page":
    """An empty page of that browser; go to `/`."""
    return context.new_page()


def _foreign(url: str, own: str) -> list[str]:
    parts = urlsplit(url)
    inside = parts.scheme in ("data", "blob", "about") or parts.netloc == urlsplit(own).netloc
    return [] if inside else [f"{url} was asked, which is not of this machine"]


def _said(kind: str, said: str) -> list[str]:
    return [f"the console says {said}"] if kind in ("error", "warning") and not EXPECTED.search(said) else []


Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(client: TestClient) -> Ask:
    """A translation that must succeed."""

    def asked(text: str = "La casa rossa.", **wishes: object) -> dict[str, Any]:
        response = client.post("/api/translate", json={"model": "small", "text": text, "beam": 2} | wishes)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    return asked
