"""A server with small models that have learnt nothing, the world and one run; and a browser that watches its steps.

`server` is a real one, on a free port of this machine. `page` fails its test where the page complains on the console,
or where anything is asked of another machine.
"""

import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
import torch
import uvicorn
from fastapi.testclient import TestClient
from tests.web.asking import question, read_events
from tests.web.hands import PATIENCE

from regard.hub import save
from regard.models import intra, memnet, seq2seq, transformer
from regard.text import Tokenizer
from regard.web.app import make_app
from regard.web.models import Models
from regard.web.serve import configure, open_socket
from regard.web.state import AppState
from regard.web.worker import Worker
from regard.world.language import LANGUAGES, pairs, text

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

ONE = {"source": ["it"], "target": ["en"]}
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
    # Nobody else can be found. To stop requests one by one would also take the browser's cache away.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
SIZE: "ViewportSize" = {"width": 1440, "height": 900}
# Answers that the page is ready for; the browser writes them on the console all the same.
EXPECTED = re.compile(r"status of (401|409|410|422|429|503)")


@dataclass(frozen=True)
class Server:
    """A server that runs in a thread of this process."""

    url: str
    state: AppState


def save_model(folder: Path, *, kind: str = "transformer", **card: object) -> Path:
    """A model in its folder that translates from Italian to English, or whatever its card says."""
    torch.manual_seed(0)
    tokenizer = Tokenizer.train(LINES, vocab=330)
    about = {"task": "translate", "title": f"Untaught {kind}", "data": "world", "parameters": 12345}
    small: torch.nn.Module
    if kind == "transformer":
        family, small = transformer.FAMILY, transformer.Transformer(transformer.Config(tokenizer.vocab, 16, 2, 2, 16))
    elif kind == "intra":
        family, small = intra.FAMILY, intra.LSTMN(intra.Config(tokenizer.vocab, 8, 8, 1, 2))
    elif kind == "memnet":
        family, small = memnet.FAMILY, memnet.MemoryNetwork(memnet.Config(30, 8, context=20))
    else:
        config = seq2seq.Config(tokenizer.vocab, None, 8, 8, attention=kind)
        family, small = seq2seq.FAMILY, seq2seq.Seq2Seq(config)
    with torch.no_grad():
        for parameter in small.parameters():
            parameter.mul_(2.0)  # so that it prefers some words to others
    reads = None if kind == "memnet" else tokenizer
    save(folder, small, family=family, card=about | {"languages": ONE} | card, tokenizer=reads)
    return folder


@pytest.fixture(scope="session")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Translators with and without attention and one of several languages; and by name before them, other tasks."""
    shelf = tmp_path_factory.mktemp("zoo")
    save_model(shelf / "small", measured={"bleu": 12.5})
    save_model(shelf / "attentive", kind="additive")
    save_model(shelf / "fixed", kind="none")
    save_model(shelf / "many", languages={"source": [*LANGUAGES], "target": [*LANGUAGES]})
    save_model(shelf / "a-classifier", kind="intra", task="classify", labels=["calm", "wild"], languages={})
    save_model(shelf / "a-parser", task="parse", languages={})
    save_model(shelf / "a-rememberer", kind="memnet", task="recall", pairs=2, words=9, distance=8, languages={})
    return shelf


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one finished run of 2,500 steps."""
    folder = tmp_path_factory.mktemp("runs")
    run = folder / "translate-0"
    (run / "model").mkdir(parents=True)
    fields = {"steps": 2500, "width": 16, "model": "transformer"}
    asked = {"recipe": "translate", "fields": fields, "scores": {"bleu": "higher"}}
    (run / "recipe.json").write_text(json.dumps(asked))
    (run / "model/card.json").write_text(json.dumps({"title": "Untaught", "measured": {"bleu": 31.5}}))
    rows = [
        {"step": step, "loss": 8 / step**0.3, "lr": 1e-3, "grad_norm": 1.0, "size": 2000, "seconds": 0.5 * step}
        | ({"bleu": step / 80, "val_loss": 3 - step / 2500} if step % 250 == 0 else {})
        for step in range(1, 2501)
    ]
    (run / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)) + '\n{"step": 25')
    return folder


@pytest.fixture(scope="session")
def models(zoo: Path) -> Models:
    """The models of the shelf."""
    return Models(shelf=zoo)


class Kept(Worker):
    """A worker whose process outlives a server: to import torch for each test would take longer than most of them."""

    def stop(self) -> None:
        """Not yet."""

    def end(self) -> None:
        """Now."""
        super().stop()


@pytest.fixture(scope="session")
def kept() -> Iterator[Kept]:
    """The process of the models, for all tests that do not end it."""
    one = Kept()
    yield one
    one.end()


@pytest.fixture
def state(models: Models, runs: Path, kept: Kept) -> AppState:
    """What a server has."""
    return AppState(models, runs, kept)


@pytest.fixture
def client(state: AppState) -> Iterator[TestClient]:
    """Questions to a server of one's own, without a network between."""
    with TestClient(make_app(state), base_url="http://127.0.0.1") as client:
        yield client


@contextmanager
def serving(state: AppState, port: int = 0) -> Iterator[Server]:
    """A server until the end of the block."""
    door = open_socket("127.0.0.1", port)
    one = uvicorn.Server(configure(make_app(state)))
    thread = threading.Thread(target=one.run, kwargs={"sockets": [door]}, daemon=True)
    thread.start()
    until = monotonic() + PATIENCE
    while not one.started and monotonic() < until:
        sleep(0.02)
    try:
        assert one.started, "the server did not start"
        yield Server(f"http://127.0.0.1:{door.getsockname()[1]}", state)
    finally:
        one.should_exit = True
        thread.join(60)
        door.close()


@pytest.fixture(scope="session")
def start(zoo: Path, runs: Path) -> Callable[..., AbstractContextManager[Server]]:
    """How to start a server of one's own, on a port if it matters which."""
    return lambda port=0: serving(AppState(Models(shelf=zoo), runs), port)


@pytest.fixture(scope="session")
def server(start: Callable[..., AbstractContextManager[Server]]) -> Iterator[Server]:
    """A real server, which all tests share."""
    with start() as found:
        yield found


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """Debian's chromium; where it is missing its tests are left out, but never in the tests that decide (CI)."""
    if not Path(CHROMIUM).exists():
        leave = pytest.fail if os.environ.get("CI") else pytest.skip
        leave(f"{CHROMIUM} is not there, and this test needs it: apt-get install chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=1000 * PATIENCE)
    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield found
        found.close()


@dataclass
class Watched:
    """A browser whose requests and complaints are written down; what it asks of others never leaves."""

    context: "BrowserContext"
    page: "Page"
    complaints: list[str]


@pytest.fixture(scope="session")
def watched(browser: "Browser", server: Server) -> "Iterator[Watched]":
    """One window for all tests, for opening another takes longer than most of them."""
    found = browser.new_context(base_url=server.url, viewport=SIZE, locale="en-GB")
    found.set_default_timeout(1000 * PATIENCE)
    found.add_init_script("try { localStorage.setItem('regard.guided', 'yes') } catch {}")
    complaints: list[str] = []
    found.on("request", lambda request: complaints.extend(_foreign(request.url, server.url)))
    found.on("weberror", lambda failed: complaints.append(f"the page threw {failed.error}"))
    found.on("console", lambda said: complaints.extend(_said(said.type, said.text)))
    yield Watched(found, found.new_page(), complaints)
    found.close()


@pytest.fixture
def page(watched: Watched, server: Server) -> "Iterator[Page]":
    """An empty page that remembers nothing but that its reader has been guided; what it complains of fails the test."""
    page = watched.page
    inside = watched.context.new_cdp_session(page)
    inside.send("Storage.clearDataForOrigin", {"origin": server.url, "storageTypes": "local_storage"})
    inside.detach()
    watched.complaints.clear()
    yield page
    for other in watched.context.pages:
        if other is not page:
            other.close()
    page.unroute_all(behavior="ignoreErrors")
    page.goto("about:blank")
    page.set_viewport_size(SIZE)
    page.emulate_media(color_scheme="null", reduced_motion="null")
    assert not watched.complaints, "\n".join(watched.complaints)


def _foreign(url: str, own: str) -> list[str]:
    parts = urlsplit(url)
    inside = parts.scheme in ("data", "blob", "about") or parts.netloc == urlsplit(own).netloc
    return [] if inside else [f"{url} was asked, which is not of this machine"]


def _said(kind: str, said: str) -> list[str]:
    return [f"the console says {said}"] if kind in ("error", "warning") and not EXPECTED.search(said) else []


Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(client: TestClient) -> Ask:
    """A question that must be answered."""

    def asked(text: str = "La casa rossa.", **wishes: Any) -> dict[str, Any]:
        if "force" not in wishes:
            wishes.setdefault("beam", 2)
        last = read_events(client.post("/api/ask", json=question(text, **wishes)))[-1]
        assert last["event"] == "answer", last
        return last

    return asked
