"""What holds of every picture of the little world."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from regard.chance import Chance
from regard.world.build import DEPTHS, SPLITS, scene
from regard.world.picture import render, render_batch
from regard.world.scene import COLOURS, FILLS, KINDS, Backdrop, Light, Scene, Thing, relations
from regard.world.stereo import stereo, warp

seeds = st.integers(0, 2**64 - 1)
sizes = st.integers(24, 72)


def wild(seed: int) -> Scene:
    """A scene that no builder would make: things of any size, over each other and half out of the picture."""
    chance = Chance(seed, "wild")
    things = tuple(
        Thing(
            kind=chance.choose(KINDS),
            colour=chance.choose(COLOURS),
            size=chance.uniform(0.05, 0.4),
            fill=chance.choose(FILLS),
            x=chance.uniform(-0.2, 1.2),
            y=chance.uniform(-0.2, 1.2),
            angle=chance.uniform(-360.0, 360.0),
            depth=chance.choose(DEPTHS),
        )
        for _ in range(1 + chance.below(6))
    )
    backdrop = Backdrop(horizon=chance.uniform(0.3, 0.9), hills=chance.uniform(0.0, 0.3), phase=chance.uniform())
    return Scene(things, backdrop, Light(chance.uniform(-180.0, 180.0), chance.uniform()))


def built(seed: int) -> Scene:
    return scene(seed, seed % 1000, split=tuple(SPLITS)[seed % len(SPLITS)])


@given(seeds, sizes)
def test_masks_tile_the_picture(seed: int, size: int) -> None:
    picture = render(wild(seed), size)
    assert (picture.visible.sum(axis=0) + picture.backdrop == 1).all()


@given(seeds, sizes)
def test_whole_masks_contain_visible_ones(seed: int, size: int) -> None:
    picture = render(wild(seed), size)
    assert not (picture.visible & ~picture.whole).any()
    assert ((picture.shown >= 0) & (picture.shown <= 1)).all()


@given(seeds, sizes)
def test_what_is_seen_is_the_nearest(seed: int, size: int) -> None:
    picture = render(wild(seed), size)
    for index, thing in enumerate(picture.scene.things):
        for other, whole in enumerate(picture.whole):
            if picture.scene.things[other].depth < thing.depth:
                assert not (picture.visible[index] & whole).any()


@given(seeds, sizes)
def test_boxes_hold_their_masks_and_no_more(seed: int, size: int) -> None:
    picture = render(wild(seed), size)
    for masks, boxes in ((picture.visible, picture.boxes), (picture.whole, picture.whole_boxes)):
        for mask, (left, top, right, bottom) in zip(masks, boxes.tolist(), strict=True):
            assert mask[top:bottom, left:right].sum() == mask.sum()
            if mask.any():
                rows, columns = mask.any(axis=1), mask.any(axis=0)
                assert rows[top]
                assert rows[bottom - 1]
                assert columns[left]
                assert columns[right - 1]


@given(seeds)
def test_built_things_are_seen(seed: int) -> None:
    picture = render(built(seed))
    assert picture.shown.min() > 0.3
    assert (picture.visible.sum(axis=(1, 2)) >= 20).all()


@given(seeds, st.sampled_from([64, 128]))
def test_the_right_eye_warped_is_the_left_one(seed: int, size: int) -> None:
    pair = stereo(built(seed), size)
    there = np.clip((np.arange(size) - pair.disparity).astype(int), 0, size - 1)
    clear = ~(pair.occluded | pair.left.edges | pair.right.edges[np.arange(size)[:, None], there])
    difference = np.abs(warp(pair.right.rgb, pair.disparity).astype(int) - pair.left.rgb)
    assert difference[clear].max() <= 1


@given(seeds)
def test_light_and_backdrop_change_no_mask(seed: int) -> None:
    lit, plain = render(wild(seed)), render(Scene(wild(seed).things))
    assert (plain.instance == lit.instance).all()
    assert (plain.whole == lit.whole).all()


@given(seeds, sizes)
def test_the_order_of_a_batch_does_not_matter(seed: int, size: int) -> None:
    several = [wild(seed + i) for i in range(4)]
    assert (render_batch(several, size)["rgb"] == render_batch(several[::-1], size)["rgb"][::-1]).all()


OPPOSITE = {
    "left of": "right of",
    "above": "below",
    "in front of": "behind",
    "inside": "contains",
    "bigger than": "smaller than",
}


@given(seeds)
def test_relations_have_opposites(seed: int) -> None:
    there_is = wild(seed)
    count = len(there_is.things)
    for a in range(count):
        for b in range(count):
            there, back = relations(there_is, a, b), relations(there_is, b, a)
            for name, opposite in OPPOSITE.items():
                assert (name in there) == (opposite in back)
                assert not {name, opposite} <= there


@given(seeds)
def test_who_is_in_front_hides_pixels(seed: int) -> None:
    there_is = built(seed)
    picture = render(there_is, 128)
    for a in range(len(there_is.things)):
        for b in range(len(there_is.things)):
            if "in front of" in relations(there_is, a, b):
                assert (picture.whole[a] & picture.whole[b]).sum() > 0.05 * picture.whole[b].sum()
