"""The tour's numbers are measured, and they are good."""

import json
import subprocess
import sys
from itertools import islice, pairwise

import pytest
from rich.console import Console

from regard.cli.tour.draw import matrix, training
from regard.cli.tour.phrases import ADJECTIVES, ENGLISH, HELD_OUT, ITALIAN, NOUNS, phrases, translate


def test_the_red_house_sees_a_big_dog() -> None:
    pair = translate("the red house sees a big dog .")
    assert " ".join(pair.target) == "la casa rossa vede un cane grande ."
    origins = [{i for i, j in pair.alignment if j == place} for place in range(8)]
    assert origins == [{0, 2}, {2}, {1}, {3}, {4, 6}, {6}, {5}, {7}]


def test_training_keeps_the_tested_pairs_apart() -> None:
    held = {(adjective, noun) for noun, adjective in HELD_OUT.items()}
    assert set(HELD_OUT) == set(NOUNS)
    for pair in islice(phrases(0, held_out=False), 2000):
        assert held.isdisjoint(pairwise(pair.source))
        assert set(pair.source) <= set(ENGLISH)
        assert set(pair.target) <= set(ITALIAN)
    for pair in islice(phrases(0, held_out=True), 200):
        together = [p for p in pairwise(pair.source) if p[0] in ADJECTIVES]
        assert len(together) == 2
        assert held.issuperset(together)


def test_the_tour_finds_the_alignment_hides_the_future_and_watches_for_free() -> None:
    command = [sys.executable, "-m", "regard.cli.main", "demo", "--fast", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    numbers = json.loads(done.stdout)
    assert numbers["before"]["error"] > 0.75
    assert numbers["alignment"]["error_uniform"] > 0.8
    assert numbers["alignment"]["error"] < 0.25
    assert numbers["alignment"]["found"] > 0.95
    assert numbers["alignment"]["accuracy"] > 0.98
    assert numbers["alignment"]["translation"] == "la casa rossa vede un cane grande ."
    assert numbers["hiding"]["leak_past"] == 0.0
    assert numbers["hiding"]["leak_everyone"] > 0.01
    assert numbers["watching"]["equal"] is True
    assert numbers["watching"]["kept"] < numbers["watching"]["avoided"] / 10


def render(width: int, colour: bool, text: object) -> str:
    console = Console(width=width, force_terminal=colour, color_system="truecolor" if colour else None, record=True)
    with console.capture() as capture:
        console.print(text)
    return capture.get()


def test_a_matrix_reads_without_colour_and_hidden_cells_are_empty() -> None:
    plain = render(80, False, matrix([[1.0, 0.0], [0.25, 0.75]], ["il", "cane"], ["the", "dog"]))
    assert [line.split() for line in plain.splitlines()] == [["the", "dog"], ["il", "100"], ["cane", "25", "75"]]


def test_a_strong_look_is_warmer_than_a_weak_one() -> None:
    coloured = render(80, True, matrix([[0.9, 0.1]], ["il"], ["the", "dog"]))
    assert coloured.count("48;2;") == 2
    red = [int(part.split(";")[0]) for part in coloured.split("48;2;")[1:]]
    assert red[0] > red[1]


@pytest.mark.parametrize("step", [20, 500, 1000])
def test_the_line_of_a_training_fits_a_narrow_terminal(step: int) -> None:
    losses = [3.0 / (1 + i) for i in range(step // 20)]
    assert len(training(step, 1000, 0.5, losses).plain) <= 77
