"""What a reader's hands do on the page, for the tests of its rooms."""

from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

SENTENCE = "La casa rossa."
PATIENCE = 300  # seconds, for a machine that is busy with something else


def translate(page: "Page", **state: str) -> None:
    """Open the room in a state and wait for its translation."""
    query = "&".join(
        f"{key}={quote(value, safe=':@,.')}" for key, value in ({"model": "small", "text": SENTENCE} | state).items()
    )
    page.goto(f"/#/translate?{query}")
    until(page, "document.querySelector('.look .seconds')")


def until(page: "Page", true: str, arg: object = None) -> None:
    """Wait for an expression; the browser's own way to wait needs `eval`, which the page forbids."""
    until = monotonic() + PATIENCE
    while not page.evaluate(true, arg):
        assert monotonic() < until, f"waited for {true} in vain; the page says {page.inner_text('main')[:300]!r}"
        page.wait_for_timeout(50)


def thumb(page: "Page", name: str, head: int) -> "Locator":
    return page.locator(f"button.thumb[data-name='{name}'][data-head='{head}']")


def save_as(page: "Page", label: str) -> bytes:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"as {label}").first.click()
    return waiting.value.path().read_bytes()


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
