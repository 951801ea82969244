"""Claims are read without being run, a quick run gives a whole result, and what is stored still holds."""

import json
import xml.etree.ElementTree as ET
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

from regard.claims import Claim, claim, claims, load, run, save
from regard.claims.claim import RESULTS, parts, track
from regard.claims.page import page

NAMES = sorted(claims())
STORED = [name for name in NAMES if load(name) is not None]
VERDICTS = {"supported", "not at this scale", "refuted"}


def self_contained(svg: str) -> bool:
    """Well-formed, and nothing in it is fetched from elsewhere or executed."""
    tree = ET.fromstring(svg)
    tags = {element.tag.rpartition("}")[2] for element in tree.iter()}
    fetched = svg.replace('xmlns="http://www.w3.org/2000/svg"', "")
    return tags <= {"svg", "title", "metadata", "style", "rect", "text", "path", "circle"} and not any(
        word in fetched for word in ("http", "href", "url(", "@import", "nan", "inf")
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_claim_read_from_its_file_is_the_one_that_the_file_makes(name: str) -> None:
    assert claims()[name] == import_module(f"regard.claims.{name}").CLAIM
    assert claims()[name].name == name


@pytest.mark.parametrize("name", NAMES)
def test_a_claim_says_everything_about_itself(name: str) -> None:
    one = claim(name)
    assert all(getattr(one, field.name) for field in fields(Claim))
    assert all(word in one.criterion.lower() for word in VERDICTS)


def test_an_unknown_claim_is_answered_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="no claim is called 'tabel1'; try table1"):
        claim("tabel1")


@pytest.mark.parametrize("name", NAMES)
def test_a_quick_run_gives_a_whole_result(name: str, tmp_path: Path) -> None:
    told: list[float] = []
    result = run(claim(name), quick=True, progress=told.append)
    assert result.verdict in VERDICTS
    assert result.interval[0] <= result.number <= result.interval[1]
    assert result.quick
    assert told == sorted(told)
    assert 0 <= told[0] <= told[-1] <= 1
    assert self_contained(result.figure)
    save(result, tmp_path)
    assert load(name, tmp_path) == result


@pytest.mark.parametrize("name", STORED)
def test_what_is_stored_still_follows_from_its_numbers(name: str) -> None:
    result, experiment = load(name), import_module(f"regard.claims.{name}")
    assert result is not None
    found = experiment.judge(result.numbers)
    assert not result.quick
    assert (result.verdict, result.says) == (found.verdict, found.says)
    assert (result.number, *result.interval) == pytest.approx((found.number, *found.interval))
    assert result.figure == experiment.draw(result.numbers)
    assert self_contained(result.figure)


def test_nothing_is_stored_of_claims_that_are_gone() -> None:
    assert {path.stem for path in RESULTS.iterdir()} <= set(NAMES)


def test_a_result_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert load("scale", tmp_path) is None


def test_results_are_json_that_people_can_read(tmp_path: Path) -> None:
    result = run(claim("table1"), quick=True)
    facts, figure = save(result, tmp_path / "new")
    assert json.loads(facts.read_text())["says"] == result.says
    assert figure.read_text() == result.figure


def test_what_is_stored_is_small() -> None:
    facts = {path.name: path.read_text(encoding="utf-8") for path in RESULTS.glob("*.json")}
    assert max(map(len, facts.values())) < 60_000
    assert sum(map(len, facts.values())) < 400_000


def test_each_part_tells_its_share_of_the_whole() -> None:
    told: list[float] = []
    for item, progress in parts(told.append, "abcd"):
        assert track(iter(item * 2), 2, progress) == [item, item]
    assert told == [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0]


def test_the_page_of_the_documentation_shows_what_is_stored() -> None:
    shown = Path(__file__).parents[3] / "docs/claims.md"
    assert shown.read_text(encoding="utf-8") == page("../src/regard/claims/results"), (
        "make it again: python -m regard.claims.page docs/claims.md"
    )
