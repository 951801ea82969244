"""Take the pictures of the gallery, from the running page with the bundled models.

python docs/gallery.py                    all of them
python docs/gallery.py see-detr read-mask some of them
"""

import io
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import tyro
from PIL import Image
from playwright.sync_api import sync_playwright
from screens import explorer

from regard.web.assets import PAGE
from regard.web.gallery import ENTRIES, FOLDER, Entry

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDE, TALL = 1120, 700  # pixels of the page
WIDER = {"build": 1280}  # where the plane and its numbers stand side by side
SMALL = (640, 400)
BYTES = 25_000  # of a picture
EDGE = 16
# What the picture is of: a part of its room, from its upper left corner on.
SUBJECTS = {
    "build": ".floor",
    "words": ".map-box",
    "translate": ".look-main",
    "read": ".look-main",
    "file": ".look-stage",
    "see": ".see-floor",
    "caption": ".look-box",
    "match": ".look-box",
    "ask": ".look-box",
    "segment": ".look-box",
    "depth": ".look-box",
    "sense": ".look-box",
    "world": ".scene",
    "claims": "figure.claim-figure",
    "lectures": ".tour-topics",
}
LOWER = {"file-making": 240}  # pixels further down
OTHERS = {
    "read-next": ".look-box",
    "read-mask": ".look-box",
    "words-king": ".words",
    "translate-glasses": ".look-body",
    "translate-three": ".looks",
}


@dataclass(frozen=True, slots=True)
class Flags:
    names: tyro.conf.Positional[tuple[str, ...]] = ()
    """Which pictures; all of them when none is named."""


def main(flags: Flags) -> None:
    folder = PAGE / FOLDER
    folder.mkdir(exist_ok=True)
    wanted = [entry for entry in ENTRIES if not flags.names or entry.name in flags.names]
    with explorer() as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        for entry in wanted:
            picture = shrink(take(browser, address, entry))
            (folder / f"{entry.name}.webp").write_bytes(picture)
            sys.stdout.write(f"{entry.name}.webp, {len(picture) / 1e3:.1f} kB\n")
            sys.stdout.flush()
        browser.close()


def take(browser: "Browser", address: str, entry: Entry) -> bytes:
    """The page in the state of an entry, once it has settled; by day, and without motion."""
    context = browser.new_context(
        viewport={"width": WIDER.get(entry.place.room, WIDE), "height": TALL},
        color_scheme="light",
        reduced_motion="reduce",
        locale="en-GB",
    )
    context.set_default_timeout(120_000)
    context.add_init_script("localStorage.setItem('regard.guided', 'yes')")
    page = context.new_page()
    page.goto(address + entry.place.address)
    page.wait_for_selector("main .room > *")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1500)
    subject = OTHERS.get(entry.name, SUBJECTS[entry.place.room])
    box = page.locator(subject).first.bounding_box()
    assert box is not None, f"{entry.place.address} shows no {subject}"
    left, top, wide = (
        max(0, box["x"] - EDGE),
        max(0, box["y"] - EDGE + LOWER.get(entry.name, 0)),
        box["width"] + 2 * EDGE,
    )
    tall = wide * SMALL[1] / SMALL[0]
    # A page that ends sooner would be cut there, and then be stretched.
    page.evaluate("tall => { document.body.style.minHeight = `${tall}px`; }", top + tall)
    taken = page.screenshot(full_page=True, clip={"x": left, "y": top, "width": wide, "height": tall})
    context.close()
    return taken


def shrink(picture: bytes) -> bytes:
    """A small picture, as good as fits."""
    image = Image.open(io.BytesIO(picture)).convert("RGB").resize(SMALL, Image.Resampling.LANCZOS)
    for quality in range(88, 20, -6):
        file = io.BytesIO()
        image.save(file, "WEBP", quality=quality, method=6)
        if file.tell() <= BYTES:
            return file.getvalue()
    raise ValueError(f"the picture does not fit into {BYTES} bytes; choose a calmer place")


if __name__ == "__main__":
    main(tyro.cli(Flags, description=__doc__))
