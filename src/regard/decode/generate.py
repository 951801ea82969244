"""One word after another, each chosen from what the model thinks of the next: the argmax, or one by chance."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decode.hypothesis import Hypothesis, Limit, State, Step, check, limits
from regard.decode.top import log_probs, top

# From the logits of each row to its next word.
Choice = Callable[[Float[Tensor, "b v"]], Int[Tensor, " b"]]


def greedy(step: Step, state: State, first: Int[Tensor, " b"], *, stop: int, limit: Limit) -> list[Hypothesis]:
    """Always the likeliest word. `first` is what each row begins with, the start word as a rule."""
    return generate(step, state, first, stop=stop, limit=limit, choose=argmax)


@torch.no_grad()
def generate(
    step: Step, state: State, first: Int[Tensor, " b"], *, stop: int, limit: Limit, choose: Choice
) -> list[Hypothesis]:
    """Write until each row has come to its stop or to its limit. A finished row costs nothing more."""
    longest = limits(limit, len(first))
    words: list[list[int]] = [[] for _ in first]
    rows: list[list[int]] = [[] for _ in first]
    summed = [0.0] * len(first)
    finished = [False] * len(first)
    going, newest = list(range(len(first))), first  # which sequence each row of the state belongs to
    for length in range(1, max(longest, default=0) + 1):
        logits, state = step(newest[:, None], state)
        check(stop, logits)
        last = logits[:, -1].float()
        newest = choose(last)
        gained = log_probs(last, newest[:, None])[:, 0]
        for row, (sequence, word, gain) in enumerate(zip(going, newest.tolist(), gained.tolist(), strict=True)):
            summed[sequence] += gain
            rows[sequence].append(row)
            finished[sequence] = word == stop
            if word != stop:
                words[sequence].append(word)
        on = [row for row, sequence in enumerate(going) if not finished[sequence] and length < longest[sequence]]
        if not on:
            break
        if len(on) < len(going):
            going, some = [going[row] for row in on], torch.tensor(on, device=first.device)
            newest, state = newest[some], state.select(some)
    return [
        Hypothesis(tuple(each), log_prob, log_prob, done, tuple(where))
        for each, log_prob, done, where in zip(words, summed, finished, rows, strict=True)
    ]


def argmax(logits: Float[Tensor, "b v"]) -> Int[Tensor, " b"]:
    """The choice of a greedy writer."""
    return top(logits, 1)[:, 0]


def sampler(
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Choice:
    """Sampling: among the `top_k` likeliest words, or top-p (nucleus), the fewest that hold this much probability.

    A `temperature` below 1 makes the likely likelier; 0 is greedy. For top-p see Holtzman 2020.
    """
    if temperature < 0.0:
        raise ValueError(f"temperature {temperature} is below 0; give 0 for the likeliest word, 1 for fair chances")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k is {top_k}; give 1 word or more")
    if top_p is not None and not 0.0 < top_p <= 1.0:
        raise ValueError(f"top_p is {top_p}; give a probability above 0 and up to 1")

    def choose(logits: Float[Tensor, "b v"]) -> Int[Tensor, " b"]:
        if temperature == 0.0:
            return argmax(logits)
        ordered, words = (logits.float() / temperature).sort(dim=-1, descending=True)
        chances = ordered.softmax(dim=-1)
        if top_k is not None:
            chances, words = chances[:, :top_k], words[:, :top_k]
        if top_p is not None:
            # A word belongs to the share if those before it do not fill it yet, so the first always does.
            full = top_p * chances.sum(dim=-1, keepdim=True)
            chances = chances.masked_fill(chances.cumsum(dim=-1) - chances >= full, 0.0)
        return words.gather(-1, torch.multinomial(chances, 1, generator=generator))[:, 0]

    return choose
