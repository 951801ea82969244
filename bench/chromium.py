"""Pages in a real browser, and how long it takes until they are seen."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LIMIT = 60.0  # seconds for a page
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)

COUNTING = """
const fetched = fetch;
window.waiting = 0;
window.fetch = (...wish) => (waiting++, fetched(...wish).finally(() => waiting--));
"""
# The wanted part is on the page, the answers are here and no other is waited for, no canvas is empty; two frames later.
DRAWN = """async ([wanted, answers, limit]) => {
  const frame = () => new Promise(requestAnimationFrame);
  const here = (part) => performance.getEntriesByType("resource").some((each) => each.name.includes(part));
  const inked = (canvas) =>
    canvas.width && canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value);
  const drawn = () => document.querySelector(wanted) && answers.every(here) && !waiting
    && [...document.querySelectorAll("canvas")].filter((each) => each.checkVisibility()).every(inked);
  while (!drawn()) {
    if (performance.now() > 1000 * limit) return Infinity;
    await frame();
  }
  await frame();
  await frame();
  return performance.now() / 1000;
}"""


def missing() -> str | None:
    """Why no page can be opened here, if none can."""
    absent = [] if _found() else ["chromium"]
    absent += [] if find_spec("playwright") else ["playwright"]
    return f"{' and '.join(absent)} not installed" if absent else None


@contextmanager
def chromium() -> "Iterator[Browser]":
    """A browser without a window. One that choked on a page is not used for another."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=_found(), args=list(SWITCHES))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def tab(browser: "Browser") -> "Iterator[Page]":
    """An empty page of a browser that remembers nothing."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script(COUNTING)
    try:
        yield context.new_page()
    finally:
        context.close()


def drawn(page: "Page", wanted: str, answers: tuple[str, ...] = ()) -> float:
    """Seconds from the opening of a page of the explorer until its picture is there; infinite if it never is."""
    return float(page.evaluate(DRAWN, [wanted, list(answers), LIMIT]))


def seen(page: "Page", address: str, ready: "Callable[[Page], object]") -> float | str:
    """Seconds until the browser hands over a picture of a page that is ready, or why it does not."""
    from playwright.sync_api import Error

    start, died = perf_counter(), False
    try:
        page.goto(address, wait_until="commit", timeout=1000 * LIMIT)
        ready(page)
        page.screenshot(timeout=1000 * LIMIT)
    except Error as error:
        died = "crash" in str(error)
    took = perf_counter() - start
    return f"dead after {took:.0f} s" if died else took if took < LIMIT else f"not there after {LIMIT:.0f} s"


def _found() -> str | None:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
