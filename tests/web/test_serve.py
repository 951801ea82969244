"""Starting and ending: a printed address, a port that is taken, a package that is missing, and Ctrl-C."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep
from urllib.request import Request, urlopen

import pytest
from tests.web.hands import PATIENCE

from regard.cli.main import main
from regard.web.models import Models
from regard.web.serve import ServeError, open_socket, serve

COMMAND = [sys.executable, "-m", "regard", "explore", "--no-open", "--port", "0"]


def test_the_command_prints_an_address_answers_without_torch_and_ends_by_ctrl_c(zoo: Path, tmp_path: Path) -> None:
    own = ["--model", str(zoo / "small"), "--runs", str(tmp_path)]
    # Before the first model is opened nothing may have waited for torch: here it cannot be imported at all.
    (tmp_path / "torch.py").write_text("raise ImportError('too early')")
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "REGARD_TRACEBACK": "1"}
    running = subprocess.Popen([*COMMAND, *own], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert running.stdout is not None
        address = re.search(r"http://127\.0\.0\.1:\d+/", running.stdout.readline())
        assert address
        with urlopen(Request(address[0] + "api/about"), timeout=PATIENCE) as response:
            assert b'"name":"small"' in response.read()
        with urlopen(address[0], timeout=PATIENCE) as response:
            assert response.headers["content-type"] == "text/html; charset=utf-8"
        running.send_signal(signal.SIGINT)
        assert running.wait(PATIENCE) in (0, 130)
    finally:
        running.kill()
        running.wait()
        running.stdout.close() if running.stdout else None


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="this system does not list the children of a process")
@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_the_server_ends_no_process_stays_behind(zoo: Path, tmp_path: Path, way: signal.Signals) -> None:
    own = ["--model", str(zoo / "small"), "--runs", str(tmp_path)]
    running = subprocess.Popen([*COMMAND, *own], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    address = re.search(r"http://127\.0\.0\.1:\d+/", running.stdout.readline())
    assert address
    body = b'{"model": "small", "input": {"text": "La casa."}, "options": {"beam": 1}}'
    with urlopen(
        Request(address[0] + "api/ask", body, {"Content-Type": "application/json"}), timeout=PATIENCE
    ) as response:
        assert b'"event": "answer"' in response.read()
    children = [int(pid) for task in Path(f"/proc/{running.pid}/task").iterdir() for pid in _children(task)]
    assert children
    running.send_signal(way)
    _, said = running.communicate(timeout=PATIENCE)
    assert "Traceback" not in said
    until = monotonic() + PATIENCE
    while any(Path(f"/proc/{pid}").exists() for pid in children) and monotonic() < until:
        sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in children)


def _children(task: Path) -> list[str]:
    return (task / "children").read_text().split()


def test_a_port_that_is_taken_is_answered_with_a_free_one(capsys: pytest.CaptureFixture[str]) -> None:
    with open_socket("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert main(["explore", "--no-open", "--port", str(port)]) == 1
    said = capsys.readouterr().err
    free = int(re.search(r"--port (\d+)", said)[1])
    assert f"port {port} is taken" in said
    with socket.socket() as door:
        door.bind(("127.0.0.1", free))


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--port", "70000"], "port 70000 does not exist"),
        (["--model", "nowhere"], "no model is called 'nowhere'"),
        (["--pictures", "nowhere"], "nowhere is no folder"),
    ],
)
def test_misuse_is_told(capsys: pytest.CaptureFixture[str], flags: list[str], said: str) -> None:
    assert main(["explore", "--no-open", *(flags if "--port" in flags else [*flags, "--port", "0"])]) == 2
    assert said in capsys.readouterr().err


def test_a_host_of_another_machine_is_told() -> None:
    with pytest.raises(ServeError, match="no address of this machine"):
        open_socket("192.0.2.1", 0)


def test_a_missing_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(ServeError, match=r"pip install '\.\[web\]'"):
        serve(port=0, show=False)


@pytest.mark.parametrize(
    ("host", "guarded"), [("127.0.0.1", False), ("localhost", False), ("::1", False), ("0.0.0.0", True)]
)
def test_beyond_this_machine_the_address_carries_a_token(
    monkeypatch: pytest.MonkeyPatch, host: str, guarded: bool
) -> None:
    import uvicorn

    told: list[str] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: None)
    try:
        serve(host=host, port=0, show=False, tell=told.append)
    except ServeError:
        pytest.skip(f"this machine does not go by {host}")
    assert bool(re.search(r"\?token=[\w-]{32}$", told[0])) == guarded


def test_a_model_of_a_run_goes_by_the_name_of_the_run_and_comes_first(zoo: Path, tmp_path: Path) -> None:
    run = tmp_path / "translate-7"
    (run / "model").mkdir(parents=True)
    (run / "model/config.json").write_text("{}")
    assert list(Models([run, "many"], shelf=zoo).folders)[:3] == ["translate-7", "many", "a-classifier"]
    assert next(iter(Models([run / "model"], shelf=zoo).folders)) == "translate-7"


def test_two_models_of_one_name_are_told_apart(zoo: Path, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        place = tmp_path / folder / "small"
        place.mkdir(parents=True)
        (place / "config.json").write_text("{}")
    found = Models([tmp_path / "a/small", tmp_path / "b/small"], shelf=zoo).folders
    assert len(found) == 2 + len(list(zoo.glob("*/config.json")))
    assert list(found)[:2] == ["small", "small-2"]
