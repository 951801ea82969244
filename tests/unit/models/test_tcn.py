"""The temporal convolution: it sees so far and no farther, and recalls what it sees."""

import pickle
from copy import deepcopy
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from regard.models.tcn import PRESETS, TCN
from regard.world.recall import Recall, recalls, vocabulary


def nano(**settings: int) -> TCN:
    return TCN(replace(PRESETS["tcn-nano"], **settings)).eval()


@given(kernel=st.integers(2, 4), depth=st.integers(1, 3))
@torch.no_grad()
def test_an_answer_depends_on_the_receptive_field_and_on_nothing_before_it(kernel: int, depth: int) -> None:
    torch.manual_seed(0)
    model = nano(kernel=kernel, depth=depth)
    for part in model.past.parameters():
        part.abs_()  # all positive: no ReLU closes a way, so that what can be seen is seen
    model.embed.weight.abs_()
    field = model.receptive_field
    ids = torch.full((1, field + 3), 1)
    reference = model(ids)
    for back in range(1, field + 4):
        changed = ids.clone()
        changed[0, -back] = 2
        assert model(changed).equal(reference) == (back > field), back


def test_the_papers_size_reaches_over_the_thousand_words_it_was_made_for() -> None:
    assert TCN(PRESETS["tcn-copy"]).receptive_field == 3571


@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_padding_changes_nothing(lengths: list[int]) -> None:
    model, ids = nano(), torch.randint(0, 16, (len(lengths), 9))
    together = model(ids, lengths=torch.tensor(lengths))
    for row, length in enumerate(lengths):
        torch.testing.assert_close(together[row], model(ids[row : row + 1, :length])[0], atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize(
    ("lengths", "message"),
    [([3, 0], "sequence 1 has length 0"), ([6, 2], "sequence 0 has length 6, but the batch holds 5 words")],
)
def test_lengths_that_are_not_there_are_refused(lengths: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nano()(torch.ones(2, 5, dtype=torch.long), lengths=torch.tensor(lengths))


def test_a_copy_is_trained_or_frozen_as_the_original_and_shares_nothing_with_it() -> None:
    model = nano().train()
    model.embed.weight.requires_grad_(False)
    for other in (deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.training
        assert [p.requires_grad for p in other.parameters()] == [p.requires_grad for p in model.parameters()]
        assert all(
            a.equal(b) and a.data_ptr() != b.data_ptr()
            for a, b in zip(other.parameters(), model.parameters(), strict=True)
        )


def batch(items: list[Recall]) -> tuple[Tensor, Tensor, Tensor]:
    ids = pad_sequence([torch.tensor(item.ids) for item in items], batch_first=True)
    return ids, torch.tensor([len(item.ids) for item in items]), torch.tensor([item.answer for item in items])


def test_it_learns_to_carry_a_value_over_noise_of_any_length_it_reaches() -> None:
    sizes = dict(keys=4, values=8, noise=4)
    train, test = (
        batch(list(recalls(split=split, distance=(1, 6), pairs=1, count=count, **sizes)))
        for split, count in (("train", 1500), ("test", 300))
    )
    model = nano(vocab=vocabulary(**sizes), classes=vocabulary(**sizes), depth=2).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(120):
        chosen = torch.randint(0, 1500, (64,))
        ids, lengths, answers = (part[chosen] for part in train)
        loss = F.cross_entropy(model(ids, lengths=lengths), answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ids, lengths, answers = test
    right = (model.eval()(ids, lengths=lengths).argmax(dim=-1) == answers).float().mean()
    assert right > 0.9  # who forgets guesses one of eight
