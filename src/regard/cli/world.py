"""Look at the little world: pictures, sentences in four languages, and the truth about both.

The world is made as you ask for it, the same on every machine; nothing is downloaded. `show` writes a contact sheet;
`sample` prints items of a view.

    regard world show                                  a contact sheet, as world.png
    regard world sample pairs --from it --to en        sentences with their word alignment
    regard world sample stories --language de --json   stories with their antecedents, for programs
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg, subcommand

from regard.cli.errors import UsageError
from regard.cli.ink import DIM, ink

GROUP = "Look inside"

Language = Literal["en", "de", "it", "cs"]
FORMATS = (".png", ".jpg", ".webp")
SMALLEST = 24  # pixels with room for six things
TRANSLATED = (("it", "en"), ("de", "en"), ("en", "cs"))  # the pairs at the foot of the sheet


@dataclass(frozen=True, slots=True)
class Show:
    """Write a contact sheet: scenes with everything known about them, shifts, a clip, and aligned sentences."""

    out: Path = Path("world.png")
    """Where to write it; the name's ending chooses the format."""
    count: int = 3
    """How many scenes."""
    seed: int = 0
    """Another number, another part of the world."""
    split: str = "train"
    """train, test, novel or rearranged."""
    size: int = 128
    """Pixels along the side of a picture."""
    language: Language = "en"
    """The language of the captions."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Print items of a view, drawn for people or as JSON."""

    view: Annotated[Positional[str], arg(metavar="VIEW")]
    """pairs, sentences, trees, descriptions, questions, stories, nexts, senses, reports or episodes."""
    source: Annotated[Language, arg(name="from")] = "it"
    """The language that pairs are translated from."""
    target: Annotated[Language, arg(name="to")] = "en"
    """The language that pairs are translated to."""
    language: Language = "en"
    """The language of everything that has only one."""
    count: int = 5
    """How many items."""
    seed: int = 0
    """Another number, other items."""
    split: str = "train"
    """train or test; of descriptions and questions also novel and rearranged."""
    length: tuple[int, int] = (6, 12)
    """The fewest and the most words of a sentence, counted in English."""
    json: bool = False
    """Print JSON, one item a line."""


Flags = Annotated[Show, subcommand("show")] | Annotated[Sample, subcommand("sample")]


def main(flags: Show | Sample) -> None:
    """Show the world, or print some of it."""
    if flags.count < 1:
        raise UsageError(f"count {flags.count} shows nothing; give 1 or more")
    try:
        show(flags) if isinstance(flags, Show) else sample(flags)
    except ValueError as error:
        # The world's own messages name the value, the rule and the way out.
        raise UsageError(str(error)) from None


def show(flags: Show) -> None:
    """Draw the sheet and say where it is."""
    if not flags.out.absolute().parent.is_dir():
        raise UsageError(
            f"there is no folder {flags.out.absolute().parent}; make it first, or write elsewhere by --out"
        )
    if flags.out.suffix.lower() not in FORMATS:
        raise UsageError(f"{str(flags.out)!r} names no picture format; end it in {', '.join(FORMATS)}")
    if flags.size < SMALLEST:
        raise UsageError(
            f"pictures of {flags.size} pixels have no room for six things; give a size of {SMALLEST} or more"
        )
    from regard.world import clip, scenes
    from regard.world.language import describe, pairs
    from regard.world.sheet import save, sheet

    some = list(scenes(seed=flags.seed, split=flags.split)[: flags.count])
    drawn = sheet(
        some,
        size=flags.size,
        captions=[describe(scene, flags.language).text for scene in some],
        film=clip(flags.seed, 0, frames=33),
        pairs=[pairs(source, target, seed=flags.seed)[i] for i, (source, target) in enumerate(TRANSLATED)],
    )
    save(drawn, flags.out)
    print(f"{flags.out}: {drawn.shape[1]}×{drawn.shape[0]} pixels, scenes 0 to {flags.count - 1} of seed {flags.seed}")


def sample(flags: Sample) -> None:
    """Print items, drawn for people or as JSON for programs."""
    from regard.cli.samples import format_item, plain, view

    for number, item in enumerate(view(flags)[: flags.count]):
        if flags.json:
            print(json.dumps(plain(item), ensure_ascii=False))
        else:
            print(ink(f"{number:>2}  ", DIM) + format_item(item).replace("\n", "\n    "))
