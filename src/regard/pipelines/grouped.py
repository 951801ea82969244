"""Zero-shot segmentation by a model that was taught captions alone (GroupViT), scored against the world's masks.

What is like no class is the ground; how unlike that is, is chosen on other pictures than it is scored on.
"""

from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Int

from regard.analysis.scores import Score
from regard.analysis.segmenting import mean_iou
from regard.analysis.zero_shot import WORLD, class_vectors
from regard.data.captioned import Captioned
from regard.data.captions import captioned
from regard.data.painted import LABELS
from regard.decode.forcing import evaluating

if TYPE_CHECKING:
    from regard.pipelines.match import Matching

LEAST = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)  # how alike a group and a class have to be, or the group is ground
TOGETHER = 64  # pictures that are segmented at once

Pair = tuple[Int[np.ndarray, "s s"], Int[np.ndarray, "s s"]]


def segmented(matching: "Matching", data: str, known: Captioned) -> dict[str, Score]:
    """The mIoU over colours and kinds of pictures of the world, beside that of the masks of other pictures.

    `known` are the pictures of `data` that are scored; the threshold is chosen on as many for validation.
    """
    val = captioned(data, "val", limit=len(known))
    fit = {least: mean_iou(masks(matching, val, least), len(LABELS))["miou"].value for least in LEAST}
    pairs = masks(matching, known, max(fit, key=lambda least: fit[least]))
    others = [(said, right) for (said, _), (_, right) in zip(pairs, pairs[1:] + pairs[:1], strict=True)]
    swapped = {f"masks of other pictures: {name}": each for name, each in mean_iou(others, len(LABELS)).items()}
    return mean_iou(pairs, len(LABELS)) | swapped


def masks(matching: "Matching", known: Captioned, least: float) -> list[Pair]:
    """The class of each pixel of pictures of the world as a model says it, and as it is; -1 is the ground."""
    if known.truth is None:
        raise ValueError("nobody knows the masks of these pictures; give those of the world")
    place = {label: i for i, label in enumerate(LABELS)}
    truths, said = [known.truth(i).picture for i in range(len(known))], list[np.ndarray]()
    vectors = class_vectors(lambda some: matching.texts(some, cut=True), LABELS, WORLD)
    with evaluating(matching.model), torch.inference_mode():
        for start in range(0, len(truths), TOGETHER):
            image = matching.processor([each.rgb for each in truths[start : start + TOGETHER]]).to(matching.device)
            said += list(matching.model.segment(image, vectors, least=least).cpu().numpy())
    found = []
    for picture, pixels in zip(truths, said, strict=True):
        named = [place[f"{thing.colour} {thing.kind}"] for thing in picture.scene.things]
        near = np.arange(picture.size) * len(pixels) // picture.size  # the model may see pictures of another size
        found.append((pixels[near][:, near], np.asarray([*named, -1])[picture.instance]))  # -1 is the last of them
    return found
