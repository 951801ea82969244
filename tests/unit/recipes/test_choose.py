"""Flags that would change nothing are refused before anything is read."""

from typing import Any

import pytest

from regard.recipes import colearn, dino, lupi, monodepth


@pytest.mark.parametrize(
    ("module", "given", "said"),
    [
        (lupi, {"temperature": 2.0}, "--temperature 2.0 has no effect without a --teacher; leave it out"),
        (monodepth, {"supervised": True, "agree": 0.5}, "--agree 0.5 has no effect with --supervised; leave it out"),
        (colearn, {"supervised": True, "sure": 0.5}, "--sure 0.5 has no effect with --supervised; leave it out"),
        (dino, {"sharpen": False, "warm": 0.04}, "--warm 0.04 has no effect with --no-sharpen; leave it out"),
        (dino, {"centre": False, "centre_momentum": 0.9}, "--centre-momentum 0.9 has no effect with --no-centre"),
    ],
)
def test_a_flag_without_effect_is_refused(module: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        module.build(module.Recipe(**given))
