"""Take a tour of attention: three experiments in half a minute, measured while you watch.

A cross-attention learns to translate and finds the word alignment by itself; a causal mask hides the future, exactly;
and recording the attention weights costs next to nothing.

    regard demo           the tour
    regard demo --fast    the tour without its pauses
    regard demo --json    the measured numbers alone
"""

import json
import shutil
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # torch and rich wait until the tour begins, so that help does not
    from rich.console import Console, RenderableType

    from regard.cli.tour.acts import Hiding, Trainer, Watching

GROUP = "Start here"


@dataclass(frozen=True, slots=True)
class Flags:
    seed: int = 0
    """Random seed of the sentences and of the untrained model."""
    fast: bool = False
    """Do not pause between the figures."""
    json: bool = False
    """Print the measured numbers as JSON, and nothing else."""


def main(flags: Flags) -> None:
    """Give the tour, or its numbers."""
    if flags.json:
        print(json.dumps(measure(flags.seed), indent=2))
    else:
        from rich.console import Console

        _Tour(Console(highlight=False), flags).give()


def measure(seed: int) -> dict[str, dict[str, object]]:
    """The numbers of the three experiments."""
    from regard.cli.tour.acts import Trainer, hide, watch

    trainer = Trainer(seed)
    before = trainer.align()
    *_, last = trainer.train()
    return {
        "before": asdict(before),
        "alignment": asdict(trainer.align()) | {"loss": last.loss, "translation": " ".join(trainer.translate())},
        "hiding": {name: value for name, value in asdict(hide(seed)).items() if name.startswith("leak")},
        "watching": asdict(watch(seed)),
    }


class _Tour:
    """The words between the figures."""

    def __init__(self, console: "Console", flags: Flags) -> None:
        self.console, self.seed = console, flags.seed
        self.patient = console.is_terminal and not flags.fast

    def give(self) -> None:
        self.console.print("[bold]regard[/bold] · a tour of attention, measured while you watch")
        self._title("1", "Attention learns the word alignment without being told")
        self._say(
            "A translator with a single cross-attention starts from random weights and reads a few thousand sentence "
            "pairs of a small English and Italian. It is never told which word comes from which, nor that adjectives "
            "move behind their nouns."
        )
        from regard.cli.tour.acts import Trainer, hide, watch  # torch is imported here, while the reader reads

        self._alignment(Trainer(self.seed))
        self._title("2", "What a causal mask does")
        self._hiding(hide(self.seed))
        self._title("3", "What recording the weights costs")
        self._watching(watch(self.seed))
        self._next()

    def _alignment(self, trainer: "Trainer") -> None:
        from regard.cli.tour.draw import matrix

        english, italian = trainer.pair.source, trainer.pair.target
        self._say(
            "The attention weights before training. Each row is a word to be written; its cells say how much of its "
            "attention, in percent, each English word gets."
        )
        self._show(matrix(trainer.attend(italian).tolist(), italian, english), pause=3)
        self._training(trainer)
        italian, now = trainer.translate(), trainer.align()
        self._say('And after it, by greedy decoding. The model has never seen "red house" or "big dog":')
        self._show(matrix(trainer.attend(italian).tolist(), italian, english), pause=4)
        self._say(
            f"On {len(trainer.tests)} new sentences {now.accuracy:.0%} of the words are right, and {now.found:.0%} "
            f"look most at the word they come from. [bold]{now.error:.0%}[/bold] of the attention misses; looking "
            f"everywhere alike, [bold]{now.error_uniform:.0%}[/bold] would. (An article comes from its article, and "
            "from its noun for the gender.)",
            pause=3,
        )

    def _training(self, trainer: "Trainer") -> None:
        from rich.live import Live
        from rich.padding import Padding

        from regard.cli.tour.acts import STEPS
        from regard.cli.tour.draw import training

        losses: list[float] = []
        line: RenderableType = ""
        with Live(console=self.console, auto_refresh=False, transient=True) as live:
            for progress in trainer.train():
                losses.append(progress.loss)
                line = training(progress.step, STEPS, progress.accuracy, losses)
                live.update(Padding(line, (1, 0, 0, 3)), refresh=self.console.is_terminal)
        self._show(line)

    def _hiding(self, hidden: "Hiding") -> None:
        from regard.cli.tour.draw import beside, matrix

        mask = f"causal({len(hidden.words)})"
        self._say(
            "Self-attention over the English sentence, untrained. With "
            f"[cyan]visible={mask}[/cyan] a word sees itself and the words before it:"
        )
        everyone = matrix(hidden.everyone.tolist(), hidden.words, hidden.words)
        past = matrix(hidden.past.tolist(), hidden.words, hidden.words, labels=self.console.width < 78)
        self._show(beside(("no mask", everyone), (f" with {mask}", past)), pause=3)
        self._say(
            f'The exact test: put "{hidden.instead}" in place of "{hidden.words[-1]}" at the end. The outputs '
            f"before it change by up to [bold]{hidden.leak_everyone:.3f}[/bold] without the mask, and by "
            f"[bold]{hidden.leak_past:g}[/bold] with it.",
            pause=3,
        )

    def _watching(self, watched: "Watching") -> None:
        from regard.cli.tour.draw import timings

        self._say(
            "The figures above came from [cyan]with record(model) as trace[/cyan]. It keeps queries and keys "
            "instead of weights, so the fused kernel keeps running. Timed by turns, "
            f"{watched.tokens:,} tokens and {watched.heads} heads:"
        )
        self._show(timings([("plain", *watched.plain), ("recorded", *watched.watched)]))
        self._say(
            f"Outputs equal to the last bit: [bold]{'yes' if watched.equal else 'NO'}[/bold]. Kept: "
            f"[bold]{watched.kept / 1e6:.1f} MB[/bold] of queries and keys, from which the "
            f"{watched.avoided / 1e6:.0f} MB of weights can be computed when somebody reads them.",
            pause=2,
        )

    def _next(self) -> None:
        from regard.cli.verbs import verbs

        self._title("→", "What to try next")
        if shutil.which("regard") is None:
            self.console.print(
                f"   [dim]first, so that the command is found:[/dim] source {Path(sys.prefix)}/bin/activate"
            )
        for verb in verbs().values():
            for command, _, why in (example.partition("  ") for example in verb.examples[:2] if verb.name != "demo"):
                self.console.print(f"   [cyan]{command}[/cyan]\n      [dim]{why.strip()}[/dim]")

    def _title(self, number: str, title: str) -> None:
        self.console.print(f"\n[cyan]{number}[/cyan]  [bold]{title}[/bold]")

    def _say(self, text: str, pause: float = 0) -> None:
        from rich.text import Text

        self._show(Text.from_markup(text), pause)

    def _show(self, drawing: "RenderableType", pause: float = 0) -> None:
        from rich.padding import Padding

        self.console.print(Padding(drawing, (1, 0, 0, 3)), width=min(self.console.width, 84))
        if self.patient:
            time.sleep(pause)
