"""What a DINO is shown and says of it, for whoever watches a run: crops of held-out pictures, with both its answers."""

from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from regard.models.dino import DINO
    from regard.vision import Processor

PICTURES = 3  # that are shown
TOP = 5  # classes of an answer that are told


def answers(
    model: "DINO", given: "Sequence[Tensor]", processor: "Processor", *, centred: bool, temperature: float
) -> list[dict[str, str]]:
    """Each crop of the first pictures, what the student says of it, and of large ones what the teacher says.

    `given` are large crops and, if there are any, small ones, as the model is given them. An answer names its likeliest
    classes, as in “412 31%, 7 12%”; they have no other names.
    """
    import torch

    from regard.models.dino import TEMPERATURE, sharpen

    shown = [each[:PICTURES].to(model.centre.device) for each in given]
    with torch.no_grad():
        said = model(*shown)
    taught = sharpen(said.teacher, model.centre if centred else None, temperature)
    guessed = sharpen(said.student, None, TEMPERATURE)
    rows = []
    for picture in range(len(taught)):
        names = [
            f"{size} {i + 1}"
            for size, each in zip(("large", "small"), shown, strict=False)
            for i in range(each.shape[1])
        ]
        crops = [crop for each in shown for crop in each[picture]]
        for name, crop, student, teacher in zip_longest(names, crops, guessed[picture], taught[picture]):
            row = {"picture": str(picture + 1), "crop": name, "seen": _painted(crop, processor)}
            row |= {"classes": str(len(student)), "student": _told(student)}
            rows.append(row if teacher is None else row | {"teacher": _told(teacher)})
    return rows


def _painted(crop: "Tensor", processor: "Processor") -> str:
    """A crop as it was before it became numbers, in the address of a picture."""
    import base64
    from io import BytesIO

    import torch
    from PIL import Image

    mean, std = (torch.tensor(each)[:, None, None] for each in (processor.image_mean, processor.image_std))
    pixels = (crop.cpu().float() * std + mean).clamp(0, 1).mul(255).round().byte().permute(1, 2, 0).numpy()
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, format="jpeg", quality=85)  # a quarter of a PNG, and it is kept at each score
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _told(answer: "Tensor") -> str:
    """The likeliest classes of an answer."""
    share, number = answer.topk(min(TOP, len(answer)))
    return ", ".join(f"{n} {100 * p:.0f}%" for n, p in zip(number.tolist(), share.tolist(), strict=True))
