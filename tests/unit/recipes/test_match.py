"""Pictures and captions become a task: of a folder of one's own, of the world, with towers that learn or stay."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import regard
from regard.chance import Chance
from regard.data import Batches, DataError
from regard.data.named import world_named
from regard.hub import save
from regard.models import build as build_model
from regard.models import clip, efficientnet
from regard.models.clip import CLIP, MOST, PRESETS
from regard.pipelines.match import Matching
from regard.recipes.match import Recipe, build, hold
from regard.train.contrastive import contrast
from regard.train.loop import fit

COLOURS = {"red": (250, 0, 0), "green": (0, 250, 0), "blue": (0, 0, 250), "white": (255, 255, 255)}


@pytest.fixture(autouse=True)
def _cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four colours with two captions each, the same to learn from and to watch."""
    for split in ("train", "val"):
        home = tmp_path / "own" / split
        home.mkdir(parents=True)
        lines = []
        for name, colour in COLOURS.items():
            Image.new("RGB", (24, 20), colour).save(home / f"{name}.png")
            lines += [f"{name}.png\tall is {name}\n", f"{name}.png\tsomething {name} to the left\n"]
        (home / "captions.tsv").write_text("".join(lines))
    return tmp_path / "own"


def recipe(folder: Path, **changes: object) -> Recipe:
    usual: dict[str, Any] = {"data": str(folder), "model": "clip-nano", "loss": "sigmoid", "vocab": 48, "move": 0}
    usual |= {"steps": 60, "warmup": 5, "evaluate": 30, "batch_size": 4, "lr": 5e-3, "optimizer": "adamw"}
    return Recipe(**(usual | changes))


def test_colours_find_their_captions_after_a_short_training(folder: Path, tmp_path: Path) -> None:
    given = recipe(folder, loss="softmax", set=("bias=false",))
    outcome = fit(build(given), given, tmp_path / "run", quiet=True)
    assert outcome.finished
    found = regard.load(tmp_path / "run")
    assert isinstance(found, Matching)
    assert "text to image R@1" in str(found.card["measured"])
    pictures = [Image.new("RGB", (24, 20), colour) for colour in COLOURS.values()]
    texts = [f"all is {name}" for name in COLOURS]
    assert [each.text for each in found([(picture, texts) for picture in pictures])] == texts


def test_a_batch_has_a_caption_of_each_picture_drawn_by_its_chance_alone(folder: Path) -> None:
    batches = build(recipe(folder)).batches
    assert isinstance(batches, Batches)
    first, second, other = (batches.collate(np.arange(4), Chance(seed, "x")) for seed in (0, 0, 5))
    assert torch.equal(first.ids, second.ids)
    assert torch.equal(first.image, second.image)
    assert not torch.equal(first.keys, other.keys)


def test_a_loss_in_chunks_is_the_loss(folder: Path) -> None:
    whole, parts = recipe(folder), recipe(folder, chunk=2)
    task = build(whole)
    batch = next(iter(task.batches))
    torch.testing.assert_close(task.loss(task.model, batch), build(parts).loss(task.model, batch))


def test_towers_that_stay_as_they_are_are_seen_by_what_is_kept(folder: Path, tmp_path: Path) -> None:
    eye = efficientnet.PRESETS["efficientnet-nano"]
    save(tmp_path / "eye", build_model("efficientnet-nano"), family=efficientnet.FAMILY, card={"task": "recognize"})
    small = replace(PRESETS["clip-nano"], image=replace(eye, classes=0), bias=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clip, "FAMILY", replace(clip.FAMILY, presets={**PRESETS, "clip-tiny-eye": small}))
        task = build(recipe(folder, model="clip-tiny-eye", tower=str(tmp_path / "eye"), size=32, loss="softmax"))
    batch = next(iter(task.batches))
    assert batch.image is None
    assert batch.seen.shape[0] == 4
    model = task.model
    assert isinstance(model, CLIP)
    assert not any(each.requires_grad for each in model.image.parameters())
    assert all(each.requires_grad for each in model.text.parameters())
    matched = model.eval()(seen=batch.seen, ids=batch.ids, lengths=batch.lengths)
    torch.testing.assert_close(task.loss(model, batch), contrast(matched, batch.keys))


def test_a_trained_model_goes_on_with_its_own_words_and_eyes(folder: Path, tmp_path: Path) -> None:
    first = recipe(folder, steps=2, evaluate=2, warmup=1)
    assert fit(build(first), first, tmp_path / "first", quiet=True).finished
    given = recipe(folder, model=str(tmp_path / "first"), steps=1, evaluate=1, warmup=0, vocab=4000, lr=0.0)
    task = build(given)
    before: Any = regard.load(tmp_path / "first")
    assert task.tokenizer is not None
    assert task.tokenizer.to_json() == before.tokenizer.to_json()
    assert task.processor == before.processor
    assert task.settled == {"lr": 1e-4}
    for name, tensor in task.model.state_dict().items():
        torch.testing.assert_close(tensor, before.model.state_dict()[name].to(tensor), msg=name)
    assert fit(task, given, tmp_path / "second", quiet=True).finished
    assert regard.load(tmp_path / "second").card["before"]["steps"] == 2


def test_trained_towers_may_learn_more_slowly(folder: Path, tmp_path: Path) -> None:
    save(tmp_path / "eye", build_model("efficientnet-nano"), family=efficientnet.FAMILY, card={"task": "recognize"})
    small = replace(PRESETS["clip-nano"], image=efficientnet.PRESETS["efficientnet-nano"], bias=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clip, "FAMILY", replace(clip.FAMILY, presets={**PRESETS, "clip-tiny-eye": small}))
        given = recipe(folder, model="clip-tiny-eye", tower=str(tmp_path / "eye"), size=32, loss="softmax")
        task = build(replace(given, freeze="none", tower_lr=0.1))
        with pytest.raises(ValueError, match=r"--tower-lr 0\.1 is for towers of --tower and --text that learn"):
            build(replace(given, tower_lr=0.1))
    assert task.parameter_groups is not None
    rates = {id(one): group["lr_scale"] for group in task.parameter_groups(task.model) for one in group["params"]}
    for name, parameter in task.model.named_parameters():
        assert rates[id(parameter)] == (0.1 if name.startswith("image.") else 1.0), name


def test_a_model_that_groups_learns_from_captions_and_is_scored_by_masks(folder: Path, tmp_path: Path) -> None:
    given = recipe(folder, model="groupvit-nano", loss="softmax", steps=2, evaluate=2, warmup=1)
    assert fit(build(given), given, tmp_path / "run", quiet=True).finished
    found: Any = regard.load(tmp_path / "run")
    assert found.attend((Image.new("RGB", (16, 16), "red"), ["all is red"])).axes
    told = found.evaluate("world/1-2", limit=4)
    assert {"miou", "things", "masks of other pictures: miou", "text to image R@1"} <= set(told.scores)
    assert all(0 <= each.value <= 100 for each in told.scores.values())
    assert "miou" not in found.evaluate("world/1-2", split="val", limit=4).scores  # where its threshold is chosen


def test_a_model_that_groups_takes_no_towers(folder: Path) -> None:
    with pytest.raises(ValueError, match="--chunk 2 is of no use to groupvit-nano; leave it out"):
        build(recipe(folder, model="groupvit-nano", loss="softmax", chunk=2))


def test_a_temperature_is_held_within_bounds() -> None:
    model = build_model("clip-nano")
    assert isinstance(model, CLIP)
    with torch.no_grad():
        model.log_scale.fill_(9.0)
        hold(model)
    assert model.log_scale.item() == pytest.approx(MOST)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": "vit-nano"}, "vit-nano is a vit, which matches no texts; choose a preset of clip"),
        ({"loss": "softmax"}, "a bias changes no choice among texts, so that nothing teaches it; say --loss sigmoid"),
        ({"model": "clip-flickr8k"}, "reads with a trained BERT, and none is named; give --text, say a MiniLM"),
        ({"tower": "nowhere"}, "--tower nowhere cannot be read"),
        ({"model": "nowhere"}, "training cannot begin from nowhere"),
        ({"model": "world-vit"}, "world-vit matches no texts; give a trained clip or groupvit with its tokenizer"),
        ({"model": "world-clip", "set": ("joint=3",)}, "changes world-clip, which is trained already; leave it out"),
        ({"model": "world-clip", "vocab": 900}, "--vocab 900 has no effect on world-clip, which is trained already"),
    ],
    ids=str,
)
def test_what_cannot_begin_is_refused(folder: Path, changes: dict[str, object], said: str) -> None:
    with pytest.raises((ValueError, DataError), match=said):
        build(recipe(folder, **changes))


def test_the_world_says_all_and_also_colours_and_kinds_alone() -> None:
    known = world_named("train", things=(1, 2), count=40)
    for whole, bare in known.captions:
        assert set(bare.rstrip(".").split()) - {"an", "a"} <= set(whole.rstrip(".").split())
        assert not set(bare.split()) & {"small", "big", "striped", "dotted"}
    assert any(bare != turned for (_, bare), (_, turned) in zip(known.captions, known.mirrored, strict=True))
