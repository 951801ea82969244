"""The views room in a real browser: crops of a DINO with both answers, and meters that tell whether it collapses."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
import torch
from fastapi.testclient import TestClient
from playwright.sync_api import expect
from tests.web.hands import until
from tests.web.shelves import barriers

from regard.models import build
from regard.models.dino import example
from regard.recipes.crops import answers
from regard.vision import Processor
from regard.web.app import make_app
from regard.web.models import Models
from regard.web.state import AppState

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

CLASSES = 40  # of dino-nano


def write_run(folder: Path, name: str, *, entropy: float, spread: float) -> None:
    """A run of DINO as the loop leaves it, with crops of a model that has learnt nothing."""
    torch.manual_seed(0)
    model: Any = build("dino-nano")
    processor = Processor()
    shown = answers(model, tuple(example(model.config).values()), processor, centred=True, temperature=0.04)
    rows = [
        {"step": step, "loss": 3.0, "lr": 0.1, "seconds": step, "size": 64}
        | ({"knn": 20.0 + step, "entropy": entropy, "spread": spread, "divergence": 0.5} if step % 10 == 0 else {})
        for step in range(1, 41)
    ]
    (folder / name).mkdir(parents=True)
    asked = {"recipe": "dino", "fields": {"steps": 40}, "scores": {"knn": "higher"}}
    (folder / name / "recipe.json").write_text(json.dumps(asked))
    (folder / name / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (folder / name / "samples.jsonl").write_text(json.dumps({"step": 40, "samples": shown}) + "\n")


@pytest.fixture
def views(tmp_path: Path, models: Models, page: "Page") -> "Iterator[Page]":
    """A page whose server has two runs of DINO, one of them collapsed, and one that shows no crops."""
    write_run(tmp_path, "dino-0", entropy=0.8, spread=3.1)
    write_run(tmp_path, "dino-1", entropy=0.0, spread=0.01)
    (tmp_path / "translate-0").mkdir()
    (tmp_path / "translate-0/recipe.json").write_text('{"recipe": "translate", "fields": {"steps": 20}}')
    with TestClient(make_app(AppState(models, tmp_path)), base_url="http://127.0.0.1") as client:

        def answer(route: "Route") -> None:
            asked = urlsplit(route.request.url)
            route.fulfill(json=client.get(f"{asked.path}?{asked.query}").json())

        page.route("**/api/runs**", answer)
        page.route("**/api/runs/*/metrics?*", answer)
        yield page


def test_crops_are_shown_with_what_student_and_teacher_say(views: "Page") -> None:
    views.goto("/#/views")
    picture = views.locator(".crops").first
    teacher, student = picture.locator(".crop-row").first, picture.locator(".crop-row").last
    expect(teacher.locator("img")).to_have_count(2)
    expect(student.locator("img"), "small crops too").to_have_count(5)
    until(views, "[...document.querySelectorAll('.crops img')].every((each) => each.naturalWidth > 0)")
    bar = teacher.locator(".answer-bar").first
    expect(bar).to_have_attribute("aria-label", re.compile(r"^class \d+ \d+ %(, class \d+ \d+ %){4}$"))


def test_meters_tell_health_from_collapse(views: "Page") -> None:
    views.goto("/#/views?run=dino-0")
    expect(views.locator(".health")).to_contain_text("No collapse")
    expect(views.locator(".gauge")).to_have_count(3)
    expect(views.locator(".gauge").first).to_contain_text("0.80 of 3.69")
    expect(views.locator(".chart path").first).to_be_attached()  # a level curve counts as hidden
    views.get_by_label("Run").select_option("dino-1")
    expect(views.locator(".health")).to_contain_text("one class takes all")
    until(views, "location.hash.includes('run=dino-1')")


def test_only_runs_with_crops_can_be_chosen(views: "Page") -> None:
    views.goto("/#/views")
    expect(views.get_by_label("Run").locator("option")).to_have_text(["dino-0", "dino-1"])


def test_nothing_keeps_anybody_out_and_nothing_is_wider_than_a_phone(views: "Page") -> None:
    views.goto("/#/views")
    views.locator(".crops img").first.wait_for()
    assert barriers(views) == []
    views.set_viewport_size({"width": 390, "height": 844})
    until(views, "document.documentElement.scrollWidth <= 390")


def test_without_crops_the_room_says_how_to_get_some(page: "Page") -> None:
    page.goto("/#/views")
    expect(page.locator(".first-run code").first).to_contain_text("regard train dino")
    expect(page.locator(".views-body")).to_be_hidden()


def test_runs_shows_a_sample_that_is_a_picture_as_one(views: "Page") -> None:
    views.goto("/#/runs?runs=dino-0")
    views.locator(".card summary").first.click()
    until(views, "document.querySelector('.samples img')?.naturalWidth > 0")
