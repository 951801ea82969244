"""What every bundled model promises: it is small, it says where it comes from, and it does what it says."""

import json
from pathlib import Path

import pytest

from regard.analysis.scores import bleu
from regard.data import pairs
from regard.decode import Translator
from regard.zoo import zoo

MODELS = zoo()
MOST = 9e6  # bytes of a folder: about 8 MB of weights, and the tokenizer
TELLS = {"title", "data", "recipe", "fields", "seed", "steps", "minutes", "parameters", "machine", "measured"}


def card(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    return found


def translators() -> list[str]:
    return [name for name, folder in MODELS.items() if "target" in card(folder)]


def test_models_are_bundled() -> None:
    assert MODELS


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_small_and_tells_its_story(name: str) -> None:
    assert sum(path.stat().st_size for path in MODELS[name].iterdir()) < MOST
    assert card(MODELS[name]).keys() >= TELLS


@pytest.mark.parametrize("name", translators())
def test_a_translator_translates_and_ends_by_itself(name: str) -> None:
    about = card(MODELS[name])
    translator = Translator.load(name)
    languages = ["en", "de", "it", "cs"] if about["multilingual"] else [None]
    for to in languages:
        ((best,),) = translator.translate(["Der Hund schläft." if about["source"] == "de" else "Il cane dorme."], to=to)
        assert best.text.strip()
        assert best.written.finished


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("name", [name for name in translators() if card(MODELS[name])["data"] == "multi30k"])
def test_a_score_on_the_card_is_met_on_some_of_the_sentences(name: str) -> None:
    about = card(MODELS[name])
    rows = list(pairs("multi30k", str(about["source"]), str(about["target"]), "test_2016_flickr"))[:100]
    said = Translator.load(name).translate([source for source, _ in rows], beam=2)
    score = bleu([each[0].text for each in said], [target for _, target in rows], lower=bool(about["lower"]))
    measured = about["measured"]
    assert isinstance(measured, dict)
    assert score.interval is not None
    assert score.interval[0] - 1 < measured["bleu_lower" if about["lower"] else "bleu"] < score.interval[1] + 1
