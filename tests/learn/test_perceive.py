"""Perceivers of sounds, clouds and films, and those that answer queries, learn something within seconds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.unit.sound.test_recording import wav

import regard
from regard.data.asked import FIRST
from regard.models import build
from regard.pipelines.asking import Given, Reconstructed, run
from regard.recipes import perceive, queries
from regard.train.loop import fit

QUICK: dict[str, Any] = dict(threads=1, precision="float32", warmup=5)
SMALL = ("latents=8", "width=32", "qk=32", "depth=1", "bands=4")


def learnt(recipe: Any, module: Any, folder: Path) -> tuple[float, Any]:
    outcome = fit(module.build(recipe), recipe, folder, recipe="perceive", quiet=True)
    assert outcome.best is not None
    return outcome.best, regard.load(folder)


@pytest.fixture
def sounds(tmp_path: Path) -> Path:
    """Tones that rise, and tones that fall."""
    dice, time = np.random.default_rng(0), np.arange(3000) / 8000
    for way, sign in (("falling", -1), ("rising", 1)):
        for split in ("train", "val"):
            (tmp_path / "sounds" / split / way).mkdir(parents=True)
        for i in range(80):
            pitch = dice.uniform(900, 1500) + sign * 1600 * (time - time.mean())
            tone = np.sin(2 * np.pi * np.cumsum(pitch) / 8000) + 0.05 * dice.standard_normal(3000)
            file = tmp_path / "sounds" / ("train" if i < 60 else "val") / way / f"{i}.wav"
            file.write_bytes(wav(0.5 * tone.astype(np.float32)))
    return tmp_path / "sounds"


@pytest.fixture
def clouds(tmp_path: Path) -> Path:
    """Clouds that are long, and clouds that are flat."""
    dice = np.random.default_rng(0)
    for kind, stretch in (("long", (0.2, 0.2, 1.0)), ("flat", (1.0, 1.0, 0.2))):
        (tmp_path / "clouds" / kind).mkdir(parents=True)
        for i in range(60):
            np.save(tmp_path / "clouds" / kind / f"{i}.npy", dice.standard_normal((64, 3)) * stretch)
    return tmp_path / "clouds"


def test_rising_tones_are_told_from_falling_ones(sounds: Path, tmp_path: Path) -> None:
    recipe = perceive.Recipe(
        data=str(sounds), model="perceiver-digits", set=SMALL, steps=60, evaluate=20, batch_size=32, **QUICK
    )
    best, heard = learnt(recipe, perceive, tmp_path / "run")
    assert best >= 85
    rising = sorted((sounds / "val/rising").iterdir())
    assert sum(one.label == "rising" for one in heard(rising)) >= 0.8 * len(rising)


def test_long_clouds_are_told_from_flat_ones(clouds: Path, tmp_path: Path) -> None:
    recipe = perceive.Recipe(
        data=str(clouds), model="perceiver-clouds", set=SMALL, steps=15, evaluate=15, batch_size=16, points=32, **QUICK
    )
    best, seen = learnt(recipe, perceive, tmp_path / "run")
    assert best >= 90
    assert seen.card["points"] == {"count": 1024}


@pytest.mark.parametrize(("asks", "than"), [("letters", "unigram"), ("film", "mean film")])
def test_answers_to_queries_are_better_than_what_needs_no_looking(
    asks: str, than: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    small = ("latents=16", "width=64", "qk=64", "depth=1")
    letters = asks == "letters"
    sized: dict[str, Any] = dict(
        steps=60 if letters else 40, evaluate=60 if letters else 40, batch_size=16, items=500 if letters else 100
    )
    recipe = queries.Recipe(asks=asks, set=small, watched=10, **sized, **QUICK)
    _, one = learnt(recipe, queries, tmp_path / "run")
    measured = one.card["measured"]
    metric = "accuracy" if asks == "letters" else "film error"
    beside = measured[f"test {metric}/{than}"]
    assert (measured[f"test {metric}"] > beside) == (asks == "letters")
    assert one.question.metric == metric


def test_films_that_were_never_met_come_through_the_latents_and_back() -> None:
    """Each has a brightness of its own above and another below, so that no answer without looking is near it."""
    question = Reconstructed(frames=4, size=8, length=8, patch=4)
    dice = np.random.default_rng(0)

    def some(count: int) -> Given:
        halves = dice.integers(0, 256, (count, 1, 2, 1, 1), dtype=np.uint8)
        films = np.broadcast_to(halves, (count, 4, 2, 8, 3)).repeat(4, axis=2)
        letters = np.full((count, 8), FIRST + ord("a")) + dice.integers(2, size=(count, 1))  # all a, or all b
        return question.read(films, letters, np.arange(count))

    torch.manual_seed(0)
    small: dict[str, Any] = dict(latents=8, width=64, qk=64, depth=1, bands=4)
    model = build(question.preset, **question.decided(), **small)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(80):
        queries.loss(question, model, some(16)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    unseen = some(20)
    with torch.no_grad():
        said = run(model.eval(), unseen)
    found = question.scores([said], [unseen], model.config)
    swapped = question.scores([said.roll(1, dims=0)], [unseen], model.config)
    assert found["film error"].value < 0.5 * found["film error/mean film"].value
    assert found["letters"].value > 90 > found["letters/usual letter"].value
    # What is said of a film is of that film: as the answer to another one it is worse than the mean of all.
    assert swapped["film error"].value > found["film error/mean film"].value
    assert swapped["letters"].value < 90


def test_a_model_goes_on_with_other_classes(clouds: Path, tmp_path: Path) -> None:
    small: dict[str, Any] = dict(data=str(clouds), steps=2, evaluate=2, batch_size=8, points=16, **QUICK)
    learnt(perceive.Recipe(model="perceiver-clouds", set=SMALL, **small), perceive, tmp_path / "first")
    (clouds / "long").rename(clouds / "tall")
    begun = perceive.Recipe(model=str(tmp_path / "first/model"), freeze="all", **small)
    _, again = learnt(begun, perceive, tmp_path / "second")
    assert again.labels == ("flat", "tall")


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("vit-nano", "vit-nano is a vit, which perceives no sounds, points or films; choose a perceiver"),
        ("perceiver-digits", "sees 2 axes and 1 channels, and .* has points; take perceiver-clouds"),
    ],
)
def test_a_model_that_cannot_see_them_is_refused(clouds: Path, model: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        perceive.build(perceive.Recipe(data=str(clouds), model=model))
