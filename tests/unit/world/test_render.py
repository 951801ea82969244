"""Pictures and the truth about them."""

import subprocess
import sys
from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest

from regard.chance import Chance
from regard.world import noise
from regard.world.build import scenes
from regard.world.painter import OUTPUTS
from regard.world.paper import PALETTE, PIGMENTS
from regard.world.picture import Picture, boxes, render, render_batch, room
from regard.world.scene import COLOURS, KINDS, PALETTES, UNSEEN_PALETTES, Scene, Thing
from regard.world.silhouette import SILHOUETTES, turned

SOME = list(scenes(seed=21)[:24])
DISC = Thing("disc", "red", 0.19, "plain", 0.5, 0.5, 0.0, 1.0)


def grid(side: int, reach: float) -> tuple[np.ndarray, np.ndarray]:
    places = ((np.arange(side) + 0.5) / side * 2 - 1) * reach
    x, y = np.meshgrid(places, places)
    return x.astype(np.float32), y.astype(np.float32)


@pytest.mark.parametrize("kind", KINDS)
def test_a_silhouette_fits_the_unit_circle_and_fills_a_good_part_of_it(kind: str) -> None:
    x, y = grid(256, 1.2)
    inside = SILHOUETTES[kind](x, y) < 0
    assert np.sqrt(x * x + y * y)[inside].max() <= 1.01
    area = inside.mean() * 2.4**2
    assert 1.0 < area < 2.6


@pytest.mark.parametrize("kind", KINDS)
def test_a_silhouette_is_measured_in_true_distances_near_its_border(kind: str) -> None:
    x, y = grid(400, 1.2)
    distance = SILHOUETTES[kind](x, y)
    down, right = np.gradient(distance.astype(np.float64), 2.4 / 400)
    slope = np.hypot(down, right)[np.abs(distance) < 0.05]
    # Where two edges meet the slope may be less, but nowhere more, or borders would not be one pixel wide.
    assert np.quantile(slope, 0.02) > 0.9
    assert slope.max() < 1.05


def test_angles_turn_as_they_do_in_the_library_of_mathematics() -> None:
    angles = np.linspace(-720, 720, 1441)
    cosine, sine = turned(angles)
    np.testing.assert_allclose(cosine, np.cos(np.deg2rad(angles)), atol=1e-12)
    np.testing.assert_allclose(sine, np.sin(np.deg2rad(angles)), atol=1e-12)


def test_colours_are_far_apart() -> None:
    assert set(PIGMENTS) == set(COLOURS)
    assert set(PALETTE) == set(PALETTES + UNSEEN_PALETTES)
    pigments = np.array([PIGMENTS[colour] for colour in COLOURS], float)
    apart = np.sqrt(((pigments[:, None] - pigments[None]) ** 2).sum(-1)) + 1000 * np.eye(8)
    assert apart.min() > 70


@pytest.mark.parametrize("colour", COLOURS)
def test_a_thing_has_its_colour(colour: str) -> None:
    picture = render(Scene((replace(DISC, colour=colour),)))
    mean = picture.rgb[picture.visible[0]].mean(axis=0)
    distances = {name: float(((mean - pigment) ** 2).sum()) for name, pigment in PIGMENTS.items()}
    assert min(distances, key=distances.__getitem__) == colour


def test_every_output_has_its_shape_and_type() -> None:
    picture = render(SOME[1], 48)
    things = len(SOME[1].things)
    assert picture.size == 48
    assert (picture.rgb.shape, picture.rgb.dtype.name) == ((48, 48, 3), "uint8")
    assert (picture.depth.shape, picture.depth.dtype.name) == ((48, 48), "float32")
    assert (picture.instance.shape, picture.instance.dtype.name) == ((48, 48), "int8")
    assert picture.visible.shape == picture.whole.shape == (things, 48, 48)
    assert picture.boxes.shape == picture.whole_boxes.shape == (things, 4)


def test_depth_is_that_of_the_thing_that_is_seen() -> None:
    for scene in SOME:
        picture = render(scene)
        for index, thing in enumerate(scene.things):
            assert (picture.depth[picture.visible[index]] == np.float32(thing.depth)).all()
        assert set(np.unique(picture.depth[picture.backdrop])) <= {2.0, 3.0, 6.0}


def test_nearer_things_hide_farther_ones() -> None:
    near, far = replace(DISC, depth=0.75), replace(DISC, colour="blue", kind="square", depth=1.5)
    for things in ((near, far), (far, near)):
        picture = render(Scene(things))
        front = things.index(near)
        assert (picture.visible[front] == picture.whole[front]).all()
        both = picture.whole[0] & picture.whole[1]
        assert (picture.instance[both] == front).all()
        assert both.any()


def test_boxes_are_tight() -> None:
    masks = np.zeros((3, 10, 12), np.bool_)
    masks[0, 2:5, 3:9] = True
    masks[1, 9, 11] = True
    assert boxes(masks).tolist() == [[3, 2, 9, 5], [11, 9, 12, 10], [0, 0, 0, 0]]


def test_edges_are_where_surfaces_meet() -> None:
    picture = render(Scene((DISC,)), 128)
    inner = np.zeros((128, 128), np.bool_)
    inner[1:-1, 1:-1] = True
    change = np.zeros((128, 128), np.bool_)
    change[:, 1:] |= picture.instance[:, 1:] != picture.instance[:, :-1]
    change[1:] |= picture.instance[1:] != picture.instance[:-1]
    near = change.copy()
    for axis in (0, 1):
        near |= np.roll(near, 1, axis) | np.roll(near, -1, axis)
    assert (picture.edges & near & inner).sum() > 100
    # The disc's own border lies within the reach of an instance change; the rest are the two ridges.
    assert not picture.edges[picture.whole[0] & ~near].any()


def test_borders_are_smooth() -> None:
    picture = render(Scene((replace(DISC, colour="blue"),)), 64)
    assert len(np.unique(picture.rgb[32, :, 0])) > 12


def test_one_of_a_batch_equals_it_alone() -> None:
    together = render_batch(SOME, 40, outputs=OUTPUTS)
    for row, scene in enumerate(SOME):
        alone = render(scene, 40)
        for name in OUTPUTS:
            mine = together[name][row]
            assert (mine[: len(scene.things)] if name == "whole" else mine).tolist() == getattr(alone, name).tolist()
        assert not together["whole"][row, len(scene.things) :].any()


def test_only_what_is_asked_for_is_given() -> None:
    assert set(render_batch(SOME[:2])) == {"rgb"}
    masks = render_batch(SOME, 64, outputs=("instance",))
    assert set(masks) == {"instance"}
    assert (masks["instance"] == render_batch(SOME, 64, outputs=OUTPUTS)["instance"]).all()
    assert render_batch([], 64)["rgb"].shape == (0, 64, 64, 3)


@pytest.mark.parametrize(("small", "apart"), [(32, 3.0), (64, 2.0), (128, 1.0)])
def test_a_scene_looks_the_same_at_any_size(small: int, apart: float) -> None:
    for scene in SOME[:8]:
        large = render(scene, 2 * small).rgb.astype(float)
        down = large.reshape(small, 2, small, 2, 3).mean(axis=(1, 3))
        difference = np.abs(down - render(scene, small).rgb)
        assert difference.mean() < apart
        assert np.median(difference) < 1.0


def digest(size: int) -> int:
    seen = render_batch(SOME[:8], size, outputs=OUTPUTS)
    return crc32(b"".join(np.ascontiguousarray(seen[name]).tobytes() for name in OUTPUTS))


def test_another_process_paints_the_same_picture() -> None:
    code = (
        "import numpy as np; from zlib import crc32; from regard.world import scenes; "
        "from regard.world.picture import OUTPUTS, render_batch; "
        "seen = render_batch(scenes(seed=21)[:8], 50, outputs=OUTPUTS); "
        "print(crc32(b''.join(np.ascontiguousarray(seen[name]).tobytes() for name in OUTPUTS)))"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(there) == digest(50)


def test_pictures_are_the_ones_that_were_published() -> None:
    # Change these numbers only together with view.VERSION: trained models have seen the old pictures.
    assert (digest(64), digest(33)) == (507570671, 988097622)


def test_the_backdrop_is_not_one_colour() -> None:
    picture = render(SOME[0])
    assert picture.rgb[picture.backdrop].std(axis=0).min() > 2


def test_fills_can_be_told_apart() -> None:
    spread = {fill: render(Scene((replace(DISC, fill=fill),))) for fill in ("plain", "striped", "dotted")}
    green = {fill: p.rgb[p.visible[0] & ~p.edges][:, 1].std() for fill, p in spread.items()}
    assert green["plain"] < 0.2 * min(green["striped"], green["dotted"])
    assert np.abs(spread["striped"].rgb.astype(int) - spread["dotted"].rgb)[spread["plain"].visible[0]].mean() > 10


def test_random_arrays_are_uniform_and_bell_shaped() -> None:
    flat = noise.uniform(Chance(0, "flat"), 100, 100)
    assert abs(flat.mean() - 0.5) < 0.01
    assert abs(flat.var() - 1 / 12) < 0.003
    bell = noise.normal(Chance(0, "bell"), 100, 100)
    assert abs(bell.mean()) < 0.04
    assert abs(bell.std() - 1) < 0.03
    assert (noise.uniform(Chance(0, "flat"), 100, 100) == flat).all()


@pytest.mark.parametrize(("size", "most"), [(8, 1), (16, 4), (24, 9), (64, 64)])
def test_room_grows_with_the_picture(size: int, most: int) -> None:
    assert room(size) == most


def test_errors_say_what_would_be_possible() -> None:
    nine = Scene((DISC,) * 9)
    with pytest.raises(ValueError, match=r"9 things do not fit 16 pixels.*up to 4 things, or for 24 pixels"):
        render(nine, 16)
    assert isinstance(render(nine, 24), Picture)
    with pytest.raises(ValueError, match="a picture of 0 pixels shows nothing; the smallest is 8"):
        render(nine, 0)
    with pytest.raises(ValueError, match="no output is called 'normals'; choose from rgb, depth"):
        render_batch(SOME[:1], outputs=("normals",))
