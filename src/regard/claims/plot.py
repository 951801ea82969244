"""Figures as SVG that stands alone: lines, bars and tables of colour, light or dark as the reader's screen is::

svg = figure("Time against length", [Panel("forward", "words", "seconds", [Line("attention", xs, ys)], log="xy")])

A figure carries the numbers it was drawn from (`read_panels`), so that others can draw it anew: the explorer does.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 960, 470
LEFT, RIGHT, BOTTOM = 58, 14, 384  # of the frame: the first two within its panel, the last within the figure
# Okabe and Ito's colours, which colour-blind readers can tell apart; darker for white paper, lighter for the night.
DAY = ("#0072b2", "#c64f00", "#00805e", "#b0578d", "#8a6d00", "#3d8fc4", "#555b66", "#7a3fb5")
NIGHT = ("#5cb8f0", "#ff9a4d", "#3ed6a8", "#f0a5cf", "#e6c84a", "#9fd4f5", "#b4bcc9", "#c39df0")

Real = float | int  # for a type checker at run time, the second is not a case of the first
Values = Sequence[Real]


@dataclass(frozen=True, slots=True)
class Line:
    """Points joined by a line, with a band where low and high are given."""

    label: str
    x: Values
    y: Values
    low: Values = ()
    high: Values = ()
    _: KW_ONLY
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar over each name, with a whisker where low and high are given; several stand side by side."""

    label: str
    y: Values
    low: Values = ()
    high: Values = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes. On a logarithmic axis, what is not above zero is left out."""

    title: str
    x: str
    y: str
    marks: Sequence[Line] | Sequence[Bars]
    names: Sequence[str] = ()  # under the bars
    log: str = ""  # "x", "y" or "xy"
    bounds: tuple[Real, Real] | None = None  # of y
    rule: tuple[Real, str] | None = None  # a level to compare with, and its name


@dataclass(frozen=True, slots=True)
class Heat:
    """A table of numbers as cells, the fuller the more; the first row is on top."""

    title: str
    x: str
    y: str
    cells: Sequence[Values]
    rows: Sequence[str] = ()  # their names, as of the columns
    columns: Sequence[str] = ()
    bounds: tuple[Real, Real] = (0, 1)  # of an empty cell and of a full one


def figure(title: str, panels: Sequence[Panel | Heat], note: str = "") -> str:
    """Panels side by side under one title and one legend: a label has the same colour everywhere."""
    kinds = {mark.label: mark for panel in panels if isinstance(panel, Panel) for mark in panel.marks}
    labels = list(kinds)
    wide, top = WIDTH / len(panels), 154 if any(panel.title for panel in panels) else 122
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<metadata>{escape(_numbers(title, panels, note))}</metadata>",
        f"<style>{_style()}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="8"/>',
        _text(24, 38, title, "head"),
        *_legend(kinds if len(kinds) > 1 else {}),
    ]
    for i, panel in enumerate(panels):
        parts += (
            _heat(panel, i * wide, wide, top)
            if isinstance(panel, Heat)
            else _Frame(panel, i * wide, wide, top, labels).draw()
        )
    parts += [_text(24, HEIGHT - 16, note, "note"), "</svg>"]
    return "\n".join(filter(None, parts)) + "\n"


def read_panels(svg: str) -> dict[str, Any]:
    """What a figure was drawn from: title, note and panels, as JSON holds them."""
    found = ElementTree.fromstring(svg).findtext("{http://www.w3.org/2000/svg}metadata")
    if not found:
        raise ValueError("the figure carries no numbers; draw it again with regard.claims.plot.figure")
    facts: dict[str, Any] = json.loads(found)
    return facts


def _numbers(title: str, panels: Sequence[Panel | Heat], note: str) -> str:
    facts = [{"kind": "heat" if isinstance(panel, Heat) else "axes"} | asdict(panel) for panel in panels]
    return json.dumps(_plain({"title": title, "note": note, "panels": facts}), ensure_ascii=False)


def _plain(value: Any) -> Any:
    """A value as JSON can hold it, to six digits; what is not finite is null."""
    match value:
        case dict():
            return {name: _plain(each) for name, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
        case float():
            return float(f"{value:.6g}") if math.isfinite(value) else None
    return value


class _Frame:
    """A panel in its place."""

    def __init__(self, panel: Panel, start: Real, wide: Real, top: Real, labels: list[str]) -> None:
        self.panel, self.top, self.labels = panel, top, labels
        self.left, self.right = start + LEFT, start + wide - RIGHT
        lines = [mark for mark in panel.marks if isinstance(mark, Line)]
        self.xs = sorted({x for line in lines for x in line.x}) or [0.0, 1.0]
        values = [v for mark in panel.marks for v in (*mark.y, *mark.low, *mark.high)]
        values += [panel.rule[0]] if panel.rule else []
        self.log_x, self.log_y = "x" in panel.log, "y" in panel.log
        values = [v for v in values if math.isfinite(v) and (v > 0 or not self.log_y)] or [1.0]
        least, most = panel.bounds or (min(values), max(values))
        if self.log_y:
            least, most = least / 1.25, most * 1.25
        elif not panel.bounds:
            least, most = min(least, 0.0), max(most, 0.0)
            least, most = (0.0 if least == 0 else least * 1.1), (0.0 if most == 0 else most * 1.08)
        self.least, self.most = (least, most) if least < most else (least, least + 1)

    def at_x(self, x: Real) -> Real:
        low, high = self.xs[0], self.xs[-1]
        share = (
            0.5 if low == high else math.log(x / low) / math.log(high / low) if self.log_x else (x - low) / (high - low)
        )
        return self.left + 12 + share * (self.right - self.left - 24)

    def at_y(self, y: Real) -> Real:
        y = min(max(y, self.least), self.most)
        if self.log_y:
            share = math.log(y / self.least) / math.log(self.most / self.least)
        else:
            share = (y - self.least) / (self.most - self.least)
        return BOTTOM - share * (BOTTOM - self.top)

    def draw(self) -> Iterator[str]:
        panel = self.panel
        yield _text(self.left - 34, self.top - 34, panel.title, "title")
        yield _text(self.left - 34, self.top - 15, panel.y, "note")
        for tick in _ticks(self.least, self.most, self.log_y):
            y = self.at_y(tick)
            yield f'<path class="grid" d="M{self.left:.1f} {y:.1f}H{self.right:.1f}"/>'
            yield _text(self.left - 7, y + 4, _number(tick), "tick end")
        if panel.rule:
            y = self.at_y(panel.rule[0])
            yield f'<path class="rule" d="M{self.left:.1f} {y:.1f}H{self.right:.1f}"/>'
            yield _text(self.right - 2, y - 5, panel.rule[1], "tick end")
        yield f'<path class="axis" d="M{self.left:.1f} {self.at_y(max(self.least, 0.0)):.1f}H{self.right:.1f}"/>'
        bars = [mark for mark in panel.marks if isinstance(mark, Bars)]
        if bars:
            yield from self._bars(bars)
        else:
            for tick in _thin(self.xs, 7) if self.log_x or len(self.xs) < 8 else _ticks(self.xs[0], self.xs[-1]):
                yield _text(self.at_x(tick), BOTTOM + 19, _number(tick), "tick middle")
        yield _text((self.left + self.right) / 2, BOTTOM + 42, panel.x, "note middle")
        for mark in panel.marks:
            if isinstance(mark, Line):
                yield from self._line(mark)

    def _line(self, line: Line) -> Iterator[str]:
        kind = self.labels.index(line.label) % len(DAY)
        kept = [i for i, y in enumerate(line.y) if math.isfinite(y) and (y > 0 or not self.log_y)]
        if line.low and line.high:
            above = [f"{self.at_x(line.x[i]):.1f} {self.at_y(max(line.high[i], self.least)):.1f}" for i in kept]
            below = [
                f"{self.at_x(line.x[i]):.1f} {self.at_y(max(line.low[i], self.least)):.1f}" for i in reversed(kept)
            ]
            yield f'<path class="band f{kind}" d="M{"L".join((*above, *below))}Z"/>'
        points = [(self.at_x(line.x[i]), self.at_y(line.y[i])) for i in kept]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        yield f'<path class="line s{kind}{" dashed" if line.dashed else ""}" d="M{path}"/>'
        yield from (_marker(kind, x, y) for x, y in points)

    def _bars(self, bars: list[Bars]) -> Iterator[str]:
        count = len(bars[0].y)
        slot = (self.right - self.left) / count
        bar = min(slot * 0.76 / len(bars), 64)
        floor = self.at_y(max(self.least, 0.0))
        for i in range(count):
            middle = self.left + (i + 0.5) * slot
            for j, mark in enumerate(bars):
                kind = self.labels.index(mark.label) % len(DAY)
                x, y = middle + (j - len(bars) / 2) * bar, self.at_y(mark.y[i])
                top, tall = min(y, floor), abs(floor - y)
                place = f'x="{x + 1.5:.1f}" y="{top:.1f}" width="{bar - 3:.1f}" height="{tall:.1f}"'
                yield f'<rect class="bar f{kind}" {place}/>'
                if mark.low and mark.high:
                    c, low, high = x + bar / 2, self.at_y(mark.low[i]), self.at_y(mark.high[i])
                    ends = "".join(f"M{c - 4:.1f} {end:.1f}h8" for end in (low, high))
                    yield f'<path class="whisker" d="M{c:.1f} {low:.1f}V{high:.1f}{ends}"/>'
            for row, word in enumerate(self.panel.names[i].split("\n") if i < len(self.panel.names) else []):
                yield _text(middle, BOTTOM + 18 + 14 * row, word, "tick middle")


def _heat(table: Heat, start: Real, wide: Real, top: Real) -> Iterator[str]:
    """A table in its place, with the numbers in the cells where they are wide enough."""
    left, right = start + LEFT, start + wide - RIGHT
    across, down = (right - left) / len(table.cells[0]), (BOTTOM - top) / len(table.cells)
    least, most = table.bounds
    yield _text(left - 34, top - 34, table.title, "title")
    yield _text(left - 34, top - 15, table.y, "note")
    for i, row in enumerate(table.cells):
        for j, value in enumerate(row):
            if not math.isfinite(value):
                continue
            x, y, share = left + j * across, top + i * down, min(max((value - least) / (most - least), 0.0), 1.0)
            place = f'x="{x + 0.5:.1f}" y="{y + 0.5:.1f}" width="{across - 1:.1f}" height="{down - 1:.1f}"'
            yield f'<rect class="f0" fill-opacity="{share:.3f}" {place}/>'
            if across >= 34:
                # On a full cell the paper's colour is what can be read.
                ink = "paper middle" if share > 0.55 else "label middle"
                yield _text(x + across / 2, y + down / 2 + 5, f"{value:.2f}", ink)
    for i, name in enumerate(table.rows):
        yield _text(left - 7, top + (i + 0.5) * down + 4, name, "tick end")
    for j, name in enumerate(table.columns):
        yield _text(left + (j + 0.5) * across, BOTTOM + 19, name, "tick middle")
    yield _text((left + right) / 2, BOTTOM + 42, table.x, "note middle")


def _legend(marks: dict[str, Line | Bars]) -> Iterator[str]:
    x, y = 24.0, 68
    for kind, (label, mark) in enumerate(marks.items()):
        needs = 42 + 7.8 * len(label) + 14
        if x + needs > WIDTH and x > 24:
            x, y = 24.0, y + 22
        kind %= len(DAY)
        if isinstance(mark, Bars):
            yield f'<rect class="bar f{kind}" x="{x + 9:.1f}" y="{y - 11}" width="14" height="14"/>'
        else:
            yield f'<path class="line s{kind}{" dashed" if mark.dashed else ""}" d="M{x:.1f} {y - 4}h30"/>'
            yield _marker(kind, x + 15, y - 4)
        yield _text(x + 38, y, label, "label")
        x += needs


def _marker(kind: int, x: Real, y: Real) -> str:
    """A shape for each colour, since colour alone does not reach everybody."""
    shape = (
        f'<circle class="f{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>',
        f'<rect class="f{kind}" x="{x - 3.6:.1f}" y="{y - 3.6:.1f}" width="7.2" height="7.2"/>',
        f'<path class="f{kind}" d="M{x:.1f} {y - 5:.1f}l4.8 8.4h-9.6Z"/>',
        f'<path class="f{kind}" d="M{x:.1f} {y - 5.4:.1f}l5.4 5.4l-5.4 5.4l-5.4 -5.4Z"/>',
    )
    return shape[kind % len(shape)]


def _text(x: Real, y: Real, words: str, style: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>' if words else ""


def _ticks(least: Real, most: Real, log: bool = False) -> list[Real]:
    """Round numbers between two others, five or so."""
    if log:
        powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
        factors = (1,) if math.log10(most / least) > 2 else (1, 3) if math.log10(most / least) > 1 else (1, 2, 5)
        return _thin([f * 10.0**p for p in powers for f in factors if least <= f * 10.0**p <= most], 7)
    raw = (most - least) / 5
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * f for f in (1, 2, 2.5, 5, 10) if unit * f >= raw * 0.999)
    return [i * step for i in range(math.ceil(least / step - 1e-9), math.floor(most / step + 1e-9) + 1)]


def _thin(ticks: list[Real], most: int) -> list[Real]:
    return ticks[:: max(1, -(-len(ticks) // most))]


def _number(value: Real) -> str:
    if value and not 1e-3 <= abs(value) < 1e5:
        power = math.floor(math.log10(abs(value)) + 1e-9)
        digits = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        lead = round(value / 10.0**power)
        return f"10{digits}" if lead == 1 else f"{lead}·10{digits}"
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def _style() -> str:
    def colours(palette: Sequence[str]) -> str:
        return "".join(f".s{i}{{stroke:{c}}}.f{i}{{fill:{c}}}" for i, c in enumerate(palette))

    def paper(back: str, ink: str, quiet: str, grid: str) -> str:
        return (
            f".paper{{fill:{back}}}text{{fill:{ink}}}.note,.tick{{fill:{quiet}}}.grid{{stroke:{grid}}}"
            f".axis,.rule,.whisker{{stroke:{quiet}}}"
        )

    day = paper("#fff", "#1d2430", "#5a6472", "#e6e9ee") + colours(DAY)
    night = paper("#14171f", "#e8ebf0", "#a3adba", "#2a2f3b") + colours(NIGHT)
    shape = (
        "text{font:14px system-ui,'Segoe UI','DejaVu Sans',sans-serif}.head{font-size:20px;font-weight:600}"
        ".title{font-size:15px;font-weight:600}.note,.tick{font-size:12.5px}.end{text-anchor:end}"
        ".middle{text-anchor:middle}.line{fill:none;stroke-width:2.4;stroke-linejoin:round}"
        ".dashed{stroke-dasharray:6 5}"
        ".band{opacity:.16}.bar{opacity:.85}.grid,.axis,.rule,.whisker{fill:none}.axis{stroke-width:1.2}"
        ".rule{stroke-dasharray:3 4}.whisker{stroke-width:1.6}"
    )
    return f"{shape}{day}@media(prefers-color-scheme:dark){{{night}}}"
