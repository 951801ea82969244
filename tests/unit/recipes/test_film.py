"""Films and sentences: a short training finds more than luck, and what cannot begin is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.data import DataError
from regard.data.filmed import Films, world_films
from regard.hub import load
from regard.recipes import film
from regard.train.loop import fit

SMALL: dict[str, Any] = {"steps": 3, "batch_size": 4, "evaluate": 3, "warmup": 1, "threads": 1, "films": 12}
PLAN = film.Recipe(model="clip4clip-nano", clip="", frames=4, watched=6, **SMALL)


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("similarity", ["mean", "sequential", "tight"])
def test_films_are_searched_in_three_ways_and_the_card_tells_how_well(similarity: str, tmp_path: Path) -> None:
    plan = replace(PLAN, set=(f"similarity={similarity}",))
    assert fit(film.build(plan), plan, tmp_path / "run", quiet=True).finished
    card = load(tmp_path / "run" / "model").card
    assert {"test text to image R@1", "test image to text R@10", "test ways"} <= set(card["measured"])


def test_a_trained_clip_sees_the_frames_and_knows_its_words() -> None:
    task, trained = film.build(replace(PLAN, model="clip4clip-world", clip="world-clip")), load("world-clip")
    model: Any = task.model
    picture = torch.rand(2, 3, 48, 48)
    torch.testing.assert_close(model.clip.eval().encode_image(picture), trained.model.eval().encode_image(picture))
    words = [("disc", True), ("right", False)]
    for word, known in words:
        (row,) = task.tokenizer.encode([word])
        (theirs,) = trained.tokenizer.encode([word])
        same = torch.equal(model.clip.text.embed.weight[row[-1]], trained.model.text.embed.weight[theirs[-1]])
        assert same == known, word


def test_a_mean_of_frames_cannot_know_which_way_a_film_runs() -> None:
    task = film.build(replace(PLAN, set=("similarity=mean",)))
    batch, model = next(iter(task.batches)), task.model.eval()
    backwards = batch._replace(film=batch.film.flip(1))
    torch.testing.assert_close(task.loss(model, batch), task.loss(model, backwards))
    ordered = film.build(replace(PLAN, set=("similarity=sequential",)))
    assert not torch.isclose(ordered.loss(ordered.model.eval(), batch), ordered.loss(ordered.model, backwards))


def test_held_out_films_have_a_text_each_that_no_other_has() -> None:
    held = world_films("val", frames=4, count=60)
    assert len(set(held.texts)) == len(held) == 60
    assert held.pixels(16).shape == (60, 4, 16, 16, 3)
    assert any("left" in text and "right" in turned for text, turned in zip(held.texts, held.backwards, strict=True))


def test_what_cannot_be_shown_is_refused() -> None:
    with pytest.raises(ValueError, match="no split is called 'tset'; choose train, val, test"):
        world_films("tset")
    with pytest.raises(ValueError, match="a film of 17 frames cannot be shown; give 1 to 16"):
        world_films("val", frames=17)
    with pytest.raises(ValueError, match="vit-nano is a vit, which sees no films; choose a preset of clip4clip"):
        film.build(replace(PLAN, model="vit-nano"))
    with pytest.raises(ValueError, match="--clip world-vit is no CLIP with a tokenizer; give one, say world-clip"):
        film.build(replace(PLAN, clip="world-vit"))
    with pytest.raises(DataError, match="--clip nowhere cannot be read"):
        film.build(replace(PLAN, clip="nowhere"))


def test_a_film_backwards_is_told_in_the_opposite_ways() -> None:
    known: Films = replace(world_films("val", count=1), texts=("The red disc moves left. The star moves up.",))
    assert known.backwards == ("The red disc moves right. The star moves down.",)
