"""The loss is torch's, with one array beside the logits."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from regard.train import loss as loss_file
from regard.train.loss import cross_entropy


def both(logits: Tensor, words: Tensor, smoothing: float, ignore: int) -> list[tuple[Tensor, Tensor]]:
    """Our loss and gradient, and torch's."""
    found = []
    for ours in (True, False):
        mine = logits.clone().requires_grad_()
        if ours:
            loss = cross_entropy(mine, words, label_smoothing=smoothing, ignore_index=ignore)
        else:
            flat = mine.flatten(0, -2), words.flatten()
            loss = F.cross_entropy(*flat, reduction="sum", ignore_index=ignore, label_smoothing=smoothing)
        (gradient,) = torch.autograd.grad(loss * 0.37, mine)
        found.append((loss.detach(), gradient))
    return found


@given(
    st.integers(0, 9),
    st.integers(2, 7),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.sampled_from([0, 1, -100]),
    st.sampled_from([torch.float32, torch.float64]),
)
def test_loss_and_gradient_are_torchs(rows: int, vocab: int, smoothing: float, ignore: int, dtype: torch.dtype) -> None:
    words = torch.randint(vocab, (rows, 3))
    words[torch.rand(rows, 3) < 0.3] = ignore
    ours, theirs = both(4 * torch.randn(rows, 3, vocab, dtype=dtype), words, smoothing, ignore)
    torch.testing.assert_close(ours, theirs)


def test_bfloat16_logits_lose_no_more_than_their_own_rounding() -> None:
    logits, words = 3 * torch.randn(50, 40), torch.randint(40, (50,))
    rough = logits.bfloat16()
    (loss, gradient), _ = both(rough, words, 0.1, 0)
    (exact, wanted), _ = both(rough.float(), words, 0.1, 0)
    assert loss.dtype == torch.float32  # a sum over thousands of words
    torch.testing.assert_close(loss, exact)
    assert gradient.dtype == torch.bfloat16
    torch.testing.assert_close(gradient.float(), wanted, rtol=2**-7, atol=1e-4)


def test_pieces_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    logits, words = torch.randn(11, 6), torch.randint(6, (11,))
    whole, _ = both(logits, words, 0.1, 0)
    monkeypatch.setattr(loss_file, "ROWS", 18)  # three rows
    pieces, theirs = both(logits, words, 0.1, 0)
    torch.testing.assert_close(pieces, whole)
    torch.testing.assert_close(pieces, theirs)


def test_a_gradient_comes_twice_but_has_none_of_its_own() -> None:
    logits = torch.randn(4, 5, requires_grad=True)
    loss = cross_entropy(logits, torch.tensor([1, 2, 0, 4]))
    first = torch.autograd.grad(loss, logits, retain_graph=True)[0]
    assert first.equal(torch.autograd.grad(loss, logits, retain_graph=True)[0])
    (again,) = torch.autograd.grad(loss, logits, create_graph=True)
    with pytest.raises(RuntimeError, match="does not require grad"):
        again.sum().backward()


class Large(TorchDispatchMode):
    """Counts the arrays made that are as large as the logits."""

    def __init__(self, numbers: int) -> None:
        super().__init__()
        self.numbers, self.storages = numbers, dict[int, Tensor]()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if isinstance(made, Tensor) and made.untyped_storage().nbytes() >= self.numbers * made.element_size():
            self.storages[made.untyped_storage().data_ptr()] = made  # held, so that no place is used twice
        return made


def test_there_is_one_array_beside_the_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_file, "ROWS", 1000)
    logits, words = torch.randn(200, 50, requires_grad=True), torch.randint(50, (200,))
    with Large(logits.numel()) as large:
        cross_entropy(logits, words, label_smoothing=0.1)
    assert len(set(large.storages) - {logits.untyped_storage().data_ptr()}) == 1
    with Large(logits.numel()) as large:
        F.cross_entropy(logits, words, label_smoothing=0.1)
    assert len(set(large.storages) - {logits.untyped_storage().data_ptr()}) > 0  # the count can see torch's
    with torch.no_grad(), Large(logits.numel()) as large:
        cross_entropy(logits.detach(), words)
    assert not set(large.storages) - {logits.untyped_storage().data_ptr()}
