"""unCLIP, or DALL·E 2: from CLIP's vector of a text to that of a picture, and from there to the picture (Ramesh 2022).

A trained CLIP, which is not trained further, gives both vectors. A prior guesses the vector of a picture from that of a
text, by taking noise out of it; a decoder, the denoiser of `diffusion.py`, looks at the vector as a few tokens. Both
are learnt at once, since neither needs the other.

Deviations: the prior is a residual network over vectors, where the paper has a Transformer that also reads the caption;
the decoder is a DiT at the size of the picture, without the text and without upsamplers.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.layers.decoder import DecoderState
from regard.layers.mlp import MLP
from regard.layers.position import sinusoid
from regard.models import clip as towers
from regard.models import diffusion
from regard.models.family import Family

CLIP = towers.Config()
DECODER = diffusion.Config(size=64, channels=3, patch=4, vocab=1)


@dataclass(frozen=True, slots=True)
class Config:
    """The `decoder` reads no words, so that its vocab, words and text_depth mean nothing."""

    clip: towers.Config = CLIP
    decoder: diffusion.Config = DECODER
    tokens: int = 4  # that a vector becomes for the decoder to look at
    prior_width: int = 2048
    prior_depth: int = 24

    def __post_init__(self) -> None:
        if self.tokens < 1 or self.prior_depth < 1:
            raise ValueError(
                f"{self.tokens} tokens and a prior of depth {self.prior_depth} say nothing; give 1 or more of each"
            )


class Guessed(NamedTuple):
    """What both halves say: the velocity of noised pictures, and the vectors of clean ones."""

    velocity: Float[Tensor, "b c h w"]
    vector: Float[Tensor, "b j"]


class Prior(nn.Module):
    """Guesses the vector of a picture from a noised one, its time and the vector of a text."""

    def __init__(self, joint: int, width: int, depth: int) -> None:
        super().__init__()
        self.width = width
        self.read = nn.Linear(2 * joint + width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(depth))
        self.mlps = nn.ModuleList(MLP(width, 2 * width) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.say = nn.Linear(width, joint)

    def forward(
        self, hazy: Float[Tensor, "b j"], time: Float[Tensor, " b"], told: Float[Tensor, "b j"]
    ) -> Float[Tensor, "b j"]:
        moment = sinusoid(time.to(hazy) * diffusion.MOMENTS, self.width)
        x = self.read(torch.cat((hazy, told, moment), dim=-1))
        for norm, mlp in zip(self.norms, self.mlps, strict=True):
            x = x + mlp(norm(x))
        guess: Tensor = self.say(self.norm(x))
        return guess


class UnCLIP(nn.Module):
    """A CLIP, a prior and a decoder. Vectors are as long as the root of their width, so that noise is of their size."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        joint = config.clip.joint
        self.clip = towers.CLIP(config.clip).requires_grad_(False)
        self.prior = Prior(joint, config.prior_width, config.prior_depth)
        self.decoder = diffusion.Denoiser(config.decoder)
        self.to_tokens = nn.Linear(joint, config.tokens * config.decoder.width)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of a picture."""
        return self.decoder.shape

    @property
    def cross_attentions(self) -> tuple[str, ...]:
        """The names of the attentions that look at the vector."""
        return tuple(f"decoder.{name}" for name in self.decoder.cross_attentions)

    def forward(
        self,
        noised: Float[Tensor, "b c h w"],
        hazy: Float[Tensor, "b j"],
        time: Float[Tensor, " b"],
        image: Float[Tensor, "b c x y"] | None = None,
        ids: Int[Tensor, "b n"] | None = None,
        *,
        lengths: Int[Tensor, " b"] | None = None,
        seen: Float[Tensor, "b j"] | None = None,
        told: Float[Tensor, "b j"] | None = None,
    ) -> Guessed:
        """What both halves say of noised pictures and of their noised vectors.

        The `image` that CLIP sees has its own size, and `ids` are the words that ask for it; or `seen` and `told` are
        the vectors of both, which were made before.
        """
        if (image is None) == (seen is None) or (ids is None) == (told is None):
            raise ValueError("CLIP is given pictures or their vectors, and texts or their vectors; give one of each")
        seen = self.see(image) if image is not None else seen
        told = self.read(ids, lengths=lengths) if ids is not None else told
        assert seen is not None
        assert told is not None
        return Guessed(self.decoder.step(noised, time, self.start(seen)), self.prior(hazy, time, told))

    @torch.no_grad()
    def see(self, image: Float[Tensor, "b c x y"]) -> Float[Tensor, "b j"]:
        """The vectors of pictures."""
        return self.lengthen(self.clip.encode_image(image))

    @torch.no_grad()
    def read(self, ids: Int[Tensor, "b n"], *, lengths: Int[Tensor, " b"] | None = None) -> Float[Tensor, "b j"]:
        """The vectors of texts."""
        return self.lengthen(self.clip.encode_text(ids, lengths))

    def start(self, seen: Float[Tensor, "b j"]) -> DecoderState:
        """What the decoder looks at: the vector of a picture as a few tokens; zeros ask for any picture."""
        return self.decoder.remember(torch.unflatten(self.to_tokens(seen), 1, (self.config.tokens, -1)))

    def step(
        self, noised: Float[Tensor, "b c h w"], time: Float[Tensor, " b"], state: DecoderState
    ) -> Float[Tensor, "b c h w"]:
        """The velocity of noised pictures, given a vector that was started with."""
        return self.decoder.step(noised, time, state)

    def lengthen(self, guess: Float[Tensor, "b j"]) -> Float[Tensor, "b j"]:
        """A vector of any length, as long as all are here."""
        return F.normalize(guess, dim=-1) * math.sqrt(self.config.clip.joint)


def example(config: Config) -> dict[str, Any]:
    asked = towers.example(config.clip)
    return {
        "noised": torch.randn(2, config.decoder.channels, config.decoder.size, config.decoder.size),
        "hazy": torch.randn(2, config.clip.joint),
        "time": torch.tensor([0.3, 0.8]),
        **asked,
    }


# The paper's sizes are not its own in one place; the decoder is DiT's largest. The one for the world is ours.
PRESETS = {
    "unclip-xlarge": Config(),
    "unclip-world": Config(
        towers.PRESETS["clip-world"], diffusion.PRESETS["diffusion-world"], prior_width=256, prior_depth=3
    ),
    "unclip-nano": Config(
        towers.PRESETS["clip-nano"], diffusion.PRESETS["diffusion-nano"], tokens=2, prior_width=32, prior_depth=1
    ),
}

FAMILY = Family("unclip", Config, UnCLIP, PRESETS, example, frozen=("clip.",))
