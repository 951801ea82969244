"""Blocks one after another, and where positions enter them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, cast, get_args

from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention import Memory
from regard.attention.masks import Visible
from regard.layers.blocks import Block

Injection = Literal["once", "every", "shared"]  # the three ways compared in ViT's table 8 (Dosovitskiy 2021)


class Stack(nn.Module):
    """Blocks in a row; positions enter before the first, before each, or before each by one shared code.

    `code` is a position code, or makes one, as it must where each block is to have its own.
    """

    def __init__(
        self,
        blocks: Iterable[Block],
        code: nn.Module | Callable[[], nn.Module] | None = None,
        *,
        inject: Injection = "once",
    ) -> None:
        super().__init__()
        if inject not in get_args(Injection):
            raise ValueError(f"positions cannot enter {inject!r}; choose from {', '.join(get_args(Injection))}")
        self.blocks = nn.ModuleList(blocks)
        self.codes = nn.ModuleList(_made(code, len(self.blocks) if inject == "every" else 1))
        self.inject = inject

    def forward(
        self,
        x: Float[Tensor, "b *n w"],
        contexts: Sequence[Memory] | None = None,
        *,
        visible: Visible | None = None,
    ) -> Float[Tensor, "b *n w"]:
        """`contexts` holds one memory for each block that looks at something else."""
        self._check(contexts, "contexts")
        for i, block in enumerate(self.blocks):
            x = block(self._placed(i, x), None if contexts is None else contexts[i], visible=visible)
        return x

    def step(
        self,
        x: Float[Tensor, "b n w"],
        past: Sequence[Memory] | None = None,
        contexts: Sequence[Memory] | None = None,
        *,
        visible: Bool[Tensor, "b 1 1 n"] | None = None,
    ) -> tuple[Float[Tensor, "b n w"], list[Memory]]:
        """The next tokens of a causal sequence, and the memory to give to the step after."""
        self._check(past, "pasts")
        self._check(contexts, "contexts")
        start = 0 if past is None else len(past[0])
        memories = []
        for i, block in enumerate(self.blocks):
            x, memory = cast(Block, block).step(
                self._placed(i, x, start),
                None if past is None else past[i],
                None if contexts is None else contexts[i],
                visible=visible,
            )
            memories.append(memory)
        return x, memories

    def _check(self, memories: Sequence[Memory] | None, name: str) -> None:
        if memories is not None and len(memories) != len(self.blocks):
            raise ValueError(f"{len(memories)} {name} do not go with {len(self.blocks)} blocks; give one for each")

    def _placed(self, i: int, x: Tensor, start: int = 0) -> Tensor:
        if not self.codes or (i > 0 and self.inject == "once"):
            return x
        code = self.codes[i if self.inject == "every" else 0]
        placed: Tensor = code(x, start) if start else code(x)
        return placed


def _made(code: nn.Module | Callable[[], nn.Module] | None, count: int) -> list[nn.Module]:
    if code is None:
        return []
    if not isinstance(code, nn.Module):
        return [code() for _ in range(count)]
    if count > 1:
        raise ValueError(f"{count} blocks need {count} codes of their own; give a maker, lambda: Learned(…)")
    return [code]
