"""Rotations for longer texts than a model was trained on: which of its frequencies become slower, and by how much.

Each is a value that a `Rotary` takes and a config keeps; `context` is always the length that was trained before.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor


def frequencies(width: int, base: float) -> Float64[Tensor, " p"]:
    """How far each pair of channels turns in one step, the first pair by one radian (Su 2021)."""
    return base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)


@dataclass(frozen=True, slots=True)
class Linear:
    """Positions lie closer together: every pair is slower by one factor (Chen 2023)."""

    factor: float

    def frequencies(self, width: int, base: float, length: int) -> Float64[Tensor, " p"]:  # noqa: ARG002
        """Of texts of this length, in radians a step."""
        return frequencies(width, base) / self.factor


@dataclass(frozen=True, slots=True)
class Dynamic:
    """A base that grows with the text, once it is longer than the context (bloc97 and emozilla 2023, "dynamic NTK")."""

    factor: float
    context: int

    def frequencies(self, width: int, base: float, length: int) -> Float64[Tensor, " p"]:
        growth = self.factor * max(length, self.context) / self.context - (self.factor - 1)
        return frequencies(width, base * growth ** (width / (width - 2)))


@dataclass(frozen=True, slots=True)
class Yarn:
    """Slow pairs are made slower, fast ones stay, and scores are sharpened a little (Peng 2024, YaRN).

    A pair is fast that turns `fast` times within the context, slow that turns less than `slow` times.
    """

    factor: float
    context: int
    fast: float = 32.0
    slow: float = 1.0
    strength: float | None = None  # of cosines and sines; the paper's 1 + log(factor) / 10, if None
    whole: bool = True  # the borders between fast and slow lie at whole pairs

    def frequencies(self, width: int, base: float, length: int) -> Float64[Tensor, " p"]:  # noqa: ARG002
        low, high = (
            width * math.log(self.context / (turns * 2 * math.pi)) / (2 * math.log(base))
            for turns in (self.fast, self.slow)
        )
        if self.whole:
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, width - 1)
        pairs = torch.arange(width // 2, dtype=torch.float64)
        slowed = ((pairs - low) / (high - low if high != low else 0.001)).clamp(0, 1)
        plain = frequencies(width, base)
        return plain * (1 - slowed) + plain / self.factor * slowed


@dataclass(frozen=True, slots=True)
class Llama3:
    """Pairs that turn fewer than `low` times within the context are slower, more than `high` times as they were, and
    between them there is a smooth way (Grattafiori 2024, of Llama 3.1)."""

    factor: float
    context: int
    low: float = 1.0
    high: float = 4.0

    def frequencies(self, width: int, base: float, length: int) -> Float64[Tensor, " p"]:  # noqa: ARG002
        plain = frequencies(width, base)
        kept = ((self.context * plain / (2 * math.pi) - self.low) / (self.high - self.low)).clamp(0, 1)
        return plain * kept + plain / self.factor * (1 - kept)


@dataclass(frozen=True, slots=True)
class LongRope:
    """A divisor for each pair: `short` in texts up to the context, `long` in longer ones (Ding 2024, LongRoPE)."""

    short: tuple[float, ...]
    long: tuple[float, ...]
    context: int
    strength: float = 1.0  # of cosines and sines

    def frequencies(self, width: int, base: float, length: int) -> Float64[Tensor, " p"]:
        divisors = self.long if length > self.context else self.short
        return frequencies(width, base) / torch.tensor(divisors, dtype=torch.float64)


Scaling = Linear | Dynamic | Yarn | Llama3 | LongRope


def check(scaling: Scaling | None, width: int) -> None:
    """Refuse a scaling that rotations of so many channels cannot have."""
    if isinstance(scaling, Dynamic) and width < 4:
        raise ValueError(f"a rotation of {width} channels has no base that could grow; give 4 channels or more")
    if isinstance(scaling, LongRope):
        for name, divisors in (("short", scaling.short), ("long", scaling.long)):
            if len(divisors) != width // 2 or min(divisors) <= 0:
                raise ValueError(
                    f"{len(divisors)} {name} divisors do not fit the {width // 2} pairs of {width} channels; give one "
                    f"above 0 for each"
                )


def strength(scaling: Scaling | None) -> float:
    """What cosines and sines are multiplied by."""
    if isinstance(scaling, Yarn):
        grown = 1.0 if scaling.factor <= 1 else 0.1 * math.log(scaling.factor) + 1.0
        return grown if scaling.strength is None else scaling.strength
    return scaling.strength if isinstance(scaling, LongRope) else 1.0


def longest(scaling: Scaling | None) -> int | None:
    """The length beyond which the frequencies depend on how long a text is; None where they never do."""
    alike = not isinstance(scaling, Dynamic | LongRope) or (
        isinstance(scaling, LongRope) and scaling.short == scaling.long
    )
    return None if alike else scaling.context  # type: ignore[union-attr]


def check_past(scaling: Scaling | None, before: int, length: int) -> None:
    """Refuse to go on with keys that were turned for a shorter text than the one they now stand in."""
    known = longest(scaling)
    if known is None or not before or length <= known or (isinstance(scaling, LongRope) and before > known):
        return
    raise ValueError(
        f"the {before} tokens before were turned as those of a text of up to {max(before, known)}, which now has "
        f"{length}, and {type(scaling).__name__} turns these another way; read the longer text from its start"
    )
