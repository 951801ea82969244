"""What Perceiver IO is asked, a class each: what the model is given, what it should say, and how well it says it.

All three ask one model by queries; only what is laid out and what the answers mean differ. Beside each score stands the
best that can be said without looking: who knew it would need no input.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int, Int64, UInt8
from torch import Tensor

from regard.analysis.pictures import data_url
from regard.analysis.scores import RESAMPLES, Score, accuracy
from regard.analysis.view import Axis, Boxes, Grid
from regard.chance import Chance
from regard.data.asked import (
    FIRST,
    MASK,
    PAD,
    Asked,
    Flows,
    Letters,
    Told,
    decode,
    hidden,
    world_flows,
    world_letters,
    world_told,
)
from regard.layers.cells import cells
from regard.layers.position import coordinates
from regard.models.perceiver import Config
from regard.text.words import Words
from regard.vision import from_array

LETTERS = 96  # that a film is told in: none, and what can be printed of ASCII
LEAST = 0.5  # pixels that count as moving
BLANK = 0.1  # what a letter that is none counts in the loss
LEVELS = 127.5  # of a byte, in which an error of a film is told


class Given(NamedTuple):
    """A batch: what a model is given, what it should say, and where that counts."""

    inputs: tuple[Tensor, ...]
    wanted: tuple[Tensor, ...]
    rows: np.ndarray


@dataclass(frozen=True, slots=True)
class Flow:
    """How far each pixel of a frame moves until another: a query for each cell, which answers for its pixels."""

    size: int = 32
    preset = "perceiver-flow"
    metric, better = "epe of what moves", ()

    def known(self, split: str, count: int = 0) -> Flows:
        return world_flows(split, size=self.size, count=count)

    def decided(self) -> dict[str, Any]:
        """The fields of a config that follow."""
        return {"size": self.size, "channels": 6, "decoder": "cells"}

    def lay_out(self, known: Asked, rows: np.ndarray, chance: Chance | None) -> Given:  # noqa: ARG002 - clips vary enough
        assert isinstance(known, Flows)
        return Given((self.read(known.frames[rows]),), (torch.from_numpy(np.array(known.moved[rows])),), rows)

    def read(self, frames: UInt8[np.ndarray, "b 2 s s 3"]) -> Float[Tensor, "b 6 s s"]:
        """Two frames as one picture of six channels, from -1 to 1."""
        return torch.from_numpy(np.array(frames)).permute(0, 1, 4, 2, 3).flatten(1, 2).float() / 127.5 - 1

    def say(self, said: Float[Tensor, "b m o"], config: Config) -> Float[Tensor, "b s s 2"]:
        """The answers of the cells as a picture of how far each pixel moves."""
        side, patch = self.size // config.patch, config.patch
        whole = said.float().reshape(-1, side, side, patch, patch, 2)
        return whole.transpose(2, 3).flatten(3, 4).flatten(1, 2).reshape(-1, self.size, self.size, 2)

    def loss(self, said: Tensor, given: Given, config: Config) -> Float[Tensor, ""]:
        """End-point errors, summed over pairs; what moves counts as much as what stands."""
        off, moving = self._off(self.say(said, config), given.wanted[0])
        stands = (off * ~moving).sum((1, 2)) / (~moving).sum((1, 2)).clamp(min=1)
        return (stands + (off * moving).sum((1, 2)) / moving.sum((1, 2)).clamp(min=1)).sum()

    def scores(self, said: Sequence[Tensor], given: Sequence[Given], config: Config) -> dict[str, Score]:
        wanted = torch.cat([each.wanted[0] for each in given])
        answers = {"": torch.cat([self.say(each, config) for each in said]), "/zero flow": torch.zeros_like(wanted)}
        found = dict[str, Score]()
        for way, answer in answers.items():
            off, moving = self._off(answer, wanted)
            some = moving.flatten(1).any(1)
            inside = (off * moving).sum((1, 2))[some] / moving.sum((1, 2))[some]
            found[f"epe{way}"] = _mean(off.mean((1, 2)))
            found[f"epe of what moves{way}"] = _mean(inside)
        return found

    def axis(self, given: Given, config: Config) -> Axis:
        """The first frame, in cells."""
        side = self.size // config.patch
        frame = ((given.inputs[0][0, :3].permute(1, 2, 0) + 1) * 127.5).round().byte().cpu().numpy()
        return Grid(side, side, data_url(from_array(frame)))

    def tell(self, said: Tensor, given: Given, config: Config) -> tuple[str, Any]:  # noqa: ARG002
        moved = self.say(said, config)[0].cpu().numpy()
        far = np.hypot(moved[..., 0], moved[..., 1])
        return f"{(far >= LEAST).mean():.0%} of the pixels move, by up to {far.max():.1f} of them", moved

    def _off(self, said: Tensor, wanted: Tensor) -> tuple[Float[Tensor, "b s s"], Bool[Tensor, "b s s"]]:
        wanted = wanted.to(said)
        return ((said - wanted).square().sum(-1) + 1e-9).sqrt(), wanted.norm(dim=-1) >= LEAST


@dataclass(frozen=True, slots=True)
class Masked:
    """Which letters are hidden in a text: a learned query for each place."""

    length: int = 64
    share: float = 0.15
    preset = "perceiver-letters"
    metric, better = "accuracy", ("accuracy",)

    def known(self, split: str, count: int = 0) -> Letters:
        return world_letters(split, length=self.length, count=count)

    def decided(self) -> dict[str, Any]:
        return {"size": self.length, "words": FIRST + 256, "decoder": "words"}

    def lay_out(self, known: Asked, rows: np.ndarray, chance: Chance | None) -> Given:
        assert isinstance(known, Letters)
        whole = known.ids[rows]
        # In a measurement the same letters of a text are hidden every time.
        unseen = hidden(whole != PAD, self.share, chance or Chance(0, "hidden", int(rows[0])))
        return self.read(whole, unseen, rows)

    def read(self, ids: Int64[np.ndarray, "b m"], unseen: Bool[np.ndarray, "b m"], rows: np.ndarray) -> Given:
        shown = torch.from_numpy(np.where(unseen, MASK, ids))
        return Given((shown, torch.from_numpy(ids != PAD)), (torch.from_numpy(ids), torch.from_numpy(unseen)), rows)

    def loss(self, said: Tensor, given: Given, config: Config) -> Float[Tensor, ""]:  # noqa: ARG002
        """The cross-entropy of a hidden letter, for each text."""
        ids, unseen = (each.to(said.device) for each in given.wanted)
        return F.cross_entropy(said[unseen].float(), ids[unseen]) * len(ids)

    def scores(self, said: Sequence[Tensor], given: Sequence[Given], config: Config) -> dict[str, Score]:  # noqa: ARG002
        logits = torch.cat([each.cpu()[g.wanted[1]] for each, g in zip(said, given, strict=True)]).float()
        right = torch.cat([each.wanted[0][each.wanted[1]] for each in given])
        bits = F.cross_entropy(logits, right, reduction="none") / np.log(2)
        often = torch.bincount(right).float() / len(right)
        return {
            "accuracy": accuracy((logits.argmax(-1) == right).tolist()),
            "accuracy/unigram": accuracy((right == often.argmax()).tolist()),
            "bits": _mean(bits),
            "bits/unigram": _mean(-often[right].log2()),
        }

    def axis(self, given: Given, config: Config) -> Axis:  # noqa: ARG002
        return Words.whole(_spelled(given.inputs[0][0]))

    def tell(self, said: Tensor, given: Given, config: Config) -> tuple[str, Any]:  # noqa: ARG002
        ids, best = given.inputs[0][0].cpu(), said[0].cpu().argmax(-1)
        return decode(torch.where(ids == MASK, best, ids).numpy()), None


@dataclass(frozen=True, slots=True)
class Reconstructed:
    """A film and its sentence again, from the latents alone: a query for each place in both (autoencoding)."""

    frames: int = 8
    size: int = 32
    length: int = 48
    patch: int = 4
    preset = "perceiver-modes"
    metric, better = "film error", ("letters",)

    def known(self, split: str, count: int = 0) -> Told:
        return world_told(split, frames=self.frames, size=self.size, length=self.length, count=count)

    def decided(self) -> dict[str, Any]:
        numbers = self.numbers
        return {"axes": 4, "channels": numbers, "classes": numbers, "patch": 1, "decoder": "places"}

    @property
    def numbers(self) -> int:
        """Of a cell: what a patch of a film has, or a letter needs."""
        return max(3 * self.patch**3, LETTERS)

    @property
    def grid(self) -> tuple[int, int, int]:
        return self.frames // self.patch, self.size // self.patch, self.size // self.patch

    def lay_out(self, known: Asked, rows: np.ndarray, chance: Chance | None) -> Given:  # noqa: ARG002 - films vary enough
        assert isinstance(known, Told)
        return self.read(known.films[rows], known.ids[rows], rows)

    def read(self, films: UInt8[np.ndarray, "b f s s 3"], ids: Int64[np.ndarray, "b m"], rows: np.ndarray) -> Given:
        """Cells of both beside each other; the first axis of a place says whether it is of the film or the text."""
        film, where = cells(torch.from_numpy(np.array(films)).permute(0, 4, 1, 2, 3).float() / 127.5 - 1, self.patch)
        letters = _printable(torch.from_numpy(ids))
        told = F.pad(F.one_hot(letters, LETTERS).float(), (0, self.numbers - LETTERS))
        cell = torch.cat((F.pad(film, (0, self.numbers - film.shape[-1])), told), dim=1)
        line = coordinates(ids.shape[1])
        places = torch.cat((_beside(where, -1.0), _beside(F.pad(line, (2, 0)), 1.0)))
        return Given((cell, places), (film, letters), rows)

    def loss(self, said: Tensor, given: Given, config: Config) -> Float[Tensor, ""]:  # noqa: ARG002
        """The squared error of a pixel, in parts of its variance, and the cross-entropy of a letter; for each film."""
        film, letters = (each.to(said.device) for each in given.wanted)
        seen, told = self._apart(said, film)
        off = (seen - film).square().mean() / film.var()
        # Most places behind a sentence are blank, and who says blank everywhere is right too often.
        weight = torch.cat((said.new_full((1,), BLANK), said.new_ones(LETTERS - 1)))
        return (off + F.cross_entropy(told.flatten(0, 1), letters.flatten(), weight)) * len(film)

    def scores(self, said: Sequence[Tensor], given: Sequence[Given], config: Config) -> dict[str, Score]:  # noqa: ARG002
        film, letters = (torch.cat(each) for each in zip(*(g.wanted for g in given), strict=True))
        seen, told = self._apart(torch.cat([each.cpu() for each in said]), film)
        best, real = told.argmax(-1), letters > 0
        often = torch.stack([torch.bincount(column[column > 0], minlength=2).argmax() for column in letters.T])
        return {
            "film error": _mean((seen - film).square().mean((1, 2)).sqrt() * LEVELS),
            "film error/mean film": _mean((film.mean(0) - film).square().mean((1, 2)).sqrt() * LEVELS),
            "letters": accuracy((best == letters)[real].tolist()),
            "letters/usual letter": accuracy((often.expand_as(letters) == letters)[real].tolist()),
        }

    def axis(self, given: Given, config: Config) -> Axis:  # noqa: ARG002
        """Cells of the film on the upper three quarters, later ones below, and the letters in a line under them."""
        times, rows, columns = self.grid
        high = 0.75 / (times * rows)
        boxes = [(x / columns, y * high, 1 / columns, high) for y in range(times * rows) for x in range(columns)]
        names = [f"frame {t * self.patch}, {y}, {x}" for t in range(times) for y in range(rows) for x in range(columns)]
        letters = [_letter(int(each)) for each in given.wanted[1][0]]
        boxes += [(i / len(letters), 0.85, 1 / len(letters), 0.1) for i in range(len(letters))]
        return Boxes(tuple(tuple(round(each, 4) for each in box) for box in boxes), (*names, *letters))  # type: ignore[misc]

    def tell(self, said: Tensor, given: Given, config: Config) -> tuple[str, Any]:  # noqa: ARG002
        seen, told = self._apart(said.cpu(), given.wanted[0])
        text = "".join(_letter(int(each)) for each in told[0].argmax(-1)).rstrip()
        return text, self.film(seen[0])

    def film(self, seen: Float[Tensor, "m n"]) -> UInt8[np.ndarray, "f s s 3"]:
        """Cells as the frames of a film."""
        patch, (times, rows, columns) = self.patch, self.grid
        apart = seen.reshape(times, rows, columns, patch, patch, patch, 3).permute(0, 3, 1, 4, 2, 5, 6)
        pixels = apart.reshape(self.frames, self.size, self.size, 3)
        found: np.ndarray = ((pixels.clamp(-1, 1) + 1) * 127.5).round().byte().numpy()
        return found

    def _apart(self, said: Tensor, film: Tensor) -> tuple[Float[Tensor, "b m n"], Float[Tensor, "b l 96"]]:
        count, numbers = film.shape[1:]
        return said[:, :count, :numbers].float(), said[:, count:, :LETTERS].float()


Question = Flow | Masked | Reconstructed
QUESTIONS: dict[str, type[Question]] = {"flow": Flow, "letters": Masked, "film": Reconstructed}


def question_of(card: Any, name: str) -> Question:
    """What a model of this card is asked."""
    asks = card.get("asks")
    if not isinstance(asks, dict) or asks.get("what") not in QUESTIONS:
        raise ValueError(f"the card of {name} does not say what it is asked; known are {', '.join(QUESTIONS)}")
    fields = {field: value for field, value in asks.items() if field != "what"}
    try:
        return QUESTIONS[asks["what"]](**fields)
    except TypeError as error:
        raise ValueError(f"the card of {name} says what it is asked in words that are not known: {error}") from None


def run(model: Any, given: Given) -> Tensor:
    """What a model says to a batch."""
    device = next(iter(model.parameters())).device
    first, *rest = (each.to(device) for each in given.inputs)
    # Behind a text stands where its letters are; behind cells, their places.
    said: Tensor = model(first, visible=rest[0]) if first.dtype == torch.int64 else model(first, *rest)
    return said


def _mean(values: Float[Tensor, " n"], seed: int = 0) -> Score:
    """The mean of some errors, with an interval from items drawn anew."""
    rows, dice = values.double().numpy(), np.random.default_rng(seed)
    again = [rows[dice.integers(len(rows), size=len(rows))].mean() for _ in range(RESAMPLES)]
    low, high = np.percentile(again, (2.5, 97.5)).tolist()
    return Score(float(rows.mean()), "", (low, high), higher_is_better=False, count=len(rows))


def _printable(ids: Int[Tensor, "b m"]) -> Int[Tensor, "b m"]:
    """Letters of ASCII as numbers from 1; all others, and none, are 0."""
    found = ids - FIRST - 31
    return torch.where((found >= 1) & (found < LETTERS), found, 0)


def _letter(number: int) -> str:
    return chr(number + 31) if number else " "


def _spelled(ids: Int[Tensor, " m"]) -> list[str]:
    return ["_" if i == MASK else "␣" if i < FIRST else chr(i - FIRST) for i in ids.tolist()]


def _beside(places: Float[Tensor, "m a"], kind: float) -> Float[Tensor, "m b"]:
    return F.pad(places, (1, 0), value=kind)
