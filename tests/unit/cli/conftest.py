"""Small translators in folders, which have learnt nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from regard.hub import save
from regard.models import seq2seq, transformer
from regard.text import Tokenizer
from regard.world.language import pairs, text

LINES = [text(side) for pair in pairs("it", "en")[:80] for side in (pair.source, pair.target)]


def saved(folder: Path, *, kind: str = "transformer", vocab: int = 330, **card: object) -> Path:
    """A model in its folder that reads Italian and writes English, or whatever its card says."""
    torch.manual_seed(0)
    tokenizer = Tokenizer.train(LINES, vocab=vocab)
    languages = {"source": ["it"], "target": ["en"]}
    about = {"task": "translate", "title": "Small and untaught", "languages": languages, "data": "world"} | card
    small: torch.nn.Module
    if kind == "transformer":
        family, small = transformer.FAMILY, transformer.Transformer(transformer.Config(tokenizer.vocab, 16, 2, 2, 16))
    else:
        config = seq2seq.Config(tokenizer.vocab, None, 8, 8, attention=kind)
        family, small = seq2seq.FAMILY, seq2seq.Seq2Seq(config)
    save(folder, small, family=family, card=about, tokenizer=tokenizer)
    return folder


@pytest.fixture(name="saved")
def _saved() -> Callable[..., Path]:
    return saved


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model on a shelf of its own, by the name `small`."""
    monkeypatch.setattr("regard.zoo.SHELF", tmp_path / "zoo")
    return saved(tmp_path / "zoo/small")
