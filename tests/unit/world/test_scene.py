"""Things, and what a person would say of two of them."""

from dataclasses import FrozenInstanceError, replace
from itertools import pairwise

import pytest

from regard.world.scene import COLOURS, FILLS, KINDS, MOST, SIZES, Scene, Thing, relations

MIDDLE = Thing("disc", "red", 0.19, "plain", 0.5, 0.5, 0.0, 1.0)


def said(a: Thing, b: Thing) -> frozenset[str]:
    return relations(Scene((a, b)), 0, 1)


def test_there_are_eight_kinds_and_colours_and_three_fills() -> None:
    assert len(set(KINDS)) == len(set(COLOURS)) == 8
    assert len(set(FILLS)) == 3


def test_a_scene_is_a_value() -> None:
    assert Scene((MIDDLE,)) == Scene((replace(MIDDLE),))
    assert hash(Scene((MIDDLE,))) == hash(Scene((replace(MIDDLE),)))
    with pytest.raises(FrozenInstanceError):
        MIDDLE.x = 0.1  # type: ignore[misc]


def test_sizes_have_names_with_gaps_between() -> None:
    bounds = list(SIZES.values())
    assert all(later[0] >= 1.25 * earlier[1] for earlier, later in pairwise(bounds))
    for name, ends in SIZES.items():
        assert {replace(MIDDLE, size=size).scale for size in ends} == {name}


@pytest.mark.parametrize(
    ("x", "y", "name"), [(0.1, 0.5, "left of"), (0.9, 0.5, "right of"), (0.5, 0.1, "above"), (0.5, 0.9, "below")]
)
def test_directions_are_those_of_the_picture(x: float, y: float, name: str) -> None:
    assert said(replace(MIDDLE, x=x, y=y), MIDDLE) == {name}


def test_a_diagonal_is_neither_beside_nor_above() -> None:
    assert said(replace(MIDDLE, x=0.1, y=0.1), MIDDLE) == frozenset()


def test_nearly_the_same_place_has_no_direction() -> None:
    assert said(replace(MIDDLE, x=0.45), MIDDLE) == frozenset()


def test_a_near_thing_is_in_front_only_of_what_it_hides() -> None:
    near = replace(MIDDLE, depth=0.6)
    assert "in front of" in said(replace(near, x=0.7), MIDDLE)
    assert "behind" in said(MIDDLE, replace(near, x=0.7))
    assert said(replace(near, x=0.95), MIDDLE) == {"right of"}


def test_overlapping_circles_are_not_enough_to_hide() -> None:
    # The right lower corner of the near triangle's circle is empty.
    far = replace(MIDDLE, kind="disc", x=0.74, y=0.35, size=0.1)
    near = replace(MIDDLE, kind="triangle", depth=0.6)
    assert (far.x - near.x) ** 2 + (far.y - near.y) ** 2 < (far.size + near.size) ** 2
    assert "in front of" not in said(near, far)


def test_the_same_depth_hides_nothing() -> None:
    assert "in front of" not in said(replace(MIDDLE, x=0.7), MIDDLE)


def test_a_small_thing_within_an_outline_is_inside_and_not_in_front() -> None:
    small = replace(MIDDLE, kind="star", size=0.085, depth=0.8)
    assert said(small, MIDDLE) == {"inside", "smaller than"}
    assert said(MIDDLE, small) == {"contains", "bigger than"}


def test_a_thing_seen_through_a_ring_is_inside_it_at_any_depth() -> None:
    ring = replace(MIDDLE, kind="ring", size=0.2)
    for depth in (0.8, 1.2):
        assert "inside" in said(replace(MIDDLE, size=0.085, depth=depth), ring)


def test_a_hidden_thing_is_not_inside_what_hides_it() -> None:
    assert "inside" not in said(replace(MIDDLE, size=0.085, depth=1.2), MIDDLE)


def test_nothing_relates_to_itself() -> None:
    assert relations(Scene((MIDDLE,)), 0, 0) == frozenset()


def test_errors_name_the_choices() -> None:
    with pytest.raises(ValueError, match="no kind is called 'blob'; choose disc, square"):
        replace(MIDDLE, kind="blob")
    with pytest.raises(ValueError, match="no colour is called 'puce'; choose red, orange"):
        replace(MIDDLE, colour="puce")
    with pytest.raises(ValueError, match=f"20 things do not make a scene; a scene has 1 to {MOST}"):
        Scene((MIDDLE,) * 20)
    with pytest.raises(ValueError, match="0 things do not make a scene"):
        Scene(())
    with pytest.raises(ValueError, match=r"size 0\.9 does not fit"):
        replace(MIDDLE, size=0.9)
    with pytest.raises(ValueError, match="is not on the stage; depths run from"):
        replace(MIDDLE, depth=7.0)
    with pytest.raises(IndexError, match="there is no thing 3 in a scene of 1"):
        relations(Scene((MIDDLE,)), 0, 3)
