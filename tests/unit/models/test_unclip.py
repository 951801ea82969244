"""From the vector of a text to that of a picture, and from there to the picture."""

from dataclasses import replace

import pytest
import torch

from regard.models import build
from regard.models.unclip import PRESETS, example


@torch.no_grad()
def test_vectors_that_were_made_before_are_as_good_as_pictures_and_texts() -> None:
    model = build("unclip-nano").eval()
    given = example(model.config)
    seen, told = model.see(given["image"]), model.read(given["ids"], lengths=given["lengths"])
    ours = model(given["noised"], given["hazy"], given["time"], seen=seen, told=told)
    for mine, theirs in zip(ours, model(**given), strict=True):
        assert mine.equal(theirs)
    with pytest.raises(ValueError, match="CLIP is given pictures or their vectors"):
        model(given["noised"], given["hazy"], given["time"], seen=seen)


@torch.no_grad()
def test_vectors_have_the_size_of_noise() -> None:
    model = build("unclip-nano").eval()
    given = example(model.config)
    for vector in (model.see(given["image"]), model.lengthen(torch.randn(2, 16))):
        torch.testing.assert_close(vector.square().mean(dim=-1), torch.ones(2))


def test_clip_is_not_trained() -> None:
    assert not any(each.requires_grad for each in build("unclip-nano").clip.parameters())


def test_sizes_that_say_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="0 tokens and a prior of depth 1 say nothing"):
        replace(PRESETS["unclip-nano"], tokens=0)
