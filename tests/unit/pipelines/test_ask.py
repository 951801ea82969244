"""Asking about pictures: on a model that has learnt nothing, whose answers are anything but must fit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from tests.flamingos import TOKENIZER, save_flamingo, small

import regard
from regard.analysis.view import Grid, Latents
from regard.attention.edits import off, uniform
from regard.data.talked import SHOTS
from regard.models import build
from regard.pipelines.ask import Ask, Insight
from regard.text import Words

ONE, TWO = (Image.fromarray(np.random.default_rng(i).integers(0, 255, (20, 30, 3), dtype=np.uint8)) for i in range(2))
SHOTTED: Any = [(ONE, "This is a dax."), (TWO, "This is a wug."), (ONE, "This is a")]


def asker(**changes: Any) -> Ask:
    return Ask.of(small(**changes), TOKENIZER, name="mine")


def test_a_prompt_is_a_picture_and_a_text_or_several(tmp_path: Path) -> None:
    ask = regard.load(save_flamingo(tmp_path / "flamingo"))
    assert isinstance(ask, Ask)
    ONE.save(tmp_path / "photo.png")
    one, other, shotted, blind = ask(
        [(ONE, "What is there?"), (tmp_path / "photo.png", "What is there?"), SHOTTED, (None, "What is there?")]
    )
    assert one == other
    assert ask((ONE, "What is there?"))[0].ids == one.ids
    assert ask([SHOTTED])[0].ids == shotted.ids  # alone as in company
    assert len(blind.ids) <= 32
    (drawn,) = ask([("world:3", "What colour is the disc?")], max_new_tokens=2)
    assert len(drawn.ids) <= 2


def test_what_is_said_depends_on_the_pictures_unless_the_gates_are_closed() -> None:
    for gates, same in ((0.9, False), (0.0, True)):
        ask = asker(gates=gates)
        (row,) = (ask.lay_out(SHOTTED),)
        found = [
            ask.write([row], [ask.tensors(pictures)])[0].log_prob for pictures in ([ONE, TWO, ONE], [TWO, ONE, TWO])
        ]
        assert (found[0] == found[1]) == same


def test_a_shot_without_a_full_stop_gets_one_and_the_last_text_does_not() -> None:
    ask = asker()
    plain = ask.lay_out([(ONE, "This is a dax"), (TWO, "This is a")])
    assert plain == ask.lay_out([(ONE, "This is a dax. "), (TWO, " This is a")])
    assert TOKENIZER.decode(plain.ids[-3:]) == "this is a"
    assert plain.pictures == 2


def test_a_beam_gives_alternatives_best_first() -> None:
    (found,) = asker()([SHOTTED], beam=4, count=3, max_new_tokens=4)
    assert len(found.alternatives) == 2
    with pytest.raises(ValueError, match="count=3 leave nothing to say"):
        asker()([SHOTTED], beam=2, count=3)


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_cannot_be_asked_is_refused() -> None:
    ask = asker()
    with pytest.raises(ValueError, match="nothing is asked behind the last picture"):
        ask([(ONE, " ")])
    with pytest.raises(ValueError, match="a prompt is a picture and a text"):
        ask([[ONE, "What is there?"]])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="text 0 has 101 tokens, and at most 96 are read"):
        ask([(ONE, "red " * 100)])
    with pytest.raises(ValueError, match="has no questions with answers about pictures"):
        ask.evaluate("flickr8k")
    with pytest.raises(ValueError, match="sees no pictures between words"):
        Ask.of(build("gpt-nano"), TOKENIZER)
    with pytest.raises(ValueError, match="has no tokenizer"):
        Ask.of(small())


def test_an_evaluation_tells_shots_topics_and_controls() -> None:
    found = asker().evaluate("world", limit=2)
    for shots in SHOTS:
        assert {f"episodes/{shots} shots", f"episodes/{shots} shots, swapped"} <= set(found.scores)
    assert {"episodes", "episodes swapped", "questions", "questions swapped", "questions guessed"} <= set(
        found.measured()
    )
    assert any(name.startswith("dialogues/") for name in found.scores)
    assert all(score.interval is not None for score in found.scores.values())
    assert len(found.outputs) >= 2 * len(SHOTS) + 4


def test_a_reading_shows_words_latents_places_and_gates() -> None:
    ask = asker()
    reading = ask.attend(SHOTTED)
    assert isinstance(reading.output, Insight)
    assert np.allclose(reading.output.gates, np.tanh(0.7))
    words = reading.axes["words"]
    assert isinstance(words, Words)
    latents = ask.model.config.latents
    assert reading.axes["latents"] == Latents(3 * latents)
    weights = reading.weights("gated.0.cross")
    assert weights.shape == (4, len(words), 3 * latents)
    assert not weights[:, :1].any()  # the start stands before any picture
    assert weights[:, 1:5, latents:].sum() == 0  # the first shot sees the first picture alone
    for i in (1, 2, 3):
        cells = reading.axes[f"picture {i}"]
        assert isinstance(cells, Grid)
        assert cells.image is not None
        looked = reading.weights(f"resampler.blocks.0.attn of picture {i}")
        assert looked.shape == (4, latents, len(cells))
        assert looked.sum(-1) == pytest.approx(np.ones((4, latents)), abs=1e-5)
    first, third = (reading.weights(f"resampler.blocks.0.attn of picture {i}") for i in (1, 3))
    assert np.allclose(first, third, atol=1e-6)  # it is the same picture
    for one in reading.maps:
        assert reading.view(one.name).weights.shape[1:] == (len(reading.axes[one.rows]), len(reading.axes[one.columns]))


def test_an_edit_is_one_of_its_picture_alone() -> None:
    ask, name = asker(), "resampler.blocks.0.attn of picture {}"
    plain, edited = ask.attend(SHOTTED), ask.attend(SHOTTED, edits={name.format(2): uniform, "gated.0.cross": off})
    assert np.ptp(edited.weights(name.format(2)), axis=-1).max() < 1e-6
    assert np.allclose(edited.weights(name.format(1)), plain.weights(name.format(1)))
    assert not edited.weights("gated.0.cross").any()
    with pytest.raises(KeyError, match="no picture 7 among the 3"):
        ask.attend(SHOTTED, edits={name.format(7): uniform})


@torch.no_grad()
def test_a_text_without_pictures_is_read_too() -> None:
    ask = asker()
    assert ask("What is there?") == ask([(None, "What is there?")])
    reading = ask.attend("What is there?")
    assert not reading.weights("gated.0.cross").any()
