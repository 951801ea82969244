"""A model says when it is asked about what it does not know; and it says nothing where it does."""

from collections.abc import Callable
from itertools import islice
from typing import Any

import pytest

from regard.data import pairs
from regard.pipelines import Pipeline, load
from regard.web.cautions import cautions
from regard.web.languages import other_language, script
from regard.web.opened import Place
from regard.web.question import Pair, Picture, Question
from regard.world import language
from regard.zoo import card, zoo

Judge = Callable[..., list[dict[str, Any]]]
OWN = {name for name, folder in zoo().items() if card(folder)["task"] in ("translate", "generate", "fill")}


@pytest.fixture(scope="module")
def opened() -> dict[str, Pipeline]:
    return {}


@pytest.fixture
def judge(opened: dict[str, Pipeline]) -> Judge:
    """What is said of a text that a bundled model is given."""

    def judged(model: str, text: str, *, tokens: int = 10, given: Any = None) -> list[dict[str, Any]]:
        if model not in opened:
            opened[model] = load(model)
        return cautions(opened[model], Question(Place(model, ""), text if given is None else given), text, tokens)

    return judged


def kinds(found: list[dict[str, Any]]) -> list[str]:
    return [each["kind"] for each in found]


def test_a_question_to_a_model_of_captions_says_what_it_knows(judge: Judge) -> None:
    (found,) = judge("de-en", "Wie spät ist es?")
    assert (found["kind"], found["words"]) == ("domain", ["wie", "spät"])
    assert "It knows captions of photographs, as in Multi30k." in found["text"]


def test_english_is_not_german(judge: Judge) -> None:
    (found,) = judge("de-en", "A dog is running through the snow.")
    assert found["kind"] == "language"
    assert found["text"] == "This looks like English. de-en reads German and nothing else."


def test_chinese_is_neither_german_nor_readable(judge: Judge) -> None:
    language, unknown = judge("de-en", "今天天气很好")
    assert "Chinese characters" in language["text"]
    assert unknown["words"] == ["今天天气很好"]


def test_a_letter_that_no_play_has_is_named(judge: Judge) -> None:
    (found,) = judge("shakespeare", "It is 5 o'clock")
    assert (found["kind"], found["words"]) == ("unknown", ["5"])


def test_a_text_longer_than_all_in_training_says_both_numbers(judge: Judge) -> None:
    (found,) = judge("de-en", "Ein Hund läuft durch den Schnee.", tokens=120)
    assert found["kind"] == "length"
    assert "120 tokens" in found["text"]
    assert "more than 100" in found["text"]
    assert not judge("de-en", "Ein Hund läuft durch den Schnee.", tokens=100)


def test_a_sentence_of_the_world_is_none_of_multi30k(judge: Judge) -> None:
    pair = language.pairs("de", "en", split="test")[3]
    (found,) = judge("de-en", language.text(pair.source), given=Pair("de", "en", 3, "test"))
    assert found["kind"] == "domain"
    assert "a sentence of the little world" in found["text"]
    assert not judge("world", language.text(pair.source), given=Pair("de", "en", 3, "test"))


def test_a_word_that_the_little_world_does_not_have_is_named(judge: Judge) -> None:
    (found,) = judge("world", "The old king opens a parliament.")
    assert found["words"] == ["parliament"]
    (found,) = judge("world-bert", "The president found a dog.")
    assert found["words"] == ["president"]


@pytest.mark.parametrize("name", sorted(OWN))
def test_nothing_is_said_of_a_models_own_examples(judge: Judge, name: str) -> None:
    for text in card(zoo()[name])["examples"]:
        assert not judge(name, text.replace("[MASK]", " ")), text


def test_a_scene_of_more_things_than_a_captioner_learnt_from_says_both_numbers() -> None:
    captioner: Any = load("world-captions")

    def said(*names: str) -> list[str]:
        asked = (Question(Place("", ""), Picture(name, name)) for name in names)
        return [each["text"] for one in asked for each in cautions(captioner, one, None, 0)]

    many = "This scene has 4 things, and no picture that world-captions was trained on had more than 2."
    assert said("world:3", "world:3/sketch") == [many, many]
    assert said(*captioner.card["examples"], "world:2/sketch") == []
    for other in ({}, {"things": 2}, {"things": ["1", "2"]}, {"things": [1, 2, 3]}):
        captioner.card = other
        assert said("world:3") == []


@pytest.mark.parametrize("name", ["world", "world-it-en-additive"])
def test_hardly_anything_is_said_of_the_worlds_own_sentences(judge: Judge, name: str) -> None:
    texts = [language.text(pair.source) for pair in language.pairs("it", "en", split="test")[:200]]
    assert sum(bool(judge(name, text)) for text in texts) <= 2


def test_nothing_is_said_of_the_worlds_own_stories(judge: Judge) -> None:
    for story in language.stories(split="test")[:15]:
        for sentence in map(language.text, story.sentences):
            assert not judge("world-bert", sentence), sentence
            assert not judge("world-gpt", sentence), sentence


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize(("name", "source"), [("de-en", "de"), ("en-de", "en"), ("cs-en", "cs")])
def test_few_captions_are_taken_for_something_else(judge: Judge, name: str, source: str) -> None:
    target = "de" if source == "en" else "en"
    texts = [text for text, _ in islice(pairs("multi30k", source, target, "test_2016_flickr"), 300)]
    assert sum(bool(judge(name, text)) for text in texts) <= 18  # 6 of 100


@pytest.mark.usefixtures("published")
def test_most_everyday_sentences_are_none_of_a_model_of_captions(judge: Judge) -> None:
    texts = [text for _, text in islice(pairs("tatoeba-en-it", "it", "en", "test"), 300)]
    assert sum("domain" in kinds(judge("en-de", text)) for text in texts) >= 210  # 70 of 100
    assert sum("language" in kinds(judge("de-en", text)) for text in texts) >= 255


@pytest.mark.parametrize(
    ("text", "own", "found"),
    [
        ("Il cane corre.", ["it"], None),
        ("Il cane corre con la palla.", ["de"], "it"),
        ("Wo ist der Hund?", ["en", "it"], "de"),
        ("Kde je můj pes?", ["en"], "cs"),
        ("Où est le chien ?", ["en", "de"], "fr"),
        ("xyzzy", ["en"], None),
        ("The dog", ["tlh"], None),
    ],
)
def test_a_language_is_told_where_it_is_certain(text: str, own: list[str], found: str | None) -> None:
    assert other_language(text, own) == found


@pytest.mark.parametrize(
    ("text", "found"), [("Привет", "Cyrillic letters"), ("hello мир", None), ("", None), ("123", None)]
)
def test_a_script_is_told_where_most_letters_are_of_it(text: str, found: str | None) -> None:
    assert script(text) == found
