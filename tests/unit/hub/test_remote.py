"""Models on the hub, met through the real client and a small server on this machine."""

import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch

from regard.hub import CheckpointError, load, save
from regard.hub.remote import _whole
from regard.models.deepsets import FAMILY, PRESETS, DeepSets

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LOAD = """
import sys
from regard.hub import CheckpointError, load
for what in sys.argv[1:]:
    try:
        print(load(what).name)
    except CheckpointError as error:
        print("refused:", error)
"""


def hashed(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Server(ThreadingHTTPServer):
    """One repository, me/sets, and a list of what was asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.asked = folder, list[str]()
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, *, body: bool) -> None:
        path = self.path.partition("?")[0]
        self.server.asked.append(f"{self.command} {path}")
        for revision in ("main", "v1", COMMIT):
            if path == f"/api/models/me/sets/revision/{revision}":
                files = [{"rfilename": each.name} for each in self.server.folder.iterdir()]
                about = {"id": "me/sets", "sha": COMMIT, "siblings": files, "private": False, "tags": []}
                return self.send(json.dumps(about).encode(), {"Content-Type": "application/json"}, body)
            if path == f"/api/models/me/sets/tree/{revision}":  # newer clients list the files so
                rows = [
                    {"type": "file", "path": each.name, "size": each.stat().st_size, "oid": hashed(each)[:40]}
                    for each in self.server.folder.iterdir()
                ]
                return self.send(json.dumps(rows).encode(), {"Content-Type": "application/json"}, body)
            name = path.removeprefix(f"/me/sets/resolve/{revision}/")
            if name != path and (self.server.folder / name).is_file():
                file = self.server.folder / name
                headers = {"ETag": f'"{hashed(file)}"', "X-Repo-Commit": COMMIT}
                return self.send(file.read_bytes(), headers, body)
        self.send_error(404)
        return None

    def send(self, data: bytes, headers: dict[str, str], body: bool) -> None:
        self.send_response(200)
        for name, value in (headers | {"Content-Length": str(len(data))}).items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    torch.manual_seed(0)
    save(tmp_path / "repo", DeepSets(PRESETS["deepsets-nano"]), family=FAMILY, card={"title": "sets"})
    for name in ("pytorch_model.bin", "weights.pt", "README.md", "modeling.py", "tf_model.h5"):
        (tmp_path / "repo" / name).write_bytes(b"\x80\x02not for us")
    for name in ("vocab.txt", "merges.txt"):
        (tmp_path / "repo" / name).write_text(name)
    found = Server(tmp_path / "repo")
    thread = threading.Thread(target=found.serve_forever)
    thread.start()
    yield found
    found.shutdown()
    found.server_close()
    thread.join()


def run(tmp_path: Path, port: int, *what: str) -> list[str]:
    """Load in a process of its own, since the client reads its settings once; a line for each."""
    own = {"HF_ENDPOINT": f"http://127.0.0.1:{port}", "HF_HOME": str(tmp_path / "cache"), "HF_HUB_DISABLE_XET": "1"}
    paths = {"PYTHONPATH": ":".join(filter(None, sys.path)), "HOME": str(tmp_path), "PATH": ""}
    command = [sys.executable, "-c", LOAD, *what]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=240, env=own | paths, check=True)
    return answer.stdout.splitlines()


def test_a_model_is_fetched_once_and_nothing_that_could_run(server: Server, tmp_path: Path) -> None:
    once, twice, tagged, other = run(
        tmp_path, server.server_port, "hub:me/sets", "hub:me/sets", "hub:me/sets@v1", "hub:me/other"
    )
    assert (once, twice, tagged) == ("me/sets", "me/sets", "me/sets@v1")
    assert other.startswith("refused: hub:me/other cannot be fetched: the hub answers 404; check owner, name and rev")
    fetched = [each.rpartition("/")[2] for each in server.asked if each.startswith("GET") and "/resolve/" in each]
    assert sorted(fetched) == ["card.json", "config.json", "merges.txt", "model.safetensors", "vocab.txt"]
    assert sum(each.endswith("me/sets/revision/main") for each in server.asked) == 1  # the second time nobody was asked


def test_a_gguf_file_is_fetched_by_its_own_name_and_read_as_any_other(server: Server, tmp_path: Path) -> None:
    (server.folder / "tiny.Q4_0.gguf").write_bytes(b"GGUF and nothing behind it")
    read, missing, wrong = run(
        tmp_path, server.server_port, "hub:me/sets/tiny.Q4_0.gguf", "hub:me/sets/other.gguf", "hub:me/sets/../x.gguf"
    )
    assert read.startswith("refused: ")
    assert "tiny.Q4_0.gguf" in read  # by what reads such files, which came
    assert "GET /me/sets/resolve/" in next(
        each for each in server.asked if each.endswith("tiny.Q4_0.gguf") and "GET" in each
    )
    assert missing.startswith("refused: hub:me/sets/other.gguf cannot be fetched: the hub answers 404")
    assert wrong.endswith("names no file on the hub; write hub:owner/name/file.gguf")


def test_a_model_in_parts_is_whole_when_every_part_is_there(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model-1-of-2.safetensors").touch()
    assert not _whole(tmp_path, pickle=False)  # the index has not come
    parts = {"a": "model-1-of-2.safetensors", "b": "model-2-of-2.safetensors"}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": parts}))
    assert not _whole(tmp_path, pickle=False)
    (tmp_path / "model-2-of-2.safetensors").touch()
    assert _whole(tmp_path, pickle=False)


def test_without_a_network_one_sentence_says_so(tmp_path: Path) -> None:
    (said,) = run(tmp_path, 9, "hub:me/sets")  # nobody listens there
    assert said.startswith("refused: hub:me/sets is not in the cache and cannot be fetched (")
    assert said.endswith("go online, or give the folder of a copy")


@pytest.mark.parametrize(
    "what", ["hub:", "hub:alone", "hub:a/b/c", "hub:../b", "hub:a/b@../x", "hub:a/b c", "hub:a/b@"]
)
def test_what_names_no_model_is_told(what: str) -> None:
    with pytest.raises(CheckpointError, match="names no model on the hub; write hub:owner/name"):
        load(what)
