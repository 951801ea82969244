"""What the blocks of a model give while it reads pictures, as maps of features, with gradients if they are wanted."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.names import unknown

Maps = dict[str, Tensor]  # each "b h w c", of its own size
ToMap = Callable[[Tensor], Tensor]  # what a block gave as a map "b h w c"


def streams(
    model: nn.Module,
    image: Float[Tensor, "b c h w"],
    *,
    blocks: Sequence[str] = (),
    grid: tuple[int, int] | None = None,
    leading: int = 0,
) -> tuple[Maps, Any]:
    """The map behind each block, by its name, and what the model says.

    A model of ours knows its blocks and where their tokens lie. Of any other, `blocks` are given by name; with a
    `grid`, what they give are tokens of its cells, behind some `leading` ones.
    """
    names, to_map = read_blocks(model, image, blocks=blocks, grid=grid, leading=leading)
    kept, said = outputs(model, image, names)
    return {name: to_map(output) for name, output in kept.items()}, said


def outputs(
    model: nn.Module, image: Float[Tensor, "b c h w"], names: Sequence[str]
) -> tuple[dict[str, Tensor], Tensor]:
    """What some modules give, as they give it, and the logits of the model."""
    kept: dict[str, Tensor] = {}

    def keep(name: str) -> Callable[[nn.Module, Any, Any], None]:
        def hook(_: nn.Module, __: Any, output: Any) -> None:
            kept[name] = output[0] if isinstance(output, tuple | list) else output

        return hook

    handles = [model.get_submodule(name).register_forward_hook(keep(name)) for name in names]
    try:
        said: Any = model(image)
    finally:
        for handle in handles:
            handle.remove()
    return kept, getattr(said, "logits", said)


def read_blocks(
    model: Any,
    image: Float[Tensor, "b c h w"],
    *,
    blocks: Sequence[str] = (),
    grid: tuple[int, int] | None = None,
    leading: int = 0,
) -> tuple[list[str], ToMap]:
    """The names of some blocks, all that there are if none are given, and how their outputs become maps."""
    known = list(getattr(model, "trunk", ()))
    for name in blocks:
        if name not in (every := dict(model.named_modules())):
            raise ValueError(unknown("block", name, known or list(every)))
    if not blocks and not known:
        raise ValueError(
            f"a {type(model).__name__} does not say which blocks it has; name them, as in blocks=['encoder.layer.11']"
        )
    height, width = image.shape[-2:]
    if grid is None and hasattr(model, "to_map"):
        return list(blocks) or known, lambda output: model.to_map(output, height, width)

    def to_map(output: Tensor) -> Tensor:
        if output.ndim == 4:
            return output.permute(0, 2, 3, 1)  # a feature map of torch's
        if grid is None or output.shape[1] != leading + grid[0] * grid[1]:
            raise ValueError(
                f"{output.shape[1]} tokens lie on no map that is known; give grid=(rows, columns), and leading=1 where "
                f"[CLS] comes first"
            )
        return torch.unflatten(output[:, leading:], 1, grid)

    return list(blocks), to_map
