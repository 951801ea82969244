"""What speaks for a class: Grad-CAM, gradients, integrated gradients and occlusion, of the model as it was edited."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from regard.web.see.asked import Asked, Options
from regard.web.see.packing import pack_numbers
from regard.web.see.shown import image_of

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from regard.attention.core import Edit

SQUARES = 64 * 64  # pixels of a picture that is covered in half steps; of a larger one, whole steps must do


def decides(way: str) -> Callable[[Asked, Options], dict[str, Any]]:
    """A map of what speaks for a class."""

    def run(asked: Asked, options: Options) -> dict[str, Any]:
        from regard.decode.forcing import evaluating
        from regard.names import unknown

        reading, pipeline = asked.reading, asked.pipeline
        labels, said = list(getattr(pipeline, "labels", ())), reading.output
        if not labels or not hasattr(said, "scores"):
            raise ValueError(f"{reading.model} names no class of a whole picture; choose a model that does")
        label = options.label or said.label
        if label not in labels:
            raise ValueError(unknown("class", label, labels))
        with evaluating(pipeline.model):
            found = _decide(way, pipeline.model, image_of(asked), labels.index(label), asked.edits)
        height, width = found.shape
        chance = round(float(said.scores[label]), 6)
        return {"label": label, "probability": chance, "height": height, "width": width, "weights": pack_numbers(found)}

    return run


def _decide(way: str, model: Any, image: "Tensor", target: int, edits: "Mapping[str, Edit]") -> "np.ndarray":
    from regard.analysis.seeing import gradcam, gradients, integrated_gradients, occlusion
    from regard.attention import record

    if way == "gradcam":
        with record(model, edits=edits):
            return gradcam(model, image, target=target)
    says = _edited(model, edits)
    if way == "gradients":
        return gradients(says, image, target=target)
    if way == "integrated":
        # What speaks against the class is no part of where it is seen.
        summed = integrated_gradients(says, image, target=target).sum(dim=0)
        return summed.clamp(min=0).cpu().numpy()
    height, width = image.shape[-2:]
    side = max(2, min(height, width) // 8)
    stride = max(1, side // 2) if height * width <= SQUARES else side
    covered: np.ndarray = occlusion(says, image, patch=side, stride=stride, target=target).clip(0, None)
    return covered


def _edited(model: Any, edits: "Mapping[str, Edit]") -> Any:
    """The model with its edits. A scope for each call: one for all would keep what every one of them looked at."""
    from regard.attention import record

    def says(image: "Tensor") -> Any:
        with record(model, edits=edits):
            return model(image)

    return says if edits else model
