"""`regard caption`, as a user meets it."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from PIL import Image

from regard.cli.main import main
from regard.data.captions import captioned
from regard.hub import save
from regard.models import build
from regard.models.family import family
from regard.text import Tokenizer
from regard.vision import Processor, Size

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a photo, a captioner that looks and one that does not."""
    folder = tmp_path_factory.mktemp("captions")
    pixels = np.random.default_rng(0).integers(0, 255, (40, 60, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "photo.png")
    tokenizer = Tokenizer.train([text for (text,) in captioned("world", limit=100).captions], vocab=500)
    for way in ("soft", "fixed"):
        torch.manual_seed(0)
        save(
            folder / way,
            build("caption-nano", way=way, vocab=tokenizer.vocab).eval(),
            family=family("caption"),
            tokenizer=tokenizer,
            processor=Processor(size=Size(height=32, width=32)),
            card={"task": "caption", "title": way},
        )
    return folder


def test_a_photo_is_captioned_and_told_as_json(place: Path, capsys: Captured) -> None:
    photo = str(place / "photo.png")
    assert main(["caption", photo, "--model", str(place / "soft"), "--beam", "2"]) == 0
    text = capsys.readouterr().out.strip()
    assert main(["caption", photo, "--model", str(place / "soft"), "--beam", "2", "--count", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["caption"].strip() == text
    assert found["picture"] == photo
    assert found["log_prob"] >= found["alternatives"][0]["log_prob"] or found["alternatives"]


def test_the_figure_has_a_map_for_each_word(place: Path, tmp_path: Path, capsys: Captured) -> None:
    look = tmp_path / "words.svg"
    given = ["caption", "world:7", "--model", str(place / "soft"), "--look", str(look)]
    assert main([*given, "--target", "There is a red disc."]) == 0
    assert capsys.readouterr().out.strip()
    drawn = ElementTree.fromstring(look.read_text())
    named = [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert named == ["There is a red disc.", "There", "is", "a", "red", "disc", "."]
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}image"))) == 7
    assert main([*given[:-1], str(tmp_path / "words.html")]) == 0


def test_what_cannot_be_done_is_said(place: Path, tmp_path: Path, capsys: Captured) -> None:
    photo, soft = str(place / "photo.png"), str(place / "soft")
    for options, words in (
        (["--look", "words.png"], "is for one picture, and ends in .svg or .html"),
        (["--look", str(tmp_path / "no" / "words.svg")], "there is no folder"),
        (["--beam", "2", "--count", "3"], "a beam of 2 cannot give 3 captions"),
        (["--head", "1"], "name its file by --look"),
        (["--look", str(tmp_path / "a.svg"), "--head", "4"], "decoder.attn has no head 4"),
    ):
        assert main(["caption", photo, "--model", soft, *options]) == 2
        assert words in capsys.readouterr().err
    assert main(["caption", photo, "--model", str(place / "fixed"), "--look", str(tmp_path / "b.svg")]) == 2
    assert "looks at no picture while it writes" in capsys.readouterr().err
    (tmp_path / "broken.png").write_bytes(b"nothing")
    assert main(["caption", str(tmp_path / "broken.png"), photo, "--model", soft]) == 1
    assert "broken.png is no picture" in capsys.readouterr().err
