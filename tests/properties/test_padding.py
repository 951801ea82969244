"""Padding never changes an answer: whatever stands beside a prompt, on whichever side, the same words are chosen."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import jaxtyping
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from regard.decode import begin, generate, greedy, repetition_penalty, sampler, seeded, weigh_choices
from regard.decode.generate import Choice
from regard.models import build

VOCAB, LIMIT, STOP = 48, 5, 5
NAMES = ["gpt-nano", "llama-nano"]
of_each = pytest.mark.parametrize("name", NAMES)
prompts = st.lists(st.lists(st.integers(0, VOCAB - 1), min_size=1, max_size=12), min_size=1, max_size=4)


@pytest.fixture(autouse=True, scope="module")
def _quick() -> Iterator[None]:
    """Thousands of small steps, whose types other tests check."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@cache
def model(name: str) -> Any:
    """Of weights so large that what one word says is heard by the others."""
    torch.manual_seed(0)
    one = build(name, vocab=VOCAB).eval()
    for parameter in one.parameters():
        nn.init.normal_(parameter, std=0.3)
    return one


def choice(kind: str, some: list[list[int]], seed: int) -> Choice:
    if kind == "greedy":
        return sampler(temperature=0.0)
    dice = [seeded(seed, 1)[0] for _ in some]  # each row its own
    if kind == "sampled":
        return sampler(temperature=1.5, generator=dice)
    narrow = sampler(temperature=0.9, top_k=20, top_p=0.9, min_p=0.02, generator=dice)
    return repetition_penalty(narrow, 1.3, some, VOCAB)


def written(name: str, some: list[list[int]], kind: str, seed: int) -> list[tuple[int, ...]]:
    state, first = begin(model(name), some, pad=seed % VOCAB)
    found = generate(model(name).step, state, first, stop=STOP, limit=LIMIT, choose=choice(kind, some, seed))
    return [each.words for each in found]


@of_each
@pytest.mark.parametrize("kind", ["greedy", "sampled", "narrow"])
@settings(max_examples=8)
@given(some=prompts, seed=st.integers(0, 1000))
def test_a_prompt_is_gone_on_with_as_if_it_were_alone(name: str, kind: str, some: list[list[int]], seed: int) -> None:
    together = written(name, some, kind, seed)
    for prompt, words in zip(some, together, strict=True):
        assert written(name, [prompt], kind, seed) == [words]
    assert written(name, some[::-1], kind, seed) == together[::-1]


@of_each
@settings(max_examples=8)
@given(some=prompts, pad=st.integers(0, VOCAB - 1))
def test_padding_before_behind_and_between_is_the_same_as_none(name: str, some: list[list[int]], pad: int) -> None:
    """The prompts without their last words, which are read first of all that is written."""
    one = model(name)
    longest = max(map(len, some)) + 2
    for side in ("left", "right", "both"):
        ids, visible = torch.full((len(some), longest), pad), torch.zeros(len(some), longest, dtype=torch.bool)
        for row, prompt in enumerate(some):
            length = len(prompt) - 1
            start = {"left": longest - length, "right": 0, "both": 1}[side]
            ids[row, start : start + length] = torch.tensor(prompt[:-1])
            visible[row, start : start + length] = True
        with torch.no_grad():
            _, state = one.advance(ids, one.start(len(some)), visible=visible)
        first = torch.tensor([prompt[-1] for prompt in some])
        found = greedy(one.step, state, first, stop=STOP, limit=LIMIT)
        assert [each.words for each in found] == written(name, some, "greedy", 0)


@of_each
@settings(max_examples=8)
@given(some=prompts, seed=st.integers(0, 1000))
def test_the_logits_of_words_do_not_know_what_padding_stands_beside_them(
    name: str, some: list[list[int]], seed: int
) -> None:
    longest = max(map(len, some)) + 1
    ids, visible = torch.full((len(some), longest), seed % VOCAB), torch.zeros(len(some), longest, dtype=torch.bool)
    for row, prompt in enumerate(some):
        start = (seed + row) % (longest - len(prompt) + 1)
        ids[row, start : start + len(prompt)] = torch.tensor(prompt)
        visible[row, start : start + len(prompt)] = True
    with torch.no_grad():
        padded: Tensor = model(name)(ids, visible=visible)
        for row, prompt in enumerate(some):
            alone = model(name)(torch.tensor([prompt]))[0]
            torch.testing.assert_close(padded[row, visible[row]], alone, atol=1e-4, rtol=1e-4)


@of_each
@settings(max_examples=8)
@given(some=prompts, seed=st.integers(0, 1000))
def test_choices_are_weighed_as_if_each_stood_behind_its_prompt_alone(
    name: str, some: list[list[int]], seed: int
) -> None:
    dice = torch.Generator().manual_seed(seed)
    choices = [[torch.randint(VOCAB, (size,), generator=dice).tolist() for size in (1, 3, 2)] for _ in some]
    for prompt, mine, found in zip(some, choices, weigh_choices(model(name), some, choices), strict=True):
        for choice, gained in zip(mine, found, strict=True):
            with torch.no_grad():
                logits = model(name)(torch.tensor([[*prompt, *choice[:-1]]]))[0, len(prompt) - 1 :]
            expected = logits.log_softmax(dim=-1).gather(-1, torch.tensor(choice)[:, None])[:, 0]
            torch.testing.assert_close(gained, expected, atol=1e-4, rtol=1e-4)
