"""CLIP4Clip: sentences find films; a CLIP sees each frame, and a film is compared with a text in three ways (Luo 2022).

`mean` takes the mean of the frames, and learns nothing more; `sequential` lets a Transformer look over the frames in
their order before; `tight` lets it look over the text and the frames together, and says from there how well they go
together, so that it has to be asked for every pair.

Deviations: no LSTM among the sequential ways; frames are seen by patches of two dimensions alone; the Transformers are
ours, as wide as the joint space.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import multihead
from regard.layers.blocks import Block
from regard.layers.language import draw_weights
from regard.layers.mlp import MLP
from regard.layers.position import Learned
from regard.layers.stack import Stack
from regard.models.clip import CLIP
from regard.models.clip import PRESETS as STILLS
from regard.models.clip import Config as Still
from regard.models.clip import example as still_example
from regard.models.family import Family

B_32 = Still()


@dataclass(frozen=True, slots=True)
class Config:
    clip: Still = B_32
    similarity: Literal["mean", "sequential", "tight"] = "mean"
    frames: int = 12  # the most of a film
    depth: int = 4  # of the Transformer over frames
    heads: int = 8
    hidden: int = 2048

    @property
    def size(self) -> int:
        return self.clip.size

    @property
    def channels(self) -> int:
        return self.clip.channels

    @property
    def vocab(self) -> int:
        return self.clip.vocab

    @property
    def context(self) -> int:
        return self.clip.context


class Filmed(NamedTuple):
    """Films and texts as vectors of length 1, and how well each film goes with its own text, as a logit."""

    frames: Float[Tensor, "b f j"]
    text: Float[Tensor, "b j"]
    logits: Float[Tensor, " b"]


class CLIP4Clip(nn.Module):
    """A CLIP, and what looks over its frames."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.clip = CLIP(config.clip)
        joint, way = config.clip.joint, config.similarity
        self.over = None if way == "mean" else Stack(_block(config) for _ in range(config.depth))
        # The text stands before the frames, where both are looked over together.
        self.position = None if way == "mean" else Learned(config.frames + (way == "tight"), joint)
        self.kind = nn.Parameter(torch.randn(2, joint) * 0.02) if way == "tight" else None
        self.to_score = (
            nn.Sequential(nn.Linear(joint, joint), nn.ReLU(), nn.Linear(joint, 1)) if way == "tight" else None
        )
        for part in (self.over, self.to_score):
            if part is not None:
                draw_weights(part)

    def forward(
        self, film: Float[Tensor, "b f c h w"], ids: Int[Tensor, "b n"], *, lengths: Int[Tensor, " b"] | None = None
    ) -> Filmed:
        frames, text = self.encode_film(film), self.clip.encode_text(ids, lengths)
        if self.to_score is not None:
            score = self._tight(frames, text)
        else:
            score = self.clip.log_scale.exp() * (F.normalize(frames.mean(dim=1), dim=-1) * text).sum(dim=-1)
        return Filmed(frames, text, score if self.clip.bias is None else score + self.clip.bias)

    def encode_film(self, film: Float[Tensor, "b f c h w"]) -> Float[Tensor, "b f j"]:
        """The vectors of all frames, of length 1; where they are looked over in their order, behind that."""
        frames = torch.unflatten(self.clip.encode_image(film.flatten(0, 1)), 0, film.shape[:2])
        if self.config.similarity != "sequential":
            return frames
        looked = frames + cast(Stack, self.over)(cast(Learned, self.position)(frames))
        return F.normalize(looked, dim=-1)

    def compare(self, frames: Float[Tensor, "b f j"], text: Float[Tensor, "t j"]) -> Float[Tensor, "b t"]:
        """How well every film and every text go together, as logits."""
        if self.to_score is None:
            film = F.normalize(frames.mean(dim=1), dim=-1)
            return self.clip.match(film, text).logits
        films, texts = frames.shape[0], text.shape[0]
        pairs = frames.repeat_interleave(texts, dim=0), text.repeat(films, 1)
        score = torch.unflatten(self._tight(*pairs), 0, (films, texts))
        return score if self.clip.bias is None else score + self.clip.bias

    def _tight(self, frames: Float[Tensor, "p f j"], text: Float[Tensor, "p j"]) -> Float[Tensor, " p"]:
        kinds = cast(Tensor, self.kind)
        rows = torch.cat((text[:, None] + kinds[0], frames + kinds[1]), dim=1)
        looked = cast(Stack, self.over)(cast(Learned, self.position)(rows))
        score: Tensor = cast(nn.Sequential, self.to_score)(looked[:, 0])[:, 0]
        return self.clip.log_scale.exp() * score


def _block(config: Config) -> Block:
    width = config.clip.joint
    return Block(width, multihead(width, config.heads), MLP(width, config.hidden))


def example(config: Config) -> dict[str, Any]:
    given = still_example(config.clip)
    image = given.pop("image")
    return {"film": torch.stack((image, image.flip(-1), image * 0.5), dim=1), **given}


PRESETS = {
    "clip4clip-b32-mean": Config(),
    "clip4clip-b32-sequential": Config(similarity="sequential"),
    "clip4clip-b32-tight": Config(similarity="tight"),
    "clip4clip-world": Config(STILLS["clip-world"], "sequential", frames=8, depth=2, heads=4, hidden=256),
    "clip4clip-nano": Config(STILLS["clip-nano"], "tight", frames=4, depth=1, heads=4, hidden=32),
}

FAMILY = Family("clip4clip", Config, CLIP4Clip, PRESETS, example)
