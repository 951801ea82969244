"""What a reader's hands do on the page, for the tests of its rooms."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

SENTENCE = "La casa rossa."
PATIENCE = 120  # seconds, for a machine that is busy with something else


def address(**state: str) -> str:
    """A state as a link has it; `view` and `given` are its keys `as` and `in`, which Python keeps for itself."""
    names = {"view": "as", "given": "in"}
    return "&".join(f"{names.get(key, key)}={quote(value, safe=':@,;.*')}" for key, value in state.items())


def translate(page: "Page", **state: str) -> None:
    """Open the room in a state and wait for its translation."""
    page.goto("about:blank")
    page.goto(f"/#/translate?{address(**({'m': 'small', 'given': f't:{SENTENCE}'} | state))}")
    answered(page)


def answered(page: "Page") -> None:
    """Wait until every panel shows what was asked."""
    until(page, "document.querySelector('.look .seconds') && !document.querySelector('.look[aria-busy]')")


def choose_model(page: "Page", title: str) -> None:
    """Take another model from the sheet."""
    page.get_by_role("button", name="Choose another").first.click()
    page.get_by_role("dialog").get_by_role("button", name=title, exact=True).click()


def open_file(page: "Page", views: object, **state: str) -> None:
    """Open the room for files and let one fall into it."""
    page.goto("about:blank")
    page.goto(f"/#/file?{address(**state)}")
    page.wait_for_selector("#views-file", state="attached")
    drop(page, json.dumps(views))
    page.wait_for_selector(".look-stage > *")


def until(page: "Page", true: str, arg: object = None) -> None:
    """Wait for an expression; the browser's own way to wait needs `eval`, which the page forbids."""
    until = monotonic() + PATIENCE
    while not page.evaluate(true, arg):
        assert monotonic() < until, f"waited for {true} in vain; the page says {page.inner_text('main')[:300]!r}"
        page.wait_for_timeout(50)


def becomes(page: "Page", read: Callable[[], Any], wanted: object) -> None:
    """Wait until what is read off the page is what is wanted."""
    until = monotonic() + PATIENCE
    while (found := read()) != wanted and monotonic() < until:
        page.wait_for_timeout(50)
    assert found == wanted


def bars_off(page: "Page") -> float:
    """By how many points of 100 % a bar of a probability is longer or shorter than its number says."""
    rows: list[tuple[str, str]] = page.evaluate(
        """[...document.querySelectorAll(".bars li")].map((row) =>
             [row.querySelector(".bar-fill").style.width, row.querySelector(".bar-number").textContent])"""
    )
    return max(abs(float(wide.rstrip("%")) - float(said.strip("< %"))) for wide, said in rows)


def painted(page: "Page") -> None:
    """Wait until what was changed has been drawn, in the letters of the page."""
    page.evaluate(
        """async () => {
          await document.fonts.ready;
          for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame);
        }"""
    )


@contextmanager
def watching(page: "Page") -> Iterator[Callable[[], float]]:
    """How many seconds the page itself has worked since, which do not depend on how busy the machine is."""
    inside = page.context.new_cdp_session(page)
    inside.send("Performance.enable", {"timeDomain": "threadTicks"})

    def worked() -> float:
        found = {each["name"]: each["value"] for each in inside.send("Performance.getMetrics")["metrics"]}
        return float(found["TaskDuration"])

    before = worked()
    yield lambda: worked() - before
    inside.detach()


def resize(page: "Page", width: int, height: int) -> None:
    """Another size of the window, once the page has it."""
    page.set_viewport_size({"width": width, "height": height})
    until(page, "wide => innerWidth === wide", width)


def thumb(page: "Page", name: str, head: int) -> "Locator":
    return page.locator(f"button.thumb[data-name='{name}'][data-head='{head}']")


def save_as(page: "Page", label: str) -> bytes:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"as {label}").first.click()
    return waiting.value.path().read_bytes()


def shared(page: "Page") -> dict[str, str]:
    """What can be copied: the link, and where there is one the same in Python and as a command."""
    page.locator("#link").click()
    sheet = page.get_by_role("dialog", name="Share")
    read = "all => all.map(row => [row.querySelector('h3').firstChild.data, row.querySelector('pre').textContent])"
    found: list[tuple[str, str]] = sheet.locator(".share-row").evaluate_all(read)
    page.keyboard.press("Escape")
    sheet.wait_for(state="detached")
    return dict(found)


def shell_words(command: str, folder: Path) -> list[str]:
    """What a shell gives to `regard` by a command of ours; it is run in an empty folder, which must stay so."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash on this machine")
    script = f"regard() {{ printf '%s\\0' \"$@\"; }}\n{command}"
    run = subprocess.run([bash, "-c", script], cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    assert run.stderr == ""
    assert not list(folder.iterdir()), "something else was run"
    return run.stdout.split("\0")[:-1]


def drop(page: "Page", text: str, onto: str = ".room-file") -> None:
    """Let a file fall onto the page."""
    page.evaluate(
        """([text, onto]) => {
          const held = new DataTransfer();
          held.items.add(new File([text], "views.json", {type: "application/json"}));
          const falls = new DragEvent("drop", {dataTransfer: held, bubbles: true, cancelable: true});
          document.querySelector(onto).dispatchEvent(falls);
        }""",
        [text, onto],
    )
