"""The explorer: how soon there is something to see, how smoothly a map moves, what each view costs, and BertViz.

The model of the last two tables is a Transformer of the base size with weights drawn by chance. It is made to write as
many tokens as it reads.
"""

import gzip
import json
import signal
import subprocess
import sys
import tarfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import torch
from rich.table import Table

import regard
from bench.chromium import LIMIT, chromium, drawn, missing, seen, tab
from bench.clock import Times, console, race
from bench.wordmap import frames
from regard.hub import save
from regard.models.transformer import FAMILY, Config, Transformer
from regard.text import Tokenizer
from regard.world.language import pairs, text

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

LENGTHS = (32, 128, 512)  # tokens
LINES = [text(side) for pair in pairs("it", "en")[:200] for side in (pair.source, pair.target)]
TILE = 128  # tokens on a side, as the page asks for them
HEAD = {"name": "decoder.blocks.5.cross", "head": "3"}
HEADS = ("/overview", "/weights")  # what is asked for before heads are drawn
ROOMS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "Home": ("home", ".home-picture canvas", ()),
    "Translate": ("translate", ".overview", HEADS),
}

# What BertViz loads from a CDN, in packages of npm, where jquery 2.0.0 never was; and the last thing each view draws.
SCRIPTS = {
    "/require.js/": ("requirejs@2.3.6", "package/require.js"),
    "/d3/": ("d3@5.7.0", "package/dist/d3.min.js"),
    "/jquery/": ("jquery@2.1.0", "package/dist/jquery.min.js"),
}
BERTVIZ = {"model_view": "#attn_background_5_7", "head_view": "#attention line"}

Numbers = list[dict[str, object]]
Row = tuple[float | None, float | str | None, list[float] | str]  # megabytes, seconds to make, seconds to see


def run(*, quick: bool, bfloat16: bool) -> Numbers:  # noqa: ARG001
    absent, numbers = missing(), Numbers()
    if absent is not None:
        console.print(f"No page is opened: {absent}.")
    else:
        numbers += _opening(1 if quick else 5)
        with explorer() as server:
            numbers += frames(server.address)
    with TemporaryDirectory() as folder:
        model = Path(folder) / "base"
        tokenizer = _by_chance(model)
        texts = {length: _text(tokenizer, length) for length in LENGTHS}
        with explorer("--model", str(model)) as server:
            numbers += _views(server, texts, 1.0 if quick else 15.0)
            if absent is None:
                numbers += _beside(server, model, {32: texts[32]} if quick else texts, 1 if quick else 3)
    return numbers


@dataclass(frozen=True, slots=True)
class Server:
    """An explorer in a process of its own, and when it was started."""

    address: str
    began: float


@contextmanager
def explorer(*flags: str) -> Iterator[Server]:
    """`regard explore`, until it is no longer needed."""
    began = perf_counter()
    command = [sys.executable, "-m", "regard", "explore", "--no-open", "--port", "0", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Server(process.stdout.readline().split()[-1], began)
        finally:
            process.terminate()


def _opening(repeats: int) -> Numbers:
    """From the command, and from opening the page, to the first picture of a room."""
    took: dict[tuple[str, str], list[float]] = defaultdict(list)
    with chromium() as browser:
        for _ in range(repeats):
            for title, (room, wanted, answers) in ROOMS.items():
                with explorer() as server:
                    for since in ("opening the page, new server", "opening the page again", "opening the page again"):
                        with tab(browser) as page:
                            page.goto(f"{server.address}#/{room}", wait_until="commit")
                            took[title, since].append(drawn(page, wanted, answers))
                            if "new" in since:
                                took[title, "regard explore"].append(perf_counter() - server.began)
    table = _table("Until the first view is drawn", ("room", "from"), ("best s", "median s", "repeats"))
    for (room, since), each in took.items():
        times = Times(tuple(each))
        table.add_row(room, since, f"{times.best:.2f}", f"{times.median:.2f}", str(len(times.all)))
    console.print(table)
    return [
        {"table": "First view", "room": room, "from": since, "seconds": each} for (room, since), each in took.items()
    ]


class Reader:
    """What a page asks about one sentence; every time that the model runs, it is a new look."""

    def __init__(self, server: Server, source: str, target: str) -> None:
        self.door = HTTPConnection(urlsplit(server.address).netloc, timeout=LIMIT)
        self.question = {"model": "base", "input": {"text": source}, "options": {"force": target}}
        self.look = ""
        self.sent: dict[str, int] = {}

    def translate(self, what: str) -> None:
        """Run the model."""
        self.look = json.loads(self._ask(what, "/api/ask", json.dumps(self.question)).splitlines()[-1])["id"]

    def read(self, what: str, path: str, **query: str) -> None:
        """Read some of its weights."""
        self._ask(what, f"/api/looks/{self.look}/{path}?{urlencode(query)}")

    def _ask(self, what: str, path: str, body: str | None = None) -> bytes:
        headers = {"Accept-Encoding": "gzip", "Content-Type": "application/json"}
        self.door.request("POST" if body else "GET", path, body, headers)
        answer = self.door.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path} is answered with {answer.status}: {data.decode()}")
        self.sent[what] = len(data)
        return gzip.decompress(data) if answer.headers["Content-Encoding"] == "gzip" else data


def _views(server: Server, texts: dict[int, tuple[str, str]], seconds: float) -> Numbers:
    """How long each view of a look takes, and how much is sent."""
    title = "Views of a Transformer with 6 + 6 layers of 8 heads"
    table, numbers = _table(title, ("tokens", "what"), ("best ms", "median ms", "kB sent", "repeats")), Numbers()
    for length, words in texts.items():
        reader, side = Reader(server, *words), min(TILE, length)
        part = {"rows": f"0:{side}", "columns": f"0:{side}", "encoding": "f16"}
        wishes: dict[str, Callable[[str], None]] = {
            "run the model": reader.translate,
            "one head, whole": partial(reader.read, path="weights", **HEAD),
            f"a tile of it, {side} × {side}": partial(reader.read, path="weights", **HEAD, **part),
            "all 144 heads, small": partial(reader.read, path="overview", size="32"),
        }
        took = race({what: partial(ask, what) for what, ask in wishes.items()}, seconds=seconds, least=3)
        for i, (what, times) in enumerate(took.items()):
            row = {"best_ms": 1e3 * times.best, "median_ms": 1e3 * times.median, "kB": reader.sent[what] / 1e3}
            table.add_row("" if i else str(length), what, *(f"{n:.1f}" for n in row.values()), str(len(times.all)))
            numbers.append({"table": "Views", "tokens": length, "what": what, **row, "repeats": len(times.all)})
        table.add_section()
    console.print(table)
    return numbers


def _beside(server: Server, model: Path, texts: dict[int, tuple[str, str]], repeats: int) -> Numbers:
    """The same attention on our page and on those of BertViz; ours runs the model first, theirs have the weights."""
    title = "The same attention, seen in the same browser; regard runs the model meanwhile"
    columns = ("MB", "made in s", "best s to see it", "median", "repeats")
    table, numbers = _table(title, ("tokens", "page"), columns), Numbers()
    scripts = _scripts() if find_spec("bertviz") else None
    for length, words in texts.items():
        rows = [("regard", *_regard(server, *words, repeats))]
        if scripts is not None:
            rows += [(f"BertViz {view}", *_bertviz(view, model, words, scripts, repeats)) for view in BERTVIZ]
        for i, (who, megabytes, made, took) in enumerate(rows):
            numbers.append(
                {"table": "Beside", "tokens": length, "who": who, "MB": megabytes, "made": made, "seen": took}
            )
            best, median, many = (took, "", "") if isinstance(took, str) else _three(took)
            table.add_row("" if i else str(length), who, _said(megabytes), _said(made), best, median, many)
        table.add_section()
    console.print(table)
    if scripts is None:
        console.print("BertViz is left out: it is not installed.")
    return numbers


def _regard(server: Server, source: str, target: str, repeats: int) -> Row:
    """Our page, which is made to write the target as well."""

    def force(route: "Route") -> None:
        asked = json.loads(route.request.post_data or "{}")
        route.continue_(post_data=json.dumps({**asked, "options": {"force": target}}))

    state = {"m": "base", "in": f"t:{source}", "as": "matrix", "merge": "pieces"}
    took, sent = [], 0.0
    for _ in range(repeats):
        with chromium() as browser, tab(browser) as page:
            page.route(lambda url: url.endswith("/api/ask"), force)
            address = f"{server.address}#/translate?{urlencode(state)}"
            found = seen(page, address, lambda page: drawn(page, ".matrix", HEADS))
            if isinstance(found, str):
                return None, None, found
            sent = page.evaluate("performance.getEntries().reduce((sum, each) => sum + (each.transferSize ?? 0), 0)")
            took.append(found)
    return sent / 1e6, None, took


def _bertviz(view: str, model: Path, words: tuple[str, str], scripts: dict[str, bytes], repeats: int) -> Row:
    """A page of BertViz, made in a process of its own and opened from its file."""
    file = model.with_name(f"{view}.html")
    script = f"from bench.explorer import make; make({view!r}, {str(model)!r}, {words!r}, {str(file)!r})"
    made = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    if made.returncode == -signal.SIGALRM:
        return None, f"over {LIMIT:.0f}", "never made"
    if made.returncode:
        return None, None, f"failed: {(made.stderr.strip() or 'killed').splitlines()[-1]}"
    seconds, megabytes, took = float(made.stdout), file.stat().st_size / 1e6, []

    def serve(route: "Route") -> None:
        route.fulfill(body=next(script for part, script in scripts.items() if part in route.request.url))

    def ready(page: "Page") -> None:
        page.wait_for_selector(BERTVIZ[view], state="attached", timeout=1000 * LIMIT)

    for _ in range(repeats if scripts else 0):
        with chromium() as browser, tab(browser) as page:
            page.route(lambda url: url.startswith("https:"), serve)
            found = seen(page, file.as_uri(), ready)
            if isinstance(found, str):
                return megabytes, seconds, found
            took.append(found)
    return megabytes, seconds, took or "needs scripts that npm did not get"


def make(view: str, model: str, words: tuple[str, str], file: str) -> None:
    """Write a page of BertViz, and print the seconds that took; the model has run before."""
    draw = getattr(import_module("bertviz"), view)
    source, target = words
    translate: Any = regard.load(model)
    reading = translate.attend(source, target=target)
    kinds: dict[str, list[Any]] = defaultdict(list)
    for each in reading.maps:
        kinds[each.kind].append(reading.trace.weights(each.name))
    signal.alarm(int(LIMIT))
    start = perf_counter()
    page = draw(
        encoder_attention=kinds["self"],
        decoder_attention=kinds["causal"],
        cross_attention=kinds["cross"],
        encoder_tokens=list(reading.axes["source"].pieces),
        decoder_tokens=list(reading.axes["target"].pieces),
        html_action="return",
    )
    Path(file).write_text(page.data)
    print(perf_counter() - start)


def _scripts() -> dict[str, bytes]:
    """The scripts that a page of BertViz loads from elsewhere; none where npm does not get them."""
    found = {}
    with TemporaryDirectory() as folder:
        try:
            names = [package for package, _ in SCRIPTS.values()]
            subprocess.run(["npm", "pack", *names], cwd=folder, check=True, capture_output=True, timeout=LIMIT)
        except (OSError, subprocess.SubprocessError):
            return {}
        for part, (package, member) in SCRIPTS.items():
            with tarfile.open(Path(folder) / f"{package.replace('@', '-')}.tgz") as archive:
                script = archive.extractfile(member)
                assert script is not None
                found[part] = script.read()
    return found


def _by_chance(folder: Path) -> Tokenizer:
    """A model that has learnt nothing, saved; its heads look at few words, as those of a taught one do."""
    torch.manual_seed(0)
    tokenizer = Tokenizer.train(LINES, vocab=400)
    model = Transformer(Config(vocab=tokenizer.vocab))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith((".q.weight", ".k.weight")):
                weight.mul_(3.0)
    card = {"task": "translate", "title": "By chance", "languages": {"source": ["it"], "target": ["en"]}}
    save(folder, model, family=FAMILY, card=card, tokenizer=tokenizer)
    return tokenizer


def _text(tokenizer: Tokenizer, tokens: int) -> tuple[str, str]:
    """A source and a target of so many tokens, their stops among them."""

    def cut_at(whole: str) -> str:
        beginnings = [whole[:end] for end in range(tokens, 2000) if whole[end - 1].isalpha()]
        lengths = map(len, tokenizer.encode(beginnings, stop=True))
        return next(words for words, length in zip(beginnings, lengths, strict=True) if length == tokens)

    return cut_at(" ".join(LINES)), cut_at(" ".join(reversed(LINES)))


def _table(title: str, names: tuple[str, ...], numbers: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for column in names:
        table.add_column(column)
    for column in numbers:
        table.add_column(column, justify="right")
    return table


def _three(took: list[float]) -> tuple[str, str, str]:
    times = Times(tuple(took))
    return f"{times.best:.2f}", f"{times.median:.2f}", str(len(took))


def _said(value: float | str | None) -> str:
    return f"{value:.2f}" if isinstance(value, float) else value or "–"
