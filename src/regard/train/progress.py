"""What a training shows while it runs: a live line on a terminal, a line for each score elsewhere."""

from collections.abc import Mapping
from time import monotonic
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class Live:
    """Loss, speed, time left and best score of a training, on standard error."""

    def __init__(self, steps: int, done: int, unit: str, *, quiet: bool = False) -> None:
        self.console = Console(stderr=True, quiet=quiet)
        self.steps, self.unit = steps, unit
        self._bar = Progress(
            TextColumn("step {task.completed}/{task.total}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[now]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[best]}"),
            console=self.console,
            disable=quiet or not self.console.is_terminal,
        )
        self._task = self._bar.add_task("", total=steps, completed=done, now="", best="")
        self._loss, self._speed, self._last = 0.0, 0.0, monotonic()

    def __enter__(self) -> "Live":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def step(self, step: int, loss: float, size: int) -> None:
        """One more step, with its mean loss and how many things it predicted."""
        now = monotonic()
        speed, self._last = size / max(now - self._last, 1e-9), now
        keep = 0.95 if self._speed else 0.0
        self._loss, self._speed = keep * self._loss + (1 - keep) * loss, keep * self._speed + (1 - keep) * speed
        shown = f"loss {self._loss:.3f} · {self._speed:,.0f} {self.unit}/s"
        self._bar.update(self._task, completed=step, now=shown)

    def score(self, step: int, scores: Mapping[str, float], minutes: float, *, best: float | None) -> None:
        """Scores on held-out data; the deciding one once more where it is the best so far."""
        shown = " · ".join(f"{name} {value:.4g}" for name, value in scores.items())
        if best is not None:
            self._bar.update(self._task, best=f"best {best:.4g}")
        mark = "" if best is None else " (best)"
        self.say(
            f"step {step}/{self.steps} · {minutes:.1f} min · loss {self._loss:.3f} · "
            f"{self._speed:,.0f} {self.unit}/s · {shown}{mark}"
        )
        self._last = monotonic()

    def say(self, line: str) -> None:
        """A line above the bar."""
        self.console.print(line, highlight=False, markup=False, soft_wrap=True)
