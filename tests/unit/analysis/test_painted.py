"""Whether pictures are as they were asked for."""

from typing import Any

import numpy as np
import pytest

from regard.analysis.painted import (
    Seen,
    as_asked,
    colour_of,
    hold_against,
    judge,
    look,
    score_words,
    swap,
)
from regard.data.phrased import Named, Phrase, world_phrases
from regard.world import COLOURS, render
from regard.world.picture import boxes

LEFT, RIGHT = (0.1, 0.4, 0.3, 0.6), (0.7, 0.4, 0.9, 0.6)
PHRASE = Phrase((Named("disc", "red"), Named("star", "blue")), "left of")


def test_what_is_there_is_as_it_was_asked_for() -> None:
    verdict = hold_against(PHRASE, [Seen("star", "blue", RIGHT), Seen("disc", "red", LEFT)])
    assert verdict.whole
    assert verdict.boxes == (LEFT, RIGHT)


def test_colours_that_changed_places_are_no_hits_though_both_are_there() -> None:
    verdict = hold_against(PHRASE, [Seen("star", "red", RIGHT), Seen("disc", "blue", LEFT)])
    assert verdict.kinds == (True, True)
    assert verdict.both == (False, False)
    assert not verdict.relation


def test_things_that_changed_places_are_right_but_for_their_relation() -> None:
    verdict = hold_against(PHRASE, [Seen("star", "blue", LEFT), Seen("disc", "red", RIGHT)])
    assert verdict.both == (True, True)
    assert verdict.relation is False
    assert not verdict.whole


def test_what_is_missing_is_wrong_and_what_is_too_much_spoils_the_picture_alone() -> None:
    missing = hold_against(PHRASE, [Seen("disc", "red", LEFT)])
    assert missing.both == (True, False)
    assert missing.boxes == (LEFT, None)
    one = Phrase((Named("disc", "red"),))
    crowded = hold_against(one, [Seen("disc", "red", LEFT), Seen("ring", "pink", RIGHT)])
    assert crowded.both == (True,)
    assert crowded.relation is None
    assert not crowded.whole
    found = as_asked([missing, crowded])
    assert found["kind and colour"].value == pytest.approx(200 / 3)
    assert found["relation"].value == 0
    assert hold_against(one, []).both == (False,)


def test_a_picture_full_of_things_is_not_right_because_one_of_them_would_be() -> None:
    one = Phrase((Named("disc", "red"),))
    clutter = [Seen(kind, colour, LEFT) for kind in ("star", "ring", "disc") for colour in ("blue", "red")]
    assert hold_against(one, clutter).both == (False,)
    assert hold_against(one, clutter[::-1]).both == (True,)  # the surest first


def test_swapped_phrases_are_those_of_others_with_as_many_things() -> None:
    phrases = [world_phrases("test", 8).phrase(i) for i in range(8)]
    swapped = swap(phrases)
    assert [len(each.things) for each in swapped] == [len(each.things) for each in phrases]
    assert sorted(map(str, swapped)) == sorted(map(str, phrases))
    assert all(mine is not other for mine, other in zip(phrases, swapped, strict=True))


def test_the_pixels_of_true_pictures_tell_their_colours() -> None:
    known, right, count = world_phrases("test", 60), 0, 0
    for scene in known.scenes:
        picture = render(scene, 96)
        for thing, box, mask in zip(scene.things, boxes(picture.visible), picture.visible, strict=True):
            if mask.any():
                right += colour_of(picture.rgb, tuple(map(float, box))) == thing.colour
                count += 1
    assert right / count > 0.95
    assert colour_of(np.zeros((8, 8, 3), np.uint8), (20.0, 20.0, 30.0, 30.0)) in COLOURS


def test_a_judge_enlarges_pictures_and_asks_its_detector() -> None:
    known = world_phrases("test", 4)
    truth = [known.phrase(i) for i in range(4)]
    asked: list[Any] = []

    def detect(pictures):  # type: ignore[no-untyped-def]
        asked.extend(each.size for each in pictures)
        return [
            [
                (one.kind, tuple(96 / 32 * side for side in box))
                for one, box in zip(scene.things, boxes(masks), strict=True)
            ]
            for scene, masks in zip(known.scenes, known.masks(range(4), 32), strict=True)
        ]

    verdicts = judge(truth, look(list(known.at(32)), detect))
    assert asked == [(96, 96)] * 4
    assert all(all(each.kinds) for each in verdicts)


def test_maps_of_words_are_scored_by_what_the_words_name() -> None:
    mask = np.zeros((8, 8), bool)
    mask[:4, :4] = True
    right, wrong = np.zeros((4, 4)), np.zeros((4, 4))
    right[:2, :2], wrong[3, 3] = 1, 1
    found = score_words([right, wrong], [mask, mask])
    assert found["words point"].value == 50
    assert found["words point/chance"].value == 25
    assert score_words([right], [np.zeros((8, 8), bool)]) == {}
