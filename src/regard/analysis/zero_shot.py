"""Zero-shot classification: the names of classes in sentences, as vectors that pictures are compared with.

A template has the name of a class at `{}`, or with its article at `{a}`: "There is {a}." is "There is an orange disc.".
The vector of a class is the mean over all templates (Radford 2021, §3.1.4), which is an ensemble at the price of one.
"""

from collections.abc import Callable, Sequence

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

# A few of those of the paper that differ most in what they say, and those of the world's own sentences.
PHOTOS: tuple[str, ...] = (
    "a photo of {a}.",
    "a photo of the {}.",
    "a close-up photo of {a}.",
    "a blurry photo of {a}.",
    "a bright photo of {a}.",
    "a dark photo of {a}.",
    "a good photo of {a}.",
    "a photo of one {}.",
)
WORLD: tuple[str, ...] = ("There is {a}.", "There is a small {}.", "There is a big {}.")


def sentence(template: str, label: str) -> str:
    """A template with the name of a class in it."""
    if "{}" not in template and "{a}" not in template:
        raise ValueError(f"the template {template!r} has no place for a class; write {{}} or {{a}} where it belongs")
    article = "an" if label[:1].lower() in set("aeiou") else "a"
    return template.replace("{a}", f"{article} {label}").replace("{}", label)


def class_vectors(
    encode: Callable[[Sequence[str]], Float[Tensor, "t j"]], labels: Sequence[str], templates: Sequence[str]
) -> Float[Tensor, "c j"]:
    """A vector of length 1 for each class: the mean of those of its sentences, each of length 1."""
    if not labels or not templates:
        raise ValueError(f"{len(labels)} classes in {len(templates)} templates make nothing to choose; give 1 or more")
    told = [sentence(template, label) for label in labels for template in templates]
    vectors = F.normalize(encode(told), dim=-1).unflatten(0, (len(labels), len(templates)))
    return F.normalize(vectors.mean(dim=1), dim=-1)
