"""What a tour of a lecture is made of: topics in order, each with something to open, to run, or to guess first."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quiz:
    """A question of the lecture, with answers to choose from; the reason is shown after a guess."""

    asks: str
    choices: tuple[str, ...]
    right: int  # the place of the right one
    because: str

    def __post_init__(self) -> None:
        if not (2 <= len(self.choices) <= 5 and 0 <= self.right < len(self.choices)):
            raise ValueError(
                f"“{self.asks}” has {len(self.choices)} choices and number {self.right} is right; "
                "give 2 to 5, and count from 0"
            )


@dataclass(frozen=True, slots=True)
class Topic:
    """One step of a tour: a plain sentence, and what shows it."""

    name: str  # in the address
    title: str
    says: str
    place: str = ""  # a name of `regard.lectures.places.PLACES`
    command: str = ""  # of the command line
    claims: tuple[str, ...] = ()
    quizzes: tuple[Quiz, ...] = ()
    code: str = ""  # for the notebook, on the bundled models


@dataclass(frozen=True, slots=True)
class Deck:
    """A lecture: who gave it, and its topics in order."""

    number: str
    short: str  # as claims name it
    title: str
    by: str
    says: str
    topics: tuple[Topic, ...]

    @property
    def quizzes(self) -> int:
        """How many questions there are to guess."""
        return sum(len(topic.quizzes) for topic in self.topics)
