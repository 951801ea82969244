"""A Perceiver beside full attention as the input grows: one costs cells × latents, the other the cells squared."""

import math
from collections.abc import Callable
from functools import partial

import torch
from rich.table import Table
from torch import Tensor, nn

from bench.clock import console, race
from regard.attention import multihead
from regard.layers.blocks import Block
from regard.layers.mlp import MLP
from regard.models.perceiver import Config, Perceiver

WIDTH, HEADS, DEPTH = 96, 4, 4
LATENTS = (32, 128)
SIDES = (16, 32, 64, 128)
FULL = 64  # beyond this side, full attention alone takes seconds


def perceiver(latents: int, side: int) -> nn.Module:
    """One look at cells of 16 numbers, and a tower."""
    sizes = dict(latents=latents, width=WIDTH, looks=1, repeats=1, depth=DEPTH, heads=HEADS, qk=WIDTH, classes=10)
    return Perceiver(Config(side, channels=16, bands=8, **sizes)).eval()  # type: ignore[arg-type]


def full() -> nn.Module:
    """As many blocks in which all cells look at each other."""
    return nn.Sequential(*(Block(WIDTH, multihead(WIDTH, HEADS), MLP(WIDTH, WIDTH)) for _ in range(DEPTH))).eval()


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:  # noqa: ARG001
    table = Table(title=f"Perceiver beside full attention, width {WIDTH}", title_justify="left", title_style="bold")
    names = [f"{latents} latents" for latents in LATENTS]
    for column in ("cells", *(f"{name} ms" for name in names), "full ms", f"full / {names[0]}"):
        table.add_column(column, justify="right")
    numbers: list[dict[str, object]] = []
    with torch.inference_mode():
        for side in SIDES:
            image, tokens = torch.randn(1, 16, side, side), torch.randn(1, side * side, WIDTH)
            models = {name: perceiver(latents, side) for name, latents in zip(names, LATENTS, strict=True)}
            contestants: dict[str, Callable[[], object]] = {name: partial(each, image) for name, each in models.items()}
            if side <= FULL:
                contestants["full"] = partial(full(), tokens)
            times = race(contestants, seconds=0.5 if quick else 2.0, least=3)
            best = {name: times[name].best * 1e3 if name in times else math.nan for name in (*names, "full")}
            shown = "–" if side > FULL else f"{best['full']:.2f}"
            ratio = "–" if side > FULL else f"{best['full'] / best[names[0]]:.1f}×"
            table.add_row(str(side * side), *(f"{best[name]:.2f}" for name in names), shown, ratio)
            numbers.append({"table": "Perceiver", "cells": side * side} | {f"{k} ms": v for k, v in best.items()})
    console.print(table)
    for side in (16, FULL):
        image, tokens = torch.randn(1, 16, side, side), torch.randn(1, side * side, WIDTH)
        kept = {
            names[0]: kept_for_training(perceiver(LATENTS[0], side), image),
            "full": kept_for_training(full(), tokens),
        }
        told = ", ".join(f"{name} {megabytes:,.1f} MB" for name, megabytes in kept.items())
        console.print(f"  kept for the backward pass of {side * side} cells: {told}")
        numbers.append({"table": "Perceiver memory", "cells": side * side} | {f"{k} MB": v for k, v in kept.items()})
    return numbers


def kept_for_training(model: nn.Module, x: Tensor) -> float:
    """Megabytes that a forward pass keeps for the backward one, beside the weights."""
    weights = {each.untyped_storage().data_ptr() for each in model.parameters()}
    held: dict[int, int] = {}

    def hold(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        held[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(hold, lambda tensor: tensor):
        said = model.train()(x)  # alive until all is counted, so that no storage takes the place of another
    found = sum(size for place, size in held.items() if place not in weights) / 2**20
    del said
    return found
