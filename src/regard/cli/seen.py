"""What `regard look` shows of a picture: attention, rollout, what decides, how far heads look, what features say."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from regard.cli.errors import UsageError
from regard.cli.overlaid import SMOOTH, heads_over, place_of
from regard.cli.sheets import Chosen, Shown, to_one

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from regard.analysis.reading import Reading
    from regard.analysis.seeing.figure import Sheet
    from regard.pipelines.pictured import Pictured

OF_A_CLASS = ("gradcam", "occlusion", "gradients", "integrated", "saliency")  # ways to see what speaks for one
NAMING = ("recognize", "features")  # tasks that these ways can ask
OF_BLOCKS = ("receptive-field", "pca")  # ways to see what goes on behind each block


def show(pipeline: "Pictured", path: str, how: str, chosen: Chosen) -> Shown:
    """Look at a picture in one of the `WAYS`."""
    if pipeline.task not in NAMING and how in OF_A_CLASS:
        raise UsageError(
            f"{pipeline.name} names no class of a whole picture, which --how {how} is about; choose another"
        )
    if how in OF_BLOCKS and not hasattr(pipeline.model, "trunk"):
        raise UsageError(
            f"{pipeline.name} does not say which blocks it has, which --how {how} is about; choose another"
        )
    picture = pipeline.open(path)
    return WAYS[how](_Look(pipeline, picture, chosen))


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
            way = "try --how gradcam" if self.pipeline.task in NAMING else "choose a model that has"
            raise SystemExit(f"{self.pipeline.name} has no attention to look at; {way}")
        return reading

    def sheet(self, name: str, numbers: "np.ndarray", *, bare: bool = False) -> "Sheet":
        from regard.analysis.seeing.figure import Sheet

        return Sheet(name, numbers, None if bare else self.url, self.ratio)


def _attention(look: _Look) -> Shown:
    return heads_over(look.read(), look.chosen, lambda _, name, numbers: look.sheet(name, numbers))


def _rollout(look: _Look) -> Shown:
    from regard.analysis.seeing import rollout

    reading = look.read()
    total, last, first = rollout(reading)
    asking = place_of(last, look.chosen.place)
    row = total.mean(axis=0) if asking is None else total[asking]
    shown = row[len(first.leading) :].reshape(first.height, first.width)
    who = look.chosen.place or (last.leading[0] if last.leading else "all places on average")
    caption = f"{reading.model}: attention of all layers rolled out from {who}, with half of each passing by"
    return Shown({"asks": who, "rollout": shown.tolist()}, [look.sheet("rollout", to_one(shown))], caption)


def _gradcam(look: _Look) -> Shown:
    from regard.analysis.seeing import gradcam
    from regard.analysis.seeing.decisive import resize

    found = gradcam(look.model, look.image, target=look.target)
    shown = _decides(look, "Grad-CAM", found)
    rows, columns = (max(SMOOTH, side) for side in found.shape)  # laid over the picture smoothly, as in the paper
    return replace(shown, sheets=[look.sheet("Grad-CAM", to_one(resize(found, rows, columns)))])


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
    return Shown(facts, [look.sheet(how, to_one(found))], f"{look.pipeline.name}: what speaks for “{name}”, by {how}")


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
    sheets = [look.sheet(way, to_one(each)) for way, each in maps.items()]
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
    sheets = [look.sheet(f"{each.block}: {each.radius():.2f}", to_one(each.pixels), bare=True) for each in found]
    caption = "which pixels the middle cell behind each block depends on; the number is the radius of half of it"
    return Shown({each.block: round(each.radius(), 4) for each in found}, sheets, caption)


def _sampling(look: _Look) -> Shown:
    """Where the taps of one cell read, that of --place or the middle one, for each deformable convolution."""
    from regard.analysis.seeing import sampling
    from regard.analysis.view import Grid

    found = sampling(look.model, look.image)
    if not found:
        raise SystemExit(
            f"{look.pipeline.name} has no deformable convolution; every other one reads where its kernel is"
        )
    facts, sheets = {}, []
    for each in found:
        rows, columns = each.places.shape[:2]
        asked = place_of(Grid(rows, columns), look.chosen.place)
        row, column = (rows // 2, columns // 2) if asked is None else divmod(asked, columns)
        facts[each.name] = {
            "cell": [row, column],
            "places": each.places[row, column].round(4).tolist(),
            "weights": each.weights[row, column].round(4).tolist(),
            "moved": round(each.moved, 4),
        }
        sheets.append(look.sheet(f"{each.name}: {each.moved:.2f}", each.shown(row, column)))
    which = look.chosen.place or "the middle cell"
    caption = f"where the taps of {which} read; the number is how far taps are moved on average, in cells"
    return Shown(facts, sheets, caption)


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
    "sampling": _sampling,
    "pca": _colours,
    "positions": _positions,
    "filters": _filters,
}


def _spread(side: int) -> list[int]:
    """Up to five cells along a side, evenly."""
    count = min(5, side)
    return sorted({round(i * (side - 1) / max(count - 1, 1)) for i in range(count)})
