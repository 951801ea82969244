"""Codes of graphs: the slowest waves on them, whatever the order of the nodes."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard.layers.position import Laplacian, laplacian


def _path(nodes: int) -> Tensor:
    edges = torch.zeros(nodes, nodes)
    here = torch.arange(nodes - 1)
    edges[here, here + 1] = 1
    return edges + edges.T


def _cycle(nodes: int) -> Tensor:
    step = torch.eye(nodes).roll(1, dims=0)
    return step + step.T


def _random(nodes: int, seed: int) -> Tensor:
    """A connected graph whose weights are drawn, so that no two eigenvalues are equal."""
    weights = torch.rand(nodes, nodes, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (weights + weights.T).fill_diagonal_(0)


def _alike(x: Tensor, y: Tensor, atol: float = 1e-5) -> bool:
    """Equal columns, each up to its sign."""
    return torch.allclose(x * (x * y).sum(dim=-2, keepdim=True).sign(), y, atol=atol)


@pytest.mark.parametrize("nodes", [2, 5, 12])
def test_a_path_has_the_waves_of_a_string(nodes: int) -> None:
    count = nodes - 1
    place, wave = torch.arange(nodes)[:, None], torch.arange(1, count + 1)
    wanted = torch.cos(math.pi * place * wave / (nodes - 1)) * _path(nodes).sum(dim=1, keepdim=True).sqrt()
    assert _alike(laplacian(_path(nodes), count), wanted / wanted.norm(dim=0))


def test_the_slowest_waves_of_a_cycle_span_its_sine_and_cosine() -> None:
    vectors = laplacian(_cycle(9), 2)
    angle = 2 * math.pi * torch.arange(9) / 9
    wanted = torch.stack((angle.cos(), angle.sin()), dim=1) * math.sqrt(2 / 9)
    # Two equal eigenvalues: the vectors are free to turn in their plane, the plane itself is not.
    assert torch.allclose(vectors @ vectors.T, wanted @ wanted.T, atol=1e-6)


@given(nodes=st.integers(3, 9), seed=st.integers(0, 100))
def test_the_vectors_are_those_of_numpy(nodes: int, seed: int) -> None:
    weights = _random(nodes, seed)
    root = np.diag(weights.sum(1).numpy() ** -0.5)
    values, vectors = np.linalg.eigh(np.eye(nodes) - root @ weights.numpy() @ root)
    assert values[0] == pytest.approx(0, abs=1e-12)
    assert _alike(laplacian(weights, nodes - 1), torch.from_numpy(vectors[:, 1:]), atol=1e-8)


@given(nodes=st.integers(3, 9), seed=st.integers(0, 100))
def test_permuting_the_nodes_permutes_their_codes(nodes: int, seed: int) -> None:
    weights = _random(nodes, seed)
    order = torch.randperm(nodes)
    assert _alike(laplacian(weights[order][:, order], 3)[:, :2], laplacian(weights, 3)[order, :2], atol=1e-8)


def test_a_small_graph_fills_the_columns_it_lacks_with_zeros() -> None:
    vectors = laplacian(_path(3), 6)
    assert vectors[:, 2:].equal(torch.zeros(3, 4))
    assert (vectors[:, :2].norm(dim=0) - 1).abs().max() < 1e-6
    assert laplacian(torch.zeros(1, 1), 2).equal(torch.zeros(1, 2))


def test_graphs_padded_with_lonely_nodes_share_a_batch() -> None:
    batch = torch.zeros(2, 8, 8, dtype=torch.float64)
    batch[0], batch[1, :5, :5] = _random(8, 0), _random(5, 1)
    vectors = laplacian(batch, 3)
    assert _alike(vectors[0], laplacian(batch[0], 3), atol=1e-8)
    assert _alike(vectors[1, :5], laplacian(_random(5, 1), 3), atol=1e-8)
    assert vectors[1, 5:].abs().max() < 1e-12


def test_each_part_of_a_graph_loses_its_trivial_vector() -> None:
    two = torch.zeros(7, 7, dtype=torch.float64)
    two[:4, :4], two[4:, 4:] = _random(4, 0), _random(3, 1)
    vectors = laplacian(two, 7)
    assert (vectors.norm(dim=0) > 0.5).tolist() == [True] * 5 + [False] * 2
    root = two.sum(dim=1).sqrt()
    # What is left is orthogonal to both constants, that of one part and that of the other.
    assert (vectors[:4].T @ root[:4]).abs().max() < 1e-10
    assert (vectors[4:].T @ root[4:]).abs().max() < 1e-10


def test_whole_numbers_and_truths_are_adjacencies_too() -> None:
    assert laplacian(_path(5).bool(), 2).equal(laplacian(_path(5), 2))
    assert laplacian(_path(5).long(), 2).dtype == torch.float32


def test_a_graph_that_has_no_such_code_is_refused() -> None:
    with pytest.raises(ValueError, match=r"not symmetric.*adjacency \| adjacency.mT"):
        laplacian(torch.ones(3, 3).triu(), 2)
    with pytest.raises(ValueError, match="an edge has weight -1, but weights must not be negative"):
        laplacian(-_path(3), 2)


def test_nodes_have_codes_of_their_own() -> None:
    position = Laplacian(4, 16).eval()
    y = position(torch.zeros(1, 10, 16), laplacian(_path(10)[None], 4))[0]
    assert (torch.cdist(y, y) + torch.eye(10)).min() > 1e-3


def test_signs_are_flipped_in_training_only() -> None:
    position, x, vectors = Laplacian(3, 8), torch.randn(64, 6, 8), laplacian(_random(6, 0).float().expand(64, 6, 6), 3)
    calm = position.eval()(x, vectors)
    assert calm.equal(x + vectors @ position.embed.weight.T)
    assert calm.equal(position(x, vectors))
    drawn = position.train()(x, vectors) - x
    flips = torch.tensor([[1 if bit else -1 for bit in (i & 1, i & 2, i & 4)] for i in range(8)])
    possible = (vectors[0] * flips[:, None]) @ position.embed.weight.T
    nearest = (drawn[:, None] - possible).abs().amax(dim=(2, 3))
    assert (nearest.min(dim=1).values < 1e-5).all()
    # Sixty-four graphs draw the eight combinations of signs, each graph for itself and each vector for itself.
    assert nearest.argmin(dim=1).unique().numel() == 8
