"""What an encoder is asked in the end: hidden words, the class of a text or of each token, a span (BERT's figure 4)."""

from collections.abc import Callable
from typing import Literal, NamedTuple, cast, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import Packed
from regard.layers.dropout import Dropout
from regard.layers.tied import Tied

# Both heads of BERT's training, the first of them alone; of a text or a pair of them, of each token, of spans; nothing.
Head = Literal["pretraining", "masked", "classify", "tokens", "spans", "none"]


class Output(NamedTuple):  # a tuple, which torch exports and shards as it is
    """What an encoder has read, and what its head says of it; where a text is padded, that place means nothing."""

    hidden: Float[Tensor, "b n w"]
    pooled: Float[Tensor, "t w"] | None  # of each text, by its first token, where a head reads it
    # Of words "b n v"; of classes "t c", or "b n c" for each token; of being the first and the last of a span "b n 2".
    logits: Tensor | None
    next_sentence: Float[Tensor, "t 2"] | None  # the second sentence follows the first, or another was put there


class EncoderHead(nn.Module):
    """The head of an encoder by its name. Families differ in how they pool a text and how they guess a word."""

    def __init__(
        self,
        head: Head,
        width: int,
        *,
        classes: int,
        dropout: float,
        pooler: Callable[[], nn.Module] | None,
        words: Callable[[], nn.Module],
        pools: tuple[Head, ...] = ("pretraining", "classify", "none"),
        span_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if head not in get_args(Head):
            raise ValueError(f"an encoder has no head {head!r}; choose from {', '.join(get_args(Head))}")
        self.pooler = pooler() if pooler is not None and head in pools else None
        self.words = words() if head in ("pretraining", "masked") else None
        self.next_sentence = nn.Linear(width, 2) if head == "pretraining" else None
        self.classifier = nn.Linear(width, classes) if head in ("classify", "tokens") else None
        self.spans = nn.Linear(width, 2) if head == "spans" else None
        self.dropout, self.span_dropout = Dropout(dropout), Dropout(span_dropout)

    def forward(
        self,
        hidden: Float[Tensor, "b n w"],
        visible: Bool[Tensor, "b n"] | Packed | None = None,
        masked: Bool[Tensor, "b n"] | None = None,
    ) -> Output:
        """`visible` says where texts begin that are padded in front, or packed in one row.

        Where `masked` is given, words are guessed at its places alone, and their logits have the shape "m v".
        """
        pooled = None if self.pooler is None else self.pooler(first_tokens(hidden, visible))
        following = None if self.next_sentence is None else self.next_sentence(pooled)
        return Output(hidden, pooled, self._logits(hidden if masked is None else hidden[masked], pooled), following)

    def _logits(self, hidden: Float[Tensor, "*b w"], pooled: Float[Tensor, "t w"] | None) -> Tensor | None:
        if self.classifier is not None:
            return cast(Tensor, self.classifier(self.dropout(hidden if pooled is None else pooled)))
        if self.spans is not None:
            return cast(Tensor, self.spans(self.span_dropout(hidden)))
        return None if self.words is None else cast(Tensor, self.words(hidden))


def first_tokens(hidden: Float[Tensor, "b n w"], visible: Bool[Tensor, "b n"] | Packed | None) -> Float[Tensor, "t w"]:
    """The state of the first token of each text."""
    if visible is None:
        return hidden[:, 0]
    if isinstance(visible, Packed):
        return hidden[0, visible.firsts(hidden.device)]
    return hidden[torch.arange(hidden.shape[0], device=hidden.device), visible.int().argmax(dim=1)]


def last_tokens(
    hidden: Float[Tensor, "b n w"],
    lengths: Int[Tensor, " b"] | None = None,
    visible: Bool[Tensor, "b n"] | Packed | None = None,
) -> Float[Tensor, "t w"]:
    """The state of the last token of each text, which in a decoder has seen all of it."""
    if isinstance(visible, Packed):
        ends = torch.tensor(visible.lengths, device=hidden.device).cumsum(0) - 1
        return hidden[0, ends]
    if visible is not None:
        lengths = hidden.shape[1] - visible.flip(1).int().argmax(dim=1)
    if lengths is None:
        return hidden[:, -1]
    return hidden[torch.arange(hidden.shape[0], device=hidden.device), lengths - 1]


class Pooler(nn.Module):
    """A text in one vector: a layer over its first token; with `dropout` before it in RoBERTa and DeBERTa."""

    def __init__(self, width: int, activation: Callable[[], nn.Module] = nn.Tanh, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.dense = nn.Linear(width, width)
        self.activation = activation()

    def forward(self, first: Float[Tensor, "t w"]) -> Float[Tensor, "t w"]:
        pooled: Tensor = self.activation(self.dense(self.dropout(first)))
        return pooled


class MaskedWords(nn.Module):
    """Which word stands at each place: a small layer, and the matrix that embeds the words."""

    def __init__(self, embed: nn.Embedding, width: int, activation: Callable[[], nn.Module], *, eps: float) -> None:
        super().__init__()
        self.dense = nn.Linear(width, embed.embedding_dim)
        self.activation = activation()
        self.norm = nn.LayerNorm(embed.embedding_dim, eps=eps)
        self.to_vocab = Tied(embed, bias=True)

    def forward(self, x: Float[Tensor, "*b w"]) -> Float[Tensor, "*b v"]:
        logits: Tensor = self.to_vocab(self.norm(self.activation(self.dense(x))))
        return logits
