"""What `regard look` shows of a picture: attention, rollout, what decides, how far heads look, what features say.

Attention is laid over the spectrogram of a sound, over points and over the frames of a film in the same way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from regard.cli.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from regard.analysis.reading import Map, Reading
    from regard.analysis.seeing.figure import Sheet
    from regard.pipelines.pictured import Pictured

COMPARED, TOGETHER = 256, 64  # pictures of a set by which networks are compared, and how many of them at once
SMOOTH = 24  # cells along a side that look smooth
OF_A_CLASS = ("gradcam", "occlusion", "gradients", "integrated", "saliency")  # ways to see what speaks for one


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which attention is looked at, and who asks."""

    layer: int | None = None
    head: int | None = None
    place: str = ""  # the name of a leading token, or row,column from 0
    label: str = ""  # the class that a map is for


@dataclass(frozen=True, slots=True)
class Shown:
    """What was found: as numbers, as sheets of a figure, and in a sentence."""

    facts: dict[str, Any]
    sheets: "list[Sheet]"
    caption: str
    columns: int | None = None
    lines: list[str] = field(default_factory=list)  # for a terminal, in place of the sheets


def show(pipeline: "Pictured", path: str, how: str, chosen: Chosen) -> Shown:
    """Look at a picture in one of the `WAYS`."""
    if pipeline.task in ("detect", "depth") and how in OF_A_CLASS:
        raise UsageError(
            f"{pipeline.name} names no class of a whole picture, which --how {how} is about; choose another"
        )
    picture = pipeline.open(path)
    return WAYS[how](_Look(pipeline, picture, chosen))


def join(found: Mapping[str, Shown]) -> Shown:
    """What several models show, by their names, as one; each has a column, where each has one sheet."""
    if len(found) == 1:
        return next(iter(found.values()))
    return Shown(
        {name: one.facts for name, one in found.items()},
        [replace(sheet, name=f"{name}: {sheet.name}") for name, one in found.items() for sheet in one.sheets],
        " · ".join(one.caption for one in found.values()),
        max(len(found), *(one.columns or len(one.sheets) for one in found.values())),
        [f"{name} {line}" for name, one in found.items() for line in one.lines],
    )


class _Look:
    """A picture as a model reads it, and what is asked about it."""

    def __init__(self, pipeline: "Pictured", picture: Any, chosen: Chosen) -> None:
        from regard.analysis.pictures import data_url

        self.pipeline, self.model, self.chosen = pipeline, pipeline.model, chosen
        self.picture = picture
        self.image: Tensor = pipeline.tensors([picture])
        seen = pipeline.seen(picture)
        self.url, self.ratio = data_url(seen), seen.height / seen.width

    @property
    def target(self) -> int | None:
        """The class that is asked for, or None for the one that the model names."""
        labels: Sequence[str] = getattr(self.pipeline, "labels", ())
        if self.chosen.label and self.chosen.label not in labels:
            from regard.names import unknown

            raise UsageError(unknown("class", self.chosen.label, labels))
        return list(labels).index(self.chosen.label) if self.chosen.label else None

    def name(self) -> str:
        """What the model says, or what was asked for."""
        if self.chosen.label:
            return self.chosen.label
        (found,) = self.pipeline([self.picture])
        return str(getattr(found, "label", "the picture"))

    def read(self) -> "Reading":
        reading = self.pipeline.attend(self.picture)
        if not reading.maps:
            raise SystemExit(f"{self.pipeline.name} has no attention to look at; try --how gradcam")
        return reading

    def sheet(self, name: str, numbers: "np.ndarray", *, bare: bool = False) -> "Sheet":
        from regard.analysis.seeing.figure import Sheet

        return Sheet(name, numbers, None if bare else self.url, self.ratio)


def _attention(look: _Look) -> Shown:
    return heads_over(look.read(), look.chosen, lambda _, name, numbers: look.sheet(name, numbers))


def perceived(pipeline: Any, given: str, chosen: Chosen) -> Shown:
    """Where a model of sounds, points or films looks: at a spectrogram, at points from the front, or at frames."""
    from regard.analysis.seeing.figure import Sheet

    def sheet(axis: Any, name: str, numbers: "np.ndarray") -> Sheet:
        return Sheet(
            name, numbers, getattr(axis, "image", None), getattr(axis, "height", 1) / getattr(axis, "width", 1)
        )

    return heads_over(pipeline.attend(given), chosen, sheet)


def heads_over(reading: "Reading", chosen: Chosen, sheet: "Callable[[Any, str, np.ndarray], Sheet]") -> Shown:
    """Where a place or a latent looks, for each head of a layer; without one, what all look at on average."""
    from regard.analysis.view import Boxes, Grid

    one = _choose_map(reading, chosen.layer)
    rows, columns = reading.axes[one.rows], reading.axes[one.columns]
    if not isinstance(columns, Grid | Boxes):
        raise SystemExit(f"{one.name} of {reading.model} does not look over what it was given; give another --layer")
    weights = reading.weights(one.name)
    if chosen.head is not None and not 0 <= chosen.head < one.heads:
        raise UsageError(f"there is no head {chosen.head}; they are numbered 0 to {one.heads - 1}")
    leading = rows.leading if isinstance(rows, Grid) else ()
    asking = _place(rows, chosen.place) if isinstance(rows, Grid) else _latent(len(rows), chosen.place)
    looked = weights.mean(axis=1) if asking is None else weights[:, asking]
    heads = range(one.heads) if chosen.head is None else [chosen.head]
    shown = [_laid_out(columns, row) for row in looked]
    everyone = "all places on average" if isinstance(rows, Grid) else f"all {one.rows} on average"
    who = chosen.place or (leading[0] if leading else everyone)
    sheets = [sheet(columns, f"head {head}", _to_one(shown[head])) for head in heads]
    facts = {"attention": one.name, "asks": who, "heads": {f"head {head}": shown[head].tolist() for head in heads}}
    caption = f"{reading.model}, {one.name}: where {who} looks; each head from its least to its most. {reading.caption}"
    return Shown(facts, sheets, caption)


def _laid_out(axis: Any, row: "np.ndarray") -> "np.ndarray":
    """The weights of the cells of a picture, or of boxes where each of them is."""
    import numpy as np

    from regard.analysis.view import Grid

    if isinstance(axis, Grid):
        return row[len(axis.leading) :].reshape(axis.height, axis.width)
    found = np.zeros((SMOOTH, SMOOTH), np.float32)
    left, top, wide, high = np.asarray(axis.boxes).T
    cells = ((np.clip(edge, 0, 1 - 1e-6)) * SMOOTH for edge in (top + high / 2, left + wide / 2))
    np.add.at(found, tuple(each.astype(int) for each in cells), row)
    return found


def _latent(count: int, said: str) -> int | None:
    """The number of a latent."""
    if not said:
        return None
    if not said.isdecimal() or int(said) >= count:
        raise UsageError(f"--place {said} is no latent; they are numbered 0 to {count - 1}")
    return int(said)


def _rollout(look: _Look) -> Shown:
    from regard.analysis.seeing import rollout

    reading = look.read()
    total, last, first = rollout(reading)
    asking = _place(last, look.chosen.place)
    row = total.mean(axis=0) if asking is None else total[asking]
    shown = row[len(first.leading) :].reshape(first.height, first.width)
    who = look.chosen.place or (last.leading[0] if last.leading else "all places on average")
    caption = f"{reading.model}: attention of all layers rolled out from {who}, with half of each passing by"
    return Shown({"asks": who, "rollout": shown.tolist()}, [look.sheet("rollout", _to_one(shown))], caption)


def _gradcam(look: _Look) -> Shown:
    from regard.analysis.seeing import gradcam
    from regard.analysis.seeing.decisive import resize

    found = gradcam(look.model, look.image, target=look.target)
    shown = _decides(look, "Grad-CAM", found)
    rows, columns = (max(SMOOTH, side) for side in found.shape)  # laid over the picture smoothly, as in the paper
    return replace(shown, sheets=[look.sheet("Grad-CAM", _to_one(resize(found, rows, columns)))])


def _occlusion(look: _Look) -> Shown:
    from regard.analysis.seeing import occlusion

    side = min(look.image.shape[-2:])
    patch = max(2, side // 8)
    found = occlusion(look.model, look.image, patch=patch, stride=max(1, patch // 2), target=look.target)
    return _decides(look, f"probability lost when a square of {patch} pixels is covered", found.clip(0, None))


def _gradients(look: _Look) -> Shown:
    from regard.analysis.seeing import gradients

    return _decides(look, "size of the gradient", gradients(look.model, look.image, target=look.target))


def _integrated(look: _Look) -> Shown:
    from regard.analysis.seeing import integrated_gradients

    found = integrated_gradients(look.model, look.image, target=look.target).sum(0).clamp(min=0).cpu().numpy()
    return _decides(look, "integrated gradients that speak for it", found)


def _decides(look: _Look, how: str, found: "np.ndarray") -> Shown:
    name = look.name()
    facts = {"class": name, "map": found.tolist()}
    return Shown(facts, [look.sheet(how, _to_one(found))], f"{look.pipeline.name}: what speaks for “{name}”, by {how}")


def _saliency(look: _Look) -> Shown:
    """All that is said to show what matters, side by side, and how far they agree."""
    import numpy as np

    from regard.analysis.seeing import agree, make_map, ways_of
    from regard.analysis.seeing.pointing import CHANCE, MIDDLE

    target, dice = look.target, np.random.default_rng(0)
    target = int(look.pipeline.run([look.picture])[0].argmax()) if target is None else target
    ways = [way for way in ways_of(look.model, look.image) if way not in (MIDDLE, CHANCE)]
    maps = {way: make_map(way, look.model, look.image, target=target, chance=dice) for way in ways}
    alike = {f"{a} and {b}": round(value, 3) for (a, b), value in agree(maps).items()}
    name = look.name()
    facts = {"class": name, "maps": {way: each.tolist() for way, each in maps.items()}, "rank correlation": alike}
    first = ways[0]
    told = ", ".join(f"{pair.partition(' and ')[2]} {value:.2f}" for pair, value in alike.items() if first in pair)
    caption = f"{look.pipeline.name}: what speaks for “{name}”. Rank correlation of {first} with {told}"
    sheets = [look.sheet(way, _to_one(each)) for way, each in maps.items()]
    return Shown(facts, sheets, caption, lines=[f"{pair:40} {value:+.2f}" for pair, value in alike.items()])


def _distance(look: _Look) -> Shown:
    """How far each head looks; a sheet has a row for each layer and a column for each head."""
    import numpy as np

    from regard.analysis.seeing import attention_distances
    from regard.analysis.seeing.figure import Sheet

    found = attention_distances(look.read())
    heads = max(len(each.heads) for each in found)
    table = np.zeros((len(found), heads), np.float32)
    for i, each in enumerate(found):
        table[i, : len(each.heads)] = each.heads
    facts = {each.name: {"heads": each.heads.round(4).tolist(), "even": round(each.even, 4)} for each in found}
    lines = [
        f"{each.name:32} {each.heads.mean():.2f}   {each.heads.min():.2f} to {each.heads.max():.2f}" for each in found
    ]
    caption = (
        "mean attention distance of each head (columns) of each layer (rows, the first on top), in sides of the "
        f"picture; darker is farther, and looking evenly is {found[0].even:.2f}"
    )
    sheet = Sheet("layers × heads", table / max(float(table.max()), 1e-9), None, len(found) / heads)
    return Shown(facts, [sheet], caption, lines=lines)


def _field(look: _Look) -> Shown:
    from regard.analysis.seeing import receptive_field

    found = receptive_field(look.model, look.image)
    sheets = [look.sheet(f"{each.block}: {each.radius():.2f}", _to_one(each.pixels), bare=True) for each in found]
    caption = "which pixels the middle cell behind each block depends on; the number is the radius of half of it"
    return Shown({each.block: round(each.radius(), 4) for each in found}, sheets, caption)


def _colours(look: _Look) -> Shown:
    import torch

    from regard.analysis.seeing import feature_colours, streams

    with torch.no_grad():
        kept, _ = streams(look.model, look.image)
    sheets = [
        look.sheet(name, feature_colours(each)[0], bare=True)
        for name, each in kept.items()
        if each.shape[1] * each.shape[2] > 2
    ]
    caption = "the first three principal components of the features behind each block, as red, green and blue"
    return Shown({sheet.name: sheet.numbers.tolist() for sheet in sheets}, sheets, caption)


def _positions(look: _Look) -> Shown:
    """How alike positions are: for some cells, the cosine with all."""
    from regard.analysis.seeing import position_similarity

    encodings = list(getattr(look.model, "positions", ()))
    if not encodings:
        raise SystemExit(f"{look.pipeline.name} adds no positions to its patches; there is nothing to compare")
    rows, columns = look.model.grid(*look.image.shape[-2:])
    alike = position_similarity(encodings[0](rows, columns), rows, columns)
    some = [(i, j) for i in _spread(rows) for j in _spread(columns)]
    sheets = [look.sheet(f"{i},{j}", (alike[i, j] + 1) / 2, bare=True) for i, j in some]
    caption = "the cosine of the position of one cell with that of every cell, from -1 to 1"
    return Shown({f"{i},{j}": alike[i, j].tolist() for i, j in some}, sheets, caption, len(_spread(columns)))


def _filters(look: _Look) -> Shown:
    import numpy as np
    from torch import nn

    from regard.analysis.seeing import filter_components
    from regard.analysis.seeing.figure import Sheet

    first = next((each for each in look.model.modules() if isinstance(each, nn.Conv2d)), None)
    if first is None or first.in_channels not in (1, 3):
        raise SystemExit(f"{look.pipeline.name} has no convolution over the picture whose filters could be shown")
    found = filter_components(first.weight, 28)
    pixels = np.rint((np.repeat(found, 3, axis=1)[:, :3] if found.shape[1] == 1 else found) * 127.5 + 127.5)
    shown = pixels.transpose(0, 2, 3, 1).astype(np.uint8)
    sheets = [Sheet(str(i + 1), each, None, each.shape[0] / each.shape[1]) for i, each in enumerate(shown)]
    caption = "the first principal components of the filters that read the picture"
    return Shown({"components": found.tolist()}, sheets, caption, 7)


WAYS: dict[str, Callable[[_Look], Shown]] = {
    "attention": _attention,
    "rollout": _rollout,
    "gradcam": _gradcam,
    "occlusion": _occlusion,
    "gradients": _gradients,
    "integrated": _integrated,
    "saliency": _saliency,
    "distance": _distance,
    "receptive-field": _field,
    "pca": _colours,
    "positions": _positions,
    "filters": _filters,
}


def compare(models: "Mapping[str, Pictured]", data: str) -> Shown:
    """CKA: how alike what layers know is, within the first model, and between it and each other one."""
    from regard.analysis.seeing import cka
    from regard.analysis.seeing.figure import Sheet
    from regard.data import SETS
    from regard.data.pictures import pictures

    known = pictures(data, "test" if data == "world" or data in SETS else "val")
    names, chosen = list(models), [known.picture(i) for i in range(min(COMPARED, len(known)))]
    parts = [chosen[i : i + TOGETHER] for i in range(0, len(chosen), TOGETHER)]
    if len(parts) > 1 and len(parts[-1]) < TOGETHER:  # a short one would count as much as the others
        parts.pop()
    sheets, facts = list[Sheet](), dict[str, Any]()
    for one, other in [
        (names[0], names[0]),
        *(pair for name in names[1:] for pair in ((names[0], name), (name, name))),
    ]:
        first, second = models[one], models[other]
        found = cka(first.model, second.model, ((first.tensors(part), second.tensors(part)) for part in parts))
        title = f"within {one}" if one == other else f"{one} (rows), {other} (columns)"
        facts[title] = {"rows": found.rows, "columns": found.columns, "cka": found.cka.round(4).tolist()}
        sheets.append(Sheet(title, found.cka.clip(0, 1), None, len(found.rows) / len(found.columns)))
    caption = (
        f"CKA of the maps behind each block, the first on top and at the left, on {sum(map(len, parts))} pictures of "
        f"{data}: darker is more alike, from 0 to 1"
    )
    return Shown(facts | {"pictures": sum(map(len, parts))}, sheets, caption, len(sheets))


def draw(shown: Shown) -> None:
    """The sheets as blocks of colour in a terminal, some side by side, or lines in their place."""
    from rich.console import Console

    console = Console(highlight=False)
    if shown.lines:
        for line in shown.lines:
            console.print(line, markup=False)
    else:
        for sheet in shown.sheets:
            _draw_sheet(console, sheet)
    console.print(shown.caption, markup=False)


def _draw_sheet(console: Any, sheet: "Sheet") -> None:
    from rich.text import Text

    from regard.analysis.paint import NIGHT, colour
    from regard.analysis.seeing.decisive import resize

    numbers = sheet.numbers
    if numbers.ndim == 2:
        rows, columns = (min(side, 24) for side in numbers.shape)
        numbers = resize(numbers, rows, columns)
    console.print(sheet.name, style="dim", markup=False)
    for line in numbers:
        text = Text()
        for value in line:
            shade = f"rgb({','.join(map(str, value.tolist()))})" if value.ndim else colour(NIGHT, float(value))
            text.append("  ", style=f"on {shade}")
        console.print(text)


def _choose_map(reading: "Reading", layer: int | None) -> "Map":
    from regard.analysis.view import Latents

    if layer is not None and not 0 <= layer < len(reading.maps):
        raise UsageError(f"there is no layer {layer}; they are numbered 0 to {len(reading.maps) - 1}")
    if layer is not None:
        return reading.maps[layer]
    # What looks over the picture, and not at latents alone.
    over = [one for one in reading.maps if not isinstance(reading.axes[one.columns], Latents)]
    return (over or reading.maps)[-1]


def _place(axis: Any, said: str) -> int | None:
    """The number of a token: a leading one by its name, or a cell by row,column. Without a word, the first leading."""
    if not said:
        return 0 if axis.leading else None
    if said in axis.leading:
        return int(axis.leading.index(said))
    parts = said.split(",")
    if len(parts) == 2 and all(part.strip().isdecimal() for part in parts):
        row, column = map(int, parts)
        if row < axis.height and column < axis.width:
            return len(axis.leading) + row * int(axis.width) + column
    choice = ", ".join((*axis.leading, f"0,0 to {axis.height - 1},{axis.width - 1}"))
    raise UsageError(f"--place {said} is no place on the picture; choose of {choice}")


def _to_one(numbers: "np.ndarray") -> "np.ndarray":
    least, most = float(numbers.min()), float(numbers.max())
    scaled: np.ndarray = (numbers - least) / max(most - least, 1e-12)
    return scaled


def _spread(side: int) -> list[int]:
    """Up to five cells along a side, evenly."""
    count = min(5, side)
    return sorted({round(i * (side - 1) / max(count - 1, 1)) for i in range(count)})
