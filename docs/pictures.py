"""Make the pictures of the README and the documentation, from the running program: `python docs/pictures.py`."""

import io
import re
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.terminal_theme import TerminalTheme

from regard.cli import look, world
from regard.cli.tour.acts import Student
from regard.cli.tour.draw import beside, matrix

HERE = Path(__file__).parent / "pictures"
NIGHT = TerminalTheme((17, 20, 33), (223, 229, 238), [(27, 31, 50)] * 8, [(120, 130, 150)] * 8)


def demo() -> str:
    """The first act of `regard demo`: where the translator looks, before and after learning."""
    student = Student(0)
    english, italian = student.pair.english, student.pair.italian
    before = matrix(student.looks(italian).tolist(), italian, english)
    for _ in student.learn():
        pass
    translation = student.translation()
    after = matrix(student.looks(translation).tolist(), translation, english)
    console = Console(record=True, width=94, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Padding(beside((" before learning", before), (" after learning", after)), (1, 2)))
    drawn = console.export_svg(title="regard demo", theme=NIGHT)
    # The page must not need the internet: the font that rich would fetch is left to the reader's machine.
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    (HERE / "demo.svg").write_text(demo())
    sentence = "Die Frau, die eine Brille trägt, liest ein Buch."
    look.main(look.Flags("de-en-additive", sentence, out=HERE / "look.svg"))
    world.show(world.Show(out=HERE / "world.png", size=96))
