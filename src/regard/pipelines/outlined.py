"""How well attention outlines the thing in a picture that nobody pointed at, by true masks (Caron 2021, figure 4).

In percent: `IoU` of the mask of the head that is best on other pictures, `pointing` and `covers` of the mean of all
heads in the last layer; beside each what knows nothing of the picture has. Every model meets the same squares.
"""

import time
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, UInt8
from torch import Tensor

from regard.analysis.scores import mean
from regard.analysis.seeing.heads import MASS, best_head, head_overlaps, mask_of, middle_disc, overlap
from regard.analysis.seeing.pointing import CHANCE, MIDDLE, OF_ATTENTION, Marked, marked, score_maps
from regard.decode.forcing import evaluating
from regard.pipelines.pipeline import Evaluation
from regard.progress import Progress

if TYPE_CHECKING:
    from regard.pipelines.pictured import Pictured

COUNT = 1000  # pictures, where nobody says how many


def outlined(pipeline: "Pictured", data: str, split: str, limit: int, progress: Progress | None) -> Evaluation:
    """Scores of the attention of a model on so many pictures with a mask each; nothing is asked of its classes."""

    def read(pixels: UInt8[np.ndarray, "n h w 3"]) -> Float[Tensor, "n c h w"]:
        image = pipeline.processor.numbers(pixels)
        return (image.mean(dim=1, keepdim=True) if pipeline.channels == 1 else image).to(pipeline.device)

    began = time.perf_counter()
    size = pipeline.model.config.size
    pictures = marked(split, limit or COUNT, data=data, size=size, named=False, read=read)
    with evaluating(pipeline.model):
        heads = head_overlaps(pipeline.model, pictures, progress=progress)
        ways = score_maps(pipeline.model, pictures, ways=(*OF_ATTENTION, MIDDLE, CHANCE))
    found = {"IoU": mean(best_head(heads).tolist())}
    found |= {f"IoU/head {head}": mean(each.tolist()) for head, each in enumerate(heads.T)}
    found["IoU/best of each picture"] = mean(heads.max(axis=1).tolist())  # by who knows the mask
    found |= {f"IoU/{name}": mean(each.tolist()) for name, each in _blind(pictures).items()}
    for name, scores in (
        ("pointing", {way: each.points for way, each in ways.items()}),
        ("covers", {way: each.covers for way, each in ways.items()}),
    ):
        found |= {name if way == OF_ATTENTION[0] else f"{name}/{way}": score for way, score in scores.items()}
    settings = {"pixels": size, "mass": MASS} | ({} if pictures.unsure is None else {"border": "not scored"})
    return Evaluation(pipeline.name, data, split, len(pictures), time.perf_counter() - began, found, settings)


def _blind(pictures: Marked) -> dict[str, Float[np.ndarray, " n"]]:
    """The IoU of masks that know nothing of the picture, the disc but for how large things are on average."""
    masks = pictures.masks
    disc = np.broadcast_to(middle_disc(masks), masks.shape)
    drawn = mask_of(np.random.default_rng(0).random(masks.shape, np.float32))
    known = {"disc in the middle": disc, "whole picture": np.ones_like(masks), CHANCE: drawn}
    return {name: overlap(said[:, None], masks, pictures.unsure)[:, 0] for name, said in known.items()}
