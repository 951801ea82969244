"""Clips: things move, meet, hide and come back."""

from functools import cache

import numpy as np
import pytest

from regard.world.build import HELD_OUT_PAIRS
from regard.world.scene import Thing
from regard.world.video import Clip, _Body, _bounced, clip


def test_a_clip_is_the_same_each_time() -> None:
    assert clip(3, 4).frames == clip(3, 4).frames
    assert clip(3, 4).frames != clip(3, 5).frames


def test_a_longer_clip_continues_a_shorter_one() -> None:
    assert clip(0, 0, frames=20).frames[:8] == clip(0, 0, frames=8).frames


def test_things_move_but_keep_what_they_wear() -> None:
    film = clip(1, 0, frames=12)
    for frame in film.frames:
        assert [(t.kind, t.colour, t.fill, t.size, t.depth) for t in frame.things] == [
            (t.kind, t.colour, t.fill, t.size, t.depth) for t in film.frames[0].things
        ]
    assert (np.abs(np.diff(film.places, axis=0)).sum(axis=-1) > 0).all()


def test_tracks_are_the_places_of_the_things() -> None:
    film = clip(1, 0, frames=5)
    assert film.places.tolist() == [[[t.x, t.y] for t in frame.things] for frame in film.frames]


@pytest.mark.parametrize("index", range(4))
def test_nothing_leaves_the_picture(index: int) -> None:
    for frame in clip(2, index, frames=60).frames:
        assert all(0.9 * t.size < t.x < 1 - 0.9 * t.size for t in frame.things)
        assert all(0.9 * t.size < t.y < 1 - 0.9 * t.size for t in frame.things)


@cache
def films() -> list[Clip]:
    return [clip(6, index, frames=30, things=5) for index in range(8)]


def test_things_bounce_and_only_on_one_lane() -> None:
    met = [(film.frames[0].things[i], film.frames[0].things[j]) for film in films() for _, i, j in film.bounces]
    assert len(met) > 5
    assert all(a.depth == b.depth for a, b in met)


def test_a_bounce_keeps_the_momentum() -> None:
    a = _Body(Thing("disc", "red", 0.1, "plain", 0.4, 0.5, 0.0, 1.0), 0.01, 0.002, 0.0)
    b = _Body(Thing("disc", "red", 0.2, "plain", 0.6, 0.55, 0.0, 1.0), -0.01, 0.0, 0.0)
    after = _bounced(a, b)
    for measure in (
        lambda body: body.thing.size**2 * body.dx,
        lambda body: body.thing.size**2 * body.dy,
        lambda body: body.thing.size**2 * (body.dx**2 + body.dy**2),
    ):
        assert sum(map(measure, after)) == pytest.approx(sum(map(measure, (a, b))))
    assert after[0].dx < 0 < after[1].dx + 0.01


def test_things_hide_behind_each_other_and_come_back() -> None:
    shown = np.concatenate([film.shown(32).T for film in films()[:4]])
    hidden = shown.min(axis=1) < 0.4
    assert hidden.any()
    assert (shown[hidden].max(axis=1) > 0.9).any()


def test_the_pairs_of_a_split_hold_in_clips() -> None:
    worn = {(t.colour, t.kind) for index in range(40) for t in clip(0, index, frames=1).frames[0].things}
    assert not worn & HELD_OUT_PAIRS


def test_an_empty_clip_is_refused() -> None:
    with pytest.raises(ValueError, match="a clip of 0 frames shows nothing; give 1 or more"):
        clip(0, 0, frames=0)
