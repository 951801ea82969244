"""Small GPTs over whole words: how they learn texts, and how likely they find one."""

from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.claims.translation import PAD, START, Lexicon
from regard.decode.batching import by_length, pad_rows
from regard.models.gpt import GPT, Config
from regard.train.small import learn

Text = tuple[str, ...]


def gpt(vocab: int, *, width: int, depth: int, context: int) -> GPT:
    """A GPT without dropout, since it meets no text twice."""
    return GPT(Config(vocab, context, width, depth, max(1, width // 16), 4 * width, dropout=0.0, attn_dropout=0.0))


def encode(texts: Sequence[Text], lexicon: Lexicon) -> list[list[int]]:
    """The ids of each text behind the start."""
    return [[START, *lexicon.encode(text)] for text in texts]


def train(
    model: GPT, rows: Sequence[Sequence[int]], *, batch: int, steps: int, lr: float, seed: int
) -> Iterator[float]:
    """Learn the next word of every word, from batches of rows drawn by the seed; the loss of each step."""
    chance = torch.Generator().manual_seed(seed)

    def loss() -> Tensor:
        ids, _ = pad_rows([rows[i] for i in torch.randint(len(rows), (batch,), generator=chance).tolist()], PAD)
        # Padding stands behind, where no word looks.
        return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PAD)

    return learn(model, loss, steps=steps, lr=lr, weight_decay=0.01)


@torch.no_grad()
def log_probs(model: GPT, rows: Sequence[Sequence[int]]) -> list[list[float]]:
    """The log probability of each id of each row but the first."""
    found: dict[int, list[float]] = {}
    for group in by_length([len(row) for row in rows], tokens=4096):
        ids, lengths = pad_rows([rows[i] for i in group], PAD)
        gained = model(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
        for i, row, length in zip(group, gained.tolist(), lengths.tolist(), strict=True):
            found[i] = row[: length - 1]
    return [found[i] for i in range(len(rows))]
