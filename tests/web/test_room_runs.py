"""The runs room in a real browser: curves to follow, and models to compare."""

from typing import TYPE_CHECKING

from tests.web.hands import until

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_curves_of_a_run_are_drawn_and_told_point_by_point(page: "Page") -> None:
    page.goto("/#/runs")
    page.wait_for_selector(".chart path")
    titles = page.locator(".chart figcaption").all_inner_texts()
    assert {"Loss", "BLEU", "Learning rate"} <= set(titles)
    chart = page.locator(".chart svg").first
    chart.hover(position={"x": 300, "y": 100})
    until(page, "document.querySelector('.chart-tip:not([hidden])')?.textContent.includes('translate-0')")
    page.get_by_label("logarithmic").check()
    until(page, "location.hash.includes('log=1')")
    page.locator(".run input").uncheck()
    until(page, "document.querySelector('.chart').textContent.includes('nothing measured')")


def test_models_are_sorted_by_what_was_measured(page: "Page") -> None:
    page.goto("/#/runs")
    header = page.locator(".sortable th", has_text="BLEU")
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert "12.5" in page.locator(".sortable tbody tr").first.inner_text(), "what is not measured comes last"
    page.locator(".sortable tbody tr").first.get_by_role("link").click()
    page.wait_for_selector(".look-box")
    until(page, "location.hash.includes('model=small')")


def test_only_a_model_that_translates_leads_to_translate(page: "Page") -> None:
    page.goto("/#/runs")
    page.wait_for_selector(".sortable tbody tr")
    assert page.locator(".sortable tbody tr").count() == 7
    assert page.locator(".sortable tbody a").count() == 4
