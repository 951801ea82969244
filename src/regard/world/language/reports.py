"""Reports with a verdict that words alone do not give away: negation turns it round, and the last word counts."""

from typing import NamedTuple

from regard.chance import Chance


class Report(NamedTuple):
    """What somebody thought of something; positive or negative."""

    words: tuple[str, ...]
    label: str


SUBJECTS = (
    "film",
    "book",
    "meal",
    "soup",
    "hotel",
    "room",
    "service",
    "music",
    "story",
    "concert",
    "play",
    "song",
    "garden",
    "museum",
    "trip",
    "lesson",
    "guide",
)
# Each good word has its opposite in the same place.
GOOD = (
    "good",
    "great",
    "pleasant",
    "exciting",
    "friendly",
    "clean",
    "fresh",
    "funny",
    "clever",
    "beautiful",
    "warm",
    "honest",
)
BAD = ("bad", "awful", "unpleasant", "boring", "rude", "dirty", "stale", "dull", "stupid", "ugly", "cold", "dishonest")
_DEGREES = ("", "very", "really", "quite", "rather")
_OPINIONS = ("", "i thought that", "we found that", "my friend said that", "everybody agreed that")
# A frame turns the word in it round (-1) or leaves it (1); {s} is the subject, {d} a degree, {w} the word.
_FRAMES = (
    ("the {s} was {d} {w}", 1),
    ("the {s} was not {w}", -1),
    ("the {s} was never {w}", -1),
    ("the {s} was anything but {w}", -1),
    ("the {s} was far from {w}", -1),
    ("nobody could call the {s} {w}", -1),
    ("the {s} was {w} from beginning to end", 1),
    ("the {s} turned out to be {d} {w}", 1),
)


def report(chance: Chance, held: bool) -> Report:
    """A report on one thing. Of two halves, the one counts that is said without `although`, or after `but`."""
    label, shape, subject = chance.below(2), chance.below(4), chance.choose(SUBJECTS)
    # Which word meets which frame is held out, so a test needs both ideas and not the memory of their meeting.
    verdict, about = _half(chance, label, held, subject)
    if shape == 0:
        words = f"{chance.choose(_OPINIONS)} {verdict} ."
    else:
        other, same = _half(chance, 1 - label, held, subject)
        while same == about:  # good and not good at once
            other, same = _half(chance, 1 - label, held, subject)
        words = (f"{other} , but {verdict} .", f"although {other} , {verdict} .", f"{verdict} , although {other} .")[
            shape - 1
        ]
    return Report(tuple(words.split()), ("negative", "positive")[label])


def _half(chance: Chance, positive: int, held: bool, subject: str) -> tuple[str, int]:
    """One half of a report, and which quality it is about."""
    while True:
        i, j = chance.below(len(_FRAMES)), chance.below(len(GOOD))
        if ((i + 3 * j) % 5 == 0) == held:
            break
    frame, turn = _FRAMES[i]
    word = (GOOD if (positive == 1) == (turn == 1) else BAD)[j]
    degree = "" if word in ("great", "awful") else chance.choose(_DEGREES)  # they are degrees themselves
    return frame.format(s=subject, d=degree, w=word), j
