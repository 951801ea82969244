"""A Transformer on graphs: nodes attend to their neighbours, with Laplacian position encodings (Dwivedi 2020).

Deviation: pre-norm blocks with LayerNorm in place of post-norm ones with BatchNorm, which padded batches disturb.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention import multihead
from regard.layers.blocks import Block
from regard.layers.mlp import MLP
from regard.layers.position import Laplacian, laplacian
from regard.models.family import Family


@dataclass(frozen=True, slots=True)
class Config:
    inputs: int = 28  # features of a node: ZINC's kinds of atoms
    width: int = 80
    depth: int = 10
    heads: int = 8
    classes: int = 1
    eigenvectors: int = 8  # of the Laplacian; 0 leaves the nodes without positions
    dropout: float = 0.0


class GraphTransformer(nn.Module):
    """Attention whose mask is the graph: two nodes see each other where an edge joins them."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Linear(config.inputs, config.width)
        self.position = Laplacian(config.eigenvectors, config.width) if config.eigenvectors else None
        self.blocks = nn.ModuleList(
            Block(
                config.width,
                multihead(config.width, config.heads, qkv_bias=False, out_bias=False),
                MLP(config.width, 2 * config.width, activation=nn.ReLU),
                dropout=config.dropout,
            )
            for _ in range(config.depth)
        )
        self.norm = nn.LayerNorm(config.width)
        self.head = MLP(config.width, config.width // 2, activation=nn.ReLU)
        self.to_classes = nn.Linear(config.width, config.classes)

    def forward(
        self,
        nodes: Float[Tensor, "b n f"],
        edges: Bool[Tensor, "b n n"],
        *,
        eigenvectors: Float[Tensor, "b n k"] | None = None,
    ) -> Float[Tensor, "b c"]:
        """One output for each graph; a node with no edge is padding. `eigenvectors` may be computed beforehand."""
        x = self.embed(nodes)
        if self.position is not None:
            x = self.position(x, laplacian(edges, self.config.eigenvectors) if eigenvectors is None else eigenvectors)
        for block in self.blocks:
            x = block(x, visible=edges[:, None])
        real = edges.any(dim=-1, keepdim=True)
        mean = (self.norm(x) * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)
        output: Tensor = self.to_classes(self.head(mean))
        return output


def example(config: Config) -> dict[str, Any]:
    ring = torch.eye(5, dtype=torch.bool).roll(1, 1)
    return {"nodes": torch.randn(2, 5, config.inputs), "edges": (ring | ring.mT).repeat(2, 1, 1)}


PRESETS = {
    "graph-zinc": Config(),  # table 1 of the paper: ten layers of width 80
    "graph-nano": Config(inputs=3, width=16, depth=2, heads=2, eigenvectors=4),
}

FAMILY = Family("graph", Config, GraphTransformer, PRESETS, example)
