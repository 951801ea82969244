"""Pictures as tokens, and back."""

import math

import pytest
import torch

from regard.models import build
from regard.models.vqvae import Codebook, Config, usage


def test_each_vector_is_replaced_by_the_nearest_entry() -> None:
    codebook, x = Codebook(7, 3), torch.randn(2, 4, 4, 3)
    torch.nn.init.normal_(codebook.entries.weight)
    chosen, codes = codebook(x)
    assert codes.equal(torch.cdist(x.flatten(0, 2), codebook.entries.weight).argmin(dim=-1).view(2, 4, 4))
    torch.testing.assert_close(chosen, codebook.entries(codes))


def test_the_gradient_of_what_was_chosen_reaches_the_vectors_unchanged_and_not_the_entries() -> None:
    codebook, x = Codebook(7, 3), torch.randn(1, 2, 2, 3, requires_grad=True)
    upstream = torch.randn(1, 2, 2, 3)
    chosen, _ = codebook(x)
    (chosen * upstream).sum().backward()
    assert x.grad is not None
    assert x.grad.equal(upstream)
    assert codebook.entries.weight.grad is None


def test_the_codebook_moves_to_the_vectors_and_they_commit_to_it() -> None:
    model = build("vqvae-nano")
    said = model(torch.randn(2, 3, 16, 16))
    entries, last = model.codebook.entries.weight, model.encoder[-1].weight
    assert torch.autograd.grad(said.codebook.sum(), last, retain_graph=True, allow_unused=True)[0] is None
    assert torch.autograd.grad(said.commitment.sum(), entries, retain_graph=True, allow_unused=True)[0] is None
    assert torch.autograd.grad(said.codebook.sum(), entries, retain_graph=True)[0].any()
    assert torch.autograd.grad(said.commitment.sum(), last)[0].any()


def test_tokens_are_painted_as_the_picture_they_come_from_is_painted_again() -> None:
    model, image = build("vqvae-nano").eval(), torch.randn(2, 3, 16, 16)
    said = model(image)
    assert model.encode(image).equal(said.codes)
    assert said.codes.shape[1:] == model.config.grid
    torch.testing.assert_close(model.decode(said.codes), said.image)


def test_idle_entries_are_put_where_vectors_are_and_used_ones_stay() -> None:
    model, image = build("vqvae-nano"), torch.randn(2, 3, 16, 16)
    before, codes = model.codebook.entries.weight.clone(), model.encode(image)
    used = torch.unique(codes)
    assert model.revive(image, torch.Generator().manual_seed(0)) == model.config.codes - len(used)
    assert model.codebook.entries.weight[used].equal(before[used])
    assert len(torch.unique(model.encode(image))) > len(used)


def test_usage_counts_what_is_chosen_and_how_evenly() -> None:
    assert usage(torch.tensor([0, 1, 2, 3]), 8) == pytest.approx((0.5, 4.0))
    assert usage(torch.tensor([5, 5]), 8) == pytest.approx((1 / 8, 1.0))
    assert usage(torch.tensor([0, 0, 1]), 2)[1] == pytest.approx(
        math.exp(-2 / 3 * math.log(2 / 3) - math.log(1 / 3) / 3)
    )


def test_sizes_that_make_no_tokens_are_refused() -> None:
    with pytest.raises(ValueError, match="30 does not halve 2 times; give 1 or more, and a multiple of 4"):
        Config(size=30)
    with pytest.raises(ValueError, match="a codebook of 1 says nothing"):
        Config(codes=1)
