"""Reports with a verdict that words alone do not give away: negation turns it round, and the last word counts."""

from typing import NamedTuple

from regard.world.chance import Chance


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
    """A report. In one with two halves, the half that counts is the one said without `although`, or after `but`."""
    label = chance.below(2)
    shape = chance.below(4)
    # Which word meets which frame is held out, so a test needs both ideas and not the memory of their meeting.
    verdict = _half(chance, label, held)
    if shape == 0:
        words = f"{chance.choose(_OPINIONS)} {verdict} ."
    elif shape == 1:
        words = f"{_half(chance, 1 - label, held)} , but {verdict} ."
    elif shape == 2:
        words = f"although {_half(chance, 1 - label, held)} , {verdict} ."
    else:
        words = f"{verdict} , although {_half(chance, 1 - label, held)} ."
    return Report(tuple(words.split()), ("negative", "positive")[label])


def _half(chance: Chance, positive: int, held: bool) -> str:
    while True:
        i, j = chance.below(len(_FRAMES)), chance.below(len(GOOD))
        if ((i + 3 * j) % 5 == 0) == held:
            break
    frame, turn = _FRAMES[i]
    word = (GOOD if (positive == 1) == (turn == 1) else BAD)[j]
    return frame.format(s=chance.choose(SUBJECTS), d=chance.choose(_DEGREES), w=word)
