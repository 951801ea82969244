"""Flamingo: a trained language model is shown pictures between its words, and learns a task from a few (Alayrac 2022).

What sees and what speaks are trained already and stay as they are. A Perceiver resampler makes a few tokens of each
picture, or of the frames of a clip, and blocks of cross-attention before every n-th block of the language model let
each word look at the picture that stands last before it. Their gates begin closed, so that at first the language model
is what it was.

Deviations: what speaks is a GPT, where the paper has Chinchilla, and what sees is a ViT-L, a ResNet or an EfficientNet
in place of an NFNet-F6, whose map is brought to the resampler's width by a linear layer; a picture stands at the first
word behind it, and has no token `<image>` of its own, nor a text an `<EOC>`; MLPs have a GELU and no squared ReLU;
`frozen_tower=False` lets the part that sees learn, where nobody has trained it before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import Memory, both, causal, media, multihead, read_visible
from regard.layers.blocks import Block, GatedBlock
from regard.layers.decoder import DecoderState
from regard.layers.mlp import MLP
from regard.layers.resampler import Resampler
from regard.models import gpt, vit
from regard.models.family import Family
from regard.models.tower import Tower, make_tower, width_of


def _language(depth: int, width: int, heads: int) -> gpt.Config:
    """A GPT of the size of a Chinchilla (table 5 of the paper)."""
    return gpt.Config(32000, 2048, width, depth, heads, 4 * width, dropout=0.0, attn_dropout=0.0)


_LARGEST = _language(80, 8192, 64)
_LARGE = vit.Config(320, patch=14, width=1024, depth=24, heads=16, hidden=4096, classes=0)


@dataclass(frozen=True, slots=True)
class Config:
    language: gpt.Config = _LARGEST
    tower: Tower = _LARGE
    frozen_tower: bool = True  # as the language model always is
    every: int = 7  # blocks of the language model from one gated block to the next
    heads: int = 64  # of the gated blocks
    hidden: int = 32768
    latents: int = 64  # tokens that the resampler makes of a picture
    resampler_width: int = 1536
    resampler_depth: int = 6
    resampler_heads: int = 16
    resampler_hidden: int = 6144
    frames: int = 8  # of a clip, at most

    def __post_init__(self) -> None:
        if self.every < 1 or self.latents < 1 or self.frames < 1 or self.resampler_depth < 1:
            raise ValueError(
                f"every={self.every}, latents={self.latents}, frames={self.frames} and "
                f"resampler_depth={self.resampler_depth} must be 1 or more, or words would see nothing"
            )


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Where a Flamingo stands in each row: its pictures, its words so far, and how many pictures stood among them."""

    words: DecoderState  # its contexts are the pictures, one memory for each gated block
    seen: Int[Tensor, " b"]

    def select(self, rows: Int[Tensor, " r"]) -> "State":
        """These rows, in this order and as often as they are named."""
        return replace(self, words=self.words.select(rows), seen=self.seen[rows])

    def reveal(self, shown: Bool[Tensor, " b"]) -> "State":
        """The next picture of some rows now stands there, so that the next word looks at it."""
        return replace(self, seen=self.seen + shown)


class Flamingo(nn.Module):
    """A tower that sees, a resampler, a language model, and gated blocks between its own.

    `start` looks at the pictures, `advance` and `step` read and write on; steps equal `forward`.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        wide, context = config.language.width, config.resampler_width
        self.language = gpt.GPT(config.language).requires_grad_(False).eval()
        self.tower = make_tower(config.tower).requires_grad_(not config.frozen_tower)
        seen = width_of(config.tower)
        self.project = nn.Identity() if seen == context else nn.Linear(seen, context)
        self.resampler = Resampler(
            context,
            config.latents,
            depth=config.resampler_depth,
            heads=config.resampler_heads,
            hidden=config.resampler_hidden,
            frames=config.frames,
        )
        self.gated = nn.ModuleList(
            GatedBlock(
                wide,
                multihead(wide, config.heads, context=context, qkv_bias=False, out_bias=False),
                MLP(wide, config.hidden, bias=False),
            )
            for _ in range(0, config.language.depth, config.every)
        )
        self.train(self.training)

    def train(self, mode: bool = True) -> "Flamingo":
        """What is frozen is never in training: nothing is dropped there, and no norm learns from a batch."""
        super().train(mode)
        self.language.eval()
        if self.config.frozen_tower:
            self.tower.eval()
        return self

    @property
    def cross_attentions(self) -> tuple[str, ...]:
        """The names of the attentions that look at pictures."""
        return tuple(f"gated.{i}.cross" for i in range(len(self.gated)))

    @property
    def gates(self) -> list[tuple[float, float]]:
        """How far each gated block is open, from -1 to 1: its look, and its MLP."""
        blocks = cast("Sequence[GatedBlock]", self.gated)
        return [(block.cross_gate.tanh().item(), block.mlp_gate.tanh().item()) for block in blocks]

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """How many rows and columns of cells the resampler sees of a picture of this size."""
        return self.tower.grid(height, width)

    def forward(
        self,
        ids: Int[Tensor, "b n"],
        images: Float[Tensor, "b m *f c h w"] | Float[Tensor, "p c h w"],
        shown: Bool[Tensor, "b n"],
        *,
        lengths: Int[Tensor, " b"] | None = None,
        visible: Bool[Tensor, "b n"] | None = None,
    ) -> Float[Tensor, "b n v"]:
        """The logits of what follows each word.

        `images` are the pictures of each row, or clips, in their order; `shown` is True at the words before which the
        next one stands. Words see the picture that stands last before them, and those before any see none. Pictures
        that never stand anywhere, as those that fill up a row, are seen by nobody; where rows have unequal numbers of
        them, they are read faster one behind another, without a row of their own. `lengths` and `visible` say what is
        padding, as for any decoder.
        """
        contexts = self.start(images, shown.sum(dim=1) if images.ndim == 4 else None).words.contexts
        mask = media(shown, self.config.latents, contexts[0].k.shape[-2] // self.config.latents)
        words, positions = read_visible(lengths, visible, ids.shape[1])
        x = self.language.embed_words(ids, 0 if positions is None else positions)
        own = both(causal(ids.shape[1]), words)
        for i, block in enumerate(self.language.decoder.blocks):
            x = self._look(i, x, contexts, mask)
            x = block(x, visible=own, positions=positions)
        logits: Tensor = self.language.to_vocab(self.language.norm(x))
        return logits

    def start(
        self,
        images: Float[Tensor, "b m *f c h w"] | Float[Tensor, "p c h w"],
        counts: Int[Tensor, " b"] | None = None,
    ) -> State:
        """Look at all pictures of each row once, before its first word.

        Of pictures one behind another, `counts` says how many belong to each row.
        """
        if (counts is None) == (images.ndim == 4):
            raise ValueError(
                "pictures one behind another need counts of those of each row, and pictures in rows need none; "
                f"these have shape {tuple(images.shape)}"
            )
        seen = self.see(images) if counts is None else _in_rows(self.see(images[:, None])[:, 0], counts)
        blocks = cast("Sequence[GatedBlock]", self.gated)
        contexts = [block.cross.remember(seen.flatten(1, 2)) for block in blocks]
        rows = torch.arange(seen.shape[0], device=seen.device)
        return State(DecoderState(contexts, rows), torch.zeros_like(rows))

    def see(self, images: Float[Tensor, "b m *f c h w"]) -> Float[Tensor, "b m r d"]:
        """The tokens that the resampler makes of each picture."""
        clips = images if images.ndim == 6 else images[:, :, None]
        rows, count, frames = clips.shape[:3]
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.config.frozen_tower):
            cells = self.tower.features(clips.flatten(0, 2)).flatten(1, 2)
        features = torch.unflatten(self.project(cells), 0, (rows * count, frames))
        return torch.unflatten(self.resampler(features), 0, (rows, count))

    def step(
        self,
        words: Int[Tensor, "b n"],
        state: State,
        *,
        shown: Bool[Tensor, "b n"] | None = None,
        visible: Bool[Tensor, "b n"] | None = None,
    ) -> tuple[Float[Tensor, "b n v"], State]:
        """The logits of what follows each of the next words, and the state behind them."""
        hidden, state = self.advance(words, state, shown=shown, visible=visible)
        return self.language.to_vocab(hidden), state

    def advance(
        self,
        words: Int[Tensor, "b n"],
        state: State,
        *,
        shown: Bool[Tensor, "b n"] | None = None,
        visible: Bool[Tensor, "b n"] | None = None,
    ) -> tuple[Float[Tensor, "b n w"], State]:
        """Go on by some words, before which further pictures may stand, without saying what follows them."""
        past, contexts = state.words.past, state.words.contexts
        stands = torch.zeros_like(words, dtype=torch.bool) if shown is None else shown
        count = contexts[0].length // self.config.latents
        mask = media(stands, self.config.latents, count, before=state.seen)
        positions, new = state.words.positions(words, visible), None if visible is None else visible[:, None, None]
        x = self.language.embed_words(words, state.words.length if positions is None else positions)
        memories: list[Memory] = []
        for i, block in enumerate(cast("Sequence[Block]", self.language.decoder.blocks)):
            x = self._look(i, x, contexts, mask)
            x, memory = block.step(x, None if past is None else past[i], visible=new, positions=positions)
            memories.append(memory)
        return self.language.norm(x), State(replace(state.words, past=memories), state.seen + stands.sum(dim=1))

    def _look(self, block: int, x: Tensor, contexts: Sequence[Memory], mask: Bool[Tensor, "b 1 n k"]) -> Tensor:
        """What goes into a block of the language model: behind a gated block, where one stands before it."""
        number, between = divmod(block, self.config.every)
        return x if between else cast(Tensor, self.gated[number](x, contexts[number], visible=mask))


def _in_rows(seen: Float[Tensor, "p r d"], counts: Int[Tensor, " b"]) -> Float[Tensor, "b m r d"]:
    """What was made of pictures one behind another, row by row; nothing stands where a row has fewer than others."""
    most = max(1, int(counts.max()))
    there = torch.arange(most, device=counts.device) < counts[:, None]
    rows = seen.new_zeros(*there.shape, *seen.shape[1:])
    return rows.index_put((there,), seen) if len(seen) else rows


def example(config: Config) -> dict[str, Any]:
    shown = torch.zeros(2, 6, dtype=torch.bool)
    shown[0, 1] = shown[0, 3] = shown[1, 2] = True  # the second row has one picture, and one that fills it up
    size = config.tower.size
    return {
        "ids": torch.randint(config.language.vocab, (2, 6)),
        "images": torch.randn(2, 2, config.tower.channels, size, size),
        "shown": shown,
    }


# Tables 1 and 5 of the paper. The one for the little world is ours: its language model is trained by `regard train
# talk`, and what sees learns with the rest.
PRESETS = {
    "flamingo-3b": Config(_language(24, 2048, 16), every=1, heads=16, hidden=8192),
    "flamingo-9b": Config(_language(40, 4096, 32), every=4, heads=32, hidden=16384),
    "flamingo-80b": Config(),
    "flamingo-world": Config(
        gpt.Config(100, 160, 96, 4, 4, 288, dropout=0.0, attn_dropout=0.0),
        vit.Config(48, patch=8, width=96, depth=2, heads=4, hidden=192, classes=0, stem="conv", pool="mean"),
        frozen_tower=False,
        every=1,
        heads=4,
        hidden=256,
        latents=8,
        resampler_width=96,
        resampler_depth=2,
        resampler_heads=4,
        resampler_hidden=192,
        frames=1,
    ),
    "flamingo-nano": Config(
        gpt.PRESETS["gpt-nano"],
        vit.Config(16, patch=8, width=24, depth=1, heads=4, hidden=48, classes=0, pool="mean"),
        every=2,
        heads=4,
        hidden=64,
        latents=3,
        resampler_width=32,
        resampler_depth=1,
        resampler_heads=4,
        resampler_hidden=48,
        frames=2,
    ),
}

FAMILY = Family("flamingo", Config, Flamingo, PRESETS, example, frozen=("language.", "tower."))
