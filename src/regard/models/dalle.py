"""DALL·E: painting as translation; a Transformer reads words and writes the tokens of a picture (Ramesh 2021).

A trained VQ-VAE turns pictures into tokens and back, and is not trained further. The alphabet that is written has one
letter for each entry of its codebook, and one more, the last, that opens every picture.

Deviations: the Transformer is the one that translates, with an encoder for the words, where the paper has one decoder
for both; its attention is dense; the VQ-VAE chooses the nearest entry (van den Oord 2017), and draws none by Gumbel's
softmax.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.layers.decoder import DecoderState
from regard.models import transformer, vqvae
from regard.models.family import Family

CODER = vqvae.Config(size=256, halvings=3, codes=8192)
WRITER = transformer.Config(16384 + 8192 + 1, 3968, 64, 62, 15872)


@dataclass(frozen=True, slots=True)
class Config:
    """`writer.vocab` counts the words, then the entries of the codebook, then the letter that opens a picture."""

    vocab: int = 16384  # of the words that are read
    words: int = 256  # the most that are read
    coder: vqvae.Config = CODER
    writer: transformer.Config = WRITER

    def __post_init__(self) -> None:
        whole = self.vocab + self.coder.codes + 1
        if self.writer.vocab != whole:
            raise ValueError(
                f"a writer with a vocabulary of {self.writer.vocab} does not go with {self.vocab} words, "
                f"{self.coder.codes} codes and a start; give it {whole}"
            )


class DALLE(nn.Module):
    """A VQ-VAE, and a Transformer that writes its tokens; it is decoded as every model that writes is."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.coder = vqvae.VQVAE(config.coder).requires_grad_(False)
        self.writer = transformer.Transformer(config.writer)

    @property
    def cross_attentions(self) -> tuple[str, ...]:
        """The names of the attentions that look at the words."""
        return tuple(f"writer.{name}" for name in self.writer.cross_attentions)

    @property
    def opening(self) -> int:
        """The letter that opens every picture."""
        return self.config.coder.codes

    @property
    def length(self) -> int:
        """How many tokens a picture has."""
        rows, columns = self.config.coder.grid
        return rows * columns

    def forward(
        self, source: Int[Tensor, "b n"], target: Int[Tensor, "b m"], *, lengths: Int[Tensor, " b"] | None = None
    ) -> Float[Tensor, "b m k"]:
        """The logits of the token that follows each of a picture that opens with `opening`.

        `lengths` are those of the texts, where they are padded; what stands beyond them is not read.
        """
        return self._of_pictures(self.writer(source, target + self.config.vocab, lengths=lengths))

    def start(self, source: Int[Tensor, "b n"], *, lengths: Int[Tensor, " b"] | None = None) -> DecoderState:
        """Read the words once, for all the tokens that will be written."""
        return self.writer.start(source, lengths=lengths)

    def step(self, words: Int[Tensor, "b n"], state: DecoderState) -> tuple[Float[Tensor, "b n k"], DecoderState]:
        """The logits of what follows each of the next tokens, and the state behind them."""
        logits, state = self.writer.step(words + self.config.vocab, state)
        return self._of_pictures(logits), state

    def encode(self, image: Float[Tensor, "b c h w"]) -> Int[Tensor, "b n"]:
        """Pictures as rows of tokens."""
        return self.coder.encode(image).flatten(1)

    def paint(self, tokens: Int[Tensor, "b n"]) -> Float[Tensor, "b c h w"]:
        """Rows of tokens as pictures."""
        return self.coder.decode(torch.unflatten(tokens, 1, self.config.coder.grid))

    def _of_pictures(self, logits: Float[Tensor, "b n v"]) -> Float[Tensor, "b n k"]:
        """Neither a word nor the opening letter is ever written."""
        return logits[..., self.config.vocab : self.config.vocab + self.config.coder.codes]


def example(config: Config) -> dict[str, Any]:
    return {
        "source": torch.randint(config.vocab, (2, 5)),
        "target": torch.randint(config.coder.codes, (2, 4)),
    }


def _small(words: int, coder: vqvae.Config, width: int, depth: int, heads: int, hidden: int) -> Config:
    writer = transformer.Config(
        words + coder.codes + 1, width, depth, heads, hidden, dropout=0.0, norm_first=True, activation="gelu"
    )
    return Config(words, 24, coder, writer)


# The paper's 12 billion parameters are §2.2; the one for pictures of the world is ours.
PRESETS = {
    "dalle-12b": Config(),
    "dalle-world": _small(64, vqvae.PRESETS["vqvae-world"], 128, 4, 4, 384),
    "dalle-nano": _small(24, vqvae.PRESETS["vqvae-nano"], 32, 1, 4, 64),
}

FAMILY = Family("dalle", Config, DALLE, PRESETS, example, frozen=("coder.",))
