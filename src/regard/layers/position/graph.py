"""Position encodings of the nodes of a graph: eigenvectors of its Laplacian."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.layers.position.exact import to_float64

# Below this an eigenvalue counts as zero. The first other one of a path of 100,000 nodes still lies above it.
TRIVIAL = 1e-10


class Laplacian(nn.Module):
    """Eigenvectors of a graph's Laplacian, through a linear map, added to its nodes (Dwivedi 2020).

    Called with the node tokens and `laplacian(adjacency, count)`, which is worth computing once for each graph. The
    sign of an eigenvector means nothing, so in training each is flipped at random.
    """

    def __init__(self, count: int, width: int) -> None:
        super().__init__()
        self.embed = nn.Linear(count, width, bias=False)

    def forward(self, x: Float[Tensor, "b n w"], vectors: Float[Tensor, "b n k"]) -> Float[Tensor, "b n w"]:
        if self.training:
            flip = torch.rand(vectors.shape[0], 1, vectors.shape[-1], device=vectors.device) < 0.5
            vectors = torch.where(flip, -vectors, vectors)
        encoding: Tensor = self.embed(vectors.to(x))
        return x + encoding


def laplacian(
    adjacency: Float[Tensor, "*b n n"] | Int[Tensor, "*b n n"] | Bool[Tensor, "*b n n"], count: int
) -> Float[Tensor, "*b n {count}"]:
    """The eigenvectors of the symmetric normalised Laplacian with the smallest eigenvalues above zero, as columns.

    A graph has one eigenvalue zero for each connected part, and all of these trivial vectors are left out. A node
    without neighbours is a part of its own and gets zeros, so graphs may be padded with such nodes to share a batch.
    Where a graph has fewer vectors than asked for, the last columns are zero.
    """
    weights = to_float64(adjacency)
    if not torch.compiler.is_compiling():  # a graph is traced without values
        _check(weights)
    degree = weights.sum(dim=-1)
    scale = torch.where(degree > 0, degree.rsqrt(), 0.0)
    matrix = torch.diag_embed((degree > 0).to(weights)) - scale[..., :, None] * weights * scale[..., None, :]
    values, vectors = torch.linalg.eigh(matrix)
    wanted = (values < TRIVIAL).sum(dim=-1, keepdim=True) + torch.arange(count, device=values.device)
    nodes = values.shape[-1]
    missing = wanted >= nodes
    chosen = wanted.clamp(max=nodes - 1)[..., None, :].expand(*wanted.shape[:-1], nodes, count)
    dtype = adjacency.dtype if adjacency.is_floating_point() else torch.get_default_dtype()
    slowest: Tensor = vectors.gather(-1, chosen).masked_fill(missing[..., None, :], 0.0)
    return slowest.to(adjacency.device, dtype)


def _check(weights: Float[Tensor, "*b n n"]) -> None:
    if not torch.equal(weights, weights.mT):
        raise ValueError(
            "the adjacency is not symmetric, and a directed graph has no such eigenvectors; "
            "forget the directions with adjacency | adjacency.mT, or torch.maximum where edges have weights"
        )
    if bool((weights < 0).any()):
        raise ValueError(
            f"an edge has weight {float(weights.min()):g}, but weights must not be negative; use their size"
        )
