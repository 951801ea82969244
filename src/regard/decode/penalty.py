"""Words that were said already count less: against models that say one thing over and over."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.decode.generate import Choice, select


def repetition_penalty(
    choose: Choice,
    penalty: float,
    prompts: Sequence[Sequence[int]],
    vocab: int,
    *,
    device: torch.device | None = None,
) -> Choice:
    """A choice for which every word of a row's prompt, and every word that the row has written, is less likely.

    The logit of such a word is divided by the `penalty` where it is positive and multiplied where it is negative
    (Keskar 2019, §4.1); 1 changes nothing.
    """
    if not penalty > 0.0:
        raise ValueError(f"a repetition penalty of {penalty} turns logits round; give 1 for none, or a little more")
    if penalty == 1.0:
        return choose
    said = torch.zeros(len(prompts), vocab, dtype=torch.bool, device=device)
    for row, prompt in enumerate(prompts):
        said[row, [i for i in prompt if i < vocab]] = True
    return _Penalised(choose, penalty, said)


def penalise(logits: Float[Tensor, "b v"], said: Bool[Tensor, "b v"], penalty: float) -> Float[Tensor, "b v"]:
    """Logits in which what was said counts less."""
    return torch.where(said, torch.where(logits < 0, logits * penalty, logits / penalty), logits)


@dataclass(frozen=True, slots=True, eq=False)
class _Penalised:
    choose: Choice
    penalty: float
    said: Bool[Tensor, "b v"]  # grows with each word

    def __call__(self, logits: Float[Tensor, "b v"]) -> Int[Tensor, " b"]:
        words = self.choose(penalise(logits, self.said, self.penalty))
        self.said.scatter_(1, words[:, None], True)
        return words

    def select(self, rows: Int[Tensor, " r"]) -> "_Penalised":
        return _Penalised(select(self.choose, rows), self.penalty, self.said[rows])
