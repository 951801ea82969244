"""A Flamingo learns to see what its language model is asked about, and goes on where it was stopped."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from tests.flamingos import save_language

import regard
from regard.data import DataError
from regard.data.interleaved import talk_parts
from regard.data.talked import world_talk
from regard.recipes import ask, talk
from regard.train.loop import fit

QUICK: dict[str, Any] = dict(model="flamingo-nano", threads=1, precision="float32", batch_size=4, talks=64, warmup=2)


def recipe(folder: Path, **changes: Any) -> ask.Recipe:
    return ask.Recipe(language=str(save_language(folder / "language")), **(QUICK | changes))


def state(folder: Path) -> dict[str, torch.Tensor]:
    return regard.hub.load(folder).model.state_dict()


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "WATCHED", 4)
    monkeypatch.setattr("regard.pipelines.ask.ENDLESS", 2)


def test_answers_become_likelier_and_the_language_model_stays_as_it_is(tmp_path: Path) -> None:
    one = recipe(tmp_path, steps=30, evaluate=30, lr=1e-2, set=("frozen_tower=false",))
    task = ask.build(one)
    watched = next(iter(task.batches))
    with torch.no_grad():
        before = task.loss(task.model.eval(), watched).item() / task.size(watched)
    fit(task, one, tmp_path / "run", recipe="ask", quiet=True)
    with torch.no_grad():
        after = task.loss(task.model.eval(), watched).item() / task.size(watched)
    assert after < 0.9 * before
    found = regard.load(tmp_path / "run")
    assert found.task == "ask"
    assert {"episodes", "questions", "dialogues"} <= set(found.card["measured"])
    assert any(gate != 0 for gates in cast(Any, task.model).gates for gate in gates)
    language = regard.hub.load(tmp_path / "language").model.state_dict()
    for name, tensor in task.model.state_dict().items():
        if name.startswith("language."):
            assert tensor.equal(language[name.removeprefix("language.")]), name


def test_a_run_that_was_stopped_goes_on_bit_by_bit(tmp_path: Path) -> None:
    one = recipe(tmp_path, steps=5, save=1, evaluate=5)
    fit(ask.build(one), one, tmp_path / "whole", recipe="ask", quiet=True)
    task, taken = ask.build(one), list[Any]()

    def lose(model: torch.nn.Module, batch: Any) -> torch.Tensor:
        taken.append(batch)
        if len(taken) == 4:
            raise KeyboardInterrupt
        lost: torch.Tensor = task.loss(model, batch)
        return lost

    with pytest.raises(KeyboardInterrupt):
        fit(replace(task, loss=lose), one, tmp_path / "parts", recipe="ask", quiet=True)
    again = replace(one, resume=True)
    fit(ask.build(again), again, tmp_path / "parts", recipe="ask", quiet=True)
    whole, parts = state(tmp_path / "whole"), state(tmp_path / "parts")
    assert all(tensor.equal(parts[name]) for name, tensor in whole.items())


def test_what_speaks_and_what_sees_must_be_models_that_do(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="world-bert is a bert; a Flamingo speaks by a gpt"):
        ask.build(ask.Recipe(language="world-bert"))
    with pytest.raises(ValueError, match="gpt-nano is a gpt, which sees no pictures"):
        ask.build(recipe(tmp_path, model="gpt-nano"))
    with pytest.raises(DataError, match="world-detr is a DETR, which gives no map of features"):
        ask.build(recipe(tmp_path, tower="world-detr"))


def test_a_trained_tower_is_taken_as_it_is(tmp_path: Path) -> None:
    one = recipe(tmp_path, tower="cifar10-vit")
    task = ask.build(one)
    tower, seen = cast(Any, task.model).tower, cast(Any, regard.hub.load("cifar10-vit").model)
    assert tower.config == replace(seen.config, classes=0)
    assert all(tensor.equal(seen.state_dict()[name]) for name, tensor in tower.state_dict().items())
    assert not any(each.requires_grad for each in tower.parameters())


def test_a_language_model_learns_to_talk_of_what_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talk, "WATCHED", 4)
    monkeypatch.setattr(talk, "VOCABULARY", 100)
    size = ("width=32", "depth=2", "heads=4", "hidden=64", "context=96", "dropout=0", "attn_dropout=0")
    one = talk.Recipe(set=size, steps=60, evaluate=60, warmup=5, batch_size=8, lr=1e-2, talks=64, threads=1)
    task = talk.build(one)
    watched = next(iter(task.batches))
    fit(task, one, tmp_path / "run", recipe="talk", quiet=True)
    with torch.no_grad():
        assert task.loss(task.model.eval(), watched).item() / task.size(watched) < 2.0  # guessing costs 4.4
    assert regard.load(tmp_path / "run").task == "generate"
    given = ask.Recipe(language=str(tmp_path / "run"), **QUICK)
    assert cast(Any, ask.build(given).model).config.language.width == 32


def test_of_a_talk_that_is_cut_the_pictures_are_drawn_that_some_word_can_look_at(tmp_path: Path) -> None:
    """Wherever it is cut: also where a picture stands before its last word, behind which nothing is read."""
    task = ask.build(recipe(tmp_path, steps=1))
    talks, model = [world_talk("train", i, "episode", shots=4) for i in range(2)], task.model
    _, shown, _ = ask.put([talk_parts(talk) for talk in talks], task.tokenizer, 1000)
    last = int(shown[0].nonzero()[-1])
    for context in (last - 1, last, last + 1):
        batch = ask.collate(talks, task.tokenizer, task.processor, context, np.arange(2))
        assert len(batch.images) == int(batch.shown[:, :-1].sum())
        with torch.no_grad():
            assert model(batch.ids[:, :-1], batch.images, batch.shown[:, :-1]).isfinite().all()
