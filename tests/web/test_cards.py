"""Every bundled model says what it knows, takes and gives, on what terms, and how good it was found to be."""

import hashlib
from pathlib import Path

import pytest

from regard.web import models
from regard.web.models import Models, learnt, revision
from regard.zoo import zoo

SAID = ("title", "task", "knows", "takes", "gives", "examples", "terms", "data", "measured", "measured_on")
ABOUT = {each["name"]: each for each in Models().about()}


@pytest.mark.parametrize("name", zoo())
def test_a_card_says_all_of_it(name: str) -> None:
    about = ABOUT[name]
    assert [fact for fact in SAID if not about[fact]] == []
    assert about["parameters"] > 0


@pytest.mark.parametrize("name", zoo())
def test_a_model_is_named_by_its_bytes_and_by_the_hash_of_its_weights(name: str) -> None:
    weights = zoo()[name] / "model.safetensors"
    assert ABOUT[name]["bytes"] == weights.stat().st_size
    assert ABOUT[name]["revision"] == hashlib.sha256(weights.read_bytes()).hexdigest()[:8]


def test_large_weights_are_hashed_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "AT_ONCE", 3)
    started: list[object] = []
    monkeypatch.setattr("regard.web.models.Thread.start", lambda thread: started.append(thread))
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"long")
    assert revision(weights) is None
    assert revision(weights) is None
    (thread,) = started
    thread.run()  # type: ignore[attr-defined]
    assert revision(weights) == hashlib.sha256(b"long").hexdigest()[:8]
    assert revision(tmp_path / "nowhere") is None


def test_what_a_model_was_trained_on_tells_how_long_a_text_may_be() -> None:
    assert ABOUT["de-en"]["limit"] == 100
    assert ABOUT["shakespeare"]["limit"] == 256
    assert learnt({"stages": [{"limit": 50}, {"limit": "much"}, 7]}, {}) == 50
    assert learnt({"stages": 3, "trained_with": []}, {"config": None}) is None
