"""Files are found, fetched, continued and checked; a real client talks to a real server on this machine."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from regard.data import SETS, DataError, Dataset, File, find, get, inspect, locate

CONTENT = bytes(range(256)) * 1000
FILE = File("a.bin", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


class Server(ThreadingHTTPServer):
    """Serves CONTENT in the way its mood says."""

    mood = "well"
    asked: list[str | None]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted, mood = self.headers.get("Range"), self.server.mood
        self.server.asked.append(wanted)
        if mood == "gone":
            return self.send_error(404)
        body = {"damaged": b"x" * len(CONTENT), "longer": CONTENT + b"more"}.get(mood, CONTENT)
        start = int(wanted[6:-1]) if wanted and mood != "forgetful" else 0
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        self.wfile.write(body[start : start + 1000] if mood == "stops" else body[start:])
        return None

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        pass


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("REGARD_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Server(("127.0.0.1", 0), Handler) as server:
        server.asked = []
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def dataset(server: Server) -> Dataset:
    home = f"http://127.0.0.1:{server.server_port}"
    return Dataset(
        name="small", kind="images", about="a file", terms="free", home=home, splits={}, files=(FILE,), folder=home
    )


def test_a_file_is_fetched_once_and_found_afterwards(server: Server, tmp_path: Path) -> None:
    (path,) = get(dataset(server))
    assert path == tmp_path / "cache/data/small/a.bin"
    assert path.read_bytes() == CONTENT
    assert get(dataset(server)) == [path]
    assert server.asked == [None]
    assert [p.name for p in path.parent.iterdir()] == ["a.bin"]


@pytest.mark.parametrize(("mood", "asked"), [("well", [None, "bytes=1000-"]), ("forgetful", [None, "bytes=1000-"])])
def test_what_was_interrupted_continues_where_the_server_can(
    server: Server, mood: str, asked: list[str | None]
) -> None:
    server.mood = "stops"
    with pytest.raises(
        DataError, match=r"a\.bin cannot be fetched .*1000 of 256000 bytes are kept.*regard data get small"
    ):
        get(dataset(server))
    assert locate(dataset(server), FILE) is None
    server.mood = mood
    (path,) = get(dataset(server))
    assert path.read_bytes() == CONTENT
    assert server.asked == asked


@pytest.mark.parametrize(
    ("mood", "said"),
    [
        ("damaged", "is damaged: its SHA-256 is not .* thrown away; try again, or take a.bin from http"),
        ("longer", "it sends more than the 256000 bytes that were stated"),
        ("gone", "answers 404 Not Found; try again later, or take a.bin from http://.* and put it at "),
    ],
)
def test_a_bad_answer_is_named_and_leaves_nothing_behind(server: Server, mood: str, said: str) -> None:
    server.mood = mood
    with pytest.raises(DataError, match=said):
        get(dataset(server))
    assert locate(dataset(server), FILE) is None
    server.mood = "well"
    assert get(dataset(server))[0].read_bytes() == CONTENT


def test_a_server_that_is_not_there_is_named(server: Server) -> None:
    away = dataset(server)
    server.shutdown()
    server.server_close()
    with pytest.raises(DataError, match=r"cannot be fetched .*; or take a\.bin from"):
        get(away)


def test_ones_own_folder_comes_first_and_is_checked(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "own"))
    own = tmp_path / "own/small/a.bin"
    own.parent.mkdir(parents=True)
    own.write_bytes(CONTENT)
    assert get(dataset(server)) == [own]
    for content, state in ((CONTENT[:-1], "cut short"), (CONTENT[:-1] + b"x", "damaged"), (CONTENT + b"x", "damaged")):
        own.write_bytes(content)
        assert inspect(own, FILE) == state
        with pytest.raises(DataError, match=rf"a\.bin is {state}: .*; remove it and run: regard data get small"):
            get(dataset(server))
    assert server.asked == []


def test_every_named_set_states_its_home_its_terms_and_its_files() -> None:
    for name, known in SETS.items():
        assert name == known.name == find(name).name
        assert all((known.about, known.terms, known.home, known.kind, known.splits))
        assert all(len(file.sha256) == 64 and file.size > 0 and "/" not in file.name for file in known.files)
        assert known.folder.startswith("https://") or not known.folder  # not fetched file by file
    with pytest.raises(ValueError, match="no data set is called 'multi'; try multi30k"):
        find("multi")
