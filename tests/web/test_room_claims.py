"""Claims: every one is told, guessed before it is shown, and drawn from the numbers that Python drew it from."""

import contextlib
import io
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import expect
from tests.web.hands import becomes, resize, save_as, until

from regard.claims import claims, load
from regard.claims.plot import Heat, Line, Panel, figure, read_panels
from regard.web.claims import SCALES, describe

if TYPE_CHECKING:
    from playwright.sync_api import Page

CLAIMS = claims()
STORED = [name for name in CLAIMS if load(name) is not None]
PENDING = [name for name in CLAIMS if name not in STORED]
KNOWN = {"supported", "not at this scale", "refuted"}


def test_every_claim_is_told_with_its_command(client: TestClient) -> None:
    told = client.get("/api/claims").json()
    assert [one["name"] for one in told] == list(CLAIMS)
    for one in told:
        assert one["command"] == f"regard claim run {one['name']}"
        assert (one["verdict"] in KNOWN) == (one["name"] in STORED)
        assert one["decks"], f"{one['deck']} names no lecture"


def test_a_claim_is_told_with_its_numbers_and_its_figure(client: TestClient) -> None:
    told = client.get("/api/claims/heads").json()
    stored = load("heads")
    assert stored is not None
    assert (told["verdict"], told["text"]) == (stored.verdict, stored.says)
    assert told["numbers"] == stored.numbers
    assert told["figure"] == read_panels(stored.figure)
    assert told["figure"]["panels"][0]["names"] == ["2", "4", "8", "16", "1, wider"]


def test_an_unknown_claim_is_answered_with_the_nearest(client: TestClient) -> None:
    answer = client.get("/api/claims/tabel1")
    assert answer.status_code == 404
    assert answer.json()["error"].startswith("no claim is called 'tabel1'; try table1")


def test_a_claim_that_was_not_run_has_no_verdict_and_no_figure() -> None:
    told = describe(CLAIMS["heads"], None)
    assert told["verdict"] is told["number"] is told["text"] is None
    assert told["seeds"] == 3


@pytest.mark.parametrize("name", STORED)
def test_what_was_found_lies_within_what_may_be_guessed(name: str) -> None:
    result = load(name)
    assert result is not None
    told = describe(CLAIMS[name], result)
    assert told["scale"]["least"] <= result.number <= told["scale"]["most"]
    assert told["scale"]["kind"] == "even" or told["scale"]["least"] > 0


def test_scales_are_of_claims_that_exist() -> None:
    assert set(SCALES) <= set(CLAIMS)


def test_a_figure_carries_what_it_was_drawn_from() -> None:
    panel = Panel("a", "x", "y", [Line("one & <two>", [1, 2], [0.123456789, float("nan")], dashed=True)], log="x")
    table = Heat("b", "x", "y", [[0.5, 1.0]], ["r"], ["c", "d"])
    told = read_panels(figure("Title", [panel, table], "note"))
    assert (told["title"], told["note"]) == ("Title", "note")
    lines, heat = told["panels"]
    assert (lines["kind"], lines["log"], heat["kind"], heat["cells"]) == ("axes", "x", "heat", [[0.5, 1.0]])
    assert lines["marks"][0]["label"] == "one & <two>"
    assert lines["marks"][0]["y"] == [0.123457, None]
    assert lines["marks"][0]["dashed"] is True


def test_a_figure_without_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="carries no numbers; draw it again"):
        read_panels('<svg xmlns="http://www.w3.org/2000/svg"></svg>')


def test_a_verdict_is_hidden_until_it_was_guessed(page: "Page") -> None:
    page.goto("/#/claims?name=bottleneck")
    page.wait_for_selector(".guess")
    expect(page.locator(".finding, .claim-figure")).to_have_count(0)
    expect(page.locator(".claims-items a[aria-current]")).not_to_contain_text("supported")
    page.get_by_role("button", name="refuted").click()
    page.get_by_role("slider").fill("100")
    page.get_by_role("button", name="Show the result").click()
    page.wait_for_selector(".claim-figure svg.panel-picture")
    expect(page.locator(".finding h2")).to_have_text(re.compile("^supported"))
    expect(page.locator(".compared")).to_have_text("You said: refuted, 5. The verdict is another: supported.")
    until(page, "document.querySelector('.claims-items a[aria-current]').textContent.includes('you said refuted')")
    expect(page.locator(".claims-list [role=status]")).to_contain_text("You guessed 1, 0 right.")
    page.reload()
    page.wait_for_selector(".compared")
    page.go_back()
    page.wait_for_selector(".guess")
    expect(page.locator(".finding")).to_have_count(0)


def test_a_guess_within_the_interval_is_told_so(page: "Page") -> None:
    page.goto("/#/claims?name=bottleneck")
    page.get_by_role("button", name="supported").first.click()
    page.get_by_role("slider").fill("200")  # half of the way from -20 to 80
    page.get_by_role("button", name="Show the result").click()
    expected = "You said: supported, 30. The verdict is right. Your number lies within the interval."
    expect(page.locator(".compared")).to_have_text(expected)


def test_the_figure_has_the_numbers_of_the_claim_under_the_pointer(page: "Page") -> None:
    page.goto("/#/claims?name=bottleneck&show=1")
    page.wait_for_selector(".claim-figure svg.panel-picture")
    told = page.request.get("/api/claims/bottleneck").json()["figure"]["panels"][0]
    page.locator("svg.panel-picture").first.focus()
    page.keyboard.press("ArrowRight")
    tip = page.locator(".panel-stage .chart-tip").first
    first = told["marks"][0]
    expect(tip).to_contain_text(first["label"])
    expect(tip).to_contain_text(f"{first['y'][0]:.3g}")
    expect(page.locator(".claim-legend li")).to_have_text([mark["label"] for mark in told["marks"]])


def test_every_stored_figure_is_drawn(page: "Page") -> None:
    broken = (
        "[...document.querySelectorAll('.panel-picture *')].filter(e => /NaN|undefined|Infinity/.test(e.outerHTML))"
    )
    for name in STORED:
        page.goto(f"/#/claims?name={name}&show=1")
        expect(page.locator(".claim h1"), name).to_have_text(name.replace("_", " "))
        result = load(name)
        assert result is not None
        panels = read_panels(result.figure)["panels"]
        expect(page.locator("figure.claim-figure svg.panel-picture"), name).to_have_count(len(panels))
        marks = sum(len(mark["y"]) for panel in panels for mark in panel.get("marks", []) if "x" not in mark)
        expect(page.locator(".panel-picture .bar"), name).to_have_count(marks)
        assert page.evaluate(f"{broken}.map(e => e.outerHTML)") == [], name


def test_a_table_of_cells_is_drawn_with_its_numbers(page: "Page") -> None:
    """No stored claim has one yet."""
    table = Heat("alike", "layer", "layer", [[0.0, 0.5], [float("nan"), 1.0]], ["a", "b"], ["c", "d"])
    told: dict[str, Any] = describe(CLAIMS["heads"], load("heads"))
    told |= {"numbers": {}, "figure": read_panels(figure("Cells", [table]))}
    page.route(
        "**/api/claims/heads", lambda route: route.fulfill(body=json.dumps(told), content_type="application/json")
    )
    page.goto("/#/claims?name=heads&show=1")
    expect(page.locator(".panel-picture .cell")).to_have_count(3)
    expect(page.locator(".panel-picture title")).to_have_text(["a, c: 0", "a, d: 0.5", "b, d: 1"])


def test_claims_are_searched_and_filtered(page: "Page") -> None:
    page.goto("/#/claims")
    expect(page.locator(".claims-items a")).to_have_count(len(CLAIMS))
    page.get_by_role("searchbox").fill("king woman")
    expect(page.locator(".claims-items b")).to_have_text(["algebra"])
    page.goto("/#/claims?deck=004")
    names = sorted(name.replace("_", " ") for name, one in CLAIMS.items() if "Erdem" in one.deck)
    becomes(page, lambda: sorted(page.locator(".claims-items b").all_inner_texts()), names)
    page.goto("/#/claims?verdict=refuted")
    refuted = [found.verdict for name in STORED if (found := load(name)) and found.verdict == "refuted"]
    expect(page.locator(".claims-items .badge")).to_have_text(refuted)
    expect(page.locator(".claims-items a")).to_have_count(len(refuted))


@pytest.mark.skipif(not PENDING, reason="every claim has been run")
def test_a_claim_that_was_not_run_says_how(page: "Page") -> None:
    page.goto(f"/#/claims?name={PENDING[0]}&show=1")
    expect(page.locator(".finding h2")).to_have_text("not run yet")
    expect(page.locator(".command code")).to_have_text(f"regard claim run {PENDING[0]}")


def test_an_unknown_claim_in_a_link_is_told_in_one_sentence(page: "Page") -> None:
    page.route(
        "**/api/claims/tabel1", lambda route: route.fulfill(status=422, body='{"error": "no claim is so called"}')
    )
    page.goto("/#/claims?name=tabel1")
    expect(page.locator(".claim .problem")).to_have_text("no claim is so called")


def test_a_figure_is_taken_away_as_it_is_seen(page: "Page") -> None:
    page.goto("/#/claims?name=heads&show=1")
    page.wait_for_selector("svg.panel-picture")
    page.keyboard.press("e")
    page.wait_for_selector("dialog[open]")
    drawn = save_as(page, "SVG").decode()
    assert "Heads at equal size" in drawn
    assert "1, wider" in drawn
    rows = save_as(page, "CSV").decode("utf-8-sig").splitlines()
    assert rows[0] == "panel,series,at,value,low,high"
    assert len(rows) == 1 + 5


def test_a_claim_is_shared_as_python_and_as_its_command(page: "Page") -> None:
    page.goto("/#/claims?name=heads&show=1")
    page.wait_for_selector("svg.panel-picture")
    page.locator("#link").click()
    python, command = page.get_by_role("dialog").locator("pre").all_inner_texts()[-2:]
    assert command == page.request.get("/api/claims/heads").json()["command"]
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(python, {})
    found = load("heads")
    assert found is not None
    assert told.getvalue() == f"{found.verdict} {found.summary}\n"


def test_claims_fit_a_phone(page: "Page") -> None:
    resize(page, 390, 844)
    places = {"": ".claims-opening", "?name=scale": ".guess", "?name=scale&show=1": "svg.panel-picture"}
    for place, shown in places.items():
        page.goto(f"/#/claims{place}")
        page.wait_for_selector(shown)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator(".claims-list")).to_be_hidden()
    page.get_by_role("link", name="All claims").click()
    expect(page.locator(".claims-list")).to_be_visible()
