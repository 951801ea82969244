"""Make the pictures of the explorer, from the running page.

python docs/screens.py                    all of them but Runs
python docs/screens.py --runs FOLDER      Runs as well, with what was trained there
python docs/screens.py translate world    some of them
"""

import io
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlencode

import tyro
from PIL import Image
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HERE = Path(__file__).parent / "pictures"
WIDE, SHARP = 1280, 1.5  # pixels of the page, and of the picture for each: a README shows some 900 of them
SENTENCE = "Die Frau, die eine Brille trägt, liest ein Buch."


@dataclass(frozen=True, slots=True)
class Shot:
    """A state of the page, what must be there before it is taken, and what the pointer is on."""

    room: str
    state: dict[str, str]
    wait: str
    tall: int = 760
    point: str = ""
    theme: Literal["light", "dark"] = "light"


LINES = {"m": "de-en", "in": f"t:{SENTENCE}", "look": "decoder.blocks.3.cross:mean"}
GOLD = {"m": "world-it-en-additive", "in": "w:it-en-7", "force": "1", "as": "matrix"}
EDITS = ",".join(f"decoder.blocks.{block}.cross:*:uniform" for block in (1, 2, 3))
EDITED = {"m": "de-en", "in": f"t:{SENTENCE}", "look": "decoder.blocks.0.cross:2", "edits": EDITS}
THREE = {"m": "de-en-fixed,de-en-additive,de-en", "in": "t:Ein Koch schneidet Gemüse in einer kleinen Küche."}
NEXT = {"m": "captions", "in": "t:A dog is running through the"}
PATCH = {"m": "cifar10-vit", "in": "p:photo:cat", "at": "45,40"}
KING = {"as": "sums", "sum": "king - man + woman"}

SHOTS = {
    "home": Shot("home", {}, ".home-picture canvas", tall=1180),
    "build": Shot("build", {"step": "softmax"}, ".floor > *"),
    "words": Shot("words", KING, ".map-box canvas", tall=800),
    "translate": Shot("translate", LINES, ".lines .word", tall=880),
    "matrix": Shot("translate", GOLD, ".matrix", tall=960),
    "heads": Shot("translate", EDITED, ".verdict", tall=960),
    "models": Shot("translate", THREE, ".look-box:nth-child(3) .lines", tall=820),
    "read": Shot("read", NEXT, ".bars", tall=1100),
    "see": Shot("see", PATCH, ".see-floor canvas", tall=820),
    "claim": Shot("claims", {"name": "alignment", "show": "1"}, ".claim-figure svg", tall=1180),
    "world": Shot("world", {"index": "3"}, ".named", point=".caption[lang=en] .named[data-things='2']"),
    "runs": Shot("runs", {}, ".chart path", tall=500),
}


@dataclass(frozen=True, slots=True)
class Flags:
    names: tyro.conf.Positional[tuple[str, ...]] = ()
    """Which pictures; all of them when none is named."""
    runs: Path | None = None
    """The folder of the runs to show."""


def main(flags: Flags) -> None:
    wanted = flags.names or [name for name in SHOTS if name != "runs" or flags.runs is not None]
    HERE.mkdir(exist_ok=True)
    with explorer(*([] if flags.runs is None else ["--runs", str(flags.runs)])) as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        for name in wanted:
            picture = take(browser, address, SHOTS[name])
            (HERE / f"explore-{name}.png").write_bytes(picture)
            sys.stdout.write(f"explore-{name}.png, {len(picture) / 1e3:.0f} kB\n")
            sys.stdout.flush()
        browser.close()


@contextmanager
def explorer(*flags: str) -> Iterator[str]:
    """The address of an explorer that runs meanwhile."""
    command = [sys.executable, "-m", "regard", "explore", "--no-open", "--port", "0", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def take(browser: "Browser", address: str, shot: Shot) -> bytes:
    """The picture of a page in a browser that has been here before and wants no motion."""
    context = browser.new_context(
        viewport={"width": WIDE, "height": shot.tall},
        device_scale_factor=SHARP,
        color_scheme=shot.theme,
        reduced_motion="reduce",
        locale="en-GB",
    )
    context.set_default_timeout(120_000)
    context.add_init_script("localStorage.setItem('regard.guided', 'yes')")
    page = context.new_page()
    page.goto(f"{address}#/{shot.room}?{urlencode(shot.state)}")
    page.wait_for_selector(shot.wait)
    page.wait_for_load_state("networkidle")
    if shot.point:
        page.locator(shot.point).first.hover()
    # How long it took is another number each time.
    page.evaluate("document.querySelectorAll('.seconds').forEach((each) => (each.style.visibility = 'hidden'))")
    page.wait_for_timeout(1500)
    taken = page.screenshot()
    context.close()
    return shrink(taken)


def shrink(taken: bytes) -> bytes:
    """The page has few colours, and a picture of few colours is small; an octree keeps those of a single word, too."""
    image, file = Image.open(io.BytesIO(taken)).convert("RGB"), io.BytesIO()
    few = image.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(file, "PNG", optimize=True)
    return file.getvalue()


if __name__ == "__main__":
    main(tyro.cli(Flags, description=__doc__))
