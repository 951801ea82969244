"""Painting, by fresh models whose pictures mean nothing but must fit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import regard
from regard.data.phrased import WAYS
from regard.hub import save
from regard.models import build
from regard.models.dalle import PRESETS
from regard.models.family import family
from regard.models.unclip import PRESETS as UNCLIP
from regard.pipelines import TooLongError, paint
from regard.pipelines.paint import Paint
from regard.recipes.paint import phrases_of
from regard.text import Tokenizer

TEXT = "a red disc left of a blue star"
NAMES = ("diffusion", "dalle", "unclip")


def tokenizer() -> Tokenizer:
    return Tokenizer.train(phrases_of(), vocab=1000, kind="words", lower=True)


def painter(name: str) -> Paint:
    torch.manual_seed(0)
    words = tokenizer()
    if name == "dalle":
        nano = PRESETS["dalle-nano"]
        writer = replace(nano.writer, vocab=words.vocab + nano.coder.codes + 1)
        model = build("dalle-nano", vocab=words.vocab, writer=writer)
    elif name == "unclip":
        clip = UNCLIP["unclip-nano"].clip
        model = build("unclip-nano", clip=replace(clip, text=replace(clip.text, vocab=words.vocab)))
    else:
        model = build("diffusion-nano", vocab=words.vocab)
    with torch.no_grad():
        for each in model.parameters():
            each.add_(0.1 * torch.randn_like(each))
    return Paint.of(model.eval(), words, name="mine")


def pixels(picture: Image.Image) -> np.ndarray:
    return np.asarray(picture)


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_depends_on_its_text_and_its_seed_and_on_nothing_else(name: str) -> None:
    one = painter(name)
    manner: dict[str, Any] = {"temperature": 0.9, "top_p": 0.95} if name == "dalle" else {"steps": 3}
    alone, *_ = one(TEXT, count=2, seed=3, **manner)
    among = one(["a pink ring", TEXT.upper()], count=3, seed=3, **manner)
    assert alone.pictures[0].size == (16, 16)
    for mine, theirs in zip(alone.pictures, among[1].pictures, strict=False):
        assert np.abs(pixels(mine).astype(int) - pixels(theirs)).max() <= 1  # a batch may round otherwise
    assert (pixels(alone.pictures[0]) != pixels(alone.pictures[1])).any()
    assert (pixels(one(TEXT, seed=4, **manner)[0].pictures[0]) != pixels(alone.pictures[0])).any()


@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_painted_is_refused_in_a_sentence(name: str) -> None:
    one = painter(name)
    for empty in ("", "  "):
        with pytest.raises(ValueError, match="text 1 is empty, so that there is nothing to paint; say what you want"):
            one(["a red disc", empty])
    with pytest.raises(TooLongError, match=r"text 0 has \d+ tokens, and at most \d+ are read"):
        one("a red disc and " * 20 + "a star")
    with pytest.raises(ValueError, match="text 0 says 'horse', which is not learnt; it knows a, above"):
        one("a red horse")
    with pytest.raises(ValueError, match="0 pictures of a text are none"):
        one(TEXT, count=0)


def test_wishes_that_a_model_cannot_mind_are_refused() -> None:
    with pytest.raises(ValueError, match="temperature does nothing for a model that takes out noise; leave it out"):
        painter("diffusion")(TEXT, temperature=0.5)
    with pytest.raises(ValueError, match="guidance does nothing for a model that writes tokens; leave it out"):
        painter("dalle")(TEXT, guidance=2.0)
    with pytest.raises(ValueError, match="steps is 0; give 1 to 1000"):
        painter("diffusion")(TEXT, steps=0)
    with pytest.raises(ValueError, match="guidance is -1"):
        painter("diffusion")(TEXT, guidance=-1.0)
    with pytest.raises(ValueError, match="seed is -1"):
        painter("diffusion")(TEXT, seed=-1)


def test_guidance_of_one_runs_the_words_alone_and_equals_guidance_that_does_not_matter() -> None:
    one = painter("diffusion")
    rows, x, time = one.encode([TEXT]), torch.randn(1, 3, 16, 16), torch.tensor([0.4])
    with torch.no_grad():
        plain = one.model(x, time, torch.tensor(rows))
        torch.testing.assert_close(one._step(rows, 1.0, [])(x, time), plain)
        torch.testing.assert_close(one._step(rows, 1.0 + 1e-9, [])(x, time), plain, atol=1e-4, rtol=1e-4)
        assert not torch.allclose(one._step(rows, 4.0, [])(x, time), plain)


def test_a_denoising_is_shown_step_by_step() -> None:
    one = painter("diffusion")
    told = list(one.moments(TEXT, steps=4, seed=1))
    assert [time for time, _, _ in told] == pytest.approx([0.75, 0.5, 0.25, 0.0])
    assert (pixels(told[-1][2]) == pixels(one(TEXT, steps=4, seed=1)[0].pictures[0])).all()
    with pytest.raises(ValueError, match="writes its pictures token by token"):
        next(painter("dalle").moments(TEXT))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("given", [False, True])
def test_a_reading_says_at_which_words_each_place_looked(name: str, given: bool) -> None:
    one = painter(name)
    target = np.random.default_rng(0).integers(0, 255, (16, 16, 3), dtype=np.uint8) if given else None
    steps = {} if name == "dalle" else {"steps": 3}
    reading = one.attend(TEXT, target=target, **steps)
    assert "disc" in reading.axes["words"].labels
    cross = [each for each in reading.maps if each.kind == "cross"]
    assert [each.name for each in cross] == list(one.model.cross_attentions)
    for each in reading.maps:
        weights = reading.weights(each.name)
        assert weights.shape[1:] == (len(reading.axes[each.rows]), len(reading.axes[each.columns]))
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-4)
    if name != "unclip":
        assert one.word_maps(reading).shape == (len(reading.axes["words"]), 4, 4)
    if name != "dalle":
        looks = [reading.trace.map(cross[0].name, look)[0] for look in range(3)]
        mean = torch.stack(looks).mean(dim=0).numpy()
        np.testing.assert_allclose(mean, reading.weights(cross[0].name), atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_an_evaluation_tells_what_the_judge_says_of_painted_and_of_true_pictures(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        paint, "detector", lambda: lambda pictures: [[("disc", (9.0, 9.0, 50.0, 50.0))] for _ in pictures]
    )
    one = painter(name)
    found = one.evaluate("world", limit=12, **({} if name == "dalle" else {"steps": 2}))
    assert found.count == 12
    words = () if name == "unclip" else ("words point", "words cover")
    for score in ("kind and colour", "true pictures: kind and colour", "swapped phrases: kind", *words):
        assert 0 <= found.scores[score].value <= 100
    assert ("true tokens: kind" in found.scores) == (name == "dalle")
    assert "world-detr" in found.scores["kind"].signature
    with pytest.raises(ValueError, match="'cifar10' cannot be judged"):
        one.evaluate("cifar10")


def test_a_clip_that_was_taught_no_relations_is_asked_for_things_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paint, "detector", lambda: lambda pictures: [[] for _ in pictures])
    words = Tokenizer.train([phrases_of()[0].split(" left of")[0]], vocab=1000, kind="words", lower=True)
    clip = UNCLIP["unclip-nano"].clip
    model = build("unclip-nano", clip=replace(clip, text=replace(clip.text, vocab=words.vocab)))
    one = Paint.of(model.eval(), words, name="mine")
    with pytest.raises(ValueError, match="text 0 says 'left', 'of', which is not learnt"):
        one(TEXT, steps=1)
    found = one.evaluate("world", limit=12, steps=1)
    assert any(" and " in text for text in found.outputs)
    assert not any(way in text for text in found.outputs for way in WAYS)
    assert "relation" not in found.scores


@pytest.mark.parametrize("name", NAMES)
def test_a_painter_comes_back_from_its_folder(name: str, tmp_path: Path) -> None:
    one = painter(name)
    save(tmp_path / "mine", one.model, family=family(name), tokenizer=one.tokenizer, card={"task": "paint"})
    manner: dict[str, Any] = {"temperature": 0.0} if name == "dalle" else {"steps": 2}
    for dtype in ("float32", "int8"):
        again: Any = regard.load(str(tmp_path / "mine"), dtype=dtype)
        assert isinstance(again, Paint)
        off = pixels(again(TEXT, **manner)[0].pictures[0]).astype(int) - pixels(one(TEXT, **manner)[0].pictures[0])
        assert dtype == "int8" or np.abs(off).max() <= 1


def test_a_model_that_does_not_paint_is_refused() -> None:
    with pytest.raises(ValueError, match="mine is a ViT, which paints nothing from words"):
        Paint.of(build("vit-nano"), tokenizer(), name="mine")
