"""What is said of a clip is true of it, and what is plainly true is said."""

from regard.world.language import motions
from regard.world.language.motions import FAR, WAYS, events, narrate
from regard.world.video import clip

CLIPS = [clip(0, i) for i in range(60)]


def test_every_way_and_every_meeting_is_true() -> None:
    for each in CLIPS:
        for event in narrate(each).events:
            if event.way:
                x, y = (each.places[-1] - each.places[0])[event.thing]
                along = {"left": -x, "right": x, "up": -y, "down": y}[event.way]
                assert along >= FAR
                assert along >= max(abs(x), abs(y))
            else:
                assert (event.frame, event.thing, event.other) in each.bounces


def test_two_things_meet_once_however_often_they_bounce() -> None:
    for each in CLIPS:
        pairs = [(event.thing, event.other) for event in events(each) if not event.way]
        assert len(pairs) == len(set(pairs)) == len({(a, b) for _, a, b in each.bounces})


def test_words_name_the_things_they_are_about() -> None:
    for each in CLIPS:
        said = narrate(each)
        assert len(said.words) == len(said.names)
        for word, thing in zip(said.words, said.names, strict=True):
            assert (thing >= 0) == (word not in ("moves", "meets", ".", *WAYS))
            if word == each.frames[0].things[thing].kind:
                assert thing >= 0
        assert said.text.count(".") == len(said.events)


def test_something_is_said_of_most_clips_and_all_ways_occur() -> None:
    said = [narrate(each) for each in CLIPS]
    assert sum(bool(each.events) for each in said) > 50
    assert {event.way for each in said for event in each.events} >= set(WAYS)
    assert any(not event.way for each in said for event in each.events)


def test_clips_are_handed_out_by_number_with_something_to_say_of_each() -> None:
    view = motions(frames=8, things=(1, 2))
    some = list(view[:40])
    assert all(each.motion.events and each.motion == narrate(each.clip) for each in some)
    assert [each.motion for each in view.part(1, 2)[:3]] == [some[i].motion for i in (1, 3, 5)]
    assert motions(split="test", frames=8, things=(1, 2))[3].motion != some[3].motion
    assert view.card()["frames"] == 8
