"""LeViT: a Transformer made for speed, with a convolution stem and attention that shrinks its map (Graham 2021).

Batch norms follow every linear layer, `regard.layers.folding.fold` makes them part of it, and positions are a learned
bias for each distance. Deviations: none that we know of. Maps are square and of one size, as the bias is learned for
it; pictures of other sizes are refused.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Attention, Distances2d, Layout, Memory, mix
from regard.attention.attention import split_heads
from regard.layers.convolution import conv_bn
from regard.layers.folding import LinearNorm
from regard.layers.residual import Residual
from regard.layers.vision import VisionModel, check_stages
from regard.models.family import Family

STEM = 4  # convolutions, which halve the picture each


@dataclass(frozen=True, slots=True)
class Config:
    size: int = 224  # of the pictures, in pixels
    channels: int = 3
    widths: tuple[int, ...] = (256, 384, 512)  # of the stages, as are depths and heads
    depths: tuple[int, ...] = (4, 4, 4)
    heads: tuple[int, ...] = (4, 6, 8)
    head_width: int = 32  # of queries and keys
    value_ratio: int = 2  # how much wider values are; twice as much where an attention shrinks its map
    expansion: int = 2  # of the MLPs
    classes: int = 1000
    distilled: bool = True  # a second classifier, which is told what a teacher says
    drop_path: float = 0.0

    def __post_init__(self) -> None:
        check_stages(widths=self.widths, depths=self.depths, heads=self.heads)
        if self.widths[0] % 2 ** (STEM - 1):
            raise ValueError(
                f"width {self.widths[0]} does not halve {STEM - 1} times, as the stem asks; "
                f"make it a multiple of {2 ** (STEM - 1)}"
            )


class LeViT(VisionModel):
    """A stem, stages of blocks with attention that halves the map between them, and classifiers of the mean."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.stem = _stem(config.channels, config.widths[0])
        side, self.stages, self.shrinks = self.grid(config.size, config.size)[0], nn.ModuleList(), nn.ModuleList()
        for stage, (width, depth) in enumerate(zip(config.widths, config.depths, strict=True)):
            self.stages.append(nn.Sequential(*(LeViTBlock(config, stage, side) for _ in range(depth))))
            if stage + 1 < len(config.widths):
                self.shrinks.append(Shrink(config, width, config.widths[stage + 1], side))
                side = -(-side // 2)
        width = config.widths[-1]
        self.head = _classifier(width, config.classes) if config.classes else None
        self.teacher_head = _classifier(width, config.classes) if config.classes and config.distilled else None
        for module in self.modules():
            # Numbers keep their size from layer to layer before a batch norm has met any, too.
            if isinstance(module, nn.Conv2d) or (isinstance(module, nn.Linear) and module.bias is None):
                nn.init.kaiming_normal_(module.weight)

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o"]:
        """Logits; where there are two classifiers, their mean."""
        if self.head is None:
            return self.pool(image)
        said = self.answers(image)
        return said[0] if len(said) == 1 else (said[0] + said[1]) / 2

    def answers(self, image: Float[Tensor, "b c h w"]) -> list[Float[Tensor, "b o"]]:
        """What each classifier says: that of the labels, and that of the teacher, which are trained apart."""
        x = self.pool(image)
        return [head(x) for head in (self.head, self.teacher_head) if head is not None]

    def pool(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o"]:
        """What the classifiers read."""
        return self.features(image).mean(dim=(1, 2))

    def features(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        grid, trained = self.grid(*image.shape[-2:]), self.grid(self.config.size, self.config.size)
        if grid != trained:
            raise ValueError(
                f"a picture of {image.shape[-2]}×{image.shape[-1]} has a map of {grid[0]}×{grid[1]}, and distances are "
                f"known on {trained[0]}×{trained[1]}; scale it to {self.config.size}×{self.config.size}"
            )
        x: Tensor = self.stem(image).permute(0, 2, 3, 1)
        for stage, shrink in zip(self.stages, [*self.shrinks, nn.Identity()], strict=True):
            x = shrink(stage(x))
        return x

    def grid(self, height: int, width: int) -> tuple[int, int]:
        return -(-height // 2**STEM), -(-width // 2**STEM)


class LeViTBlock(nn.Module):
    """Attention and an MLP on a map, with batch norms inside of both."""

    def __init__(self, config: Config, stage: int, side: int) -> None:
        super().__init__()
        width, join = config.widths[stage], config.drop_path
        self.attn = LeViTAttention(width, config.heads[stage], config.head_width, config.value_ratio, side)
        self.attn_join = Residual(width, drop_path=join)
        self.mlp = _mlp(width, config.expansion)
        self.mlp_join = Residual(width, drop_path=join)

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b h w c"]:
        x = self.attn_join(x, self.attn(x))
        y: Tensor = self.mlp_join(x, self.mlp(x))
        return y


class Shrink(nn.Module):
    """Between two stages: every other cell asks all of them, and nothing else of the map is kept (figure 5)."""

    def __init__(self, config: Config, width: int, wider: int, side: int) -> None:
        super().__init__()
        heads, ratio = width // config.head_width, 2 * config.value_ratio
        self.attn = ShrinkingAttention(width, wider, heads, config.head_width, ratio, side)
        self.mlp = _mlp(wider, config.expansion)
        self.mlp_join = Residual(wider, drop_path=config.drop_path)

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b i j o"]:
        x = self.attn(x)
        y: Tensor = self.mlp_join(x, self.mlp(x))
        return y


class LeViTAttention(nn.Module):
    """Attention of all cells of a map to all, with values that are wider than keys."""

    def __init__(self, width: int, heads: int, head_width: int, ratio: int, side: int) -> None:
        super().__init__()
        self.widths = [head_width, head_width, ratio * head_width]
        self.qkv = LinearNorm(width, heads * sum(self.widths))
        self.attn = _attention(heads, ratio * head_width, width, Distances2d(side, heads), zero_init=True)

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b h w c"]:
        height, width = x.shape[1:3]
        q, k, v = split_heads(self.qkv(x.flatten(1, 2)), self.attn.heads).split(self.widths, dim=-1)
        return _answer(self.attn, q, Memory(k, v), Layout(height, width))


class ShrinkingAttention(nn.Module):
    """Attention of every other cell of a map to all."""

    def __init__(self, width: int, wider: int, heads: int, head_width: int, ratio: int, side: int) -> None:
        super().__init__()
        self.widths = [head_width, ratio * head_width]
        self.q = LinearNorm(width, heads * head_width)
        self.kv = LinearNorm(width, heads * sum(self.widths))
        self.attn = _attention(heads, ratio * head_width, wider, Distances2d(side, heads, stride=2))

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b i j o"]:
        fewer = x[:, ::2, ::2]
        q = split_heads(self.q(fewer.flatten(1, 2)), self.attn.heads)
        k, v = split_heads(self.kv(x.flatten(1, 2)), self.attn.heads).split(self.widths, dim=-1)
        layout = Layout(fewer.shape[1], fewer.shape[2], keys=(x.shape[1], x.shape[2]))
        return _answer(self.attn, q, Memory(k, v), layout)


def _attention(heads: int, values: int, width: int, bias: Distances2d, *, zero_init: bool = False) -> Attention:
    """An attention whose heads are projected before it is asked, since q, k and v are one product."""
    out = nn.Sequential(nn.Hardswish(), LinearNorm(heads * values, width, zero_init=zero_init))
    return Attention(nn.Identity(), nn.Identity(), nn.Identity(), out, heads=heads, bias=bias)


def _answer(attn: Attention, q: Tensor, memory: Memory, layout: Layout) -> Float[Tensor, "b i j o"]:
    look = attn.look(q.transpose(1, 2).flatten(2), memory, layout=layout)
    return torch.unflatten(attn.finish(mix(look, memory.v)), 1, (layout.height, layout.width))


def _mlp(width: int, expansion: int) -> nn.Sequential:
    return nn.Sequential(
        LinearNorm(width, expansion * width), nn.Hardswish(), LinearNorm(expansion * width, width, zero_init=True)
    )


def _stem(channels: int, width: int) -> nn.Sequential:
    widths = [channels, *(width // 2**halvings for halvings in reversed(range(STEM)))]
    convs = [conv_bn(before, after, 3, stride=2) for before, after in pairwise(widths)]
    return nn.Sequential(*(layer for conv in convs[:-1] for layer in (conv, nn.Hardswish())), convs[-1])


def _classifier(width: int, classes: int) -> nn.Sequential:
    linear = nn.Linear(width, classes)
    nn.init.trunc_normal_(linear.weight, std=0.02)
    nn.init.zeros_(linear.bias)
    return nn.Sequential(nn.BatchNorm1d(width), linear)


def example(config: Config) -> dict[str, Any]:
    return {"image": torch.randn(2, config.channels, config.size, config.size)}


# Table 2 of the paper, and the authors' settings.
PRESETS = {
    "levit-128s": Config(widths=(128, 256, 384), depths=(2, 3, 4), heads=(4, 6, 8), head_width=16),
    "levit-128": Config(widths=(128, 256, 384), heads=(4, 8, 12), head_width=16),
    "levit-192": Config(widths=(192, 288, 384), heads=(3, 5, 6)),
    "levit-256": Config(),
    "levit-384": Config(widths=(384, 512, 768), heads=(6, 9, 12), drop_path=0.1),
    "levit-world": Config(
        64, widths=(128, 192), depths=(2, 2), heads=(4, 6), head_width=16, classes=64, distilled=False
    ),
    "levit-nano": Config(48, widths=(16, 24), depths=(1, 1), heads=(2, 2), head_width=8, classes=5),
}

FAMILY = Family("levit", Config, LeViT, PRESETS, example)
