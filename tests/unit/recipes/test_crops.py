"""Crops of a DINO for whoever watches a run: the teacher answers for large ones, and a picture is one again."""

import base64
import io
import re
from typing import Any

import numpy as np
import torch
from PIL import Image

from regard.models import build
from regard.models.dino import example
from regard.recipes.crops import PICTURES, answers
from regard.vision import Processor


def test_the_teacher_answers_for_large_crops_and_the_student_for_all() -> None:
    model: Any = build("dino-nano")
    rows = answers(model, tuple(example(model.config).values()), Processor(), centred=True, temperature=0.04)
    assert [row["crop"] for row in rows[:5]] == ["large 1", "large 2", "small 1", "small 2", "small 3"]
    assert ["teacher" in row for row in rows[:5]] == [True, True, False, False, False]
    for row in rows:
        shares = [int(share) for share in re.findall(r"\d+ (\d+)%", row["student"])]
        assert len(shares) == 5
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) <= 102  # each is rounded


def test_a_run_without_small_crops_shows_the_large_ones_of_a_few_pictures() -> None:
    model: Any = build("dino-nano")
    rows = answers(model, (torch.randn(8, 2, 3, 16, 16),), Processor(), centred=False, temperature=0.1)
    assert len(rows) == 2 * PICTURES


def test_a_crop_is_painted_as_it_was_before_it_became_numbers() -> None:
    model: Any = build("dino-nano")
    processor = Processor()
    grey = np.full((1, 16, 16, 3), 200, np.uint8)
    large = processor.numbers(grey)[:, None].repeat(1, 2, 1, 1, 1)
    seen = answers(model, (large,), processor, centred=True, temperature=0.04)[0]["seen"]
    picture = Image.open(io.BytesIO(base64.b64decode(seen.partition(",")[2])))
    assert np.abs(np.asarray(picture).astype(int) - 200).max() <= 3
