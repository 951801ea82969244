"""The company of a text changes nothing: other texts of its batch, padding on either side, or neighbours in its row."""

import torch
from torch import Tensor

from regard.analysis.doctor.finding import Finding, judge, skip
from regard.analysis.doctor.patient import Patient, row
from regard.attention import packed

LEAST = 1e-4  # of the largest number is rounding
SHORTER = 3  # words that the second text is shorter by


@torch.no_grad()
def batch(patient: Patient) -> Finding:
    """One of a batch is answered as if it were alone."""
    inputs = patient.draw()
    together = patient.answers(inputs)
    away = max(
        distance(one, every[i : i + 1])
        for i in range(len(together[0]))
        for one, every in zip(patient.answers(row(inputs, i)), together, strict=True)
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
    length, before = words.shape[1] - SHORTER, 0 if side == "behind" else SHORTER
    kept = slice(before, before + length)
    real = torch.ones_like(words, dtype=torch.bool)
    real[1] = False
    real[1, kept] = True
    rows = {name: inputs[name] for name in patient.beside(inputs)}  # the words, and what is said of each of them
    moved = {name: torch.stack((x[0], x[1].roll(before))) for name, x in rows.items()}
    padded = patient.answers(inputs | moved | patient.hide(real))
    alone = patient.answers(row(inputs, 1) | {name: x[1:, :length] for name, x in rows.items()})
    # Of what runs by the places of words, only those that are there can be compared.
    own = patient.read == patient.written
    seen = [x[1:, kept] if own and x.ndim == 3 and x.shape[1] == words.shape[1] else x[1:] for x in padded]
    return _judge(
        check,
        max(distance(one, other) for one, other in zip(seen, alone, strict=True)),
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
    one, other = one.float(), other.float()  # tokens too
    return float(((one - other).abs().max() / other.abs().max().clamp(min=1e-30)).item())


def _judge(check: str, away: float, causes: str) -> Finding:
    return judge(check, away <= LEAST, f"{away:.1e}", causes)
