"""The company of a text changes nothing: other texts of its batch, padding on either side, or neighbours in its row."""

from typing import Any

import torch
from torch import Tensor

from regard.analysis.doctor.finding import Finding, judge, skip
from regard.analysis.doctor.patient import Patient
from regard.attention import packed

LEAST = 1e-4  # of the largest number is rounding
SHORTER = 3  # words that the second text is shorter by


@torch.no_grad()
def batch(patient: Patient) -> Finding:
    """One of a batch is answered as if it were alone."""
    inputs = patient.draw()
    together = patient.answer(inputs)
    away = max(
        distance(patient.answer({name: _row(x, i) for name, x in inputs.items()}), together[i : i + 1])
        for i in range(len(together))
    )
    return _judge(
        "a batch changes no answer",
        away,
        "batch statistics in a norm, a reshape that mixes rows, a mask that is broadcast over the wrong axis",
    )


@torch.no_grad()
def padding(patient: Patient, side: str) -> Finding:
    """A text that is padded is answered as if it were not."""
    check = f"padding {side} changes no answer"
    if patient.read is None or side not in patient.sides:
        return skip(check, "it takes no padding there" if patient.sides else "nothing tells it what is padding")
    inputs = patient.draw()
    words: Tensor = inputs[patient.read]
    length = words.shape[1] - SHORTER
    real = torch.ones_like(words, dtype=torch.bool)
    kept = slice(0, length) if side == "behind" else slice(SHORTER, None)
    real[1] = False
    real[1, kept] = True
    padded = patient.answer(inputs | patient.hide(real))[1:]
    one = {name: _row(x, 1) for name, x in inputs.items()}
    alone = patient.answer(one | {patient.read: words[1:, kept]})
    if patient.read == patient.written and padded.ndim == 3:
        padded = padded[:, kept]
    return _judge(
        check,
        distance(padded, alone),
        "positions that count padding too, a mask that is inverted or not given to every attention, a pooling that "
        "takes the first or the last place whatever stands there",
    )


@torch.no_grad()
def packing(patient: Patient) -> Finding:
    """Texts in one row are answered as if each were alone."""
    check = "packing changes no answer"
    if patient.read is None or not patient.packs:
        return skip(check, "it takes no packed texts")
    words: Tensor = patient.draw()[patient.read]
    first, second = words[:1], words[1:, :-SHORTER]
    row = torch.cat((first, second), dim=1)
    together = patient.answer({patient.read: row, "visible": packed([first.shape[1], second.shape[1]])})
    alone = [patient.answer({patient.read: text}) for text in (first, second)]
    # What is said of each word lies in one row too; what is said of each text, in rows.
    whole = torch.cat(alone, dim=1 if together.shape[0] == 1 and together.ndim == 3 else 0)
    return _judge(
        check,
        distance(together, whole),
        "texts that see each other, positions that go on from one text to the next, a pooling that takes the first "
        "place of the row",
    )


def distance(one: Tensor, other: Tensor) -> float:
    """The largest difference, as a share of the largest number."""
    if one.shape != other.shape:
        return float("inf")
    return float(((one - other).abs().max() / other.abs().max().clamp(min=1e-30)).item())


def _judge(check: str, away: float, causes: str) -> Finding:
    return judge(check, away <= LEAST, f"{away:.1e}", causes)


def _row(x: Any, i: int) -> Any:
    return x[i : i + 1] if isinstance(x, Tensor) else x
