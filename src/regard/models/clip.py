"""CLIP: pictures and the texts that go with them, as vectors of one space (Radford 2021); SigLIP (Zhai 2023).

A tower for each: a model of pictures (`models/tower.py`), and a Transformer that reads the text from the left and is
pooled at its last token; or, as SigLIP's, one that reads both ways, and reads the padding too with which its rows are
filled; or a BERT, whose states are averaged. Two projections lead to the joint space, where a learned temperature
sharpens the cosines. Sizes are those of the published weights (table 20 of CLIP; Zhai 2023).

Deviations: a ResNet is ours, and with `pool="attention"` its cells are asked by their mean, as in the paper, before the
projection and not within it; `project="deep"` has a hidden layer, which towers that do not learn need; and what a tower
has made of a picture or a text before may be given in its place (`seen`, `told`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, cast

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from regard.attention import both, causal, multihead, read_visible
from regard.layers.blocks import Block
from regard.layers.dropout import Dropout
from regard.layers.heads import last_tokens
from regard.layers.language import draw_weights
from regard.layers.mlp import ACTIVATIONS, MLP
from regard.layers.position import Learned, LearnedCells
from regard.layers.stack import Stack
from regard.models import bert, efficientnet, resnet, vit
from regard.models.family import Family
from regard.models.tower import Tower, make_tower, width_of

TEMPERATURE = math.log(1 / 0.07)  # where the logarithm of the scale begins
MOST = math.log(100)  # and where it ends, which training holds it to (§2.5)


@dataclass(frozen=True, slots=True)
class Text:
    """A Transformer over texts."""

    vocab: int = 49408
    context: int = 77
    width: int = 512
    depth: int = 12
    heads: int = 8
    hidden: int = 2048
    activation: Literal["gelu", "gelu_tanh", "quick_gelu"] = "quick_gelu"
    causal: bool = True  # each token looks at those before it; else at all
    filled: bool = False  # rows are as long as the context, and padding is read as a word is (SigLIP)
    dropout: float = 0.0
    eps: float = 1e-5  # of the norms


B_32 = vit.Config(patch=32, classes=0, activation="quick_gelu", first_norm=True, eps=1e-5)


@dataclass(frozen=True, slots=True)
class Config:
    image: Tower = B_32
    text: Text | bert.Config = Text()
    joint: int = 512  # of the space in which both meet
    pool: Literal["tower", "attention"] = "tower"  # as the tower does; or the mean of its map asks all cells
    heads: int = 8  # of that attention
    # Both are linear without a constant; only texts are projected, with a constant (SigLIP); both by a hidden layer.
    project: Literal["both", "text", "deep"] = "both"
    dropout: float = 0.0  # of what is projected, and of a hidden layer
    bias: bool = False  # one is added to all logits (SigLIP)

    def __post_init__(self) -> None:
        if self.project == "text" and width_of(self.image) != self.joint:
            raise ValueError(
                f"pictures of width {width_of(self.image)} that are not projected do not lie in a space of "
                f"{self.joint}; make it as wide, or project both"
            )

    @property
    def size(self) -> int:
        """Of the pictures, in pixels."""
        return self.image.size

    @property
    def channels(self) -> int:
        return self.image.channels

    @property
    def vocab(self) -> int:
        return self.text.vocab

    @property
    def context(self) -> int:
        """The most tokens of a text."""
        return self.text.context


class Matched(NamedTuple):
    """Pictures and texts in the joint space, as vectors of length 1, and what makes logits of their cosines."""

    image: Float[Tensor, "b j"]
    text: Float[Tensor, "t j"]
    scale: Float[Tensor, ""]
    bias: Float[Tensor, ""] | None

    @property
    def logits(self) -> Float[Tensor, "b t"]:
        """How well each picture and each text go together."""
        logits = self.scale * self.image @ self.text.T
        return logits if self.bias is None else logits + self.bias


class TextTower(nn.Module):
    """A text as one vector: a Transformer, pooled at the last token, which in a causal one has seen all others."""

    def __init__(self, config: Text) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.width)
        self.position = Learned(config.context, config.width)
        self.dropout = Dropout(config.dropout)
        self.encoder = Stack(
            Block(
                config.width,
                multihead(config.width, config.heads),
                MLP(config.width, config.hidden, activation=ACTIVATIONS[config.activation]),
                norm=partial(nn.LayerNorm, eps=config.eps),
                dropout=config.dropout,
            )
            for _ in range(config.depth)
        )
        self.norm = nn.LayerNorm(config.width, eps=config.eps)

    def forward(self, ids: Int[Tensor, "t n"], lengths: Int[Tensor, " t"] | None = None) -> Float[Tensor, "t w"]:
        return last_tokens(self.read(ids, lengths), lengths)

    def read(self, ids: Int[Tensor, "t n"], lengths: Int[Tensor, " t"] | None = None) -> Float[Tensor, "t n w"]:
        """The states of all tokens; `lengths` are those of rows that are padded behind."""
        count = ids.shape[1]
        if self.config.filled and count != self.config.context:
            raise ValueError(
                f"rows of {count} tokens are not filled; this model reads padding too, so give {self.config.context}"
            )
        seen, _ = read_visible(lengths, None, count)
        x = self.dropout(self.position(self.embed(ids)))
        hidden: Tensor = self.norm(self.encoder(x, visible=both(causal(count), seen) if self.config.causal else seen))
        return hidden


class MeanOfBERT(bert.BERT):
    """A BERT whose states are averaged, as those of sentence-transformers; it has no head."""

    def __init__(self, config: bert.Config) -> None:
        super().__init__(config)
        del self.head

    def forward(  # type: ignore[override]  # a vector, and not what a head says
        self, ids: Int[Tensor, "t n"], lengths: Int[Tensor, " t"] | None = None
    ) -> Float[Tensor, "t w"]:
        hidden = self.read(ids, lengths=lengths)
        if lengths is None:
            return hidden.mean(dim=1)
        real = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        return (hidden * real[..., None]).sum(dim=1) / lengths[:, None]


class AskedByMean(nn.Module):
    """A map of features as one vector: the mean of its cells asks all of them (CLIP's attention pooling, §2.4)."""

    def __init__(self, grid: tuple[int, int], width: int, heads: int) -> None:
        super().__init__()
        self.position = LearnedCells(*grid, width, leading=1)
        self.attn = multihead(width, heads)

    def forward(self, cells: Float[Tensor, "b i j w"]) -> Float[Tensor, "b w"]:
        rows = torch.cat((cells.mean(dim=(1, 2))[:, None], cells.flatten(1, 2)), dim=1)
        placed = rows + self.position(*cells.shape[1:3]).to(rows)
        answer: Tensor = self.attn(placed[:, :1], self.attn.remember(placed))[:, 0]
        return answer


class CLIP(nn.Module):
    """Two towers, two projections, and a temperature."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        seen, read = width_of(config.image), config.text.width
        self.image = make_tower(config.image)
        self.text = TextTower(config.text) if isinstance(config.text, Text) else MeanOfBERT(config.text)
        self.pool = AskedByMean(self._map(), seen, config.heads) if config.pool == "attention" else None
        self.dropout = Dropout(config.dropout)
        self.to_image = nn.Identity() if config.project == "text" else _projection(seen, config)
        self.to_text = _projection(read, config)
        self.log_scale = nn.Parameter(torch.tensor(math.log(10.0) if config.bias else TEMPERATURE))
        self.bias = nn.Parameter(torch.tensor(-10.0)) if config.bias else None
        draw_weights(self.text)

    def forward(
        self,
        image: Float[Tensor, "b c h w"] | None = None,
        ids: Int[Tensor, "t n"] | None = None,
        *,
        lengths: Int[Tensor, " t"] | None = None,
        seen: Float[Tensor, "b y x o"] | None = None,
        told: Float[Tensor, "t v"] | None = None,
        chunk: int = 0,
    ) -> Matched:
        """Every picture and every text of a batch as vectors, whose `logits` say how well they go together.

        `lengths` are those of texts that are padded behind. `seen` are maps of features in place of pictures, `told`
        what the text tower gave in place of texts. With `chunk`, so many are read at once; what is computed on the way
        is forgotten, and computed once more where gradients are asked for. So a batch of any size takes the memory of a
        chunk (gradient caching, Gao 2021).
        """
        if (image is None) == (seen is None) or (ids is None) == (told is None):
            raise ValueError("a batch is pictures, or what was seen of them, and texts, or what they told; give both")
        pictures = (
            _in_chunks(self.encode_image, chunk, image)
            if image is not None
            else _in_chunks(self.encode_seen, chunk, cast(Tensor, seen))
        )
        if ids is not None:
            texts = _in_chunks(self.encode_text, chunk, *((ids,) if lengths is None else (ids, lengths)))
        else:
            texts = self.encode_told(cast(Tensor, told))
        return self.match(pictures, texts)

    def encode_image(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b j"]:
        """The vector of each picture, of length 1."""
        return self._project(self.image(image) if self.pool is None else self.pool(self.image.features(image)))

    def encode_seen(self, seen: Float[Tensor, "b y x o"]) -> Float[Tensor, "b j"]:
        """The vector of each picture by what its tower has made of it before: `model.image.features(image)`."""
        if self.pool is None and isinstance(self.config.image, vit.Config) and self.config.image.pool != "mean":
            raise ValueError("a ViT pools more than its map; give the pictures, or build with pool='attention'")
        return self._project(seen.mean(dim=(1, 2)) if self.pool is None else self.pool(seen))

    def encode_text(self, ids: Int[Tensor, "t n"], lengths: Int[Tensor, " t"] | None = None) -> Float[Tensor, "t j"]:
        """The vector of each text, of length 1."""
        return self.encode_told(self.text(ids, lengths))

    def encode_told(self, told: Float[Tensor, "t w"]) -> Float[Tensor, "t j"]:
        """The vector of each text by what its tower has made of it before: `model.text(ids)`."""
        return F.normalize(self.to_text(self.dropout(told)), dim=-1)

    def match(self, image: Float[Tensor, "b j"], text: Float[Tensor, "t j"]) -> Matched:
        """Vectors that were made before, as `forward` gives them."""
        return Matched(image, text, self.log_scale.exp(), self.bias)

    def _project(self, pooled: Float[Tensor, "b w"]) -> Float[Tensor, "b j"]:
        return F.normalize(self.to_image(self.dropout(pooled)), dim=-1)

    def _map(self) -> tuple[int, int]:
        """The rows and columns of the last map of a picture of the usual size."""
        size = self.config.image.size
        if isinstance(self.config.image, vit.Config):
            return self.image.grid(size, size)
        side = -(-size // cast(int, self.image.stride))
        return side, side


class Deep(nn.Module):
    """A linear projection, and a hidden layer that corrects it."""

    def __init__(self, width: int, joint: int, *, dropout: float) -> None:
        super().__init__()
        self.project = nn.Linear(width, joint)
        self.norm = nn.LayerNorm(joint)
        self.mlp = MLP(joint, 2 * joint, dropout=dropout)

    def forward(self, x: Float[Tensor, "b w"]) -> Float[Tensor, "b j"]:
        straight = self.project(x)
        corrected: Tensor = straight + self.mlp(self.norm(straight))
        return corrected


def _projection(width: int, config: Config) -> nn.Module:
    if config.project == "deep":
        return Deep(width, config.joint, dropout=config.dropout)
    made = nn.Linear(width, config.joint, bias=config.project == "text")
    nn.init.normal_(made.weight, std=width**-0.5)
    if config.project == "text":
        nn.init.zeros_(made.bias)
    return made


def _in_chunks(encode: Callable[..., Tensor], chunk: int, *rows: Tensor) -> Tensor:
    """Vectors of some rows, so many at once; their gradients are those of all at once."""
    if not chunk or len(rows[0]) <= chunk:
        return encode(*rows)
    parts = zip(*(each.split(chunk) for each in rows), strict=True)
    if not torch.is_grad_enabled():
        return torch.cat([encode(*part) for part in parts])
    return torch.cat([checkpoint(encode, *part, use_reentrant=False) for part in parts])


def example(config: Config) -> dict[str, Any]:
    count = config.text.context if isinstance(config.text, Text) and config.text.filled else 6
    rows = {"ids": torch.randint(config.text.vocab, (2, count))}
    return {
        "image": torch.randn(2, config.channels, config.size, config.size),
        **rows,
        **({} if count == config.text.context else {"lengths": torch.tensor([6, 4])}),
    }


_large = replace(B_32, patch=14, width=1024, depth=24, heads=16, hidden=4096)
_sigmoid = vit.Config(classes=0, pool="probe", activation="gelu_tanh")
_filled = partial(Text, vocab=32000, context=64, activation="gelu_tanh", causal=False, filled=True, eps=1e-6)
# MiniLM-L6 (Wang 2020), as sentence-transformers trained it.
_MINILM = bert.Config(width=384, depth=6, hidden=1536, head="none")

PRESETS = {
    "clip-vit-b32": Config(),
    "clip-vit-b16": Config(replace(B_32, patch=16)),
    "clip-vit-l14": Config(_large, Text(width=768, heads=12, hidden=3072), joint=768),
    "clip-vit-l14-336": Config(replace(_large, size=336), Text(width=768, heads=12, hidden=3072), joint=768),
    "clip-resnet-50": Config(
        resnet.Config(classes=0, stem="deep", pooled=True), joint=1024, pool="attention", heads=32
    ),
    "clip-siglip-base": Config(
        _sigmoid, _filled(width=768, heads=12, hidden=3072), joint=768, project="text", bias=True
    ),
    "clip-siglip-large": Config(
        replace(_sigmoid, width=1024, depth=24, heads=16, hidden=4096, size=256),
        _filled(width=1024, depth=24, heads=16, hidden=4096),
        joint=1024,
        project="text",
        bias=True,
    ),
    # For a laptop: the little world, and photographs seen by an EfficientNet-Lite0 that is trained already.
    "clip-world": Config(
        vit.Config(48, patch=8, width=128, depth=4, heads=4, hidden=256, classes=0, stem="conv"),
        Text(vocab=200, context=77, width=128, depth=2, heads=4, hidden=256, activation="gelu"),
        joint=128,
    ),
    # The tower of the captioner and the detector of the world, which tells shapes apart sooner than a ViT.
    "clip-world-resnet": Config(
        resnet.Config(48, 3, "fast", 32, "basic", (32, 64, 128), (1, 1, 1), classes=0, pooled=True),
        Text(vocab=200, context=77, width=128, depth=2, heads=4, hidden=256, activation="gelu"),
        joint=128,
        pool="attention",
        heads=4,
    ),
    "clip-flickr8k": Config(
        efficientnet.Config(160, classes=0), _MINILM, joint=512, pool="attention", heads=8, project="deep", dropout=0.3
    ),
    "clip-flickr8k-small": Config(
        efficientnet.Config(160, classes=0),
        Text(vocab=4000, context=48, width=256, depth=2, heads=4, hidden=512, activation="gelu", dropout=0.2),
        joint=256,
        pool="attention",
        heads=8,
        dropout=0.2,
    ),
    "clip-nano": Config(
        vit.Config(16, patch=4, width=32, depth=2, heads=4, hidden=64, classes=0, activation="quick_gelu"),
        Text(vocab=48, context=12, width=32, depth=2, heads=4, hidden=64),
        joint=16,
        bias=True,
    ),
}

FAMILY = Family("clip", Config, CLIP, PRESETS, example)
