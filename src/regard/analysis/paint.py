"""What the pictures of analysis share: colours by day and by night, words that fit, the scale and the page around."""

import math
from collections.abc import Sequence
from html import escape
from unicodedata import category, east_asian_width

LEVELS = 24
LONGEST = 20  # letters of a word that are shown

Ramp = Sequence[tuple[int, int, int]]

# More attention is darker on paper, and brighter at night: from nothing to a lamp.
PAPER = ((240, 241, 238), (196, 222, 212), (98, 168, 172), (36, 99, 135), (20, 38, 78))
NIGHT = ((27, 31, 50), (38, 70, 110), (44, 122, 140), (120, 178, 128), (247, 205, 110))
# Less than nothing is orange, which no colour-blind reader takes for the others (Okabe and Ito).
PAPER_LESS = ((240, 241, 238), (242, 196, 160), (198, 79, 0))
NIGHT_LESS = ((27, 31, 50), (120, 66, 40), (255, 154, 77))
INK = {"light": ("#ffffff", "#1b1f32", "#6a7183"), "dark": ("#11141f", "#dfe5ee", "#8b94a9")}  # ground, words, notes
FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans',sans-serif"


def style(font: float) -> str:
    """The rules of a picture whose words are so high: `c0` to `c24` fill what is more and more, `d1` to `d24` less."""
    light = _rules(PAPER, PAPER_LESS, *INK["light"])
    dark = _rules(NIGHT, NIGHT_LESS, *INK["dark"])
    return (
        f"text{{font:{font:.1f}px {FONT}}}.row{{text-anchor:end}}.name,.number{{text-anchor:middle}}"
        f"text.title{{font-size:19px;font-weight:600}}text.note{{font-size:13px}}"
        f"text.number{{font-size:12px;font-variant-numeric:tabular-nums;pointer-events:none}}"
        f"{light}@media(prefers-color-scheme:dark){{{dark}}}"
    )


def scale(x: float, y: float, least: str, most: str) -> str:
    """Which colour says how much, between two words."""
    step = 5.0
    before = x + width_of(least, 13.0) + 12
    bars = [
        f'<rect class="c{level_of(place / 29)}" x="{before + place * step:.1f}" y="{y:.1f}" '
        f'width="{step + 0.5}" height="9"/>'
        for place in range(30)
    ]
    return "\n".join((*bars, label(x, y + 9, least, "note"), label(before + 30 * step + 8, y + 9, most, "note")))


def page(drawn: str, title: str) -> str:
    """A picture as a page that needs nothing else."""
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{safe(title)}</title>\n"
        f"<style>body{{margin:0;min-height:100vh;display:grid;place-items:center;background:{INK['light'][0]}}}"
        "svg{max-width:96vw;height:auto}"
        f"@media(prefers-color-scheme:dark){{body{{background:{INK['dark'][0]}}}}}</style>\n"
        f"<body>\n{drawn}</body>\n</html>\n"
    )


def level_of(weight: float) -> int:
    """The colour of a weight between 0 and 1."""
    return round(LEVELS * math.pow(min(max(weight, 0.0), 1.0), 0.7))  # small weights deserve to be told apart


def colour(ramp: Ramp, share: float) -> str:
    """A share of the way along a ramp, as CSS writes it."""
    place = share * (len(ramp) - 1)
    low = min(int(place), len(ramp) - 2)
    mixed = (a + (b - a) * (place - low) for a, b in zip(ramp[low], ramp[low + 1], strict=True))
    return "#" + "".join(f"{round(channel):02x}" for channel in mixed)


def label(x: float, y: float, words: str, kind: str, turned: str = "") -> str:
    """Words at a place, or turned; nothing where there are none."""
    place = f'transform="{turned}"' if turned else f'x="{x:.1f}" y="{y:.1f}"'
    return f'<text class="{kind}" {place}>{safe(words)}</text>' if words else ""


def short(word: str, letters: int = LONGEST) -> str:
    """A word that is not longer than so many letters."""
    return word if len(word) <= letters else word[: letters - 1] + "…"


def safe(words: str) -> str:
    """Words that no page takes for anything else; what XML cannot hold is shown as a box."""
    return escape(
        "".join("\ufffd" if category(each) in ("Cc", "Cs") or each in "\ufffe\uffff" else each for each in words)
    )


def width_of(words: str, font: float) -> float:
    """About how wide words are, whatever the font."""
    return font * sum(1.0 if east_asian_width(each) in "WF" else 0.57 for each in words)


def _rules(more: Ramp, less: Ramp, ground: str, words: str, notes: str) -> str:
    cells = "".join(f".c{level}{{fill:{colour(more, level / LEVELS)}}}" for level in range(LEVELS + 1))
    cells += "".join(f".d{level}{{fill:{colour(less, level / LEVELS)}}}" for level in range(1, LEVELS + 1))
    return (
        f".ground{{fill:{ground}}}text{{fill:{words}}}.note,.name{{fill:{notes}}}"
        f".under{{fill:{words}}}.over{{fill:{ground}}}{cells}"
    )
