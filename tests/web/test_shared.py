"""What is copied off the page runs what is seen, and nothing else, whoever wrote the link."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.web.hands import address, shared, shell_words, translate

import regard
from regard.cli.flags import parse
from regard.cli.look import Flags as Look
from regard.cli.match import Flags as Match
from regard.cli.verbs import verbs
from regard.web.assets import PAGE
from regard.world.language import pairs, text

if TYPE_CHECKING:
    from playwright.sync_api import Page

STRANGE = [
    "La casa rossa.",
    "$(touch sign) `touch sign` $HOME",
    "a' ; touch sign ; 'b",
    'he said "yes" \\ and $5!',
    "\x03\ntouch sign\n\x1b[201~ it's",
    "one\ttwo",
    "~ * ? {a} # & | <x>",
    "dům über 日本語",
    "",
]


def made(page: "Page", *words: object) -> str:
    """A command as the page writes it."""
    page.goto("/")
    said: str = page.evaluate("async (all) => (await import('/js/terminal.js')).terminal(...all)", words)
    return said


def test_what_somebody_wrote_is_one_word_of_a_command_and_runs_nothing(page: "Page", tmp_path: Path) -> None:
    said = made(page, "look", [*STRANGE, 7])
    assert shell_words(said, tmp_path) == ["look", *STRANGE, "7"]
    assert not any(ord(letter) < 32 for letter in said), "a letter that a terminal takes for a key"


@pytest.mark.parametrize("given", ["-Ja, gern.", "--json", "--", "-h", "-5 Grad", "- Nein."])
def test_a_text_that_looks_like_a_flag_is_none(page: "Page", tmp_path: Path, given: str) -> None:
    words = shell_words(made(page, "look", ["small", given], {"to": "en", "target": given}), tmp_path)
    flags = parse(Look, verbs()["look"], words[1:])
    assert (flags.model, flags.input, flags.to, flags.target) == ("small", given, "en", given)
    templates = [f"{given} {{}}", "a {}"]
    words = shell_words(made(page, "match", ["a.jpg", given], {"classes": [], "templates": templates}), tmp_path)
    found = parse(Match, verbs()["match"], words[1:])
    assert (found.picture, found.texts, found.templates) == ("a.jpg", (given,), tuple(templates))


@pytest.mark.parametrize("given", STRANGE[:-1])
def test_a_strange_sentence_is_shared_as_it_is(page: "Page", tmp_path: Path, given: str) -> None:
    page.goto("about:blank")
    page.goto(f"/#/translate?{address(m='small', given=f't:{given}')}")  # whether or not there is an answer to it
    page.wait_for_selector(".composer")
    assert shell_words(shared(page)["Command"], tmp_path) == ["look", "small", given]


def test_no_room_writes_a_command_by_hand() -> None:
    for path in (PAGE / "js").rglob("*.js"):
        assert "command: `" not in path.read_text(encoding="utf-8"), path


def test_a_sentence_of_the_world_is_shared_with_its_words_its_language_and_its_reference(
    page: "Page", monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = pairs("it", "en", split="test")[7]
    source, target = text(pair.source), text(pair.target)
    translate(page, m="many", given="w:it-en-7", force="1")
    same = shared(page)
    flags = parse(Look, verbs()["look"], shlex.split(same["Command"])[2:])
    assert (flags.model, flags.input, flags.to, flags.target) == ("many", source, "en", target)

    asked = []

    class Model:
        def attend(self, given: str, **wishes: str) -> None:
            asked.append((given, wishes))

    monkeypatch.setitem(vars(regard), "load", lambda name: Model())
    monkeypatch.setitem(vars(regard), "show", lambda reading: None)
    exec(same["Python"], {})
    assert asked == [(source, {"to": "en", "target": target})]
