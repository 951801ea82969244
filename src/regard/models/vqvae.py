"""VQ-VAE: a picture as a few tokens of a learned alphabet, and back (van den Oord 2017).

An encoder makes a small map of vectors; each is replaced by the nearest entry of a codebook, whose number is the token;
a decoder paints the picture from the entries. Choosing the nearest has no gradient, so the decoder's is handed to the
encoder as if nothing had been chosen (straight-through). The codebook learns by the second term of the paper's equation
3, not by a moving average.

Deviation: `revive` puts entries that nothing chooses where vectors are, as later work does (Dhariwal 2020).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.models.family import Family


@dataclass(frozen=True, slots=True)
class Config:
    size: int = 128
    channels: int = 3
    width: int = 256
    halvings: int = 2  # strided convolutions: a token stands for a square of 2 to their power
    residuals: int = 2
    codes: int = 512
    code_width: int = 64

    def __post_init__(self) -> None:
        if self.halvings < 1 or self.size % 2**self.halvings:
            raise ValueError(
                f"a picture of {self.size} does not halve {self.halvings} times; give 1 or more, and a multiple of "
                f"{2 ** max(self.halvings, 1)} pixels"
            )
        if self.codes < 2:
            raise ValueError(f"a codebook of {self.codes} says nothing; give 2 or more")

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of tokens."""
        return self.size // 2**self.halvings, self.size // 2**self.halvings


class Coded(NamedTuple):
    """A picture painted again from its tokens, and how far its vectors and the entries are apart, as a mean square."""

    image: Float[Tensor, "b c h w"]
    codes: Int[Tensor, "b i j"]
    codebook: Float[Tensor, " b"]  # moves the entries to the vectors
    commitment: Float[Tensor, " b"]  # keeps the vectors near the entries


class Codebook(nn.Module):
    """Entries of a learned alphabet."""

    def __init__(self, codes: int, width: int) -> None:
        super().__init__()
        self.entries = nn.Embedding(codes, width)
        nn.init.uniform_(self.entries.weight, -1 / codes, 1 / codes)

    def nearest(self, x: Float[Tensor, "b i j d"]) -> Int[Tensor, "b i j"]:
        """The number of the entry that is nearest to each vector."""
        entries = self.entries.weight
        # Without the square of the vector itself, which is the same for every entry.
        return (entries.square().sum(dim=-1) - 2 * x @ entries.mT).argmin(dim=-1)

    def forward(self, x: Float[Tensor, "b i j d"]) -> tuple[Float[Tensor, "b i j d"], Int[Tensor, "b i j"]]:
        """The entries in place of vectors, by which a gradient reaches these unchanged; and their numbers."""
        codes = self.nearest(x)
        return x + (self.entries(codes) - x).detach(), codes


class VQVAE(nn.Module):
    """An encoder, a codebook and a decoder. `encode` gives tokens, `decode` paints them."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        width, halvings = config.width, config.halvings
        self.encoder = nn.Sequential(
            *(
                part
                for i in range(halvings)
                for part in (nn.Conv2d(width if i else config.channels, width, 4, stride=2, padding=1), nn.ReLU())
            ),
            nn.Conv2d(width, width, 3, padding=1),
            *(Inner(width) for _ in range(config.residuals)),
            nn.ReLU(),
            nn.Conv2d(width, config.code_width, 1),
        )
        self.codebook = Codebook(config.codes, config.code_width)
        self.decoder = nn.Sequential(
            nn.Conv2d(config.code_width, width, 3, padding=1),
            *(Inner(width) for _ in range(config.residuals)),
            nn.ReLU(),
            *(
                part
                for i in reversed(range(halvings))
                for part in (
                    nn.ConvTranspose2d(width, width if i else config.channels, 4, stride=2, padding=1),
                    nn.ReLU() if i else nn.Identity(),
                )
            ),
        )

    def forward(self, image: Float[Tensor, "b c h w"]) -> Coded:
        x = self.look(image)
        chosen, codes = self.codebook(x)
        entries = self.codebook.entries(codes)
        return Coded(
            self.decoder(chosen.permute(0, 3, 1, 2)),
            codes,
            (entries - x.detach()).square().mean(dim=(1, 2, 3)),
            (entries.detach() - x).square().mean(dim=(1, 2, 3)),
        )

    def look(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j d"]:
        """The vectors of a picture before they are replaced."""
        x: Tensor = self.encoder(image)
        return x.permute(0, 2, 3, 1)

    def encode(self, image: Float[Tensor, "b c h w"]) -> Int[Tensor, "b i j"]:
        """Pictures as tokens."""
        return self.codebook.nearest(self.look(image))

    def decode(self, codes: Int[Tensor, "b i j"]) -> Float[Tensor, "b c h w"]:
        """Tokens as pictures."""
        image: Tensor = self.decoder(self.codebook.entries(codes).permute(0, 3, 1, 2))
        return image

    @torch.no_grad()
    def revive(self, image: Float[Tensor, "b c h w"], generator: torch.Generator) -> int:
        """Put every entry that none of these pictures chooses where one of their vectors is; how many there were."""
        x = self.look(image)
        used = torch.bincount(self.codebook.nearest(x).flatten(), minlength=self.config.codes) > 0
        idle = (~used).nonzero()[:, 0]
        vectors = x.flatten(0, 2)
        drawn = torch.randint(len(vectors), (len(idle),), generator=generator).to(vectors.device)
        self.codebook.entries.weight[idle] = vectors[drawn]
        return len(idle)


class Inner(nn.Module):
    """A residual block: ReLU, 3×3, ReLU, 1×1 (§4.1 of the paper)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.branch = nn.Sequential(
            nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 1)
        )

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
        y: Tensor = x + self.branch(x)
        return y


def usage(codes: Int[Tensor, "*n"], count: int) -> tuple[float, float]:
    """The share of the codebook that is ever chosen, and its perplexity: as many entries chosen evenly say as much."""
    share = torch.bincount(codes.flatten(), minlength=count).double()
    share = share / share.sum()
    entropy = -(share * share.clamp(min=1e-12).log()).sum()
    return float((share > 0).double().mean()), float(entropy.exp())


def example(config: Config) -> dict[str, Any]:
    return {"image": torch.randn(2, config.channels, config.size, config.size)}


# §4.1 of the paper is ImageNet's; the one for pictures of the world is ours.
PRESETS = {
    "vqvae-imagenet": Config(),
    "vqvae-world": Config(size=32, width=64, codes=256, code_width=16),
    "vqvae-nano": Config(size=16, width=16, residuals=1, codes=12, code_width=4),
}

FAMILY = Family("vqvae", Config, VQVAE, PRESETS, example)
