"""A corpus on disk: tokenized once, resumed where it was stopped, and read in windows."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.data import DataError, tokenize, windows
from regard.text import Tokenizer

LINES = [f"line {i} of a text that is long enough to be cut – twice\n" for i in range(400)]
TOKENIZER = Tokenizer.train(LINES, kind="bytes", vocab=400)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "train.txt").write_text("".join(LINES), encoding="utf-8")
    return tmp_path / "texts"


class Watch:
    """How often a tokenizer is asked, until it is stopped."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, stop: int = 10**6) -> None:
        self.asked, encode = 0, Tokenizer.encode

        def watched(tokenizer: Tokenizer, *given: Any, **flags: Any) -> Any:
            self.asked += 1
            if self.asked > stop:
                raise KeyboardInterrupt
            return encode(tokenizer, *given, **flags)

        monkeypatch.setattr(Tokenizer, "encode", watched)


def test_the_stream_is_the_text(texts: Path, tmp_path: Path) -> None:
    tokens = tokenize(texts, TOKENIZER, tmp_path / "ids", shard=5000)
    assert len(tokens) == 5
    assert TOKENIZER.decode(tokens.stream) == "".join(LINES)
    assert sorted(path.name for path in (tmp_path / "ids").iterdir()) == ["ids.tokens", "manifest.json"]
    batch = next(windows(tokens.stream, context=32, rows=4))
    assert batch.sides[0].shape == (4, 33)
    assert tokens.stream.dtype == np.uint16


def test_what_is_done_is_not_done_again(texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        Watch(patch, stop=3)
        with pytest.raises(KeyboardInterrupt):
            tokenize(texts, TOKENIZER, tmp_path / "ids", shard=5000)
    watch = Watch(monkeypatch)
    tokens = tokenize(texts, TOKENIZER, tmp_path / "ids", shard=5000)
    assert watch.asked == 2
    assert TOKENIZER.decode(tokens.stream) == "".join(LINES)
    tokenize(texts, TOKENIZER, tmp_path / "ids", shard=5000)
    assert watch.asked == 2


def test_a_shard_that_was_damaged_is_done_again(texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        Watch(patch, stop=3)
        with pytest.raises(KeyboardInterrupt):
            tokenize(texts, TOKENIZER, tmp_path / "ids", shard=5000)
    shard = tmp_path / "ids" / "000001.tokens"
    shard.write_bytes(shard.read_bytes()[:-8] + b"\xff" * 8)
    assert TOKENIZER.decode(tokenize(texts, TOKENIZER, tmp_path / "ids", shard=5000).stream) == "".join(LINES)


def test_a_text_that_has_changed_is_read_again(texts: Path, tmp_path: Path) -> None:
    tokenize(texts, TOKENIZER, tmp_path / "ids", shard=5000)
    (texts / "train.txt").write_text("another text")
    assert TOKENIZER.decode(tokenize(texts, TOKENIZER, tmp_path / "ids", shard=5000).stream) == "another text"


def test_a_folder_of_other_ids_is_not_overwritten(texts: Path, tmp_path: Path) -> None:
    tokenize(texts, TOKENIZER, tmp_path / "ids")
    other = Tokenizer.train(LINES, kind="characters", vocab=100)
    with pytest.raises(DataError, match=r"holds the ids of .*, which were made otherwise than those of .* would be"):
        tokenize(texts, other, tmp_path / "ids")
    about = json.loads((tmp_path / "ids" / "manifest.json").read_text())
    assert about["split"] == "train"
    assert len(about["sha256"]) == 64
