"""The lectures: data that hold together, a page and a notebook made of them, and a room in which one guesses first."""

import contextlib
import io
import json
import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import expect
from tests.web.hands import resize, until

from regard.claims import claims
from regard.cli.flags import parse
from regard.cli.verbs import verbs
from regard.lectures import DECKS, PLACES, Quiz, Topic, named_in
from regard.lectures.notebook import notebook
from regard.lectures.page import page as markdown

if TYPE_CHECKING:
    from playwright.sync_api import Page

DOCS = Path(__file__).parents[2] / "docs"
TOPICS = [(deck, topic) for deck in DECKS for topic in deck.topics]
CLAIMS = claims()
COMMANDS = sorted({topic.command for _, topic in TOPICS if topic.command})
AGAIN = "make it again: python -m regard.lectures.page docs"


def test_five_lectures_are_there_in_their_order() -> None:
    assert [deck.number for deck in DECKS] == ["000", "001", "002", "003", "004"]
    assert all(len(deck.topics) >= 15 and deck.quizzes >= 4 for deck in DECKS)


@pytest.mark.parametrize("topic", [topic for _, topic in TOPICS], ids=[f"{d.number}-{t.name}" for d, t in TOPICS])
def test_a_topic_says_one_sentence_and_has_something_that_shows_it(topic: Topic) -> None:
    assert topic.says.endswith(".")
    assert len(topic.says) <= 160
    assert topic.place or topic.command or topic.claims
    assert topic.place in {"", *PLACES}
    assert set(topic.claims) <= set(CLAIMS)


@pytest.mark.parametrize("deck", DECKS, ids=lambda deck: deck.number)
def test_topics_of_a_lecture_have_names_of_their_own(deck: Any) -> None:
    assert len({topic.name for topic in deck.topics}) == len(deck.topics)


def test_every_claim_is_reached_from_some_lecture() -> None:
    assert set(CLAIMS) <= {name for _, topic in TOPICS for name in topic.claims}


def test_every_claim_is_from_a_lecture_that_is_known() -> None:
    assert all(named_in(one.deck) for one in CLAIMS.values())


def test_a_quiz_without_its_right_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="has 2 choices and number 2 is right; give 2 to 5, and count from 0"):
        Quiz("Why?", ("so", "not so"), 2, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_understood_by_the_command_line(command: str) -> None:
    regard, verb, *rest = shlex.split(command)
    module = import_module(f"regard.cli.{verb}")
    flags = module.flags_of(rest) if hasattr(module, "flags_of") else module.Flags
    assert regard == "regard"
    assert parse(flags, verbs()[verb], rest) is not None


def test_the_page_of_the_documentation_shows_the_tours() -> None:
    assert (DOCS / "lectures.md").read_text(encoding="utf-8") == markdown(), AGAIN


def test_the_notebook_has_the_tours() -> None:
    assert (DOCS / "lectures.ipynb").read_text(encoding="utf-8") == notebook(), AGAIN


def test_the_notebook_runs_from_top_to_bottom() -> None:
    cells = json.loads((DOCS / "lectures.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 15
    names: dict[str, Any] = {"__name__": "notebook"}
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        for cell in code:
            exec(compile(cell, "lectures.ipynb", "exec"), names)
    assert "queen" in told.getvalue()
    assert "grass" in told.getvalue()


def test_the_api_tells_every_tour(client: TestClient) -> None:
    told = client.get("/api/lectures").json()
    assert [deck["number"] for deck in told] == [deck.number for deck in DECKS]
    topic = next(each for each in told[3]["topics"] if each["name"] == "caption-attention")
    assert topic["place"]["address"].startswith("#/caption?m=world-captions&in=p:world:2")
    assert topic["quizzes"][0]["asks"] == "How many context vectors are computed?"
    assert "code" not in topic


def test_a_wrong_guess_is_told_the_right_answer_and_why(page: "Page") -> None:
    page.goto("/#/lectures?deck=003&topic=caption-attention")
    quiz = page.locator("#topic-caption-attention .quiz")
    expect(quiz.locator(".quiz-choice:enabled")).to_have_count(3)
    expect(quiz.locator(".quiz-because")).to_have_count(0)
    quiz.get_by_role("button", name="One for each cell of the grid").click()
    expect(quiz.locator(".quiz-because")).to_have_text(re.compile("^Not quite\\."))
    expect(quiz.locator(".right")).to_have_text("✓One for each step of the decoder (right)")
    page.reload()
    expect(quiz.locator(".wrong")).to_have_text("×One for each cell of the grid (your answer)")
    until(page, "document.querySelector('.deck-top [role=status]').textContent.endsWith('you answered 1, 0 right')")
    quiz.get_by_role("button", name="Ask again").click()
    expect(quiz.locator(".quiz-choice:enabled")).to_have_count(3)


def test_a_link_of_a_tour_comes_back_to_its_topic(page: "Page") -> None:
    page.goto("/#/lectures?deck=001")
    page.locator("#topic-scaled a", has_text="Build up").click()
    until(page, "document.body.dataset.room === 'build' && location.hash.includes('step=scaled')")
    page.go_back()
    until(page, "location.hash.includes('topic=scaled')")
    until(
        page,
        "(() => { const at = document.getElementById('topic-scaled')?.getBoundingClientRect().top;"
        " return at > 0 && at < 400; })()",
    )


def test_topics_are_walked_by_keys(page: "Page") -> None:
    page.goto("/#/lectures?deck=004")
    page.wait_for_selector(".topic")
    page.keyboard.press("ArrowRight")
    until(page, "document.querySelector('.tour-index [aria-current]')")
    first = page.evaluate("document.querySelector('.tour-index [aria-current]').textContent")
    page.keyboard.press("ArrowRight")
    until(page, "was => document.querySelector('.tour-index [aria-current]')?.textContent !== was", first)


def test_the_lectures_fit_a_phone(page: "Page") -> None:
    resize(page, 390, 844)
    for place, shown in {"/#/lectures": ".deck", "/#/lectures?deck=002": ".topic"}.items():
        page.goto(place)
        page.wait_for_selector(shown)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
