"""Perceiver IO: flow, hidden letters and films again, by queries, each scored beside what needs no looking."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.analysis.view import Boxes, Grid
from regard.chance import Chance
from regard.data.asked import FIRST, MASK, PAD, decode, encode, hidden, world_flows
from regard.models import build
from regard.pipelines.asking import QUESTIONS, Flow, Masked, Reconstructed
from regard.pipelines.pipeline import TooLongError
from regard.pipelines.queries import Queries
from regard.text.words import Words

SMALL: dict[str, dict[str, Any]] = {"flow": {}, "letters": {"length": 32}, "film": {"length": 16}}
every_question = pytest.mark.parametrize("what", QUESTIONS)


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("regard.data.asked.COUNTS", {"train": 8, "val": 4, "test": 6})


def asked(what: str) -> Queries:
    torch.manual_seed(0)
    question = QUESTIONS[what](**SMALL[what])
    small = {"latents": 8, "depth": 1}
    model = build(question.preset, **question.decided(), **small).eval()
    return Queries.of(model, card={"task": "queries", "asks": {"what": what, **SMALL[what]}}, name="mine")


@every_question
def test_a_model_answers_about_the_world_and_is_scored_beside_what_needs_no_looking(what: str) -> None:
    one = asked(what)
    (answer,) = one("world:1")
    assert answer.text
    found = one.evaluate("world")
    assert found.count == 6
    metric = QUESTIONS[what].metric
    assert metric in found.scores
    assert any(name.startswith(f"{metric}/") for name in found.scores)


@every_question
def test_queries_stand_where_their_answers_belong(what: str) -> None:
    reading = asked(what).attend("world:1")
    cells = reading.axes["input"]
    assert reading.axes["queries"] is cells
    assert isinstance(cells, {"flow": Grid, "letters": Words, "film": Boxes}[what])
    last = reading.maps[-1]
    assert last.group == "queries look at latents"
    assert reading.weights(last.name).shape[1:] == (len(cells), 8)
    assert reading.weights(reading.maps[0].name).shape[1:] == (8, len(cells))


def test_the_true_flow_has_no_error_and_none_has_that_of_zero() -> None:
    question, config = Flow(), asked("flow").model.config
    known = question.known("test")
    given = question.lay_out(known, np.arange(len(known)), None)
    side, patch = 32 // config.patch, config.patch
    true = torch.from_numpy(np.array(known.moved)).reshape(-1, side, patch, side, patch, 2)
    said = true.transpose(2, 3).reshape(len(known), side * side, -1)
    torch.testing.assert_close(question.say(said, config), given.wanted[0])
    right = question.scores([said], [given], config)
    assert right["epe"].value == pytest.approx(0, abs=1e-3)
    none = question.scores([torch.zeros_like(said)], [given], config)
    assert none["epe"].value == pytest.approx(none["epe/zero flow"].value)
    assert none["epe of what moves"].value > 0.5


def test_flow_brings_the_later_frame_back() -> None:
    from regard.world.flow import bring_back

    known = world_flows("test", size=32, count=6)
    for (before, after), moved in zip(known.frames, known.moved, strict=True):
        back = bring_back(after, moved).astype(float)
        moving = np.linalg.norm(moved, axis=-1) > 0.5
        if moving.any():
            assert np.abs(back - before)[moving].mean() < np.abs(after.astype(float) - before)[moving].mean()


def test_letters_are_bytes_behind_six_ids() -> None:
    ids = encode(["Ein Bär."], 12)
    assert ids[0, 0] == FIRST + ord("E")
    assert (ids[0, 9:] == PAD).all()
    assert decode(ids[0]) == "Ein Bär."
    assert decode(np.where(np.arange(12) == 0, MASK, ids[0])) == "_in Bär."


def test_some_letters_of_each_text_are_hidden_and_no_padding() -> None:
    letters = np.arange(40) < np.array([[1], [20], [40]])
    found = hidden(letters, 0.15, Chance(0, "hidden", 0))
    assert not (found & ~letters).any()
    assert found.any(axis=1).all()
    assert found.sum() < 20


def test_hidden_letters_are_filled_and_the_others_stay() -> None:
    (answer,) = asked("letters")("The d_g sleeps.")
    assert len(answer.text) >= 1
    assert answer.text.startswith("The d")
    assert answer.text.endswith("g sleeps.")
    with pytest.raises(ValueError, match="hides no letter; write _ for each that is to be guessed"):
        asked("letters")("The dog sleeps.")
    with pytest.raises(TooLongError, match="has 40 tokens, and at most 32 are read"):
        asked("letters")("_" * 40)


def test_a_film_is_put_together_as_it_was_taken_apart() -> None:
    question = Reconstructed()
    known = question.known("test", 3)
    given = question.lay_out(known, np.arange(3), None)
    np.testing.assert_array_equal(question.film(given.wanted[0][1]), known.films[1])
    cell, places = given.inputs
    assert cell.shape == (3, 128 + question.length, 192)
    assert places.shape == (128 + question.length, 4)
    assert len(torch.unique(places, dim=0)) == len(places)
    said = torch.cat((given.wanted[0], cell[:, 128:]), dim=1)
    right = question.scores([said], [given], asked("film").model.config)
    assert right["film error"].value == pytest.approx(0, abs=1e-5)
    assert right["letters"].value == 100


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_cannot_be_asked_is_refused() -> None:
    flow = asked("flow")
    with pytest.raises(ValueError, match="flow is between two frames; give two pictures"):
        flow("photo.png")
    with pytest.raises(ValueError, match="give bytes of"):
        flow(np.zeros((2, 8, 8, 3), np.uint8))
    with pytest.raises(ValueError, match="number 9 is not among these 6"):
        flow("world:9")
    with pytest.raises(ValueError, match="cifar10 has nothing that mine is asked; give world:7"):
        flow("cifar10:3")
    with pytest.raises(ValueError, match="is asked about the world, and 'cifar10' is something else"):
        flow.evaluate("cifar10")
    with pytest.raises(ValueError, match="does not say what it is asked; known are flow, letters, film"):
        Queries.of(flow.model, card={})


def test_two_frames_are_read_from_files(tmp_path: Path) -> None:
    from PIL import Image

    for name, size in (("a", (40, 40)), ("b", (40, 40)), ("c", (30, 40))):
        Image.new("RGB", size, (9, 9, 9)).save(tmp_path / f"{name}.png")
    flow = asked("flow")
    (answer,) = flow((str(tmp_path / "a.png"), str(tmp_path / "b.png")))
    assert answer.numbers is not None
    assert answer.numbers.shape == (32, 32, 2)
    with pytest.raises(ValueError, match="are not of one film; give two of a size"):
        flow((str(tmp_path / "a.png"), str(tmp_path / "c.png")))


def test_the_same_letters_are_hidden_in_every_measurement() -> None:
    question = Masked(length=32)
    known = question.known("test")
    first, again = (question.lay_out(known, np.arange(4), None) for _ in range(2))
    assert torch.equal(first.inputs[0], again.inputs[0])
    other = question.lay_out(known, np.arange(4), Chance(0, "vary", 1))
    assert not torch.equal(first.inputs[0], other.inputs[0])
