"""`regard paint`, as a user meets it."""

import json
from pathlib import Path

import pytest
import torch
from PIL import Image

from regard.cli.main import main
from regard.hub import save
from regard.models import build
from regard.models.family import family
from regard.recipes.paint import phrases_of
from regard.text import Tokenizer

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("painter") / "mine"
    tokenizer = Tokenizer.train(phrases_of(), vocab=1000, kind="words", lower=True)
    torch.manual_seed(0)
    fresh = build("diffusion-nano", vocab=tokenizer.vocab)
    save(folder, fresh, family=family("diffusion"), tokenizer=tokenizer, card={"task": "paint", "title": "mine"})
    return str(folder)


def test_a_sheet_has_a_row_for_each_text(model: str, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "sheet.png"
    args = ["paint", "a red disc", "a pink ring", "--model", model, "--count", "3", "--steps", "2", "--out", str(out)]
    assert main(args) == 0
    assert "6 pictures by mine" in capsys.readouterr().out
    with Image.open(out) as sheet:
        assert sheet.size == (3 * 128 + 8, 2 * 128 + 4)


def test_json_says_where_each_picture_lies(model: str, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "one.png"
    assert (
        main(["paint", "a red disc", "--model", model, "--steps", "2", "--out", str(out), "--size", "40", "--json"])
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == [{"text": "a red disc", "pictures": [[0, 0, 40, 40]]}]
    with Image.open(out) as picture:
        assert picture.size == (40, 40)


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        ([""], "text 0 is empty"),
        (["a red horse"], "'horse', which is not learnt"),
        (["a red disc " * 30], "tokens, and at most 12 are read"),
        (["a red disc", "--out", "disc.gif"], "give a name that ends in .png or .jpg"),
        (["a red disc", "--out", "nowhere/disc.png"], "there is no folder"),
        (["a red disc", "--steps", "0"], "steps is 0"),
        (["a red disc", "--count", "0"], "--count 0 makes no sheet"),
        (["a red disc", "--temperature", "1"], "temperature does nothing"),
    ],
)
def test_what_cannot_be_painted_is_told_in_a_line(
    model: str, args: list[str], complaint: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["paint", *args, "--model", model]) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert not list(tmp_path.glob("*.png"))
