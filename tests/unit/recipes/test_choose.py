"""Flags that would change nothing are refused before anything is read."""

from pathlib import Path
from typing import Any

import pytest

from regard.recipes import caption, colearn, dino, lupi, mae, match, monodepth, perceive


@pytest.mark.parametrize(
    ("module", "given", "said"),
    [
        (lupi, {"temperature": 2.0}, "--temperature 2.0 has no effect without a --teacher; leave it out"),
        (lupi, {"pictures": 50}, "--pictures 50 has no effect without a --teacher; leave it out"),
        (mae, {"scales": (1, 2), "scale": 0.5}, "--scale 0.5 has no effect with --scales, whose windows are met"),
        (dino, {"crops": 0, "least": 0.2}, "--least 0.2 has no effect with --crops 0; leave it out"),
        (caption, {"doubly": 0.5, "limit": 9}, "--doubly 0.5 has no effect on a model whose way is transformer"),
        (monodepth, {"supervised": True, "agree": 0.5}, "--agree 0.5 has no effect with --supervised; leave it out"),
        (colearn, {"supervised": True, "sure": 0.5}, "--sure 0.5 has no effect with --supervised; leave it out"),
        (dino, {"sharpen": False, "warm": 0.06}, "--warm 0.06 has no effect with --no-sharpen; leave it out"),
        (match, {"text": "minilm", "vocab": 900}, "--vocab 900 has no effect with --text, which brings a tokenizer"),
        (match, {"text": "minilm", "lower": False}, "--no-lower has no effect with --text, which brings a tokenizer"),
        (perceive, {"augment": False, "speed": 0.3}, "--speed 0.3 has no effect with --no-augment; leave it out"),
        (dino, {"centre": False, "centre_momentum": 0.8}, "--centre-momentum 0.8 has no effect with --no-centre"),
    ],
)
def test_a_flag_without_effect_is_refused(module: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        module.build(module.Recipe(**given))


@pytest.mark.parametrize(
    ("end", "given", "said"),
    [
        ("wav", {"points": 9}, "--points 9 has no effect on sounds, which .* has; leave it out"),
        ("wav", {"turn": 180.0}, "--turn 180.0 has no effect on sounds"),
        ("npy", {"speed": 0.3}, "--speed 0.3 has no effect on points"),
        ("npy", {"shift": 0.3}, "--shift 0.3 has no effect on points"),
        ("npy", {"masks": 2}, "--masks 2 has no effect on points"),
    ],
)
def test_a_flag_is_refused_that_varies_other_things(end: str, given: dict[str, Any], said: str, tmp_path: Path) -> None:
    for split in ("train", "val"):
        for kind in ("one", "other"):
            (tmp_path / split / kind).mkdir(parents=True)
            (tmp_path / split / kind / f"1.{end}").touch()  # files are opened as they are met
    with pytest.raises(ValueError, match=said):
        perceive.build(perceive.Recipe(data=str(tmp_path), **given))
