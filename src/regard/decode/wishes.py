"""What a user may wish of a text that is written: how long it is, how its words are chosen, and what ends it."""

from collections.abc import Sequence
from dataclasses import dataclass

from regard.decode.generate import Choice, argmax
from regard.decode.penalty import repetition_penalty
from regard.decode.sampling import sampler, seeded


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """Wishes that go together; one that cannot be fulfilled is told before anything is read.

    Words are drawn where anything says how, and are the likeliest otherwise.
    """

    max_new_tokens: int = 64
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float = 1.0
    stop: str | Sequence[str] = ()  # strings that end a text
    seed: int = 0
    count: int = 1  # of texts for each prompt
    beam: int = 1
    length_penalty: float = 1.0  # of a beam

    def __post_init__(self) -> None:
        if self.max_new_tokens < 1:
            raise ValueError(f"max_new_tokens is {self.max_new_tokens}, which leaves nothing to write; give 1 or more")
        if self.beam < 1 or self.count < 1:
            raise ValueError(f"a beam of {self.beam} and a count of {self.count} write nothing; give 1 or more")
        if not all(self.stops):
            raise ValueError("an empty stop string would end every text before it begins; leave it out")
        self.choice(1)
        repetition_penalty(argmax, self.repetition_penalty, (), 1)
        if self.beam > 1 and (self.drawn or self.stops or self.repetition_penalty != 1.0):
            raise ValueError(
                f"a beam of {self.beam} ranks whole texts and knows no sampling, stop strings or repetition penalty; "
                f"leave them out, or the beam"
            )
        if not self.drawn and self.count > self.beam:
            raise ValueError(
                f"the likeliest words give one text and not {self.count}; sample by a temperature, or widen the beam"
            )

    @property
    def drawn(self) -> bool:
        """Whether words are drawn by chance."""
        if self.temperature is None:
            return any(each is not None for each in (self.top_k, self.top_p, self.min_p))
        return self.temperature > 0.0

    @property
    def stops(self) -> tuple[str, ...]:
        """The strings that end a text."""
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop)

    def choice(self, prompts: int) -> Choice:
        """How the next word of each row is chosen: `count` rows for each prompt, with dice of their own."""
        temperature = self.temperature if self.temperature is not None else 1.0 if self.drawn else 0.0
        return sampler(
            temperature=temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            min_p=self.min_p,
            generator=[each for _ in range(prompts) for each in seeded(self.seed, self.count)],
        )
