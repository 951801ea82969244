"""A map as a picture: points coloured by group, words beside them where there is room, and what was measured below.

One drawing is made once and written as SVG, which follows the reader's light or dark setting and tells of each point
when it is pointed at, or as PNG. A map of three dimensions is seen from the side, and what is nearer is larger.
"""

import io
import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from PIL import Image, ImageDraw, ImageFont

from regard.analysis.maps.labels import Box, place_labels
from regard.analysis.paint import FONT, INK, label, safe, short, width_of

WIDTH, PLOT = 960.0, 640.0  # pixels: of the picture, and the height of the map on it
MARGIN, LETTER, RADIUS = 24.0, 12.0, 3.6
# Okabe and Ito's colours, which colour-blind readers can tell apart; darker for white paper, lighter for the night.
DAY = ("#0072b2", "#c64f00", "#00805e", "#b0578d", "#8a6d00", "#3d8fc4", "#555b66", "#7a3fb5")
NIGHT = ("#5cb8f0", "#ff9a4d", "#3ed6a8", "#f0a5cf", "#e6c84a", "#9fd4f5", "#b4bcc9", "#c39df0")
LEGEND = 24  # groups that are named at most


@dataclass(frozen=True, slots=True)
class Dot:
    """A point on the picture."""

    x: float
    y: float
    radius: float
    kind: int  # number of its group
    about: str  # said when it is pointed at
    word: str = ""
    box: Box | None = None  # of its word, where there is room


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything in its place."""

    title: str
    dots: tuple[Dot, ...]
    legend: tuple[tuple[float, float, int, str], ...]
    caption: tuple[str, ...]
    plot: Box
    height: float

    @property
    def named(self) -> int:
        """How many points have their word beside them."""
        return sum(dot.box is not None for dot in self.dots)


def draw(
    places: Float[np.ndarray, "n k"],
    *,
    words: Sequence[str] = (),
    groups: Sequence[str] = (),
    about: Sequence[str] = (),
    title: str = "",
    caption: str = "",
) -> Drawing:
    """Lay a map out. `words` stand beside points and `about` is told of them; `groups` have a colour each."""
    for name, given in (("words", words), ("groups", groups), ("about", about)):
        if given and len(given) != len(places):
            raise ValueError(f"{len(given)} {name} are not those of {len(places)} places; give one for each")
    if places.ndim != 2 or not 1 <= places.shape[1] <= 3 or not len(places):
        raise ValueError(f"places of shape {places.shape} cannot be drawn; give points in 2 or 3 dimensions")
    kinds = {name: number for number, name in enumerate(dict.fromkeys(groups))}
    legend, after = _legend(list(kinds), MARGIN + (34 if title else 6))
    plot = Box(MARGIN, after, WIDTH - MARGIN, after + PLOT)
    x, y, depth = _seen(np.asarray(places, np.float64))
    across, down = _fit(x, y, plot)
    named = [short(word, 28) for word in words] or [""] * len(places)
    near = np.argsort(depth, kind="stable")  # what is nearer is drawn over what is farther
    points = list(zip(across.tolist(), down.tolist(), strict=True))
    radius = RADIUS if len(places) <= 1000 else 2.4
    boxes = place_labels(points, named, font=LETTER, radius=radius, frame=plot)
    told = list(about) or [" · ".join(filter(None, each)) for each in _pairs(words, groups, len(places))]
    dots = tuple(
        Dot(
            points[i][0],
            points[i][1],
            radius * (0.75 + 0.6 * float(depth[i])),
            kinds[groups[i]] if groups else 0,
            told[i],
            named[i],
            boxes[i],
        )
        for i in near.tolist()
    )
    lines = textwrap.wrap(caption, int((WIDTH - 2 * MARGIN) / width_of("n", 13.0)))
    return Drawing(title, dots, legend, tuple(lines), plot, plot.bottom + 20 + 19 * len(lines) + MARGIN)


def svg(drawing: Drawing) -> str:
    """The picture as SVG that needs nothing else."""
    about = ". ".join(filter(None, (drawing.title, *drawing.caption))) or "A map"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH:.0f}" height="{drawing.height:.0f}" '
        f'viewBox="0 0 {WIDTH:.0f} {drawing.height:.0f}" role="img" aria-label="{safe(about)}">',
        f"<style>{_style()}</style>",
        '<rect class="ground" width="100%" height="100%"/>',
        label(MARGIN, MARGIN + 15, drawing.title, "title"),
    ]
    for x, y, kind, name in drawing.legend:
        parts += [_shape(x, y - 4.5, 4.5, kind), label(x + 10, y, name, "note")]
    for dot in drawing.dots:
        shape = _shape(dot.x, dot.y, dot.radius, dot.kind)
        parts.append(f"<g><title>{safe(dot.about)}</title>{shape}</g>" if dot.about else shape)
    parts += [
        label(dot.box.left, dot.box.bottom - 0.3 * LETTER, dot.word, "word")
        for dot in drawing.dots
        if dot.box is not None
    ]
    parts += [label(MARGIN, drawing.plot.bottom + 30 + 19 * i, line, "note") for i, line in enumerate(drawing.caption)]
    return "\n".join(filter(None, (*parts, "</svg>\n")))


def png(drawing: Drawing, *, scale: int = 2) -> bytes:
    """The picture as PNG, by day; letters that its font does not have are drawn as boxes."""
    ground, ink, note = INK["light"]
    picture = Image.new("RGB", (round(WIDTH * scale), round(drawing.height * scale)), ground)
    pen = ImageDraw.Draw(picture)

    def write(x: float, y: float, words: str, size: float, fill: str) -> None:
        pen.text((x * scale, y * scale), words, fill=fill, font=ImageFont.load_default(size * scale), anchor="ls")

    write(MARGIN, MARGIN + 15, drawing.title, 19.0, ink)
    for x, y, kind, name in drawing.legend:
        _stamp(pen, x * scale, (y - 4.5) * scale, 4.5 * scale, kind)
        write(x + 10, y, name, 13.0, note)
    for dot in drawing.dots:
        _stamp(pen, dot.x * scale, dot.y * scale, dot.radius * scale, dot.kind)
    for dot in drawing.dots:
        if dot.box is not None:
            write(dot.box.left, dot.box.bottom - 0.3 * LETTER, dot.word, LETTER, ink)
    for i, line in enumerate(drawing.caption):
        write(MARGIN, drawing.plot.bottom + 30 + 19 * i, line, 13.0, note)
    held = io.BytesIO()
    picture.save(held, "PNG")
    return held.getvalue()


def _seen(places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Across, up and how near, from 0 to 1: three dimensions are seen from a little above and beside."""
    if places.shape[1] < 3:
        up = places[:, 1] if places.shape[1] == 2 else np.zeros(len(places))
        return places[:, 0], up, np.full(len(places), 0.5)
    x, y, z = (places - places.mean(axis=0)).T
    turn, tilt = math.radians(30), math.radians(20)
    across, away = x * math.cos(turn) - z * math.sin(turn), x * math.sin(turn) + z * math.cos(turn)
    up, near = y * math.cos(tilt) - away * math.sin(tilt), y * math.sin(tilt) + away * math.cos(tilt)
    spread = float(np.ptp(near)) or 1.0
    return across, up, (near - near.min()) / spread


def _fit(x: np.ndarray, y: np.ndarray, plot: Box) -> tuple[np.ndarray, np.ndarray]:
    """Pixels in the middle of a box, with room at its edges: a distance is as long across as it is up."""
    room = 0.96
    spreads = (
        (plot.right - plot.left) / (float(np.ptp(x)) or 1e-9),
        (plot.bottom - plot.top) / (float(np.ptp(y)) or 1e-9),
    )
    scale = room * min(spreads)
    across = (plot.left + plot.right) / 2 + scale * (x - (x.min() + x.max()) / 2)
    return across, (plot.top + plot.bottom) / 2 - scale * (y - (y.min() + y.max()) / 2)


def _pairs(words: Sequence[str], groups: Sequence[str], count: int) -> Iterator[tuple[str, str]]:
    for i in range(count):
        same = bool(words and groups and words[i] == groups[i])
        yield words[i] if words else "", groups[i] if groups and not same else ""


def _legend(groups: Sequence[str], y: float) -> tuple[tuple[tuple[float, float, int, str], ...], float]:
    """Where the name of each group stands, and where the map begins below them."""
    if len(groups) < 2:
        return (), y + 8
    found, x = list[tuple[float, float, int, str]](), MARGIN + 5
    more = len(groups) - LEGEND
    y += 14
    for kind, group in enumerate(groups[:LEGEND]):
        name = short(group, 40) + (f" … and {more} more" if more > 0 and kind == LEGEND - 1 else "")
        needs = 10 + width_of(name, 13.0) + 22
        if x + needs > WIDTH - MARGIN and x > MARGIN + 5:
            x, y = MARGIN + 5, y + 20
        found.append((x, y, kind, name))
        x += needs
    return tuple(found), y + 14


def _corners(x: float, y: float, r: float, kind: int) -> list[tuple[float, float]]:
    """After eight groups colours come again in another shape; a circle has no corners."""
    turn = kind // len(DAY) % 4
    return {
        0: [],
        1: [(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)],
        2: [(x, y - 1.3 * r), (x + 1.2 * r, y + r), (x - 1.2 * r, y + r)],
        3: [(x, y - 1.4 * r), (x + 1.4 * r, y), (x, y + 1.4 * r), (x - 1.4 * r, y)],
    }[turn]


def _shape(x: float, y: float, r: float, kind: int) -> str:
    corners = _corners(x, y, r, kind)
    if not corners:
        return f'<circle class="f{kind % len(DAY)}" cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}"/>'
    path = "L".join(f"{a:.1f} {b:.1f}" for a, b in corners)
    return f'<path class="f{kind % len(DAY)}" d="M{path}Z"/>'


def _stamp(pen: ImageDraw.ImageDraw, x: float, y: float, r: float, kind: int) -> None:
    fill, corners = DAY[kind % len(DAY)], _corners(x, y, r, kind)
    if corners:
        pen.polygon(corners, fill=fill)
    else:
        pen.ellipse((x - r, y - r, x + r, y + r), fill=fill)


def _style() -> str:
    def rules(colours: Sequence[str], ground: str, ink: str, note: str) -> str:
        fills = "".join(f".f{i}{{fill:{colour}}}" for i, colour in enumerate(colours))
        return f".ground{{fill:{ground}}}text{{fill:{ink}}}text.note{{fill:{note}}}{fills}"

    return (
        f"text{{font:{LETTER:.0f}px {FONT}}}text.title{{font-size:19px;font-weight:600}}text.note{{font-size:13px}}"
        "text.word{pointer-events:none}circle,path{fill-opacity:.8}"
        f"{rules(DAY, *INK['light'])}@media(prefers-color-scheme:dark){{{rules(NIGHT, *INK['dark'])}}}"
    )
