"""How well a language model predicts a text: perplexity, and bits per byte and character, with intervals."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from regard.analysis.scores import RESAMPLES, Score
from regard.decode.batching import by_length, pad_rows
from regard.decode.surprise import log_probs_of, surprise
from regard.progress import Progress

PIECE = 1_000_000  # characters that are tokenized at a time
TOGETHER = 8192  # padded tokens that are read at once


def read_stream(
    model: Any, tokenizer: Any, text: str, *, context: int, stride: int, progress: Progress | None = None
) -> tuple[int, dict[str, Score]]:
    """How many tokens of a text were predicted, all but the first, and how well; drawn anew are its windows."""
    ids = torch.tensor([i for part in _parts(text) for i in tokenizer.encode([part], start=False, stop=False)[0]])
    if len(ids) < 2:
        raise ValueError(f"a text of {len(ids)} tokens has nothing to predict; give more text")
    gained = surprise(model, ids, context=context, stride=stride, batch=max(1, TOGETHER // context), progress=progress)
    parts = gained.double().cpu().split(context)
    first = "" if int(ids[0]) in tokenizer.specials else tokenizer.decode([int(ids[0])])
    sizes = len(text.encode()) - len(first.encode()), len(text) - len(first)
    signature = f"context:{context}|stride:{stride}|resampled:windows"
    return len(gained), _scores([float(part.sum()) for part in parts], [len(part) for part in parts], sizes, signature)


@torch.no_grad()
def read_lines(
    model: Any, tokenizer: Any, lines: Sequence[str], *, context: int, progress: Progress | None = None
) -> tuple[int, dict[str, Score]]:
    """The same for lines that stand for themselves, each between start and stop; a stop counts as the line's end.

    What is longer than the context is cut, and counted as far as it was read.
    """
    begin = tokenizer.start if tokenizer.start is not None else tokenizer.special("stop")
    rows = [[begin, *ids, tokenizer.special("stop")] for ids in tokenizer.encode(lines, start=False, stop=False)]
    kept = [row[: context + 1] for row in rows]
    summed, done = [0.0] * len(rows), 0
    device = next(model.parameters()).device
    for group in by_length([len(row) for row in kept], tokens=TOGETHER):
        ids, lengths = pad_rows([kept[i] for i in group], tokenizer.pad or 0, device)
        hidden = model.read(ids[:, :-1], lengths=lengths - 1)
        for i, states, row, length in zip(group, hidden, ids, lengths.tolist(), strict=True):
            summed[i] = float(log_probs_of(model, states[: length - 1], row[1:length]).double().sum())
        done += len(group)
        if progress is not None:
            progress(done / len(rows))
    whole = [
        line + "\n" if len(row) == len(cut) else tokenizer.decode(cut)
        for line, row, cut in zip(lines, rows, kept, strict=True)
    ]
    sizes = sum(len(line.encode()) for line in whole), sum(map(len, whole))
    counts = [len(row) - 1 for row in kept]
    return sum(counts), _scores(summed, counts, sizes, f"context:{context}|lines|resampled:lines")


def _scores(summed: Sequence[float], counts: Sequence[int], sizes: tuple[int, int], signature: str) -> dict[str, Score]:
    """Scores from the log probabilities of parts of a text, and how many bytes and characters it has."""
    lost, tokens = -np.asarray(summed), np.asarray(counts, float)
    chosen = np.random.default_rng(0).integers(len(lost), size=(RESAMPLES, len(lost)))
    again = lost[chosen].sum(axis=1) / tokens[chosen].sum(axis=1)
    loss: Float[np.ndarray, " 3"] = np.asarray([lost.sum() / tokens.sum(), *np.percentile(again, (2.5, 97.5))])
    bits = [loss * tokens.sum() / max(size, 1) / math.log(2) for size in sizes]
    named = {"perplexity": np.exp(loss), "loss": loss, "bits_per_byte": bits[0], "bits_per_character": bits[1]}
    return {
        name: Score(float(value), signature, (float(low), float(high)), higher_is_better=False)
        for name, (value, low, high) in named.items()
    }


def _parts(text: str) -> list[str]:
    """A long text in parts that begin with a line, where no tokenizer joins anything."""
    found, start = [], 0
    while start < len(text):
        end = text.find("\n", start + PIECE) + 1 or len(text)
        while end < len(text) and text[end].isspace():
            end += 1
        found.append(text[start:end])
        start = end
    return found
