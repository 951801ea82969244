"""Training painters and their tokens: every step can be repeated."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch

import regard
from regard.data import DataError
from regard.data.phrased import world_phrases
from regard.hub import load, save
from regard.models import build
from regard.models.family import family
from regard.recipes import paint, vqvae
from regard.text import Tokenizer
from regard.train.loop import fit
from regard.vision import Processor, Size

SMALL: dict[str, Any] = {
    "steps": 4, "batch_size": 4, "evaluate": 2, "save": 2, "warmup": 1, "threads": 1, "pictures": 12,
}  # fmt: skip
CODES = vqvae.Recipe(model="vqvae-nano", **{**SMALL, "revive": 1})
PAINT = paint.Recipe(model="diffusion-nano", judged=2, **SMALL)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paint, "WATCHED", 4)
    monkeypatch.setattr(vqvae, "WATCHED", 4)


@pytest.fixture
def coder(tmp_path: Path) -> str:
    fit(vqvae.build(CODES), CODES, tmp_path / "codes", quiet=True)
    return str(tmp_path / "codes" / "model")


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return dict(load(folder / "model").model.state_dict())


def test_codes_are_trained_and_the_card_says_how_many_are_used(coder: str) -> None:
    card = load(coder).card
    assert {"error", "used", "perplexity"} <= set(card["measured"])
    assert 0 < card["measured"]["used"] <= 1


@pytest.fixture
def seer(tmp_path: Path) -> str:
    """A CLIP, and a tokenizer that goes with it."""
    tokenizer = Tokenizer.train(paint.phrases_of(), vocab=48, kind="words")
    save(
        tmp_path / "clip",
        build("clip-nano"),
        family=family("clip"),
        tokenizer=tokenizer,
        card={"task": "match"},
        processor=Processor(size=Size(height=16, width=16), image_mean=(0.9, 0.8, 0.7), image_std=(0.1, 0.2, 0.3)),
    )
    return str(tmp_path / "clip")


@pytest.mark.parametrize("what", ["vqvae", "diffusion", "dalle", "unclip"])
def test_a_run_that_was_stopped_goes_on_bit_by_bit(what: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    module: Any = vqvae if what == "vqvae" else paint
    plan: Any = CODES if what == "vqvae" else PAINT
    if what == "dalle":
        plan = replace(PAINT, model="dalle-nano", coder=request.getfixturevalue("coder"))
    if what == "unclip":
        plan = replace(PAINT, model="unclip-nano", clip=request.getfixturevalue("seer"))
    fit(module.build(plan), plan, tmp_path / "whole", quiet=True)
    task = module.build(plan)
    taken = []

    def lose(model: torch.nn.Module, batch: Any) -> torch.Tensor:
        taken.append(batch)
        if len(taken) == 4:
            raise KeyboardInterrupt
        lost: torch.Tensor = task.loss(model, batch)
        return lost

    with pytest.raises(KeyboardInterrupt):
        fit(replace(task, loss=lose), plan, tmp_path / "parts", quiet=True)
    again = replace(plan, resume=True)
    fit(module.build(again), again, tmp_path / "parts", quiet=True)
    whole, parts = weights(tmp_path / "whole"), weights(tmp_path / "parts")
    assert all(whole[name].equal(parts[name]) for name in whole)


def test_a_painter_is_left_that_paints_and_whose_card_tells_the_judges_word(tmp_path: Path) -> None:
    fit(paint.build(PAINT), PAINT, tmp_path / "run", quiet=True)
    one: Any = regard.load(tmp_path / "run" / "model")
    assert one("a red disc", steps=2)[0].pictures[0].size == (16, 16)
    assert {"kind and colour", "true pictures: kind and colour", "signature"} <= set(one.card["measured"])


def test_phrases_vary_in_training_and_are_now_and_then_left_out_but_never_in_a_measurement() -> None:
    recipe = replace(PAINT, unasked=0.5)
    source: Any = paint.build(recipe).batches
    batch = next(iter(source))
    assert batch.time.min() >= 0
    assert batch.time.max() < 1
    alone = [next(source).lengths.eq(1).float().mean() for _ in range(20)]
    assert 0.2 < float(sum(alone)) / 20 < 0.8
    first, second = (list(source.once()) for _ in range(2))
    assert all(a.noise.equal(b.noise) and a.ids.equal(b.ids) for a, b in zip(first, second, strict=True))
    assert all((each.lengths > 1).all() for each in first)


def test_a_clip_sees_pictures_as_it_is_used_to(seer: str) -> None:
    task = paint.build(replace(PAINT, model="unclip-nano", clip=seer))
    batch, model, matching = next(iter(task.batches)), cast(Any, task.model), cast(Any, regard.load(seer))
    shown = world_phrases("train", PAINT.pictures).at(16)[batch.rows]
    assert torch.allclose(batch.kept, model.lengthen(matching.images(list(shown))), atol=1e-4)


def test_models_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    save(tmp_path / "bare", build("clip-nano"), family=family("clip"), card={"task": "match"})
    with pytest.raises(DataError, match=r"does not say how it is shown pictures; add a preprocessor_config\.json"):
        paint.build(replace(PAINT, model="unclip-nano", clip=str(tmp_path / "bare")))
    with pytest.raises(ValueError, match="this model goes by a trained vqvae; make one by `regard train vqvae --"):
        paint.build(replace(PAINT, model="dalle-nano"))
    with pytest.raises(ValueError, match="--coder x is of no use to diffusion-nano; leave it out"):
        paint.build(replace(PAINT, coder="x"))
    with pytest.raises(ValueError, match="vit-nano is a vit, which paints nothing"):
        paint.build(replace(PAINT, model="vit-nano"))
    with pytest.raises(ValueError, match="vit-nano is a vit, which makes no tokens"):
        vqvae.build(replace(CODES, model="vit-nano"))
    with pytest.raises(regard.data.DataError, match="cannot be used"):
        paint.build(replace(PAINT, model="dalle-nano", coder=str(tmp_path / "none")))
