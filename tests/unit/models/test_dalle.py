"""A Transformer that writes the tokens of pictures."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from regard.decode import generate, sampler
from regard.models import build
from regard.models.dalle import PRESETS


def test_it_writes_codes_and_neither_words_nor_the_opening() -> None:
    model: Any = build("dalle-nano").eval()
    assert model(torch.randint(24, (2, 5)), torch.tensor([[model.opening, 3], [model.opening, 4]])).shape == (2, 2, 12)
    state, first = model.start(torch.randint(24, (2, 5))), torch.full((2,), model.opening)
    written = generate(
        model.step, state, first, stop=None, limit=model.length, choose=sampler(temperature=1.0, top_p=0.9)
    )
    tokens = torch.tensor([each.words for each in written])
    assert tokens.shape == (2, 16)
    assert tokens.max() < model.config.coder.codes
    assert model.paint(tokens).shape == (2, 3, 16, 16)


@torch.no_grad()
def test_steps_equal_forward() -> None:
    model = build("dalle-nano").eval()
    source, target = torch.randint(24, (2, 5)), torch.randint(12, (2, 6))
    whole, state = (
        model(source, target, lengths=torch.tensor([5, 3])),
        model.start(source, lengths=torch.tensor([5, 3])),
    )
    for i in range(6):
        logits, state = model.step(target[:, i : i + 1], state)
        torch.testing.assert_close(logits[:, 0], whole[:, i], atol=1e-5, rtol=1e-4)


def test_what_paints_the_tokens_is_not_trained() -> None:
    model = build("dalle-nano")
    assert not any(each.requires_grad for each in model.coder.parameters())
    image = torch.randn(2, 3, 16, 16)
    assert model.encode(image).equal(model.coder.encode(image).flatten(1))


def test_a_writer_of_another_alphabet_is_refused() -> None:
    nano = PRESETS["dalle-nano"]
    with pytest.raises(ValueError, match="of 99 does not go with 24 words, 12 codes and a start; give it 37"):
        replace(nano, writer=replace(nano.writer, vocab=99))
