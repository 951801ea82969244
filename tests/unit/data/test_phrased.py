"""Pictures of the world with a phrase."""

import numpy as np
import pytest

from regard.chance import Chance
from regard.data.phrased import BACK, Named, Phrase, say, world_phrases
from regard.world import Scene, Thing


def thing(kind: str, colour: str, x: float, fill: str = "plain", depth: float = 1.0) -> Thing:
    return Thing(kind, colour, 0.19, fill, x, 0.5, 0.0, depth)


def test_a_phrase_says_what_there_is_and_how_it_stands() -> None:
    scene = Scene((thing("disc", "red", 0.2), thing("star", "orange", 0.8, "striped", 2.0)))
    phrase = say(scene)
    assert str(phrase) == "a red disc left of an orange striped star"
    assert str(say(Scene(scene.things[::-1]))) == "an orange striped star right of a red disc"
    assert str(say(Scene(scene.things[:1]))) == "a red disc"
    assert [word for word, _ in phrase.words] == str(phrase).split()
    assert [which for _, which in phrase.words] == [0, 0, 0, -1, -1, 1, 1, 1, 1]


def test_things_that_stand_not_plainly_are_joined_by_and() -> None:
    phrase = Phrase((Named("disc", "red"), Named("star", "blue")))
    assert str(phrase) == "a red disc and a blue star"


def test_chance_leaves_fills_out_and_turns_a_phrase_around_without_changing_what_is_true() -> None:
    scene = Scene((thing("disc", "red", 0.2), thing("star", "blue", 0.8, "striped", 2.0)))
    said = {str(say(scene, Chance(0, "test", i))) for i in range(40)}
    assert said == {
        "a red disc left of a blue star",
        "a red disc left of a blue striped star",
        "a blue star right of a red disc",
        "a blue striped star right of a red disc",
    }
    assert all(BACK[BACK[way]] == way for way in BACK)


def test_scenes_have_one_big_thing_or_two_by_turns_and_splits_share_none() -> None:
    some = {split: world_phrases(split, 6) for split in ("train", "val", "test")}
    for known in some.values():
        assert [len(scene.things) for scene in known.scenes] == [1, 2] * 3
        assert all(one.scale == "big" for scene in known.scenes for one in scene.things)
    assert len({scene for known in some.values() for scene in known.scenes}) == 18
    with pytest.raises(ValueError, match="no split is called 'dev'"):
        world_phrases("dev")


def test_masks_are_those_of_the_things_in_their_order() -> None:
    known = world_phrases("test", 4)
    assert known.at(32).shape == (4, 32, 32, 3)
    for scene, masks in zip(known.scenes, known.masks(range(4), 32), strict=True):
        assert len(masks) == len(scene.things)
        for one, mask in zip(scene.things, masks, strict=True):
            down, across = (np.mean(each) / 32 for each in np.nonzero(mask))
            assert abs(across - one.x) < 0.15
            assert abs(down - one.y) < 0.15
