"""Blocks one after another, and where position encodings enter them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, cast, get_args

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import Memory
from regard.attention.masks import Visible
from regard.layers.blocks import Block

Injection = Literal["once", "every", "shared"]  # the three ways compared in ViT's table 8 (Dosovitskiy 2021)


class Stack(nn.Module):
    """Blocks in a row; positions enter before the first, before each, or before each by one shared encoding.

    `position` is a position encoding, or makes one, as it must where each block is to have its own.
    """

    def __init__(
        self,
        blocks: Iterable[Block],
        position: nn.Module | Callable[[], nn.Module] | None = None,
        *,
        inject: Injection = "once",
    ) -> None:
        super().__init__()
        if inject not in get_args(Injection):
            raise ValueError(f"positions cannot enter {inject!r}; choose from {', '.join(get_args(Injection))}")
        self.blocks, self.inject = nn.ModuleList(blocks), inject
        count = 0 if position is None else len(self.blocks) if inject == "every" else 1
        if isinstance(position, nn.Module) and count > 1:
            raise ValueError(f"{count} blocks need {count} encodings of their own; give a maker, lambda: Learned(…)")
        self.positions = nn.ModuleList(
            position if isinstance(position, nn.Module) else cast(Callable[[], nn.Module], position)()
            for _ in range(count)
        )

    def forward(
        self,
        x: Float[Tensor, "b *n w"],
        contexts: Sequence[Memory] | None = None,
        *,
        where: Float[Tensor, "#b *n w"] | None = None,
        visible: Visible | None = None,
        context_visible: Visible | None = None,
        positions: Int[Tensor, "#b n"] | None = None,
    ) -> Float[Tensor, "b *n w"]:
        """`contexts` holds one memory for each block that has a cross-attention; the rest goes to each block.

        `positions` are those of the tokens, where they do not count from 0.
        """
        self._check(contexts, "contexts")
        for i, block in enumerate(self.blocks):
            context = None if contexts is None else contexts[i]
            x = block(
                self._add_position(i, x, positions),
                context,
                where=where,
                visible=visible,
                context_visible=context_visible,
                positions=positions,
            )
        return x

    def step(
        self,
        x: Float[Tensor, "b n w"],
        past: Sequence[Memory] | None = None,
        contexts: Sequence[Memory] | None = None,
        *,
        visible: Bool[Tensor, "b 1 1 n"] | None = None,
        positions: Int[Tensor, "#b n"] | None = None,
    ) -> tuple[Float[Tensor, "b n w"], list[Memory]]:
        """The next tokens of a causal sequence, and the memories to give to the step after.

        `visible` is the padding among the new tokens; `positions` follow on those of the past, if left out.
        """
        self._check(past, "pasts")
        self._check(contexts, "contexts")
        start, memories = 0 if past is None else past[0].length, []
        for i, block in enumerate(self.blocks):
            before, context = None if past is None else past[i], None if contexts is None else contexts[i]
            x = self._add_position(i, x, start if positions is None else positions)
            x, memory = cast(Block, block).step(x, before, context, visible=visible, positions=positions)
            memories.append(memory)
        return x, memories

    def _check(self, memories: Sequence[Memory] | None, name: str) -> None:
        if memories is not None and len(memories) != len(self.blocks):
            raise ValueError(f"{len(memories)} {name} do not go with {len(self.blocks)} blocks; give one for each")

    def _add_position(self, i: int, x: Tensor, start: int | Tensor | None = None) -> Tensor:
        if not self.positions or (i > 0 and self.inject == "once"):
            return x
        position = self.positions[i if self.inject == "every" else 0]
        return cast(Tensor, position(x) if start is None else position(x, start))
