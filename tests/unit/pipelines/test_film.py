"""A film and sentences in, how well they go together out: on fresh models whose answers are random but must fit."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import regard
from regard.analysis.view import Grid
from regard.data import DataError
from regard.data.filmed import world_films
from regard.hub import save
from regard.models import build
from regard.models.clip4clip import FAMILY
from regard.pipelines.film import Filming
from regard.text import Tokenizer
from regard.text.words import Words

TOKENIZER = Tokenizer.train(world_films("val", count=30).texts, kind="words", vocab=48, lower=True)
FILM = np.random.default_rng(0).integers(0, 255, (9, 20, 24, 3), dtype=np.uint8)
TEXTS = ["moves left .", "moves right ."]
WAYS = ["mean", "sequential", "tight"]


def filming(similarity: str = "sequential", **changes: Any) -> Filming:
    torch.manual_seed(0)
    return Filming.of(build("clip4clip-nano", similarity=similarity, **changes).eval(), TOKENIZER, name="mine")


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("similarity", WAYS)
def test_a_film_says_what_the_model_says_of_its_frames(similarity: str) -> None:
    one = filming(similarity)
    (found,) = one([(FILM, TEXTS)])
    image = one.tensors(one.shots(FILM))[None]
    for text in TEXTS:
        ids, lengths = one.stills.padded(one.stills.rows([text]))
        with torch.no_grad():
            logit = one.model(image, ids, lengths=lengths).logits[0]
        assert found.scores[text] == pytest.approx(float(logit.sigmoid()), abs=1e-4)  # the nano has a bias
    assert set(found.cosines) == (set() if similarity == "tight" else set(TEXTS))


def test_texts_compete_where_a_model_has_no_bias() -> None:
    one = filming("mean")
    one.model.clip.bias = None
    (found,) = one([(FILM, TEXTS)])
    assert sum(found.scores.values()) == pytest.approx(1)
    assert found.text == max(found.scores, key=lambda text: found.scores[text])


def test_a_film_is_its_pixels_a_moving_picture_a_folder_or_a_row_of_pictures(tmp_path: Path) -> None:
    one, pictures = filming(), [Image.fromarray(each) for each in FILM]
    for i, each in enumerate(pictures):
        each.save(tmp_path / f"{i:02}.png")
    moving = BytesIO()
    pictures[0].save(moving, "WEBP", save_all=True, append_images=pictures[1:], lossless=True)
    (tmp_path / "clip.gif").write_bytes(moving.getvalue())  # told by what is in it, not by its name
    folder, file = tmp_path, tmp_path / "clip.gif"
    wanted = one.films([FILM])
    for given in (moving.getvalue(), str(file), pictures, [tmp_path / f"{i:02}.png" for i in range(9)], folder):
        torch.testing.assert_close(one.films([given]), wanted)


def test_frames_are_spread_over_a_film_and_a_short_one_shows_them_again() -> None:
    one = filming()
    assert one.frames == 4
    shown = [np.asarray(each) for each in one.shots(FILM)]
    np.testing.assert_array_equal(shown, FILM[[0, 3, 5, 8]])
    np.testing.assert_array_equal([np.asarray(each) for each in one.shots(FILM[:1])], FILM[[0, 0, 0, 0]])


def test_films_of_the_world_have_numbers() -> None:
    one = filming()
    known = world_films("test", frames=4, count=3)
    wanted = known.pixels(one.model.config.size)[2]
    np.testing.assert_array_equal([np.asarray(each) for each in one.shots("world:2")], wanted)


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_is_no_film_is_refused(tmp_path: Path) -> None:
    one: Any = filming()
    for given, said in (
        (FILM[0], r"the film has the shape \(20, 24, 3\); give bytes of \(frames, height, width, 3\)"),
        ("world:123456789", "no film is called world:123456789; say world:0 to world:499"),
        ("cifar10:1", "no film is called cifar10:1; say world:0"),
        (tmp_path, "has 0 pictures; give a folder with 1 to 100,000 frames"),
        ([], "a film of no pictures shows nothing"),
        (tmp_path / "nowhere.gif", "nowhere.gif is not there"),
    ):
        with pytest.raises(ValueError, match=said):
            one([(given, TEXTS)])
    nothing: list[list[Any]] = [[], [(FILM, [])]]
    for inputs in nothing:
        with pytest.raises(ValueError, match="there is nothing to compare; give each film one text or more"):
            one(inputs)
    with pytest.raises(ValueError, match="mine takes a film and a text; give both"):
        one.attend("world:7")
    with pytest.raises(ValueError, match="mine is a ViT, which sees no films; give a clip4clip"):
        Filming.of(build("vit-nano"), name="mine")


@pytest.mark.parametrize("similarity", WAYS)
def test_films_are_searched_both_ways_and_asked_which_way_they_run(similarity: str) -> None:
    found = filming(similarity).evaluate("world", limit=12)
    assert (found.count, found.split) == (12, "test")
    assert {"image to text R@1", "image to text R@10", "text to image R@1", "text to image R@10"} <= set(found.scores)
    ways = found.scores["ways"]  # of the films in which something moves
    assert ways.interval is not None
    assert ways.count is not None
    assert 0 < ways.count <= 12


def test_a_model_that_knows_its_films_finds_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    known, one = world_films("val", frames=4, count=6), filming("mean")
    names = {text: torch.nn.functional.one_hot(torch.tensor(i), 16).float() for i, text in enumerate(known.texts)}
    away = torch.nn.functional.one_hot(torch.tensor(15), 16).float()
    texts = lambda some, cut: torch.stack([names.get(text, away) for text in some])  # noqa: E731
    monkeypatch.setattr(one.stills, "texts", texts)
    frames = torch.stack(list(names.values()))[:, None].expand(-1, 4, -1)
    monkeypatch.setattr(one.model, "encode_film", lambda film: frames)
    assert {score.value for score in one.score(known).values()} == {100.0}


def test_only_the_world_has_films_with_sentences() -> None:
    with pytest.raises(DataError, match="no films with sentences are called 'flickr8k'; say world"):
        filming().evaluate("flickr8k")


@pytest.mark.parametrize("similarity", WAYS)
def test_frames_are_seen_to_look_at_frames(similarity: str) -> None:
    reading = filming(similarity).attend((FILM, TEXTS))
    over = [each for each in reading.maps if each.name.startswith("over.")]
    assert len(over) == (0 if similarity == "mean" else 1)
    assert isinstance(reading.axes["words"], Words)
    for each in reading.maps:
        weights = reading.weights(each.name)
        assert weights.shape == (each.heads, len(reading.axes[each.rows]), len(reading.axes[each.columns]))
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-4)
    assert any(isinstance(reading.axes[each.rows], Grid) for each in reading.maps)
    if over:
        frames: Any = reading.axes["frames"]
        assert frames.pieces == (*(["text"] if similarity == "tight" else []), *(f"frame {i}" for i in (1, 2, 3, 4)))
    assert reading.output.text in TEXTS


def test_the_card_of_a_model_says_that_it_sees_films(tmp_path: Path) -> None:
    one = filming()
    save(tmp_path / "film", one.model, family=FAMILY, card={"task": "film", "title": "Fresh"}, tokenizer=TOKENIZER)
    loaded: Any = regard.load(tmp_path / "film")
    assert isinstance(loaded, Filming)
    assert loaded([(FILM, TEXTS)])[0].scores.keys() == set(TEXTS)
