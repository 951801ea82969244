"""Swin: attention inside windows that are shifted every other block, over maps that shrink stage by stage (Liu 2021).

With `version=2` it is Swin V2: norms at the end of branches, cosine attention, positions from a small network (Liu
2022). Deviations: first weights are drawn from a whole normal distribution, where the authors cut it at two standard
deviations; padding, where windows or patches do not divide a picture, is hidden inside windows, and a side that one
window holds is not shifted though the other may be.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Attention, Continuous2d, Dot, Partitioned, Relative2d, Shifted, Window, multihead
from regard.layers.blocks import Block
from regard.layers.convolution import PatchEmbed
from regard.layers.cosine import Temperature, UnitLength
from regard.layers.dropout import Dropout
from regard.layers.language import draw_weights
from regard.layers.mlp import ACTIVATIONS, MLP
from regard.layers.residual import Residual
from regard.layers.vision import VisionModel, check_stages, classifier
from regard.models.family import Family


@dataclass(frozen=True, slots=True)
class Config:
    version: Literal[1, 2] = 1
    size: int = 224  # of the pictures it is trained on, in pixels
    channels: int = 3
    patch: int = 4
    window: int = 7  # in tokens; smaller where a map is
    widths: tuple[int, ...] = (128, 256, 512, 1024)  # of the stages, as are depths and heads
    depths: tuple[int, ...] = (2, 2, 18, 2)
    heads: tuple[int, ...] = (4, 8, 16, 32)
    expansion: float = 4.0  # of the MLPs
    classes: int = 1000
    activation: Literal["gelu", "gelu_tanh", "relu", "silu"] = "gelu"
    qkv_bias: bool = True  # the second version's keys have none
    trained: tuple[int, ...] = ()  # the windows of each stage that a second version was trained in, if others
    dropout: float = 0.0
    drop_path: float = 0.5  # of the last block; those before have less
    eps: float = 1e-5  # of the norms of blocks and of the last

    def __post_init__(self) -> None:
        check_stages(widths=self.widths, depths=self.depths, heads=self.heads)
        if self.trained:
            check_stages(widths=self.widths, trained=self.trained)


class Swin(VisionModel):
    """Patches, stages of windowed blocks with fewer and wider tokens in each, and a classifier of their mean."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.stem = PatchEmbed(config.channels, config.patch, config.widths[0])
        self.norm_in = nn.LayerNorm(config.widths[0])
        self.dropout = Dropout(config.dropout)
        self.stages = nn.ModuleList(self.make_stage(i) for i in range(len(config.depths)))
        self.merges = nn.ModuleList(
            PatchMerging(before, after, norm_first=config.version == 1) for before, after in pairwise(config.widths)
        )
        self.norm = nn.LayerNorm(config.widths[-1], eps=config.eps)
        self.head = classifier(config.widths[-1], config.classes)
        draw_weights(self)

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o"]:
        logits: Tensor = self.head(self.features(image).mean(dim=(1, 2)))
        return logits

    def features(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        height, width = image.shape[-2:]
        patch = self.config.patch
        x = self.stem(F.pad(image, (0, -width % patch, 0, -height % patch)))
        x = self.dropout(self.norm_in(x))
        for stage, merge in zip(self.stages, [*self.merges, nn.Identity()], strict=True):
            x = merge(stage(x))
        states: Tensor = self.norm(x)
        return states

    def grid(self, height: int, width: int) -> tuple[int, int]:
        return -(-height // self.config.patch), -(-width // self.config.patch)

    def make_stage(self, stage: int) -> nn.Sequential:
        config = self.config
        width, heads, before = config.widths[stage], config.heads[stage], sum(config.depths[:stage])
        side = -(-self.grid(config.size, config.size)[0] // 2**stage)
        window = min(config.window, side)
        norm, activation = partial(nn.LayerNorm, eps=config.eps), ACTIVATIONS[config.activation]
        block = Block if config.version == 1 else NormedBranchBlock
        return nn.Sequential(
            *(
                block(
                    width,
                    Partitioned(self.make_attention(stage, heads, window), self.make_window(window, side, i)),
                    MLP(width, int(config.expansion * width), activation=activation),
                    norm=norm,
                    dropout=config.dropout,
                    drop_path=config.drop_path * (before + i) / max(sum(config.depths) - 1, 1),
                )
                for i in range(config.depths[stage])
            )
        )

    def make_window(self, window: int, side: int, block: int) -> Window:
        """Every other block has its windows shifted by half; the second version decides it by the trained size."""
        still = self.config.version == 2 and side <= window
        return Window(window) if block % 2 == 0 or still or window == 1 else Shifted(window, window // 2)

    def make_attention(self, stage: int, heads: int, window: int) -> Attention:
        config, width = self.config, self.config.widths[stage]
        if config.version == 1:
            bias = Relative2d(window, heads)
            return multihead(width, heads, bias=bias, dropout=config.dropout, qkv_bias=config.qkv_bias)
        if width % heads:
            raise ValueError(f"width {width} does not split into {heads} heads; make it a multiple of them")
        return Attention(
            q=nn.Linear(width, width, bias=config.qkv_bias),
            k=nn.Linear(width, width, bias=False),
            v=nn.Linear(width, width, bias=config.qkv_bias),
            out=nn.Linear(width, width),
            heads=heads,
            score=Dot(1.0),
            q_norm=Temperature(heads),
            k_norm=UnitLength(),
            bias=Continuous2d(window, heads, trained=(config.trained[stage] if config.trained else 0) or window),
            dropout=config.dropout,
        )


class NormedBranchBlock(nn.Module):
    """The second version's: each branch is normalised before it joins, and starts at nothing (Liu 2022, §3.2)."""

    def __init__(
        self,
        width: int,
        attn: nn.Module,
        mlp: nn.Module,
        *,
        norm: Callable[[int], nn.Module],
        dropout: float,
        drop_path: float,
    ) -> None:
        super().__init__()
        self.attn, self.attn_norm = attn, norm(width)
        self.mlp, self.mlp_norm = mlp, norm(width)
        self.attn_join = Residual(width, dropout=dropout, drop_path=drop_path)
        self.mlp_join = Residual(width, dropout=dropout, drop_path=drop_path)
        for weight in (*self.attn_norm.parameters(), *self.mlp_norm.parameters()):
            nn.init.zeros_(weight)

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b h w c"]:
        x = self.attn_join(x, self.attn_norm(self.attn(x)))
        y: Tensor = self.mlp_join(x, self.mlp_norm(self.mlp(x)))
        return y


class PatchMerging(nn.Module):
    """Four neighbours become one token; a side that is odd gets a row of zeros."""

    def __init__(self, width: int, wider: int, *, norm_first: bool) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.norm = nn.LayerNorm(4 * width if norm_first else wider)
        self.reduce = nn.Linear(4 * width, wider, bias=False)

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b i j o"]:
        x = F.pad(x, (0, 0, 0, x.shape[2] % 2, 0, x.shape[1] % 2))
        x = torch.cat([x[:, row::2, column::2] for column in (0, 1) for row in (0, 1)], dim=-1)
        y: Tensor = self.reduce(self.norm(x)) if self.norm_first else self.norm(self.reduce(x))
        return y


def example(config: Config) -> dict[str, Any]:
    return {"image": torch.randn(2, config.channels, config.size, config.size)}


_TINY: dict[str, Any] = {"widths": (96, 192, 384, 768), "depths": (2, 2, 6, 2), "heads": (3, 6, 12, 24)}
_SMALL = {**_TINY, "depths": (2, 2, 18, 2)}
_LARGE: dict[str, Any] = {"widths": (192, 384, 768, 1536), "heads": (6, 12, 24, 48)}
# §3.3 of the paper, and of the second version's the same sizes, the large one as it was tuned on larger pictures. How
# often the last block is dropped is said in A2.1, and in the authors' settings of the second version.
_WORLD: dict[str, Any] = dict(
    window=4, widths=(48, 96, 192), depths=(2, 2, 2), heads=(2, 4, 8), classes=64, drop_path=0.0
)
PRESETS = {
    "swin-tiny": Config(**_TINY, drop_path=0.2),
    "swin-small": Config(**_SMALL, drop_path=0.3),
    "swin-base": Config(),
    "swin-large": Config(**_LARGE, drop_path=0.2),
    "swin-v2-tiny": Config(2, 256, window=8, **_TINY, drop_path=0.2),
    "swin-v2-small": Config(2, 256, window=8, **_SMALL, drop_path=0.3),
    "swin-v2-base": Config(2, 256, window=8, drop_path=0.5),
    "swin-v2-large": Config(2, 384, window=24, **_LARGE, trained=(12, 12, 12, 6), drop_path=0.2),
    "swin-world": Config(1, 64, **_WORLD),
    "swin-v2-world": Config(2, 64, **_WORLD),
    "swin-nano": Config(1, 32, window=4, widths=(16, 32), depths=(2, 2), heads=(2, 4), classes=5, drop_path=0.0),
}

FAMILY = Family("swin", Config, Swin, PRESETS, example)
