"""`regard match` and `regard search`, as a user meets them."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from regard.cli.main import main
from regard.hub import save
from regard.models import build
from regard.models.clip import FAMILY
from regard.models.clip4clip import FAMILY as FILMS
from regard.text import Tokenizer

Captured = pytest.CaptureFixture[str]
TOKENIZER = Tokenizer.train(["there is a red disc and a blue star", "two dogs in snow"], kind="words", vocab=48)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and a folder of photos."""
    folder = tmp_path_factory.mktemp("match")
    torch.manual_seed(0)
    model = build("clip-nano", bias=False).eval()
    save(folder / "clip", model, family=FAMILY, card={"task": "match", "title": "Fresh"}, tokenizer=TOKENIZER)
    (folder / "photos").mkdir()
    for i in range(3):
        pixels = np.random.default_rng(i).integers(0, 255, (20, 30, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / "photos" / f"{i}.png")
    return folder


def match(place: Path, *words: str) -> int:
    return main(["match", str(place / "photos" / "0.png"), *words, "--model", str(place / "clip")])


def test_texts_are_ranked_by_how_well_they_go_with_a_photo(place: Path, capsys: Captured) -> None:
    assert match(place, "a red disc", "two dogs") == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split("%  ")[1] for line in lines} == {"a red disc", "two dogs"}
    assert match(place, "a red disc", "two dogs", "--json") == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found[0]["score"] >= found[1]["score"]
    assert sum(each["score"] for each in found) == pytest.approx(1)


def test_classes_stand_in_sentences(place: Path, capsys: Captured) -> None:
    assert match(place, "disc", "star", "--classes", "--templates", "there is {a}") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert match(place, "disc", "--templates", "there is {a}") == 2
    assert "say --classes too" in capsys.readouterr().err


def test_texts_may_come_line_by_line(place: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a red disc\n\ntwo dogs\n")))
    assert match(place) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert match(place) == 2
    assert "there is no text to match; give some" in capsys.readouterr().err


def test_a_text_that_is_too_long_is_refused_or_cut(place: Path, capsys: Captured) -> None:
    assert match(place, "red", "red " * 90) == 1
    assert "text 2 has 92 tokens, and at most 12 are read" in capsys.readouterr().err
    assert match(place, "red", "red " * 90, "--cut") == 0


def test_a_photo_that_is_none_is_said(place: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "x.jpg").write_bytes(b"nothing")
    assert main(["match", str(tmp_path / "x.jpg"), "a dog", "--model", str(place / "clip")]) == 1
    assert "x.jpg is no picture of a known format" in capsys.readouterr().err


def search(place: Path, folder: Path, *words: Any) -> int:
    return main(["search", str(folder), *map(str, words), "--model", str(place / "clip")])


def test_a_folder_is_searched_and_its_index_kept(place: Path, capsys: Captured) -> None:
    photos = place / "photos"
    assert search(place, photos, "two dogs", "--top", 2) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert (place / "photos.regard-index").is_file()
    assert search(place, photos, "two dogs", "--json") == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["picture"] for each in found[:2]] == [line.split("  ")[1] for line in lines]
    assert found[0]["score"] >= found[1]["score"] >= found[2]["score"]


def test_what_cannot_be_read_or_kept_is_said(place: Path, tmp_path: Path, capsys: Captured) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "good.png")
    for i in range(5):
        (tmp_path / f"bad{i}.png").write_bytes(b"nothing")
    assert search(place, tmp_path, "a dog", "--index", tmp_path / "good.png" / "index") == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 1
    assert "bad0.png is no picture" in err
    assert "and 2 other pictures cannot be read" in err
    assert "cannot be written" in err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nowhere", "a dog"], 2, "nowhere is no folder; give one with pictures"),
        (["empty", "a dog"], 1, "empty has no pictures; put some there"),
        (["empty", " "], 2, "nothing is looked for; say what the pictures should show"),
        (["empty", "a dog", "--top", "-1"], 2, "--top -1 is no number of pictures"),
        (["empty", "red " * 90], 1, "the text has 92 tokens"),
    ],
)
def test_a_search_that_finds_nothing_says_why(
    place: Path, tmp_path: Path, capsys: Captured, words: list[str], code: int, said: str
) -> None:
    (tmp_path / "empty").mkdir()
    assert search(place, tmp_path / words[0], *words[1:]) == code
    assert said in capsys.readouterr().err


def test_sentences_are_ranked_by_how_well_they_go_with_a_film(place: Path, capsys: Captured, tmp_path: Path) -> None:
    torch.manual_seed(0)
    save(tmp_path / "film", build("clip4clip-nano"), family=FILMS, card={"task": "film"}, tokenizer=TOKENIZER)
    shades = [Image.new("RGB", (20, 20), (60 * i, 0, 0)) for i in range(4)]
    shades[0].save(tmp_path / "clip.gif", save_all=True, append_images=shades[1:])
    for film in (str(tmp_path / "clip.gif"), str(place / "photos")):  # a folder has the frames of one film
        assert main(["match", film, "a red disc", "two dogs", "--json", "--model", str(tmp_path / "film")]) == 0
        found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert {each["text"] for each in found} == {"a red disc", "two dogs"}
        assert {each["cosine"] for each in found} == {None}  # looked over together, they have no vectors to compare
    assert main(["match", "world:1", "disc", "--classes", "--model", str(tmp_path / "film")]) == 2
    assert "reads sentences about films, and no names of classes; leave --classes out" in capsys.readouterr().err


def test_a_picture_and_texts_are_one_line_with_tabs_where_any_model_runs(place: Path, capsys: Captured) -> None:
    clip, photo = str(place / "clip"), str(place / "photos" / "0.png")
    assert main(["run", clip, f"{photo}\ta red disc\ttwo dogs"]) == 0
    assert capsys.readouterr().out.strip() in {"a red disc", "two dogs"}
    assert main(["look", clip, f"{photo}\ta red disc", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["heads"]
    for verb in ("run", "look"):
        assert main([verb, clip, photo]) != 0
        assert "has no text; write a picture and texts with tabs between, or regard match" in capsys.readouterr().err
