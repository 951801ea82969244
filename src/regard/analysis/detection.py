"""How well things are found: COCO's average precision, by its own scorer (Lin 2014)."""

import contextlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int64


@dataclass(frozen=True, slots=True, eq=False)
class Marked:
    """The things of one picture: corners in pixels, classes, how sure each is, and which are crowds."""

    boxes: Float[np.ndarray, "n 4"]  # left, top, right, bottom
    classes: Int64[np.ndarray, " n"]
    scores: Float[np.ndarray, " n"] | None = None  # None where it is the truth
    crowd: Bool[np.ndarray, " n"] | None = None


@dataclass(frozen=True, slots=True)
class Precision:
    """Average precision in hundredths: over overlaps of 0.5 to 0.95, and at 0.5 and 0.75 alone."""

    ap: float
    ap50: float
    ap75: float
    signature: str


def average_precision(found: Sequence[Marked], truth: Sequence[Marked], classes: int) -> Precision:
    """COCO's AP of what was found in some pictures; crowds are neither asked for nor counted."""
    scorer, version = _scorer()
    if len(found) != len(truth):
        raise ValueError(f"things in {len(found)} pictures do not go with the truth of {len(truth)}; give as many")
    with contextlib.redirect_stdout(io.StringIO()):  # it tells what it does
        real = _coco(truth, classes)
        rows = [row for i, each in enumerate(found) for row in _rows(i, each)]
        if not rows:
            return Precision(0.0, 0.0, 0.0, version)
        scoring = scorer(real, real.loadRes(rows), "bbox")
        scoring.evaluate()
        scoring.accumulate()
        scoring.summarize()
    ap, ap50, ap75 = (100 * max(float(value), 0.0) for value in scoring.stats[:3])
    return Precision(ap, ap50, ap75, version)


def _coco(truth: Sequence[Marked], classes: int) -> Any:
    from pycocotools.coco import COCO  # type: ignore[import-untyped]

    known = COCO()
    marks = [row for i, each in enumerate(truth) for row in _rows(i, each)]
    known.dataset = {
        "images": [{"id": i} for i in range(len(truth))],
        "categories": [{"id": i} for i in range(classes)],
        "annotations": [
            {**row, "id": number, "area": row["bbox"][2] * row["bbox"][3]} for number, row in enumerate(marks, 1)
        ],
        "info": {},
    }
    known.createIndex()
    return known


def _rows(picture: int, marked: Marked) -> list[dict[str, Any]]:
    sizes = marked.boxes[:, 2:] - marked.boxes[:, :2]
    rows = []
    for i, (corner, size, kind) in enumerate(zip(marked.boxes, sizes, marked.classes, strict=True)):
        row = {"image_id": picture, "category_id": int(kind), "bbox": [*map(float, corner[:2]), *map(float, size)]}
        row["iscrowd"] = int(marked.crowd[i]) if marked.crowd is not None else 0
        rows.append(row if marked.scores is None else {**row, "score": float(marked.scores[i])})
    return rows


def _scorer() -> tuple[Any, str]:
    try:
        from importlib.metadata import version

        from pycocotools.cocoeval import COCOeval  # type: ignore[import-untyped]
    except ImportError:
        raise ImportError(
            "average precision is scored by pycocotools; in a clone of regard, pip install '.[vision]'"
        ) from None
    return COCOeval, f"pycocotools {version('pycocotools')}, bbox, 100 a picture"
