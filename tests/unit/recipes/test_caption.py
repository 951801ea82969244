"""The recipe of captioning: batches that vary by chance alone, what is lost, and features that are kept."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.data.captions import captioned
from regard.hub import save
from regard.models import build as build_model
from regard.models.family import family
from regard.recipes import caption
from regard.recipes.caption import Recipe, build, loss

pytestmark = pytest.mark.usefixtures("kept_here")


@pytest.fixture
def kept_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(caption, "WATCHED", 4)


def recipe(**changes: Any) -> Recipe:
    few = {"model": "caption-nano", "limit": 12, "batch_size": 6, "vocab": 400}
    return Recipe(**few | changes)


def test_a_batch_is_pictures_and_captions_that_belong_together() -> None:
    task = build(recipe(mirror=False))
    batch = next(iter(task.batches))
    assert batch.image.shape == (6, 3, 32, 32)
    assert task.size(batch) == int(batch.lengths.sum()) - 6
    known = captioned("world", limit=12)
    for row, ids in zip(batch.rows.tolist(), batch.target.tolist(), strict=True):
        assert task.tokenizer.decode(ids) == known.captions[row][0]
    found = task.score(task.model.eval())
    assert set(found) == {"val_loss", "exact", "attributes"}
    assert task.show is not None
    assert set(task.show(task.model)[0]) == {"read", "wanted", "written"}


def test_a_mirrored_picture_has_a_mirrored_caption_and_chance_decides_alone() -> None:
    given = recipe(data="world/2", batch_size=12)
    one, other = (next(iter(build(given).batches)) for _ in range(2))
    assert one.image.equal(other.image)
    assert one.target.equal(other.target)
    task, texts, turned = build(given), captioned("world/2", limit=12), 0
    pixels = next(iter(build(recipe(data="world/2", batch_size=12, mirror=False)).batches))
    plain = dict(zip(pixels.rows.tolist(), pixels.image, strict=True))
    for row, ids, image in zip(one.rows.tolist(), one.target.tolist(), one.image, strict=True):
        mirrored = task.tokenizer.decode(ids) == texts.mirror(row, 0)
        assert mirrored or task.tokenizer.decode(ids) == texts.captions[row][0]
        assert image.equal(plain[row].flip(-1) if mirrored else plain[row])
        turned += mirrored
    assert 0 < turned < 12


@pytest.mark.parametrize("way", ["fixed", "soft", "hard", "transformer"])
def test_a_few_steps_lower_the_loss(way: str) -> None:
    doubly = 0.01 if way in ("soft", "hard") else 0.0  # which is of looks
    given = recipe(set=(f"way={way}", "dropout=0.0"), doubly=doubly, mirror=False, batch_size=12)
    task = build(given)
    batch = next(iter(task.batches))
    optimizer = torch.optim.Adam(task.model.parameters(), lr=1e-2)
    lost = []
    for _ in range(12):
        optimizer.zero_grad()
        now = task.loss(task.model.train(), batch) / task.size(batch)
        now.backward()
        optimizer.step()
        lost.append(now.item())
    assert lost[-1] < 0.6 * lost[0]


def test_a_cell_that_is_never_looked_at_costs_and_lucky_choices_are_rewarded() -> None:
    task = build(recipe(set=("way=soft", "dropout=0.0")))
    batch, model = next(iter(task.batches)), task.model.train()
    plain, doubly = (loss(recipe(doubly=each), model, batch, pad=0).item() for each in (0.0, 1.0))
    weights = model.tell(batch.image, batch.target[:, :-1]).weights * (batch.target[:, 1:] != 0)[..., None]
    assert doubly - plain == pytest.approx((1 - weights.sum(1)).square().sum().item(), rel=1e-3)
    hard = build(recipe(set=("way=hard", "estimator=reinforce", "dropout=0.0")))
    loss(recipe(), hard.model.train(), batch, pad=0).backward()
    assert hard.model.decoder.attn.q.weight.grad.abs().sum() > 0


def test_a_frozen_tower_sees_each_picture_once(tmp_path: Path) -> None:
    tower = build_model("resnet-nano", attend=(), deformable=(), squeeze=0.0, block="basic", widths=(16, 24))
    save(tmp_path / "tower", tower, family=family("resnet"), card={"title": "seen before", "task": "recognize"})
    given = recipe(tower=str(tmp_path / "tower"), set=("frozen=true",))
    task = build(given)
    batch = next(iter(task.batches))
    assert batch.image is None
    assert batch.features.dtype == torch.float16
    files = sorted((tmp_path / "cache" / "kept").iterdir())
    assert len(files) == 2  # of what is learnt from and of what is watched
    times = [file.stat().st_mtime_ns for file in files]
    again = next(iter(build(given).batches))
    assert [file.stat().st_mtime_ns for file in files] == times
    assert again.features.equal(batch.features)
    state = tower.state_dict()
    assert all(value.equal(state[name]) for name, value in task.model.tower.state_dict().items())
    assert task.loss(task.model.train(), batch).isfinite()
    assert set(task.score(task.model.eval())) == {"val_loss", "exact", "attributes"}
    assert np.load(files[0], mmap_mode="r").shape[1:] == (4, 4, 24)


def test_captions_of_equal_length_make_batches_by_tokens() -> None:
    task = build(recipe(tokens=40, data="world/1-4", limit=40))
    batch = next(iter(task.batches))
    assert batch.lengths.max() * len(batch.rows) <= 40


def test_what_cannot_be_trained_is_refused_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="keeps its tower as it was trained, and none is named; give --tower"):
        build(recipe(set=("frozen=true",)))
    with pytest.raises(ValueError, match="vit-nano is a vit, which writes no captions; choose a preset of caption"):
        build(recipe(model="vit-nano"))
    save(tmp_path / "gpt", build_model("tcn-nano"), family=family("tcn"), card={"title": "t"})
    with pytest.raises(ValueError, match="is no ViT, ResNet or EfficientNet; give one of them"):
        build(recipe(tower=str(tmp_path / "gpt")))
