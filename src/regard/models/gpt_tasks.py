"""GPT that answers instead of writing: the task inputs of GPT-1 (Radford 2018, §3.3 and figure 1).

Every task becomes a row of words that a decoder can read: a start, the texts with a delimiter between them, and an
extract token, whose state has seen all of it and goes into one linear layer::

    classify    start text extract, and of a pair such as an entailment: start premise between hypothesis extract
    similarity  both orders of two texts, one behind the other; their states are added
    choice      start context between answer extract for each of several answers, of which one is chosen

The three tokens are new, so the vocabulary has three rows more than the tokenizer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from regard.attention import Packed, packed
from regard.layers.dropout import Dropout
from regard.layers.heads import Output, last_tokens
from regard.models.family import Family
from regard.models.gpt import GPT
from regard.models.gpt import PRESETS as GPTS
from regard.models.gpt import Config as GPTConfig

Task = Literal["classify", "similarity", "choice"]
NEW = ("⟨start⟩", "⟨between⟩", "⟨extract⟩")  # the last rows of the vocabulary


@dataclass(frozen=True, slots=True)
class Config:
    body: GPTConfig = GPTS["gpt-1"]  # with the three new tokens in its vocabulary
    task: Task = "classify"
    classes: int = 2  # labels, or the answers to choose from
    dropout: float = 0.1  # before the classifier

    @property
    def head(self) -> str:
        """What an encoder's head would be called that does the same."""
        return "classify"

    @property
    def vocab(self) -> int:
        return self.body.vocab

    @property
    def context(self) -> int:
        return self.body.context

    @property
    def new(self) -> tuple[int, int, int]:
        """The ids of the start, the delimiter and the extract token."""
        return self.vocab - 3, self.vocab - 2, self.vocab - 1


class GPTTasks(nn.Module):
    """A GPT, and what is said of a text by the state of its last token."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.body = GPT(config.body)
        self.dropout = Dropout(config.dropout)
        self.classifier = nn.Linear(config.body.width, 1 if config.task == "choice" else config.classes)
        nn.init.normal_(self.classifier.weight, std=0.02)
        nn.init.zeros_(self.classifier.bias)

    def forward(
        self,
        ids: Int[Tensor, "b n"],
        *,
        lengths: Int[Tensor, " b"] | None = None,
        visible: Bool[Tensor, "b n"] | Packed | None = None,
    ) -> Output:
        """The states of all tokens, that of each extract token, and the logits of labels or answers.

        Where a task has several sequences to a question, they stand in one row, and each begins with the start token.
        """
        if self.config.task == "classify":
            hidden = self.body.read(ids, lengths=lengths, visible=visible)
            pooled = last_tokens(hidden, lengths, visible)
            return Output(hidden, pooled, self.classifier(self.dropout(pooled)), None)
        flat = _flat(ids, lengths, visible)
        hidden = self.body.read(flat, visible=self._sequences(flat))
        pooled = hidden[0, flat[0] == self.config.new[2]]
        if self.config.task == "similarity":
            pooled = pooled.unflatten(0, (-1, 2)).sum(dim=1)
            return Output(hidden, pooled, self.classifier(self.dropout(pooled)), None)
        logits = self.classifier(self.dropout(pooled)).unflatten(0, (-1, self.config.classes))[..., 0]
        return Output(hidden, pooled, logits, None)

    def lay_out(self, texts: Sequence[Sequence[int]], limit: int) -> list[int]:
        """The row of one question, from the ids of its texts; where a sequence is longer than `limit`, they are cut."""
        start, between, extract = self.config.new
        wanted = {"similarity": 2, "choice": self.config.classes + 1}.get(self.config.task)
        if wanted not in (None, len(texts)) or len(texts) > 2 >= (wanted or 0):
            raise ValueError(
                f"the inputs of {self.config.task!r} have {wanted or '1 or 2'} texts, and these are {len(texts)}; give "
                "two texts for a similarity, a context and every answer for a choice"
            )
        row: list[int] = []
        for first, *second in _sequences(self.config.task, texts):
            kept = _cut([first, *second], limit - 2 - len(second))
            row += [start, *kept[0], *(token for text in kept[1:] for token in (between, *text)), extract]
        return row

    def _sequences(self, flat: Int[Tensor, "1 n"]) -> Packed:
        starts: list[int] = (flat[0] == self.config.new[0]).nonzero()[:, 0].tolist()
        return packed([end - first for first, end in zip(starts, [*starts[1:], flat.shape[1]], strict=True)])


def of(model: GPT, task: Task, classes: int, **changes: Any) -> GPTTasks:
    """A trained GPT with a fresh classifier and three fresh tokens; `changes` of its config may not change a shape."""
    config = replace(model.config, **changes)
    made = GPTTasks(Config(replace(config, vocab=config.vocab + len(NEW)), task, classes))
    state, trained = made.body.state_dict(), model.state_dict()
    for name, tensor in trained.items():
        new = len(NEW) if len(tensor) == model.config.vocab else 0
        if (
            name not in state
            or state[name].shape != (len(tensor) + new, *tensor.shape[1:])
            or len(state) > len(trained)
        ):
            raise ValueError(f"{', '.join(changes)} cannot change: {name} was trained otherwise; leave that out")
        state[name][: len(tensor)] = tensor  # of tables of words, all rows but the new ones
    made.body.load_state_dict(state)
    return made


def _sequences(task: Task, texts: Sequence[Sequence[int]]) -> list[list[Sequence[int]]]:
    if task == "similarity":
        return [list(texts), list(reversed(texts))]
    if task == "choice":
        return [[texts[0], answer] for answer in texts[1:]]
    return [list(texts)]


def _cut(texts: Sequence[Sequence[int]], room: int) -> list[Sequence[int]]:
    """As much of some texts as there is room for, taken from the longest first."""
    kept = list(texts)
    while (over := sum(map(len, kept)) - room) > 0:
        order = sorted(range(len(kept)), key=lambda i: len(kept[i]))
        longest, next_one = order[-1], len(kept[order[-2]]) if len(kept) > 1 else 0
        size = len(kept[longest])
        kept[longest] = kept[longest][: max(size - over, min(next_one, size - 1), 0)]
    return kept


def _flat(
    ids: Int[Tensor, "b n"], lengths: Int[Tensor, " b"] | None, visible: Bool[Tensor, "b n"] | Packed | None
) -> Int[Tensor, "1 m"]:
    """All rows one behind another, without padding."""
    if isinstance(visible, Packed):
        return ids
    if visible is None and lengths is not None:
        visible = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
    return ids.reshape(1, -1) if visible is None else ids[visible][None]


def example(config: Config) -> dict[str, Any]:
    return {"ids": torch.randint(config.vocab - len(NEW), (2, 5))}


PRESETS = {
    "gpt_tasks-1": Config(replace(GPTS["gpt-1"], vocab=GPTS["gpt-1"].vocab + len(NEW))),
    "gpt_tasks-nano": Config(GPTS["gpt-nano"]),
}

FAMILY = Family("gpt_tasks", Config, GPTTasks, PRESETS, example)
