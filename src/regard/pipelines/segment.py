"""Segment: a picture and a click, a box, or nothing in; masks of what may be meant out.

A picture is seen once (`see`), and then every prompt is answered quickly (`ask`). One click may mean a part or a whole,
so that it is answered by several masks, the surest first; a box or more clicks by one. Without any prompt, a grid of
clicks finds whatever there is.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from PIL import Image
from torch import Tensor

from regard.analysis.pictures import data_url, maps_over
from regard.analysis.reading import Reading
from regard.analysis.scores import Score, mean
from regard.analysis.view import Axis, Grid
from regard.attention import record
from regard.data.masked import KINDS, Masked, masked
from regard.data.pictures import detections
from regard.decode.forcing import evaluating
from regard.hub import Checkpoint
from regard.layers.folding import fold
from regard.models.sam import IN, OUT, Seen, Segmented
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pictured import Pictured, Shown
from regard.pipelines.pipeline import Edits, Evaluation
from regard.progress import Progress
from regard.text.words import Words
from regard.train.segmentation import chosen, middle
from regard.vision.boxes import nms

Number = int | float
Point = tuple[Number, Number]  # x and y in pixels of the picture
Box = tuple[Number, Number, Number, Number]  # left, top, right, bottom
GRID = 32  # clicks along a side, at most, that look for everything
# Of what is kept of that: expected IoU and stability, where the card says no others, and IoU of two boxes.
SURE, STEADY, OVERLAP = 0.88, 0.95, 0.7
OFFSET = 1.0  # how far the threshold is moved to see whether a mask is stable
TOGETHER = 16  # prompts that are answered at once; of more, the cells fill the memory
CLICKS = (1, 3, 5)  # after which an evaluation scores
SHOWN = 512  # pixels along a side of the picture below maps, at most


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is pointed at, in pixels of the picture: points in what is meant, points that are not, and a box around."""

    points: tuple[Point, ...] = ()
    not_points: tuple[Point, ...] = ()
    box: Box | None = None

    def __bool__(self) -> bool:
        return bool(self.points or self.not_points or self.box is not None)

    @property
    def clear(self) -> bool:
        """Whether it means one thing: by a box, or by more than one click."""
        return self.box is not None or len(self.points) + len(self.not_points) > 1

    def check(self, width: int, height: int) -> None:
        """Refuse what lies outside of a picture, and a box that holds nothing.

        A box may end one beyond the last pixels, as those of `Cut` do.
        """
        for x, y in (*self.points, *self.not_points):
            _within(x, y, width - 1, height - 1, width, height)
        for x, y in (self.box[:2], self.box[2:]) if self.box is not None else ():
            _within(x, y, width, height, width, height)
        if self.box is not None and not (self.box[0] <= self.box[2] and self.box[1] <= self.box[3]):
            said = ", ".join(f"{side:g}" for side in self.box)
            raise ValueError(f"a box of {said} holds nothing; give left, top, right and bottom")


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """One mask: its pixels, the intersection over union that the model expects of it, its box, and how stable it is.

    Stability is the IoU of the masks of a higher and of a lower threshold.
    """

    mask: Bool[np.ndarray, "h w"]
    score: float
    box: tuple[int, int, int, int]  # left, top, right, bottom, the last two one beyond; all 0 of an empty mask
    stability: float

    @property
    def area(self) -> int:
        return int(self.mask.sum())


class Looked(NamedTuple):
    """A picture, what the model saw of it, and the sides that it was scaled to."""

    picture: Image.Image
    seen: Seen
    sides: tuple[int, int]  # height and width


class Segment(Pictured):
    """A promptable segmenter."""

    task, takes, gives = "segment", "picture", "masks"

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(checkpoint, limit=limit)
        self.model = fold(self.model)  # the batch norms of a TinyViT
        self.sure, self.steady = _thresholds(checkpoint.card.get("everything"), self.name)

    @answer_familiar
    def __call__(
        self,
        inputs: Shown | Sequence[Shown],
        *,
        points: Sequence[Point] = (),
        not_points: Sequence[Point] = (),
        box: Box | None = None,
        threshold: float | None = None,
        stability: float | None = None,
        progress: Progress | None = None,
    ) -> list[list[Cut]]:
        """The masks of each picture that a prompt may mean, the surest first; without a prompt, all that is found.

        Of all that is found, what is less sure than the `threshold` or of less `stability` is left out; the card says
        by how much, or else 0.88 and 0.95, as in the paper.
        """
        for name, share in (("threshold", threshold), ("stability", stability)):
            if share is not None and not 0 <= share <= 1:
                raise ValueError(f"a {name} of {share} is no share; give 0 to 1")
        prompt, found = _prompt(points, not_points, box), list[list[Cut]]()
        for given in self.listed(inputs):
            looked = self.see(given)
            found.append(
                self.cuts(looked, prompt) if prompt else self.everything(looked, sure=threshold, steady=stability)
            )
            if progress is not None:
                progress(len(found))
        return found

    def see(self, given: Shown) -> Looked:
        """See a picture once, to be asked often."""
        picture = self.open(given)
        cut = self.processor.cut(picture)
        with evaluating(self.model), torch.inference_mode():
            seen = self.model.encode(self.tensors([picture]))
        return Looked(picture, seen, (cut.shape[0], cut.shape[1]))

    def ask(self, looked: Looked, prompt: Prompt, rough: Float[Tensor, "1 1 y x"] | None = None) -> Segmented:
        """All that the model says to a prompt; `rough` is an earlier mask of its answers."""
        prompt.check(looked.picture.width, looked.picture.height)
        points, labels, boxes = self._scaled(looked, prompt)
        with evaluating(self.model), torch.inference_mode():
            said: Segmented = self.model.prompt(looked.seen, points, labels, boxes, rough)
        return said

    def cuts(self, looked: Looked, prompt: Prompt, rough: Float[Tensor, "1 1 y x"] | None = None) -> list[Cut]:
        """The masks that a prompt may mean, the surest first: one where it is clear."""
        said = self.ask(looked, prompt, rough)
        some = (
            Segmented(said.masks[:, :1], said.iou[:, :1])
            if prompt.clear
            else Segmented(said.masks[:, 1:], said.iou[:, 1:])
        )
        return sorted(self._cut(looked, some.masks[0], some.iou[0]), key=lambda one: -one.score)

    def everything(
        self,
        looked: Looked,
        *,
        grid: int = 0,
        sure: float | None = None,
        steady: float | None = None,
        overlap: float = OVERLAP,
        progress: Progress | None = None,
    ) -> list[Cut]:
        """Whatever there is: the masks of a grid of clicks that are sure and stable, and no two for the same (§B).

        `grid` is how many clicks a side has; as many as there are cells, up to 32, if left out.
        """
        sure, steady = self.sure if sure is None else sure, self.steady if steady is None else steady
        count = grid or min(GRID, looked.seen.cells.shape[1])
        height, width = looked.sides
        steps = (torch.arange(count) + 0.5) / count
        places = torch.stack(torch.meshgrid(steps * width, steps * height, indexing="xy"), dim=-1).flatten(0, 1) - 0.5
        masks, scores = list[Tensor](), list[Tensor]()
        for start in range(0, len(places), TOGETHER):
            some = places[start : start + TOGETHER, None].to(self.device)
            with evaluating(self.model), torch.inference_mode():
                said = self.model.prompt(looked.seen, some, torch.ones_like(some[..., 0], dtype=torch.long))
            drawn, expected = self._inside(looked, said.masks[:, 1:]).flatten(0, 1), said.iou[:, 1:].flatten()
            kept = (expected >= sure) & (stability(drawn) >= steady) & (drawn > 0).any(dim=(1, 2))
            masks.append(said.masks[:, 1:].flatten(0, 1)[kept])
            scores.append(expected[kept])
            if progress is not None:
                progress(min(start + TOGETHER, len(places)) / len(places))
        found, expected = torch.cat(masks), torch.cat(scores)
        if not len(found):
            return []
        boxes = torch.tensor([_box(mask) for mask in (self._inside(looked, found[None])[0] > 0).cpu().numpy()])
        order = nms(boxes.float(), expected.cpu().float(), overlap).to(found.device)
        # What is a pixel or two in a mask's own size may be none in the picture's.
        return [one for one in self._cut(looked, found[order], expected[order]) if one.area]

    @answer_familiar
    def evaluate(self, data: str, *, split: str = "", limit: int = 0, progress: Progress | None = None) -> Evaluation:
        """Mean intersection over union by prompt: a click, the best of its three masks, more clicks, a box.

        On the world, also for parts, things and groups each; on pets, or a set with masks. Clicks fall in the middle
        of what is meant, or of what is wrong. `limit` counts pictures.
        """
        split = split or ("val" if data == "coco128" else "test")
        known = masked(data, split, KINDS if data == "world" else KINDS[:1])
        count = min(limit or len(known), len(known))
        began, rows = time.perf_counter(), list[tuple[str, dict[str, float]]]()
        for i in range(count):
            rows += self._score(known, i)
            if progress is not None:
                progress(i + 1)
        if not rows:
            raise ValueError(f"{data} has no masks in its first {count} pictures; raise the limit")
        scores: dict[str, Score] = {}
        for name in rows[0][1]:
            scores[name] = mean([row[name] for _, row in rows])
            for kind in KINDS if data == "world" else ():
                if some := [row[name] for each, row in rows if each == kind]:
                    scores[f"{name}/{kind}"] = mean(some)
        return Evaluation(self.name, data, split, count, time.perf_counter() - began, scores, {"masks": len(rows)})

    def known(self, name: str) -> Any:
        """The test pictures of a named set."""
        return detections(name, "val") if name == "coco128" else super().known(name)

    @answer_familiar
    @torch.no_grad()
    def attend(
        self,
        given: Shown,
        *,
        points: Sequence[Point] = (),
        not_points: Sequence[Point] = (),
        box: Box | None = None,
        edits: Edits | None = None,
    ) -> Reading:
        """Where the tokens of a prompt look on the picture, and where places look among the tokens.

        Without a prompt, the middle of the picture is clicked on. The looks of the eye are not watched.
        """
        looked = self.see(given)
        middle_of = ((looked.picture.width // 2, looked.picture.height // 2),)
        prompt = _prompt(points, not_points, box) or Prompt(middle_of)
        return self.look(looked, prompt, edits=edits)[0]

    @torch.no_grad()
    def look(
        self, looked: Looked, prompt: Prompt, *, edits: Edits | None = None, image: str | None = None
    ) -> tuple[Reading, list[Cut]]:
        """A reading of one prompt, which may be empty, and all masks in the model's order: the single one, and several.

        `image` is what `shown` gave for the picture before.
        """
        with record(self.model, edits=edits) as trace:
            said = self.ask(looked, prompt)
        rows, columns = looked.seen.cells.shape[1:3]
        axes, maps = maps_over(trace, (rows, columns), image=image or self.shown(looked))
        tokens = Words.whole(self._tokens(prompt))
        named: dict[str, Axis] = {
            key: tokens if not isinstance(axis, Grid) and len(axis) == len(tokens) else axis
            for key, axis in axes.items()
        }
        grouped = tuple(replace(each, group=_group(named[each.rows], named[each.columns])) for each in maps)
        cuts = self._cut(looked, said.masks[0], said.iou[0])
        output = cuts[:1] if prompt.clear else sorted(cuts[1:], key=lambda one: -one.score)
        told = ", ".join(f"{one.area} pixels {one.score:.0%}" for one in output)
        return Reading(self.name, named, grouped, trace, output, told), cuts

    def shown(self, looked: Looked) -> str:
        """What the model sees, for people to look at, with the padding over which its cells lie too."""
        canvas = Image.new("RGB", (self.model.config.size,) * 2)
        canvas.paste(self.seen(looked.picture), (0, 0))
        canvas.thumbnail((SHOWN, SHOWN))
        return data_url(canvas)

    def _scaled(self, looked: Looked, prompt: Prompt) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """A prompt in pixels of what the model sees."""
        height, width = looked.sides
        scale = torch.tensor([width / looked.picture.width, height / looked.picture.height], device=self.device)
        places = [*prompt.points, *prompt.not_points]
        points = torch.tensor([places], dtype=torch.float32, device=self.device) * scale if places else None
        kinds = [IN] * len(prompt.points) + [OUT] * len(prompt.not_points)
        labels = torch.tensor([kinds], device=self.device) if places else None
        boxes = None
        if prompt.box is not None:  # from pixel to pixel, of which the last is one before the end
            last = (looked.picture.width - 1, looked.picture.height - 1) * 2
            corners = [min(side, most) for side, most in zip(prompt.box, last, strict=True)]
            boxes = torch.tensor([corners], dtype=torch.float32, device=self.device) * scale.repeat(2)
        return points, labels, boxes

    def _inside(self, looked: Looked, masks: Float[Tensor, "p m y x"]) -> Float[Tensor, "p m i j"]:
        """The part of masks that is not padding, in their own size."""
        size = self.model.config.size
        rows, columns = (-(-side * across // size) for side, across in zip(looked.sides, masks.shape[-2:], strict=True))
        return masks[..., :rows, :columns]

    def _whole(self, looked: Looked, masks: Float[Tensor, "m y x"]) -> Float[Tensor, "m h w"]:
        """Logits of masks in the size of the picture."""
        size, (height, width) = self.model.config.size, looked.sides
        large = F.interpolate(masks[None], size=(size, size), mode="bilinear", align_corners=False)
        sides = looked.picture.height, looked.picture.width
        return F.interpolate(large[..., :height, :width], size=sides, mode="bilinear", align_corners=False)[0]

    def _cut(self, looked: Looked, masks: Float[Tensor, "m y x"], expected: Float[Tensor, " m"]) -> list[Cut]:
        """Masks in the size of the picture."""
        found = []
        for logits, score in zip(
            masks, expected.clamp(0, 1).tolist(), strict=True
        ):  # one by one: photographs are large
            drawn = self._whole(looked, logits[None])
            mask: np.ndarray = (drawn[0] > 0).cpu().numpy()
            found.append(Cut(mask, score, _box(mask), float(stability(drawn)[0])))
        return found

    def _score(self, known: Masked, index: int) -> list[tuple[str, dict[str, float]]]:
        """How well each mask of one picture is drawn, by prompt; and what kind of mask it is."""
        looked = self.see(known.picture(index))
        unsure = None if known.unsure is None else known.unsure(index)
        return [
            # What is published as neither is not clicked on and not scored.
            (kind, self._tried(looked, truth, np.ones_like(truth) if unsure is None else ~unsure))
            for kind, truths in known.masks(index).items()
            for truth in truths
        ]

    def _tried(self, looked: Looked, truth: np.ndarray, certain: np.ndarray) -> dict[str, float]:
        """How well one mask is drawn, by prompt."""
        row, points, not_points, wrong, rough = dict[str, float](), list[Point](), list[Point](), truth, None
        for clicks in range(1, CLICKS[-1] + 1):
            x, y = middle(wrong)
            (points if truth[y, x] else not_points).append((x, y))
            prompt = Prompt(tuple(points), tuple(not_points))
            said = self.ask(looked, prompt, rough)
            one = chosen(said, clear=prompt.clear)
            drawn = self._whole(looked, one.masks[0])[0].cpu().numpy() > 0
            if clicks in CLICKS:
                row["miou point" if clicks == 1 else f"miou {clicks} points"] = _iou(drawn, truth, certain)
            if clicks == 1:
                several = self._whole(looked, said.masks[0]).cpu().numpy() > 0
                row["miou single mask"] = _iou(several[0], truth, certain)
                row["miou best of several"] = max(_iou(each, truth, certain) for each in several[1:])
            rough, erring = one.masks, (drawn != truth) & certain
            wrong = erring if erring.any() else truth
        left, top, right, bottom = _box(truth)
        said = self.ask(looked, Prompt(box=(left, top, right - 1, bottom - 1)))
        drawn = self._whole(looked, said.masks[0, :1])[0].cpu().numpy() > 0
        return row | {"miou box": _iou(drawn, truth, certain)}

    def _tokens(self, prompt: Prompt) -> list[str]:
        """What the tokens of a prompt are called, in their order."""
        several = [f"mask {i + 1}" for i in range(self.model.config.masks)]
        places = [("in", point) for point in prompt.points] + [("not", point) for point in prompt.not_points]
        points = [f"{kind} {x:g},{y:g}" for kind, (x, y) in places]
        corners = ["first corner", "last corner"] if prompt.box is not None else ["nowhere"] if points else []
        return ["IoU", "single mask", *several, *points, *corners]


def stability(masks: Float[Tensor, "m y x"]) -> Float[Tensor, " m"]:
    """The share of what a lower threshold draws that a higher one draws too; 0 of what neither draws."""
    more, less = ((masks > side * OFFSET).sum(dim=(1, 2)) for side in (-1, 1))
    return less / more.clamp(min=1)


def _thresholds(said: Any, name: str) -> tuple[float, float]:
    """How sure and how stable a mask has to be among everything: by the card, since models differ in it."""
    if said is None:
        return SURE, STEADY
    known = isinstance(said, dict) and set(said) <= {"sure", "steady"}
    if not known or not all(isinstance(share, int | float) and 0 <= share <= 1 for share in said.values()):
        raise ValueError(f"the card of {name} says {said!r} of everything; give sure and steady, each from 0 to 1")
    return said.get("sure", SURE), said.get("steady", STEADY)


def _within(x: Number, y: Number, right: Number, bottom: Number, width: int, height: int) -> None:
    if not (0 <= x <= right and 0 <= y <= bottom):
        raise ValueError(
            f"{x:g}, {y:g} lies outside of the picture, which is {width} wide and {height} high; give x from 0 to "
            f"{right} and y from 0 to {bottom}"
        )


def _prompt(points: Sequence[Point], not_points: Sequence[Point], box: Box | None) -> Prompt:
    return Prompt(tuple(map(_point, points)), tuple(map(_point, not_points)), None if box is None else _corners(box))


def _point(given: Sequence[Number]) -> Point:
    if len(given) != 2:
        raise ValueError(f"{tuple(given)} is no point; give x and y in pixels")
    return float(given[0]), float(given[1])


def _corners(given: Sequence[Number]) -> Box:
    if len(given) != 4:
        raise ValueError(f"{tuple(given)} is no box; give left, top, right and bottom in pixels")
    left, top, right, bottom = (float(side) for side in given)
    return left, top, right, bottom


def _box(mask: Bool[np.ndarray, "h w"]) -> tuple[int, int, int, int]:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return 0, 0, 0, 0
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _iou(drawn: np.ndarray, truth: np.ndarray, certain: np.ndarray) -> float:
    either = ((drawn | truth) & certain).sum()
    return float(((drawn & truth) & certain).sum() / either) if either else 1.0


def _group(rows: Axis, columns: Axis) -> str:
    if isinstance(rows, Grid):
        return "places look at tokens"
    return "tokens look at places" if isinstance(columns, Grid) else "tokens look at tokens"


PIPELINE = Segment
