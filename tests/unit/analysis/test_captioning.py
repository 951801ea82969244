"""Scores of captions with several references, and of sentences about scenes of the world."""

import numpy as np
import pytest

from regard.analysis.captioning import align, bleu, cider, ciders, corpus_bleu, gain, meteor, score, stem, words
from regard.analysis.described import (
    Looks,
    attributes,
    by_chance,
    hits,
    is_exact,
    looks,
    mass_on,
    parse,
    points_into,
)
from regard.data.described import in_order
from regard.world import Scene, Thing, scenes
from regard.world.language import describe

SAID = [
    "a dog runs through the grass",
    "two children play on the beach",
    "a man rides a red bike",
    "a a a a dog dog",
]
KNOWN = [
    ["a brown dog runs through the tall grass", "a dog is running in a field", "the dog runs"],
    ["two kids are playing on a sandy beach", "children play on the beach near the sea"],
    [
        "a man on a bicycle rides down the street",
        "a man rides a red bike",
        "someone is riding a red bicycle",
    ],
    ["a dog jumps over a log", "a dog leaps"],
]


def test_words_are_those_that_cocos_scorer_compares() -> None:
    assert words("A dog's ball, on the (green) grass .") == ["a", "dog's", "ball", "on", "the", "green", "grass"]
    assert words(" . ") == []


def test_cider_is_that_of_the_published_scorer() -> None:
    # By pycocoevalcap 1.2 on the same captions.
    published = [2.3978129678491418, 3.4654346988283664, 4.143911346727794, 0.5444016421128024]
    assert ciders(SAID, KNOWN) == pytest.approx(published)
    found = cider(SAID, KNOWN)
    assert found.value == pytest.approx(100 * 2.6378901638795265)
    assert found.interval is not None
    assert found.interval[0] < found.value < found.interval[1]
    assert "CIDEr-D" in found.signature


def test_bleu_knows_all_references_and_is_sacrebleus() -> None:
    from sacrebleu.metrics.bleu import BLEU

    found = bleu(SAID, KNOWN)
    columns = [[some[i] if i < len(some) else None for some in KNOWN] for i in range(3)]
    theirs = BLEU(tokenize="none", force=True).corpus_score(SAID, columns)
    assert found["bleu4"].value == pytest.approx(theirs.score)
    assert corpus_bleu(SAID, KNOWN) == pytest.approx(theirs.score)
    assert found["bleu1"].value > found["bleu2"].value > found["bleu3"].value > found["bleu4"].value
    assert found["bleu4"].signature.startswith("nrefs:3|case:lc|tok:words|smooth:exp|version:")
    assert bleu(["A dog ."], [["a dog"]])["bleu1"].value == pytest.approx(100)


def test_the_gain_of_one_model_over_another_is_paired() -> None:
    better = gain([some[0] for some in KNOWN], SAID, KNOWN)
    assert better.value == pytest.approx(100 - corpus_bleu(SAID, KNOWN))
    assert better.interval is not None
    assert better.interval[0] > 0
    assert gain(SAID, SAID, KNOWN).value == 0


def test_meteor_counts_words_stems_and_torn_pieces() -> None:
    same = ["a", "dog", "runs", "home"]
    assert align(same, same) == pytest.approx(1 - 0.5 / 64)  # one piece of four words
    assert align(["a", "dog", "running", "home"], same) == align(same, same)
    assert align(["home", "runs", "dog", "a"], same) == pytest.approx(0.5)  # four pieces
    assert align(["a", "dog"], same) == pytest.approx(10 * 0.5 / (0.5 + 9) * (1 - 0.5 / 8))
    assert align(["x"], same) == align([], same) == 0
    assert meteor(["a dog"], [["a cat", "a dog"]]).value == pytest.approx(100 * (1 - 0.5 / 8))
    alike = (("dogs", "dog"), ("running", "runs"), ("jumped", "jumping"), ("babies", "baby"), ("riding", "rides"))
    assert all(stem(one) == stem(other) for one, other in alike)
    assert stem("grass") == "grass"


def test_scores_come_together_and_what_cannot_be_compared_is_refused() -> None:
    assert list(score(SAID, KNOWN)) == ["bleu1", "bleu2", "bleu3", "bleu4", "cider", "meteor"]
    with pytest.raises(ValueError, match="4 captions and references of 1 pictures cannot be compared"):
        bleu(SAID, KNOWN[:1])
    with pytest.raises(ValueError, match="a picture without a reference cannot be scored"):
        ciders(["a"], [[]])


# --- sentences about scenes

TWO = Scene(
    (
        Thing("disc", "red", 0.085, "striped", 0.2, 0.5, 0.0, 1.0),
        Thing("star", "orange", 0.13, "plain", 0.8, 0.5, 0.0, 0.8),
    )
)


def test_every_sentence_of_the_world_is_parsed_back_to_its_things() -> None:
    for scene in scenes()[:200]:
        told = parse(describe(scene).text)
        assert told == [looks(thing) for thing in scene.things]
        assert is_exact(in_order(scene).text, scene)
        assert all(hits(in_order(scene).text, scene))


@pytest.mark.parametrize(
    "text",
    [
        "There is a small red striped disc and a orange star.",
        "There is a small red striped disc, an orange star.",
        "There is a red small striped disc and an orange star.",
        "There is a small red striped disc and an orange star",
        "There is a small red striped disc.",
        "There is a small red striped disc, an orange star and an orange star.",
        "There is a small red dotted disc and an orange star.",
        "",
    ],
)
def test_a_sentence_is_right_as_a_whole_or_not(text: str) -> None:
    assert is_exact("There is a small red striped disc and an orange star.", TWO)
    assert is_exact("There is an orange star and a small red striped disc.", TWO)
    assert not is_exact(text, TWO)


def test_attributes_are_counted_of_the_things_that_fit_best() -> None:
    swapped = attributes("There is an orange star and a small red disc.", TWO)
    assert {name: sum(some) for name, some in swapped.items()} == {"kind": 2, "colour": 2, "size": 2, "fill": 1}
    missing = attributes("There is an orange star.", TWO)
    assert {(name, sum(some), len(some)) for name, some in missing.items()} == {
        (name, 1, 2) for name in ("kind", "colour", "size", "fill")
    }
    more = hits("There is an orange star, an orange star and a small red striped disc.", TWO)
    assert (sum(more), len(more)) == (8, 12)
    assert sum(hits("There is star orange a and small red striped disc disc", TWO)) == 8  # no sentence, all the same
    assert not any(hits("", TWO))
    assert parse("There is an orange star.") == [Looks("star", "orange", "medium", "plain")]


def test_a_look_points_where_its_highest_cell_has_a_part_of_the_thing() -> None:
    mask = np.zeros((8, 8), bool)
    mask[1, 5] = True
    weights = np.full((4, 4), 0.02)
    weights[0, 2] = 0.7
    assert points_into(weights, mask)
    assert mass_on(weights, mask) == pytest.approx(0.7)
    assert by_chance((4, 4), mask) == 1 / 16
    assert not points_into(weights.T, mask)
    assert by_chance((3, 3), np.ones((8, 8), bool)) == 1
