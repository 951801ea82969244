"""Frames a second of the map of 30,000 words while a hand drags it or turns the wheel, in two and three dimensions.

Times between frames tell what a reader sees on this machine at this moment; a machine that is busy otherwise shows
fewer. The time that the page's own thread computes for a frame is told beside it, for it does not depend on that.
"""

from itertools import pairwise
from statistics import mean, median
from typing import TYPE_CHECKING, Any

from rich.table import Table

from bench.chromium import LIMIT, chromium, tab
from bench.clock import console

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

FRAMES = 180
WARM = 30  # before they are counted
HANDS = ("drag", "wheel")
# One event before each frame, as a mouse sends them; the times of the frames are the browser's own.
MOVE = """async ([hand, frames]) => {
  const map = document.querySelector(".word-map");
  const box = map.getBoundingClientRect();
  map.setPointerCapture = () => {};
  const spot = (i) => ({
    clientX: box.left + box.width / 2 + 120 * Math.sin(i / 12),
    clientY: box.top + box.height / 2 + 80 * Math.sin(i / 17),
    bubbles: true,
    cancelable: true,
  });
  const point = (type, i) => map.dispatchEvent(new PointerEvent(type, {pointerId: 1, buttons: 1, ...spot(i)}));
  const turn = (i) => map.dispatchEvent(new WheelEvent("wheel", {deltaY: i % 80 < 40 ? -40 : 40, ...spot(0)}));
  const stamps = [];
  if (hand === "drag") point("pointerdown", 0);
  for (let i = 0; i <= frames; i++) {
    stamps.push(await new Promise(requestAnimationFrame));
    if (hand === "drag") point("pointermove", i);
    else turn(i);
  }
  if (hand === "drag") point("pointerup", frames);
  return stamps;
}"""


def frames(address: str) -> list[dict[str, object]]:
    """A table of both hands in both views, of a server that runs at an address."""
    table = Table(title="The map of 30,000 words, moved", title_justify="left", title_style="bold")
    for column in ("view", "hand", "drawn by", "frames a second", "median ms", "95 % ms", "page's own ms a frame"):
        table.add_column(column, justify="left" if column in ("view", "hand", "drawn by") else "right")
    numbers: list[dict[str, object]] = []
    with chromium() as browser:
        for dimensions in (2, 3):
            with tab(browser) as page:
                page.goto(f"{address}#/words?dim={dimensions}&w=king")
                page.wait_for_selector(".near-list li:nth-child(10)", timeout=1000 * LIMIT)
                painter = page.locator(".word-map").get_attribute("data-by")
                inside = page.context.new_cdp_session(page)
                inside.send("Performance.enable", {"timeDomain": "threadTicks"})
                for hand in HANDS:
                    gaps, own = _moved(page, inside, hand)
                    slow = sorted(gaps)[int(0.95 * len(gaps))]
                    row = (1000 / mean(gaps), median(gaps), slow, own)
                    table.add_row(f"{dimensions}-D", hand, painter, *(f"{value:.1f}" for value in row))
                    names = ("frames_a_second", "median_ms", "slow_ms", "own_ms")
                    about = {"table": "Map of words", "dimensions": dimensions, "hand": hand, "by": painter}
                    numbers.append(about | dict(zip(names, row, strict=True)))
    console.print(table)
    return numbers


def _moved(page: "Page", inside: "CDPSession", hand: str) -> tuple[list[float], float]:
    """Milliseconds between frames, and those of the page's own thread for each."""
    page.evaluate(MOVE, [hand, WARM])
    before = _spent(inside)
    stamps: list[float] = page.evaluate(MOVE, [hand, FRAMES])
    own = 1000 * (_spent(inside) - before) / FRAMES
    return [after - earlier for earlier, after in pairwise(stamps)], own


def _spent(inside: "CDPSession") -> float:
    told: dict[str, Any] = inside.send("Performance.getMetrics")
    return next(float(each["value"]) for each in told["metrics"] if each["name"] == "TaskDuration")
