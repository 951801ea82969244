"""Whole batches of small pictures varied at once, as arrays of bytes: mirrored, moved, and with parts erased."""

import math
from typing import Literal

import numpy as np
from jaxtyping import Int64, UInt8

from regard.chance import Chance, bits
from regard.vision.dice import integers, uniforms

Pictures = UInt8[np.ndarray, "b h w c"]


def flip(pictures: Pictures, chance: Chance, probability: float = 0.5) -> Pictures:
    """Some of the pictures mirrored."""
    found = pictures.copy()
    mirrored = np.flatnonzero(uniforms(chance, len(pictures)) < probability)
    found[mirrored] = pictures[mirrored, :, ::-1]
    return found


def pad_and_crop(
    pictures: Pictures, chance: Chance, pad: int = 4, *, mode: Literal["constant", "reflect"] = "constant"
) -> Pictures:
    """Each picture moved by up to `pad` pixels either way; what comes in is black, or a reflection (He 2016)."""
    count, height, width = pictures.shape[:3]
    padded = np.pad(pictures, ((0, 0), (pad, pad), (pad, pad), (0, 0)), mode=mode)
    found = np.empty_like(pictures)
    tops, lefts = (integers(chance, count, 2 * pad + 1).tolist() for _ in range(2))
    for i, (top, left) in enumerate(zip(tops, lefts, strict=True)):
        found[i] = padded[i, top : top + height, left : left + width]
    return found


def erase(
    pictures: Pictures,
    chance: Chance,
    probability: float = 0.25,
    *,
    area: tuple[float, float] = (0.02, 1 / 3),
    ratio: tuple[float, float] = (0.3, 1 / 0.3),
    colour: tuple[int, int, int] | None = None,
) -> Pictures:
    """Some of the pictures with a rectangle of noise, or of one colour, in them (Zhong 2020).

    `area` bounds its share of the picture and `ratio` its height over its width. The noise is one of bytes, as the
    pictures are: timm's is normal, after the colours were normalized.
    """
    height, width = pictures.shape[1:3]
    found = pictures.copy()
    for i in np.flatnonzero(uniforms(chance, len(pictures)) < probability).tolist():
        for _ in range(10):
            size = height * width * chance.uniform(*area)
            shape = math.exp(chance.uniform(math.log(ratio[0]), math.log(ratio[1])))
            h, w = round(math.sqrt(size * shape)), round(math.sqrt(size / shape))
            if 0 < h < height and 0 < w < width:
                top, left = chance.below(height - h + 1), chance.below(width - w + 1)
                found[i, top : top + h, left : left + w] = _noise(chance, h, w) if colour is None else colour
                break
    return found


def repeated(rows: Int64[np.ndarray, " b"], times: int) -> Int64[np.ndarray, " b"]:
    """As many rows, of which the first come `times` times each, to be varied differently each time (Hoffer 2020)."""
    if times < 1:
        raise ValueError(f"rows cannot come {times} times; give 1 or more, say 3")
    return np.repeat(rows[: -(-len(rows) // times)], times)[: len(rows)]


def _noise(chance: Chance, height: int, width: int) -> UInt8[np.ndarray, "h w 3"]:
    count = height * width * 3
    return bits(chance, -(-count // 8)).astype("<u8").view(np.uint8)[:count].reshape(height, width, 3)
