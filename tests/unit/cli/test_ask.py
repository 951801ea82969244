"""`regard ask` as a user meets it."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.flamingos import save_flamingo

from regard.cli.main import main

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model, a photo and a file of shots."""
    folder = tmp_path_factory.mktemp("asking")
    save_flamingo(folder / "flamingo")
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (20, 30, 3), dtype=np.uint8)).save(folder / "photo.png")
    shots = [{"picture": "photo.png", "text": "This is a dax."}, {"picture": "world:1", "text": "This is a wug."}]
    (folder / "task.jsonl").write_text("\n".join(map(json.dumps, shots)) + "\n\n")
    return folder


def ask(place: Path, *more: str) -> int:
    return main(["ask", "--model", str(place / "flamingo"), *more])


def test_a_question_is_answered_with_shots_and_without(place: Path, capsys: Captured) -> None:
    assert ask(place, str(place / "photo.png"), "What is there?") == 0
    capsys.readouterr()
    call = (str(place / "photo.png"), "This is a", "--shots", str(place / "task.jsonl"), "--json")
    assert ask(place, *call, "--beam", "3", "--count", "2") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["shots"] == 2
    assert {"answer", "log_prob", "finished"} <= set(found)
    assert len(found["alternatives"]) == 1
    assert ask(place, "world:7", "What is there?", "--dtype", "int8") == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("world:7", "  "), "there is no text to answer"),
        (("nowhere.jpg", "What is there?"), "nowhere.jpg"),
        (("broken.png", "What is there?"), "broken.png is no picture"),
        (("world:7", "red " * 200), "tokens, and flamingo reads at most 96; ask in fewer words"),
        (("world:7", "This is a", "--shots", "none.jsonl"), "there is no file of shots none.jsonl"),
        (("world:7", "This is a", "--shots", "bad.jsonl"), "line 2 of bad.jsonl is no JSON"),
        (("world:7", "This is a", "--shots", "odd.jsonl"), "line 1 of odd.jsonl is no shot"),
        (("world:7", "This is a", "--shots", "silent.jsonl"), "the text of line 1 of silent.jsonl is empty"),
        (("world:7", "This is a", "--shots", "empty.jsonl"), "empty.jsonl holds no shot"),
        (("world:7", "This is a", "--shots", "latin.jsonl"), "latin.jsonl is no UTF-8"),
        (("world:7", "This is a", "--shots", "long.jsonl"), "show fewer shots, or ask in fewer words"),
        (("world:7", "What?", "--count", "2"), "a --beam as wide as the --count"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_cannot_be_asked_is_told_in_a_sentence(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, given: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.png").write_bytes(b"nothing")
    good = json.dumps({"picture": "world:1", "text": "This is a dax."})
    Path("bad.jsonl").write_text(f"{good}\n{{")
    Path("odd.jsonl").write_text('{"picture": 7, "text": "This is a dax."}')
    Path("silent.jsonl").write_text('{"picture": "world:1", "text": " "}')
    Path("empty.jsonl").write_text("\n")
    Path("latin.jsonl").write_bytes(b'{"picture": "world:1", "text": "\xe9"}')
    Path("long.jsonl").write_text("\n".join([good] * 40))
    assert ask(place, *given) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert not out
    assert len(err.strip().splitlines()) == 1
