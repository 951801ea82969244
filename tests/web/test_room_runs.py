"""The runs room in a real browser: curves to follow, and models to compare."""

import json
import shlex
from dataclasses import fields
from decimal import ROUND_HALF_EVEN, Decimal
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tyro
from fastapi.testclient import TestClient
from playwright.sync_api import expect
from tests.web.conftest import save_model
from tests.web.hands import until

from regard.web.app import make_app
from regard.web.models import Models
from regard.web.runs import training_command
from regard.web.state import AppState
from regard.zoo import card, zoo

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

CARDS = {name: card(folder) for name, folder in zoo().items()}
SINGLE = [name for name, about in CARDS.items() if about.get("trained_with")]  # trained by one command


def show_runs(page: "Page", names: list[str], broken: str = "", kept: str = "") -> None:
    """Let the server have these runs, and a model that kept its curve; of one, the measurements cannot be had."""
    runs = [
        {"name": name, "recipe": "translate", "fields": {"lr": 0.1}, "steps": 40, "step": 40, "best": {"bleu": 41.15}}
        | {"minutes": 1.0, "alive": False, "problem": None, "samples": [], "model": name if name == kept else None}
        for name in [*names, *filter(None, [kept])]
    ]
    rows = [{"step": i, "loss": 9 / (1 + i), "lr": 0.1, "seconds": i, "size": 100} for i in range(40)]
    few = [{"step": i, "loss": 9 / (1 + i), "seconds": i} for i in range(0, 40, 3)]

    def measured(route: "Route") -> None:
        if broken and f"/{broken}/" in route.request.url:
            route.fulfill(status=422, json={"error": "its measurements are unreadable"})
        elif kept and f"/{kept}/" in route.request.url:
            route.fulfill(json={"rows": few, "step": 39, "alive": False})
        else:
            route.fulfill(json={"rows": rows, "step": 39, "alive": False})

    page.unroute("**/api/runs")
    page.route("**/api/runs", lambda route: route.fulfill(json=runs))
    page.route("**/api/runs/*/metrics?*", measured)


def test_curves_of_a_run_are_drawn_and_told_point_by_point(page: "Page") -> None:
    page.goto("/#/runs")
    page.wait_for_selector(".chart path")
    for title in ("Loss", "BLEU", "Learning rate"):
        expect(page.locator(".chart figcaption").get_by_text(title, exact=True)).to_have_count(1)
    chart = page.locator(".chart svg").first
    chart.hover(position={"x": 300, "y": 100})
    until(page, "document.querySelector('.chart-tip:not([hidden])')?.textContent.includes('translate-0')")
    page.get_by_label("logarithmic").check()
    until(page, "location.hash.includes('log=1')")
    page.locator(".run input").uncheck()
    until(page, "document.querySelector('.chart').textContent.includes('nothing measured')")


def test_several_runs_share_a_chart(page: "Page") -> None:
    show_runs(page, ["first", "second"])
    page.goto("/#/runs?smooth=0")
    page.wait_for_selector(".chart path")
    loss = page.locator(".chart", has_text="Loss").first
    expect(loss.locator("path[stroke-width='2']")).to_have_count(2)
    loss.locator("svg").focus()
    page.keyboard.press("ArrowRight")
    expect(loss.locator(".chart-tip")).to_contain_text("first")
    expect(loss.locator(".chart-tip")).to_contain_text("second")
    page.locator(".run", has_text="first").locator("input").uncheck()
    until(page, "document.querySelectorAll('.chart')[0].querySelectorAll('path').length === 1")
    until(page, "location.hash.includes('runs=second')")


def test_a_chart_is_taken_away_with_its_title_and_its_legend(page: "Page") -> None:
    show_runs(page, ["first", "second"])
    page.goto("/#/runs")
    page.wait_for_selector(".chart path")
    drawn = page.evaluate(
        """async () => {
          const { drawWhole } = await import('/js/views/chart_draw.js');
          const series = ['first', 'second'].map((name, hue) => ({name, hue, points: [[0, 3], [1, 2], [2, 1]]}));
          return drawWhole({ series }, 400, 'Loss').outerHTML;
        }"""
    )
    assert all(f">{text}</text>" in drawn for text in ("Loss", "first", "second", "step"))


def test_without_a_run_the_models_are_there_and_the_first_run_appears_by_itself(page: "Page") -> None:
    page.route("**/api/runs", lambda route: route.fulfill(json=[]))
    page.goto("/#/runs")
    expect(page.locator(".first-run code").first).to_have_text("regard train translate --steps 300")
    expect(page.locator(".sortable tbody")).to_contain_text("12.5")
    expect(page.locator(".chart")).to_have_count(0)
    show_runs(page, ["mine"])
    page.wait_for_selector(".run:has-text('mine')")
    page.wait_for_selector(".chart path")
    expect(page.locator(".first-run")).to_have_count(0)


def test_curves_that_models_kept_are_shown_beside_those_of_ones_own_runs(page: "Page") -> None:
    show_runs(page, [], kept="bundled")
    page.goto("/#/runs")
    page.wait_for_selector(".chart path")
    expect(page.locator(".run-list h2")).to_have_text(["How models were trained"])
    expect(page.locator(".run.on .run-name")).to_have_text(["bundled"])
    expect(page.locator(".chart"), "it kept no rate").to_have_count(1)
    expect(page.locator(".first-run h2")).to_have_text("No runs of your own yet")
    show_runs(page, ["mine"], kept="bundled")
    expect(page.locator(".run-list h2")).to_have_text(["Trainings", "How models were trained"])
    expect(page.locator(".run.on .run-name")).to_have_text(["mine"])
    expect(page.locator(".first-run")).to_have_count(0)
    page.locator(".run", has_text="bundled").locator("input").check()
    expect(page.locator(".chart", has_text="Loss").first.locator("path[stroke-width='2']")).to_have_count(2)


def test_a_model_keeps_its_curve_and_one_whose_run_is_here_is_not_shown_twice(tmp_path: Path) -> None:
    rows = [{"step": step, "loss": 3 / step, "bleu": step} for step in (1, 2, 3)]
    text = json.dumps({"scores": {"bleu": "higher"}, "rows": rows})
    shelf, runs = tmp_path / "shelf", tmp_path / "runs"
    save_model(shelf / "kept", recipe="translate", minutes=2.0, trained_with={"steps": 3})
    save_model(shelf / "silent")
    save_model(runs / "mine/model")
    (runs / "mine/recipe.json").write_text('{"recipe": "translate", "fields": {}}')
    for folder in (shelf / "kept", runs / "mine/model"):
        (folder / "curve.json").write_text(text)
    state = AppState(Models([runs / "mine"], shelf), runs)
    with TestClient(make_app(state), base_url="http://127.0.0.1") as client:
        mine, kept = client.get("/api/runs").json()
        assert (mine["name"], mine["model"]) == ("mine", None)
        assert (kept["name"], kept["model"], kept["recipe"], kept["step"]) == ("kept", "kept", "translate", 3)
        assert (kept["best"], kept["minutes"], kept["fields"]) == ({"bleu": 3}, 2.0, {"steps": 3})
        assert client.get("/api/runs/kept/metrics").json() == {"rows": rows, "step": 3, "alive": False}
        assert client.get("/api/runs/kept/metrics?after=2").json()["rows"] == rows[2:]
        assert client.get("/api/runs/silent/metrics").status_code == 404
        (runs / "kept").mkdir()
        (runs / "kept/recipe.json").write_text("{}")
        assert [each["name"] for each in client.get("/api/runs").json()] == ["kept", "mine", "kept (model)"]
        assert client.get("/api/runs/kept (model)/metrics").json()["rows"] == rows


WIDE = {"step": 1} | {f"score {i}": i for i in range(1000)}


@pytest.mark.parametrize(
    ("text", "steps", "scores"),
    [
        ("{", 0, 0),
        ("[]", 0, 0),
        ('{"rows": 7}', 0, 0),
        ('{"scores": 7, "rows": [7, {}, {"step": "1"}, {"step": 2, "loss": "low", "bleu": true}]}', 1, 0),
        ('{"rows": [{"step": 2, "loss": NaN}, {"step": 1, "bleu": 1e999}]}', 2, 0),
        (json.dumps({"rows": [{"step": i, "loss": 1} for i in range(5000)]}), 1000, 0),
        (json.dumps({"rows": [WIDE]}), 1, 20),
        (" " * 2**20 + '{"rows": [{"step": 1}]}', 0, 0),
        ("[" * 100_000, 0, 0),
    ],
)
def test_a_strangers_curve_is_bounded(tmp_path: Path, text: str, steps: int, scores: int) -> None:
    save_model(tmp_path / "theirs")
    (tmp_path / "theirs/curve.json").write_text(text)
    with TestClient(make_app(AppState(Models(shelf=tmp_path))), base_url="http://127.0.0.1") as client:
        (told,) = client.get("/api/runs").json()
        assert len(told["best"]) == scores
        assert (told["problem"] is None) == (steps > 0)
        found = client.get("/api/runs/theirs/metrics").json()["rows"]
        assert [row["step"] for row in found] == sorted(row["step"] for row in found)
        assert len(found) == steps


def test_what_one_run_refuses_is_said_in_its_row_alone(page: "Page") -> None:
    show_runs(page, ["good", "bad"], broken="bad")
    page.goto("/#/runs")
    page.wait_for_selector(".chart path")
    expect(page.locator(".run", has_text="bad").locator(".problem")).to_have_text("its measurements are unreadable")
    expect(page.locator(".run", has_text="good").locator(".problem")).to_have_count(0)


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        ({"recipe.json": '{"recipe'}, "recipe.json cannot be read"),
        ({"metrics.jsonl": "\x00\n"}, "metrics.jsonl has no"),
    ],
)
def test_a_spoilt_file_is_a_problem_of_its_own_run(tmp_path: Path, models: Models, spoilt: Any, said: str) -> None:
    for name in ("good", "bad"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "recipe.json").write_text('{"recipe": "translate", "fields": {"steps": 20}}')
        (tmp_path / name / "metrics.jsonl").write_text('{"step": 1, "loss": 2}\n')
    for file, text in spoilt.items():
        (tmp_path / "bad" / file).write_text(text)
    with TestClient(make_app(AppState(models, tmp_path)), base_url="http://127.0.0.1") as client:
        bad, good = client.get("/api/runs").json()
    assert (good["step"], good["steps"], good["problem"]) == (1, 20, None)
    assert bad["problem"].startswith(said)


def test_models_are_sorted_by_what_was_measured(page: "Page") -> None:
    page.goto("/#/runs")
    page.locator(".models-table select").select_option("translate")
    header, rows = page.locator(".sortable th", has_text="BLEU"), page.locator(".sortable tbody tr")
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    until(page, "location.hash.includes('task=translate') && location.hash.includes('sort=bleu')")
    expect(rows).to_have_count(4)
    expect(rows.first, "what is not measured comes last").to_contain_text("12.5")
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "descending")
    expect(rows.first).to_contain_text("12.5")
    until(page, "location.hash.includes('sort=-bleu')")
    page.reload()
    expect(header, "a link holds the order").to_have_attribute("aria-sort", "descending")
    rows.first.get_by_role("link").click()
    until(page, "location.hash.startsWith('#/translate') && location.hash.includes('m=small')")


def test_only_a_model_that_translates_leads_to_translate(page: "Page") -> None:
    page.goto("/#/runs")
    expect(page.locator(".sortable tbody tr")).to_have_count(7)
    expect(page.locator(".sortable tbody a[href^='#/translate']")).to_have_count(4)


def test_a_model_shows_the_command_that_trained_it(page: "Page") -> None:
    def told(route: "Route") -> None:
        models = route.fetch().json()
        models[0] |= {"command": "regard train translate --lower", "trained": {"recipe": "translate", "stages": 1}}
        route.fulfill(json=models)

    page.route("**/api/zoo", told)
    page.goto("/#/runs")
    button = page.get_by_role("button", name="Command that trained")
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".how code")).to_have_text("regard train translate --lower")
    button.click()
    expect(page.locator(".how")).to_have_count(0)


@pytest.mark.parametrize("name", SINGLE)
def test_the_command_of_a_bundled_model_says_how_it_was_trained(name: str) -> None:
    used = CARDS[name]["trained_with"]
    said = training_command(CARDS[name])
    assert said
    program, verb, recipe, *flags = shlex.split(said)
    assert (program, verb, recipe) == ("regard", "train", CARDS[name]["recipe"])
    kind = import_module(f"regard.recipes.{recipe}").Recipe
    again = tyro.cli(kind, args=flags, config=(tyro.conf.FlagCreatePairsOff,))
    for field in fields(kind):
        if field.name in used:
            value = getattr(again, field.name)
            assert json.loads(json.dumps(value)) == used[field.name], field.name


@pytest.mark.parametrize(
    "about",
    [
        {},
        {"recipe": ["translate"], "trained_with": {"lr": 1}},
        {"recipe": "../translate", "trained_with": {"lr": 1}},
        {"recipe": "writer", "trained_with": {"lr": 1}},
        {"recipe": "translate", "trained_with": "much"},
        {"recipe": "translate", "stages": [{"lr": 1}]},
    ],
)
def test_a_card_that_names_no_command_has_none(about: dict[str, Any]) -> None:
    assert training_command(about) is None


def test_a_command_of_a_strangers_card_runs_nothing_else() -> None:
    said = training_command({"recipe": "translate", "trained_with": {"data": "x; rm -rf ~", "source": "$(id)"}})
    assert said
    assert shlex.split(said)[3:] == ["--data", "x; rm -rf ~", "--source", "$(id)"]


def test_numbers_are_rounded_as_the_card_states_them(page: "Page") -> None:
    stated = {
        value for about in CARDS.values() for value in about["measured"].values() if isinstance(value, int | float)
    }
    values = [*sorted(stated), 41.15, 41.25, 41.05, 0.05, 0.15, 99.95, -3.25, -0.04, 0.0, 7, 1e6, 12345.65]
    page.goto("/#/runs")
    found = page.evaluate(
        "async (values) => { const m = await import('/js/measured.js'); return values.map((v) => m.rounded(v, 1)); }",
        values,
    )
    for value, text in zip(values, found, strict=True):
        exact = Decimal(str(value)).quantize(Decimal("0.1"), ROUND_HALF_EVEN)
        assert text == str(abs(exact) if exact == 0 else exact).replace("-", "−"), value
    assert "41.2" in found


def test_a_score_is_the_same_number_wherever_the_page_shows_it(page: "Page") -> None:
    def told(route: "Route") -> None:
        answer = route.fetch().json()
        for model in answer if isinstance(answer, list) else answer["models"]:
            if model["name"] == "small":
                model["measured"] = {"bleu": 41.15, "perplexity": 1.085}
        route.fulfill(json=answer)

    for path in ("**/api/zoo", "**/api/about"):
        page.route(path, told)
    show_runs(page, ["mine"])
    page.goto("/#/runs")
    wanted = "BLEU 41.2"
    expect(page.locator(".card summary")).to_contain_text(f"best {wanted}")
    expect(page.locator(".sortable tbody")).to_contain_text(f"{wanted} · Perplexity 1.08")
    page.locator("#models").click()
    expect(page.locator(".models-list")).to_contain_text(wanted)
