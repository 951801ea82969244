"""Look at what a translator looks at: which words of the source, for each word that it writes.

The words are merged from the pieces that the model reads. Without --out the picture is drawn in the terminal, as the
mean of the chosen heads; an SVG or a page shows each of them.

    regard look NAME "Ein Hund läuft." --out look.svg               every head, for a slide
    regard look NAME "Ein Hund läuft." --layer 2 --head 0           one head, in the terminal
    regard look NAME "Ein Hund läuft." --target "A cat sleeps."     what if it had to say this?
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.models import Opened, opened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from regard.analysis.alignment import Alignment
    from regard.analysis.figure import Panel

GROUP = "Look inside"

FORMATS = (".svg", ".html")


@dataclass(frozen=True, slots=True)
class Flags:
    model: Annotated[Positional[str], arg(metavar="MODEL")]
    """A name that `regard list zoo` shows, or a folder."""
    text: Annotated[Positional[str], arg(metavar="TEXT")]
    """What the model reads."""
    target: str = ""
    """What the model is made to write; without it, its own translation."""
    to: str = ""
    """The language to write, for a model that writes several."""
    layer: int | None = None
    """One layer, counted from 0."""
    head: int | None = None
    """One head of each layer, counted from 0."""
    beam: int = 5
    """How many beginnings are followed; 1 is greedy."""
    out: Path | None = None
    """Where to write the picture: a name that ends in .svg or .html."""
    json: bool = False
    """Print words and weights as JSON instead."""


def main(flags: Flags) -> None:
    """Draw what the model looked at."""
    _check(flags)
    from regard.analysis.figure import html, svg

    one = opened(flags.model)
    panels, said = _panels(flags, one)
    first = panels[0].alignment
    if not first.source or not first.target:
        raise SystemExit(f"{len(first.source)} words read and {len(first.target)} written leave nothing to look at")
    if flags.json:
        heads = {panel.name: panel.alignment.weights.tolist() for panel in panels}
        print(json.dumps({"source": first.source, "target": first.target, "heads": heads}, ensure_ascii=False))
    if flags.out is None:
        if not flags.json:
            _drawn(panels, said)
        return
    layers = len({panel.name.partition(",")[0] for panel in panels})
    which = panels[0].name if len(panels) == 1 else f"{len(panels)} heads"
    picture = (svg if flags.out.suffix == ".svg" else html)(
        panels,
        title=str(one.card.get("title") or one.name),
        caption=f"{one.name}, {which} · “{flags.text}” → “{said}” · each row is a word that was written and shows "
        "where the model looked for it, each column is a word that was read",
        columns=len(panels) // layers,
    )
    flags.out.write_text(picture, encoding="utf-8")
    print(f"{flags.out}: {which}, {len(first.target)} × {len(first.source)} words")


def _check(flags: Flags) -> None:
    if not flags.text.strip():
        raise UsageError("an empty text leaves nothing to look at; give a sentence")
    if flags.out is not None and flags.out.suffix not in FORMATS:
        raise UsageError(f"{str(flags.out)!r} names no format; end it in {' or '.join(FORMATS)}")
    if flags.out is not None and not flags.out.absolute().parent.is_dir():
        raise UsageError(
            f"there is no folder {flags.out.absolute().parent}; make it first, or write elsewhere by --out"
        )


def _panels(flags: Flags, one: Opened) -> tuple[list["Panel"], str]:
    """A panel for each chosen head, and the translation they are about."""
    from regard.analysis.alignment import align
    from regard.analysis.figure import Panel

    source, target, looked, said = _looked(flags, one)
    if not looked:
        raise SystemExit(f"{one.name} has no attention that looks at the source; choose a model that has")
    layers = list(looked.values())
    _among("layer", flags.layer, len(layers))
    _among("head", flags.head, layers[0].shape[0])
    return [
        Panel(f"layer {layer}, head {head}", align(one.translator.tokenizer, source, target, weights))
        for layer, heads in enumerate(layers)
        for head, weights in enumerate(heads)
        if flags.layer in (None, layer) and flags.head in (None, head)
    ], said


def _looked(flags: Flags, one: Opened) -> tuple[list[int], list[int], "Mapping[str, Tensor]", str]:
    """The ids that were read and written, the weights between them, and what was written."""
    to, translator = one.told(flags.to), one.translator
    try:
        if not flags.target:
            ((found,),) = translator.translate([flags.text], to=to, beam=flags.beam, watch=True)
            return list(found.source), list(found.written.words), found.weights, found.text
        from regard.analysis.alignment import forced

        tag = translator.tag(to)
        (source,) = translator.tokenizer.encode([tag + flags.text], stop=True)
        (target,) = translator.tokenizer.encode([flags.target], start=True, stop=True)
        if (most := max(len(source), len(target))) > translator.limit:
            raise ValueError(f"{most} tokens are too many, since at most {translator.limit} are read; give a sentence")
        ((_, looked),) = forced(translator.model, [source], [target])
        return source, target[1:-1], looked, flags.target
    except ValueError as error:
        raise SystemExit(str(error).replace("text 0 ", "the text ", 1)) from None


def _among(what: str, wanted: int | None, count: int) -> None:
    if wanted is not None and not 0 <= wanted < count:
        there = f"they are numbered 0 to {count - 1}" if count > 1 else "there is only 0"
        raise UsageError(f"there is no {what} {wanted}; {there}")


def _drawn(panels: list["Panel"], said: str) -> None:
    """A heat map of letters, as wide as the terminal allows."""
    from rich.console import Console

    from regard.cli.tour.draw import matrix

    drawn, console = _mean([panel.alignment for panel in panels]), Console(highlight=False)
    columns = list(drawn.source)
    names = max(map(len, drawn.target)) + 1
    wide = names + sum(max(len(word), 3) + 1 for word in columns)
    if wide > console.width:  # words become numbers, explained below
        columns = [str(i) for i in range(1, len(columns) + 1)]
    console.print(matrix(drawn.weights.tolist(), drawn.target, columns), soft_wrap=True)
    if columns != list(drawn.source):
        console.print(
            " ".join(f"{i} {word}" for i, word in zip(columns, drawn.source, strict=True)), style="dim", markup=False
        )
    which = panels[0].name if len(panels) == 1 else f"the mean of {len(panels)} heads"
    console.print(f"{said}  ({which}, in percent)", markup=False)


def _mean(alignments: list["Alignment"]) -> "Alignment":
    from torch import stack

    from regard.analysis.alignment import Alignment

    first = alignments[0]
    return Alignment(first.source, first.target, stack([each.weights for each in alignments]).mean(dim=0))
