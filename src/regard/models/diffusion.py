"""DiT: a Transformer that takes the noise out of a picture, step by step (Peebles 2023), told by words what to show.

Pictures are learnt by drowning them in noise, as much as a time from 0 to 1 says, and guessing what drowned (Ho 2020).
The tokens are patches; the time scales, moves and gates every branch (adaLN-zero); and every block looks at the states
of the words by cross-attention, as in latent diffusion (Rombach 2022).

Deviations: words in place of class labels, read by a small encoder that is trained along; what the time tells is shared
by all blocks but for a table of each (PixArt-α, Chen 2023); the model says the velocity v of picture and noise
(Salimans 2022), which is well defined at every time, and no variance. With `fine` channels, a pyramid of convolutions
stands around the Transformer in place of the linear patches (U-ViT, Hoogeboom 2023).
"""

from dataclasses import dataclass
from typing import Any, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import Attention, multihead, padding
from regard.layers.adaptive import PARTS, AdaptiveBlock, modulate
from regard.layers.blocks import Block
from regard.layers.convolution import PatchEmbed
from regard.layers.decoder import DecoderState
from regard.layers.mlp import MLP
from regard.layers.position import Sinusoidal, WaveCells, sinusoid
from regard.layers.pyramid import Pyramid
from regard.layers.stack import Stack
from regard.models.family import Family

MOMENTS = 1000.0  # by which a time from 0 to 1 is stretched, so that its waves tell small steps apart


@dataclass(frozen=True, slots=True)
class Config:
    size: int = 32  # of the picture, or of the map of latents
    channels: int = 4
    patch: int = 2
    width: int = 1152
    depth: int = 28
    heads: int = 16
    hidden: int = 4608
    vocab: int = 32128
    words: int = 120  # the most that are read
    text_depth: int = 2  # blocks of the encoder of words
    fine: int = 0  # channels at full size of convolutions around the Transformer; 0 has none, as in the paper

    def __post_init__(self) -> None:
        if self.fine and self.patch not in (2, 4, 8, 16):
            raise ValueError(
                f"convolutions halve a picture, and never make patches of {self.patch}; give 2, 4, 8 or 16"
            )
        if self.size % self.patch:
            raise ValueError(f"a picture of {self.size} does not divide into patches of {self.patch}; change either")
        if self.width % 4:
            raise ValueError(f"width {self.width} does not split into waves of rows and columns; give a multiple of 4")


class Denoiser(nn.Module):
    """Says the velocity of noised pictures at their times, while it looks at states that were given to `remember`."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        width = config.width
        halvings = config.patch.bit_length() - 1
        # Behind convolutions the last halving is that of the stem.
        self.side = 2 if config.fine else config.patch
        channels = config.fine * 2 ** (halvings - 1) if config.fine else config.channels
        self.stem = PatchEmbed(channels, self.side, width)
        self.cells = WaveCells(width)
        self.time = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.tell = nn.Sequential(nn.SiLU(), nn.Linear(width, PARTS * width))
        self.blocks = nn.ModuleList(
            AdaptiveBlock(
                width,
                multihead(width, config.heads),
                MLP(width, config.hidden),
                cross=multihead(width, config.heads),
            )
            for _ in range(config.depth)
        )
        self.norm = nn.LayerNorm(width, eps=1e-6, elementwise_affine=False)
        self.tell_last = nn.Sequential(nn.SiLU(), nn.Linear(width, 2 * width))
        self.to_patch = nn.Linear(width, self.side**2 * channels)
        # As in the paper: Glorot's matrices, and whatever joins the stream or leaves it begins with nothing.
        glorot(self)
        nn.init.xavier_uniform_(self.stem.project.weight.view(width, -1))
        outs = [cast(Attention, block.cross).out for block in self.blocks]
        for last in (self.tell[-1], self.tell_last[-1], self.to_patch, *outs):
            nn.init.zeros_(cast(nn.Linear, last).weight)
        self.pyramid = Pyramid(config.channels, config.fine, halvings, width) if config.fine else None

    @property
    def cross_attentions(self) -> tuple[str, ...]:
        """The names of the attentions that look at what is remembered."""
        return tuple(f"blocks.{i}.cross" for i in range(self.config.depth))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of a picture."""
        return self.config.channels, self.config.size, self.config.size

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """How many rows and columns of tokens a picture of this size has."""
        return height // self.config.patch, width // self.config.patch

    def remember(self, states: Float[Tensor, "b n w"], visible: Bool[Tensor, "b 1 1 n"] | None = None) -> DecoderState:
        """What every block will look at, projected once for all steps."""
        contexts = [cast(Attention, block.cross).remember(states, visible=visible) for block in self.blocks]
        return DecoderState(contexts, torch.arange(states.shape[0], device=states.device))

    def step(
        self, noised: Float[Tensor, "b c h w"], time: Float[Tensor, " b"], state: DecoderState
    ) -> Float[Tensor, "b c h w"]:
        """The velocity of pictures at times from 0, where they are clean, to 1, where they are noise alone."""
        moment = self.time(sinusoid(time.to(noised) * MOMENTS, self.config.width))
        maps = [noised] if self.pyramid is None else self.pyramid.before(noised, moment)
        cells = self.stem(maps[-1])
        rows, columns = cells.shape[1:3]
        x = cells.flatten(1, 2) + self.cells(rows, columns).to(cells)
        told = torch.unflatten(self.tell(moment), 1, (PARTS, -1))
        for block, context in zip(self.blocks, state.contexts, strict=True):
            x = block(x, told, context)
        shift, scale = self.tell_last(moment)[:, None].chunk(2, dim=-1)
        patches: Tensor = self.to_patch(modulate(self.norm(x), shift, scale))
        laid = patches.view(x.shape[0], rows, columns, -1, self.side, self.side)
        image = laid.permute(0, 3, 1, 4, 2, 5).reshape(maps[-1].shape)
        return image if self.pyramid is None else self.pyramid.behind(image, maps, moment)


class Diffusion(Denoiser):
    """A denoiser, and an encoder of the words that it looks at.

    `start` reads the words once, `step` says the velocity of noised pictures at their times; `forward` is both.
    """

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        width = config.width
        self.embed = nn.Embedding(config.vocab, width)
        self.position = Sinusoidal(width)
        self.encoder = Stack(
            Block(width, multihead(width, config.heads), MLP(width, config.hidden)) for _ in range(config.text_depth)
        )
        self.encoder_norm = nn.LayerNorm(width)
        glorot(self.encoder)

    def forward(
        self,
        noised: Float[Tensor, "b c h w"],
        time: Float[Tensor, " b"],
        ids: Int[Tensor, "b n"],
        *,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> Float[Tensor, "b c h w"]:
        """The velocity of pictures at their times, given the words that ask for them.

        `lengths` are those of the texts, where they are padded; what stands beyond them is not read.
        """
        return self.step(noised, time, self.start(ids, lengths=lengths))

    def start(self, ids: Int[Tensor, "b n"], *, lengths: Int[Tensor, " b"] | None = None) -> DecoderState:
        """Read the words once, for all steps of denoising."""
        visible = None if lengths is None else padding(lengths, ids.shape[1])
        states = self.encoder_norm(self.encoder(self.position(self.embed(ids)), visible=visible))
        return self.remember(states, visible)


def glorot(model: nn.Module) -> None:
    """First weights of all linear layers: Glorot's, and constants of zero."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)


def example(config: Config) -> dict[str, Any]:
    return {
        "noised": torch.randn(2, config.channels, config.size, config.size),
        "time": torch.tensor([0.3, 0.8]),
        "ids": torch.randint(config.vocab, (2, 5)),
        "lengths": torch.tensor([5, 3]),
    }


# Table 1 of the paper, over latents of pictures of 256 pixels; the one for pictures of the world is ours.
PRESETS = {
    "diffusion-small": Config(width=384, depth=12, heads=6, hidden=1536),
    "diffusion-base": Config(width=768, depth=12, heads=12, hidden=3072),
    "diffusion-large": Config(width=1024, depth=24, heads=16, hidden=4096),
    "diffusion-xlarge": Config(),
    "diffusion-world": Config(
        channels=3, patch=4, width=128, depth=4, heads=4, hidden=384, vocab=64, words=24, text_depth=1, fine=32
    ),
    "diffusion-nano": Config(
        size=16, channels=3, patch=4, width=32, depth=2, heads=4, hidden=64, vocab=48, words=12, text_depth=1
    ),
}

FAMILY = Family("diffusion", Config, Diffusion, PRESETS, example)
