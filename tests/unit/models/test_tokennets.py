"""Token nets: networks whose inputs are a set, or a graph, and which cannot tell in what order they came."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.attention import padding
from regard.models.deepsets import PRESETS as SETS
from regard.models.deepsets import DeepSets
from regard.models.graph import PRESETS as GRAPHS
from regard.models.graph import GraphTransformer


def sets(pooling: str = "sum") -> DeepSets:
    return DeepSets(replace(SETS["deepsets-nano"], pooling=pooling)).eval()


def graphs(eigenvectors: int = 4) -> GraphTransformer:
    return GraphTransformer(replace(GRAPHS["graph-nano"], eigenvectors=eigenvectors)).eval()


def cycle(*lengths: int) -> Tensor:
    """Rings of the given lengths, as one graph."""
    return torch.block_diag(*(torch.eye(n).roll(1, 1) + torch.eye(n).roll(-1, 1) for n in lengths)).bool()[None]


def test_a_set_is_the_same_in_any_order() -> None:
    model, x = sets(), torch.randn(2, 7, 2)
    torch.testing.assert_close(model(x[:, torch.randperm(7)]), model(x))


def test_a_sum_can_count_and_a_mean_cannot() -> None:
    x = torch.randn(1, 3, 2)
    twice = x.repeat(1, 2, 1)
    counting, averaging = sets("sum"), sets("mean")
    assert not counting(x).isclose(counting(twice)).all()
    torch.testing.assert_close(averaging(x), averaging(twice))


@pytest.mark.parametrize("pooling", ["sum", "mean"])
def test_padding_is_no_member_of_a_set(pooling: str) -> None:
    model, x = sets(pooling), torch.randn(2, 5, 2)
    together = model(x, visible=padding(torch.tensor([5, 3]), 5))
    torch.testing.assert_close(together[1:], model(x[1:, :3]))


def test_a_set_without_members_and_padding_full_of_nothing_are_no_trouble() -> None:
    x = torch.randn(2, 3, 2)
    x[1] = torch.nan
    assert sets("mean")(x, visible=padding(torch.tensor([3, 0]), 3)).isfinite().all()


@pytest.mark.usefixtures("as_users_meet_it")
def test_an_unknown_pooling_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="pooling 'max' is not known; choose sum or mean"):
        sets("max")


def test_a_graph_is_the_same_however_its_nodes_are_numbered() -> None:
    model, nodes = graphs(eigenvectors=0), torch.randn(1, 6, 3)
    edges, order = cycle(6), torch.randperm(6)
    torch.testing.assert_close(model(nodes[:, order], edges[:, order][:, :, order]), model(nodes, edges))


def test_a_node_hears_only_its_neighbourhood() -> None:
    model, nodes, edges = graphs(eigenvectors=0), torch.randn(1, 9, 3), cycle(9)
    block = model.blocks[0]
    x = model.embed(nodes)
    changed = x.clone()
    changed[:, 4] += 1.0
    moved = (block(x, visible=edges[:, None]) != block(changed, visible=edges[:, None])).any(dim=-1)[0]
    assert moved.nonzero().flatten().tolist() == [3, 4, 5]


def test_padding_nodes_change_nothing() -> None:
    model, nodes, edges = graphs(), torch.randn(1, 8, 3), cycle(6)
    padded = F.pad(edges, (0, 2, 0, 2))
    vectors = torch.randn(1, 8, 4)
    torch.testing.assert_close(
        model(nodes, padded, eigenvectors=vectors), model(nodes[:, :6], edges, eigenvectors=vectors[:, :6])
    )


def test_laplacian_places_tell_graphs_apart_that_look_alike_to_every_neighbour() -> None:
    """In one ring of six and two rings of three, every node has two like neighbours: only their places differ."""
    nodes = torch.ones(1, 6, 3)
    one, two = cycle(6), cycle(3, 3)
    blind = graphs(eigenvectors=0)
    torch.testing.assert_close(blind(nodes, one), blind(nodes, two))
    placed = graphs(eigenvectors=4)
    assert not placed(nodes, one).isclose(placed(nodes, two), atol=1e-3).all()
