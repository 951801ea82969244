"""How the tour looks: attention as coloured cells with percentages, which read as well without the colours."""

from collections.abc import Sequence

from rich.style import Style
from rich.table import Table
from rich.text import Text

# The colour scale: dark where the weight is small, bright where it is large.
RAMP = [(27, 31, 50), (38, 70, 110), (44, 122, 140), (120, 178, 128), (247, 205, 110)]
BARS = "▁▂▃▄▅▆▇█"


def matrix(
    weights: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str], *, labels: bool = True
) -> Text:
    """One row for each asking word, one column for each word it may look at; what is hidden stays empty."""
    label = max(map(len, rows)) if labels else 0
    widths = [max(len(word), 3) + 1 for word in columns]
    drawn = Text(" " * (label + 1), no_wrap=True)
    for word, width in zip(columns, widths, strict=True):
        drawn.append(f"{word:^{width}}", "dim")
    for word, line in zip(rows, weights, strict=True):
        drawn.append(f"\n{word if labels else '':>{label}} ")
        for weight, width in zip(line, widths, strict=True):
            drawn.append(*_cell(weight, width))
    return drawn


def beside(left: tuple[str, Text], right: tuple[str, Text]) -> Table:
    """Two drawings with their titles, side by side."""
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_row(*(Text(title) for title, _ in (left, right)))
    table.add_row(*(drawing for _, drawing in (left, right)))
    return table


def training(step: int, steps: int, accuracy: float, losses: Sequence[float]) -> Text:
    """One line about a training under way: step, loss, accuracy, and the curve of the loss."""
    bars = max(1, 24 * step // steps)
    curve = "".join(BARS[min(7, int(8 * losses[i * len(losses) // bars] / max(losses)))] for i in range(bars))
    return Text.assemble(
        f"step {step:>4} of {steps} · loss {losses[-1]:.3f} · words right ",
        (f"{accuracy:4.0%}", "bold"),
        "  ",
        (curve, "cyan"),
    )


def timings(rows: Sequence[tuple[str, float, float]]) -> Table:
    """Best and median, in milliseconds."""
    table = Table.grid(padding=(0, 4, 0, 0))
    table.add_column()
    table.add_column(justify="right")
    table.add_column(justify="right")
    table.add_row("", Text("best", "dim"), Text("median", "dim"))
    for name, best, median in rows:
        table.add_row(name, f"{best * 1e3:.1f} ms", f"{median * 1e3:.1f} ms")
    return table


def _cell(weight: float, width: int) -> tuple[str, Style]:
    if weight == 0:
        return " " * width, Style()
    text = f"{weight * 100:.0f}" if weight >= 0.005 else "·"
    ground = _colour(weight**0.7)  # small weights deserve to be told apart
    ink = "#1b1f32" if weight > 0.45 else "#dfe5ee" if weight >= 0.005 else "#5b6784"
    return f"{text.rjust(3):^{width}}", Style(color=ink, bgcolor=ground)


def _colour(share: float) -> str:
    place = min(max(share, 0.0), 1.0) * (len(RAMP) - 1)
    low = min(int(place), len(RAMP) - 2)
    mixed = (a + (b - a) * (place - low) for a, b in zip(RAMP[low], RAMP[low + 1], strict=True))
    return "#" + "".join(f"{round(channel):02x}" for channel in mixed)
