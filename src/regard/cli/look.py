"""Look at what a model looks at: which words, for each word that it reads or writes, or where on a picture.

Works on every model with attention, also on Hugging Face folders. Words are merged from the pieces that the model
reads. Without --out the picture is drawn in the terminal, as the mean of the chosen heads; an SVG or a page shows each.

There is more to see than attention: --how lens is what the model would say after each layer, --how patch which states
of a prompt bring its answer back in another one, and --how heads which heads look back at the previous word, at equal
words, or at what followed them (induction).

    regard look de-en "Ein Hund läuft." --out look.svg               every head, for a slide
    regard look de-en "Ein Hund läuft." --layer 2 --head 0           one head, in the terminal
    regard look de-en "Ein Hund läuft." --target "A cat sleeps."     what if it had to say this?
    regard look my-bert-folder "It was too tired." --kind self       a model of transformers
    regard look my-gpt "The capital of France is" --how lens --out lens.svg
    regard look my-gpt "When Mary and John met, John spoke to" --how patch \\
        --corrupt "When Mary and John met, Mary spoke to" --answer " Mary" --wrong " John"
    regard look my-gpt --how heads

Of a model of pictures, the input is a file. --how attention shows where one token looks (--place), rollout all layers
together, gradcam, occlusion, gradients and integrated what speaks for a class (--label), saliency all of them and their
rank correlation, distance how far heads look, receptive-field what a cell depends on, sampling where deformable
convolutions read for one cell (--place), pca the features as colours, positions and filters what patches have learned.
--how cka takes many pictures, a named set or a folder, and says how alike what two layers know is.

    regard look my-vit photo.jpg --layer 5 --out look.svg
    regard look my-vit photo.jpg --how gradcam --label cat --out cat.svg
    regard look my-swin photo.jpg --how gradcam --beside my-maxvit my-accvit --out three.svg
    regard look my-vit cifar10 --how cka --beside my-resnet --out alike.svg

Of a model of sounds, points or films, where its latents look is laid over the spectrogram, the points or the frames;
--place is the number of one latent.

    regard look runs/perceive-0 seven.wav --out look.svg
"""

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.lines import refusal
from regard.cli.load import load_model, refuse_useless
from regard.cli.run import read_input

if TYPE_CHECKING:
    from regard.analysis.figure import Panel
    from regard.analysis.reading import Reading
    from regard.analysis.view import Views
    from regard.cli.sheets import Shown

GROUP = "Look inside"

FORMATS = (".svg", ".html", ".json")
PICTURED = (
    *("rollout", "gradcam", "occlusion", "gradients", "integrated", "saliency"),
    *("distance", "cka", "receptive-field", "sampling", "pca", "positions", "filters"),
)


@dataclass(frozen=True, slots=True)
class Flags:
    model: Annotated[Positional[str], arg(metavar="MODEL")]
    """A name that `regard list zoo` shows, a folder (of regard or of Hugging Face), or hub:owner/name."""
    input: Annotated[Positional[str], arg(metavar="INPUT")] = ""
    """What the model reads."""
    how: Literal[
        "attention",
        "lens",
        "patch",
        "heads",
        "rollout",
        "gradcam",
        "occlusion",
        "gradients",
        "integrated",
        "saliency",
        "distance",
        "cka",
        "receptive-field",
        "sampling",
        "pca",
        "positions",
        "filters",
    ] = "attention"
    """At what to look: attention; of texts, logit lens, activation patching, or heads with a name on random words; of
    pictures, the rest."""
    corrupt: str = ""
    """The other prompt of --how patch, of as many tokens."""
    answer: str = ""
    """The token that the prompt should be followed by (--how patch)."""
    wrong: str = ""
    """The token that the corrupted prompt is followed by (--how patch)."""
    part: Literal["stream", "attention", "mlp", "heads"] = "stream"
    """What --how patch puts into the other run: the stream, or what the attention, MLP or a head adds to it."""
    target: str = ""
    """What a translator is made to write (teacher forcing); without it, its own translation."""
    to: str = ""
    """Target language, for a translator that writes several."""
    kind: Literal["self", "causal", "cross"] | None = None
    """Self-attention, causal self-attention or cross-attention; cross-attention where there is any, if left out."""
    layer: int | None = None
    """One layer, counted from 0."""
    head: int | None = None
    """One head of each layer, counted from 0."""
    place: str = ""
    """Of a picture, who looks: a token such as [CLS], or row,column counted from 0; of a Perceiver, a latent."""
    label: str = ""
    """Of a picture, the class that a map is for; without it, the one that the model names."""
    beside: tuple[str, ...] = ()
    """More models of pictures, which are shown beside the first: the same picture, the same scale."""
    specials: bool = False
    """Show special tokens such as <stop> too."""
    out: Path | None = None
    """Where to write the picture: a name that ends in .svg or .html, or in .json for a file that the explorer opens."""
    json: bool = False
    """Print words and weights as JSON instead."""


def main(flags: Flags) -> None:
    """Draw what the model looked at."""
    _check(flags)
    pipeline = load_model(flags.model)
    if pipeline.takes == "picture":
        _seen(flags, pipeline)
        return
    if pipeline.task == "perceive" and flags.how == "attention":
        _perceived(flags, pipeline)
        return
    if flags.how in PICTURED or flags.place or flags.label or flags.beside:
        raise UsageError(
            f"--how {flags.how}, --place, --label and --beside are for pictures, and {pipeline.name} reads none"
        )
    if flags.how != "attention":
        _inside(flags, pipeline)
        return
    from regard.analysis.figure import html, panels, svg

    reading, title = _attend(flags, pipeline)
    if flags.out is not None and flags.out.suffix == ".json":
        _keep(flags.out, reading.views())
        return
    try:
        found = panels(reading, kind=flags.kind, layer=flags.layer, head=flags.head, specials=flags.specials)
    except ValueError as error:
        raise UsageError(str(error)) from None
    first = found[0]
    if flags.json:
        heads = {panel.name: panel.weights.tolist() for panel in found}
        print(json.dumps({"rows": first.rows, "columns": first.columns, "heads": heads}, ensure_ascii=False))
    elif flags.out is None:
        _draw(found, reading.caption)
    if flags.out is not None:
        layers = len({panel.name.partition(",")[0] for panel in found})
        which = first.name if len(found) == 1 else f"{len(found)} heads"
        picture = (svg if flags.out.suffix == ".svg" else html)(
            found,
            title=title,
            caption=f"{reading.model}, {which} · {reading.caption} · each row shows where it looked, over the columns",
            columns=max(1, len(found) // layers),
        )
        flags.out.write_text(picture, encoding="utf-8")
        print(f"{flags.out}: {which}, {len(first.rows)} × {len(first.columns)} words")


def _perceived(flags: Flags, pipeline: Any) -> None:
    """Draw where the latents of a model of sounds, points or films look."""
    from regard.cli import overlaid
    from regard.cli.sheets import Chosen

    if flags.beside:
        raise UsageError(f"--beside is for models of pictures, and {pipeline.name} takes {pipeline.takes}")
    try:
        if flags.out is not None and flags.out.suffix == ".json":
            _keep(flags.out, pipeline.attend(flags.input).views())
            return
        found = overlaid.perceived(pipeline, flags.input, Chosen(flags.layer, flags.head, flags.place))
    except ValueError as error:
        raise SystemExit(str(error)) from None
    _show(flags, found, str(pipeline.card.get("title") or pipeline.name))


def _seen(flags: Flags, pipeline: Any) -> None:
    """Draw what a model of pictures sees."""
    from regard.cli import alike, seen, sheets

    if flags.how not in (*seen.WAYS, "cka"):
        choice = ", ".join(sorted((*seen.WAYS, "cka")))
        raise UsageError(f"--how {flags.how} is for texts, and {pipeline.name} reads pictures; choose {choice}")
    chosen = sheets.Chosen(flags.layer, flags.head, flags.place, flags.label)
    models = {flags.model: pipeline} | {name: load_model(name) for name in flags.beside}
    if others := [name for name, each in models.items() if each.takes != "picture"]:
        raise UsageError(f"{others[0]} reads no pictures; --beside takes models that do")
    try:
        if flags.out is not None and flags.out.suffix == ".json" and flags.how == "attention":
            _keep(flags.out, pipeline.attend(flags.input).views())
            return
        if flags.how == "cka":
            found = alike.compare(models, flags.input)
        else:
            shown = {name: seen.show(each, flags.input, flags.how, chosen) for name, each in models.items()}
            found = sheets.join(shown)
    except ValueError as error:
        raise SystemExit(str(error)) from None
    title = pipeline.card.get("title") or pipeline.name
    _show(flags, found, f"{' · '.join(models) if flags.beside else title}: {flags.how}")


def _show(flags: Flags, found: "Shown", title: str) -> None:
    """Print or write what was found."""
    from regard.analysis.seeing.figure import html, svg
    from regard.cli import sheets

    if flags.json:
        print(json.dumps(found.facts, ensure_ascii=False))
    elif flags.out is None:
        sheets.draw(found)
    if flags.out is not None:
        drawn = json.dumps(found.facts, ensure_ascii=False)
        if flags.out.suffix != ".json":
            figure = svg if flags.out.suffix == ".svg" else html
            drawn = figure(found.sheets, title=title, caption=found.caption, columns=found.columns)
        flags.out.write_text(drawn, encoding="utf-8")
        print(f"{flags.out}: {len(found.sheets)} {'map' if len(found.sheets) == 1 else 'maps'}")


def _keep(out: Path, views: "Views") -> None:
    """Write attentions into a file that the explorer opens."""
    out.write_text(json.dumps(views.to_json("f16"), ensure_ascii=False), encoding="utf-8")
    print(f"{out}: {len(views.views)} attentions")


def _inside(flags: Flags, pipeline: Any) -> None:
    """Draw a lens, a patching, or heads."""
    from regard.analysis.cells import html, svg
    from regard.cli import inside

    if flags.how == "lens":
        options: dict[str, Any] = {name: value for name in ("target", "to") if (value := getattr(flags, name))}
        refuse_useless(options, pipeline.attend, pipeline.task)
        facts, tables, caption = inside.show_lens(pipeline, flags.input, options)
    elif flags.how == "patch":
        answers = (flags.answer, flags.wrong)
        facts, tables, caption = inside.show_patch(pipeline, flags.input, flags.corrupt, answers, flags.part)
    else:
        facts, tables, caption = inside.show_heads(pipeline)
    if flags.json:
        print(json.dumps(facts, ensure_ascii=False))
    elif flags.out is None:
        inside.draw(tables, caption)
    if flags.out is not None:
        title = f"{pipeline.card.get('title') or pipeline.name}: {flags.how}"
        picture = json.dumps(facts, ensure_ascii=False)
        if flags.out.suffix != ".json":
            picture = (svg if flags.out.suffix == ".svg" else html)(tables, title=title, caption=caption)
        flags.out.write_text(picture, encoding="utf-8")
        print(f"{flags.out}: {len(tables[0].rows)} layers × {len(tables[0].columns)}")


def _check(flags: Flags) -> None:
    if not flags.input.strip() and flags.how != "heads":
        raise UsageError("an empty text leaves nothing to look at; give a sentence")
    _check_how(flags)
    for text in (flags.input, flags.target, flags.corrupt, flags.answer, flags.wrong):
        if broken := refusal(text):
            raise UsageError(f"the text {broken.reason}")
    if flags.out is not None and flags.out.suffix not in FORMATS:
        raise UsageError(f"{str(flags.out)!r} names no format; end it in {', '.join(FORMATS)}")
    if flags.out is not None and not flags.out.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {flags.out.absolute().parent}; make it, or write elsewhere by --out")


def _check_how(flags: Flags) -> None:
    """Refuse what the chosen way of looking would not read, and ask for what it needs."""
    reads = {
        "attention": ("input", "target", "to", "kind", "layer", "head", "specials", "place", "beside"),
        "lens": ("input", "target", "to"),
        "patch": ("input", "corrupt", "answer", "wrong", "part"),
        "heads": (),
        **dict.fromkeys(("rollout", "sampling"), ("input", "place", "beside")),
        **dict.fromkeys(("gradcam", "occlusion", "gradients", "integrated", "saliency"), ("input", "label", "beside")),
        **dict.fromkeys(("distance", "cka", "receptive-field", "pca", "positions", "filters"), ("input", "beside")),
    }
    for field in fields(flags):
        value, always = getattr(flags, field.name), field.name in ("model", "how", "out", "json")
        if not always and field.name not in reads[flags.how] and value != field.default:
            name = "INPUT" if field.name == "input" else f"--{field.name}"
            raise UsageError(f"{name} does nothing for --how {flags.how}; leave it out")
    missing = [f"--{name}" for name in ("corrupt", "answer", "wrong") if not getattr(flags, name)]
    if flags.how == "patch" and missing:
        raise UsageError(f"patching compares two prompts and two answers; give {', '.join(missing)}")


def _attend(flags: Flags, pipeline: Any) -> tuple["Reading", str]:
    """What the model looked at, and what its card calls it."""
    from regard.pipelines import TooLongError

    options: dict[str, Any] = {name: value for name in ("target", "to") if (value := getattr(flags, name))}
    refuse_useless(options, pipeline.attend, pipeline.task)
    try:
        reading = pipeline.attend(read_input(pipeline, flags.input), **options)
    except TooLongError as error:
        raise SystemExit(f"the text {error.reason}") from None
    except ValueError as error:
        raise SystemExit(str(error)) from None
    if not reading.maps:
        raise SystemExit(f"{pipeline.name} has no attention to look at; choose a model that has")
    return reading, str(pipeline.card.get("title") or pipeline.name)


def _draw(panels: list["Panel"], caption: str) -> None:
    """A heat map of letters, as wide as the terminal allows."""
    import numpy as np
    from rich.console import Console

    from regard.cli.tour.draw import matrix

    console, first = Console(highlight=False), panels[0]
    mean = np.mean([panel.weights for panel in panels], axis=0)
    columns = list(first.columns)
    if max(map(len, first.rows)) + 1 + sum(max(len(word), 3) + 1 for word in columns) > console.width:
        columns = [str(i) for i in range(1, len(columns) + 1)]  # words become numbers, explained below
    console.print(matrix(mean.tolist(), first.rows, columns), soft_wrap=True)
    if columns != list(first.columns):
        named = " ".join(f"{i} {word}" for i, word in zip(columns, first.columns, strict=True))
        console.print(named, style="dim", markup=False)
    which = first.name if len(panels) == 1 else f"the mean of {len(panels)} heads"
    console.print(f"{caption}  ({which}, in percent)", markup=False)
