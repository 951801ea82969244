"""Features as colours: the first three principal components behind each block, of the model as it was edited."""

from typing import Any

from regard.web.see.asked import Asked, Options
from regard.web.see.packing import pack_bytes
from regard.web.see.shown import image_of


def colours(asked: Asked, _: Options) -> dict[str, Any]:
    """The first three principal components of the features behind each block, as red, green and blue."""
    import torch

    from regard.analysis.seeing import feature_colours, streams
    from regard.attention import record
    from regard.decode.forcing import evaluating

    image, model = image_of(asked), asked.pipeline.model
    with torch.no_grad(), evaluating(model), record(model, edits=asked.edits):
        kept, _said = streams(model, image)
    large = {name: each for name, each in kept.items() if each.shape[1] * each.shape[2] > 2}
    painted = {name: feature_colours(each)[0] for name, each in large.items()}
    maps = [
        {"name": name, "height": each.shape[0], "width": each.shape[1], "pixels": pack_bytes(each.tobytes())}
        for name, each in painted.items()
    ]
    return {"maps": maps}
