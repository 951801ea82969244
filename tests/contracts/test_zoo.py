"""What every bundled model promises: it is small, says what it knows and where it comes from, and does what it says."""

from typing import Any

import numpy as np
import pytest

import regard
from regard.analysis import viewfile
from regard.analysis.scores import bleu
from regard.data import pairs
from regard.hub import load
from regard.sound import Sound
from regard.zoo import card, default, readings, zoo

MODELS = zoo()
CARDS = {name: card(folder) for name, folder in MODELS.items()}
MOST = 5e6  # bytes of a folder
TOGETHER = 60e6
TELLS = {"task", "title", "takes", "gives", "knows", "examples", "data", "terms", "recipe", "steps", "minutes"}
TELLS |= {"parameters", "machine", "measured", "measured_on"}


def test_models_are_bundled_and_small() -> None:
    sizes = {name: sum(path.stat().st_size for path in folder.iterdir()) for name, folder in MODELS.items()}
    assert sizes
    assert max(sizes.values()) < MOST, sizes
    assert sum(sizes.values()) < TOGETHER, sizes


@pytest.mark.parametrize("name", MODELS)
def test_a_card_tells_facts(name: str) -> None:
    assert CARDS[name].keys() >= TELLS
    model = load(name).model  # and not one that is prepared for inference, where matrices are packed
    assert CARDS[name]["parameters"] == sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("name", MODELS)
def test_a_model_does_what_its_card_shows(name: str) -> None:
    pipeline: Any = regard.load(name)
    assert pipeline.task == CARDS[name]["task"]
    examples = CARDS[name]["examples"]
    match pipeline.task:
        case "translate":
            for to in pipeline.targets if pipeline.multilingual else [None]:
                assert all(each.text.strip() and each.hypothesis.finished for each in pipeline(examples, to=to))
        case "generate":
            assert all(each.text.strip() for each in pipeline(examples, max_new_tokens=12, seed=0))
        case "fill":
            assert all(guesses[0].chance > 0.02 for text in pipeline(examples) for guesses in text.guesses)
        case "detect":
            assert all(any(thing.score > 0.5 for thing in found) for found in pipeline(examples))
        case "recognize":
            # Examples of a set that would have to be fetched are left to people.
            shown = examples if CARDS[name]["data"] == "world" else ["world:0"]
            assert all(found.scores[found.label] > 0.2 for found in pipeline(shown))
        case "words":
            assert all(each.without_inputs[0].score > 0.5 for each in pipeline(examples))
            assert pipeline("king - man + woman")[0].without_inputs[0].word == "queen"
        case "caption":
            assert all(each.text.startswith("There") for each in pipeline(examples))
        case "match":
            for shown in examples:
                (found,) = pipeline([(shown, ("a red disc", "a blue star", "a green heart"))])
                assert sum(found.scores.values()) == pytest.approx(1, abs=1e-3)
        case "ask":
            assert all(each.text.strip() for each in pipeline([("world:7", text) for text in examples]))
        case "paint":
            assert all(len(each.pictures[0].getcolors(4096) or ()) > 9 for each in pipeline(examples[:1], steps=2))
        case "features":
            assert all(abs(vector).sum() > 0 for vector in pipeline(examples))
        case "perceive":
            shown = examples if CARDS[name]["data"] == "world" else [Sound(np.ones(8000, np.float32), 8000)]
            assert all(found.label in pipeline.labels for found in pipeline(shown))
        case "depth":
            assert all((each.depth > 0).all() and each.metric for each in pipeline(examples))
        case "segment":
            assert all(found and found[0].mask.any() for found in pipeline(examples, points=[(32, 32)]))
        case other:
            pytest.fail(f"nobody has said what an answer to {other} must be")


@pytest.mark.parametrize("name", readings())
def test_a_recorded_reading_is_small_and_opens_as_a_file_of_anybody(name: str) -> None:
    path = readings()[name]
    assert path.stat().st_size < 100e3
    for view in viewfile.read(path.read_bytes()).views:
        assert view.model in ("all-MiniLM-L6-v2", "SmolLM2-135M-Instruct")
        # A byte holds a weight in 255ths.
        assert view.weights.sum(-1) == pytest.approx(1, abs=view.weights.shape[-1] / 510 + 1e-6)


def test_the_default_of_a_task_is_named_and_not_the_first_of_the_alphabet() -> None:
    assert default("translate") == "de-en"
    assert CARDS["de-en"]["default"]
    assert default("nothing of the kind") is None


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("name", [name for name in MODELS if CARDS[name]["data"] == "multi30k"])
def test_a_score_on_the_card_is_met_on_some_of_the_sentences(name: str) -> None:
    about, languages = CARDS[name], CARDS[name]["languages"]
    rows = list(pairs("multi30k", languages["source"][0], languages["target"][0], "test_2016_flickr"))[:100]
    translate: Any = regard.load(name)
    said = translate([source for source, _ in rows], beam=2)
    score = bleu([each.text for each in said], [target for _, target in rows], lower=about["lower"])
    assert score.interval is not None
    assert score.interval[0] - 1 < about["measured"]["bleu_lower" if about["lower"] else "bleu"] < score.interval[1] + 1
