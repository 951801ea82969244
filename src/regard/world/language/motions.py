"""What happens in a clip, in words: which way each thing moves and who meets whom, with the truth of each sentence."""

from typing import NamedTuple

from regard.world.language.scenes import distinct
from regard.world.video import Clip

WAYS: tuple[str, ...] = ("left", "right", "up", "down")
FAR = 0.12  # sides of the picture that a thing has to go for it to be said
_PLAIN = 1.25  # how many times further than across its way


class Event(NamedTuple):
    """Something that happens: a thing moves a `way` over all of a clip, or meets an `other` in one frame."""

    thing: int
    way: str = ""
    other: int = -1
    frame: int = -1


class Motion(NamedTuple):
    """Sentences about a clip. `names` says for every word which thing it names, or -1; `events` what is told."""

    words: tuple[str, ...]
    names: tuple[int, ...]
    events: tuple[Event, ...]
    text: str


def events(clip: Clip) -> tuple[Event, ...]:
    """What happens plainly: ways that are far and straight enough, and the first time that two things meet."""
    moved = clip.places[-1] - clip.places[0]
    found = [Event(i, way=way) for i, (x, y) in enumerate(moved.tolist()) if (way := _way(x, y))]
    met = dict[tuple[int, int], int]()
    for frame, one, other in clip.bounces:
        met.setdefault((one, other), frame)
    return (*found, *(Event(one, other=other, frame=frame) for (one, other), frame in met.items()))


def narrate(clip: Clip) -> Motion:
    """Say all that happens in a clip: `The red disc moves left. The red disc meets the blue star.`

    What cannot be told apart by its looks is not named; a clip in which nothing can be said has no words.
    """
    words, names, told, texts = list[str](), list[int](), list[Event](), list[str]()
    for event in events(clip):
        subject = _phrase(clip, event.thing)
        rest = [(event.way, -1)] if event.way else _phrase(clip, event.other)
        if subject is None or rest is None:
            continue
        said = [*subject, ("moves" if event.way else "meets", -1), *rest]
        told.append(event)
        texts.append(" ".join(word for word, _ in said).capitalize() + ".")
        words += [word for word, _ in said] + ["."]
        names += [thing for _, thing in said] + [-1]
    return Motion(tuple(words), tuple(names), tuple(told), " ".join(texts))


def _way(x: float, y: float) -> str:
    if abs(x) >= max(FAR, _PLAIN * abs(y)):
        return "right" if x > 0 else "left"
    if abs(y) >= max(FAR, _PLAIN * abs(x)):
        return "down" if y > 0 else "up"
    return ""


def _phrase(clip: Clip, thing: int) -> list[tuple[str, int]] | None:
    """The words for a thing, each of which names it; what things look like never changes in a clip."""
    scene = clip.frames[0]
    looks = distinct(scene, thing)
    if looks is None:
        return None
    return [("the", thing), *((word, thing) for word in looks), (scene.things[thing].kind, thing)]
