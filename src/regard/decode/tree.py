"""A beam search written down as a tree: every continuation it considered, what was kept, and where hypotheses end."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import record
from regard.decode.hypothesis import Hypothesis

CANDIDATES = 4000  # nodes of a tree beyond which only those are written down that were followed


@dataclass(slots=True)
class Node:
    """A word that the search considered: `kept` if it went on from there, `final` the rank of what ends there."""

    parent: int | None
    word: int | None
    log_prob: float
    step: int
    kept: bool = False
    final: int | None = None


class BeamTree(nn.Module):
    """A model whose search over one sentence is written down, step by step, and may be edited."""

    def __init__(
        self,
        model: nn.Module,
        beam: int,
        stop: int,
        *,
        edits: Mapping[str, Any],
        tell: Callable[[list[int]], None] | None = None,
    ) -> None:
        """`tell` is given the words of the likeliest beginning, step by step."""
        super().__init__()
        self._tell = tell
        self.model: Any = model
        self.cross_attentions = ()  # coverage is not counted here
        self.nodes = [Node(None, None, 0.0, 0, kept=True)]
        self._children: dict[tuple[int, int], int] = {}
        self._beam, self._stop = beam, stop
        self._reading = {name: edit for name, edit in edits.items() if name.startswith("encoder")}
        self._writing = {name: edit for name, edit in edits.items() if not name.startswith("encoder")}

    def start(self, source: Int[Tensor, "b n"], *, lengths: Int[Tensor, " b"] | None = None) -> "_State":
        with self._edit(self._reading):
            return _State(self.model.start(source, lengths=lengths), None)

    def step(self, words: Int[Tensor, "b n"], state: "_State") -> tuple[Float[Tensor, "b n v"], "_State"]:
        with self._edit(self._writing):
            logits, inner = self.model.step(words, state.inner)
        newest = words[:, -1].tolist()
        here = [0] if state.nodes is None else [self._child(*each) for each in zip(state.nodes, newest, strict=True)]
        for node in here:
            self.nodes[node].kept = True
        self._consider(here, logits)
        if self._tell is not None:
            self._tell(self._words(max(here, key=lambda node: self.nodes[node].log_prob)))
        return logits, _State(inner, here)

    def finish(self, hypotheses: Sequence[Hypothesis]) -> None:
        """Mark where the hypotheses end, best first."""
        for rank, each in enumerate(hypotheses):
            node = 0
            for word in (*each.words, *([self._stop] if each.finished else [])):
                node = self._child(node, word)
                self.nodes[node].kept = True
            self.nodes[node].final, self.nodes[node].log_prob = rank, each.log_prob

    def _consider(self, here: list[int], logits: Float[Tensor, "b n v"]) -> None:
        """Write down the continuations that the search chooses from."""
        if len(self.nodes) > CANDIDATES:
            return
        rows = list({node: row for row, node in reversed(list(enumerate(here)))}.items())
        gained = logits[[row for _, row in rows], -1].float().log_softmax(dim=-1)
        before = torch.tensor([self.nodes[node].log_prob for node, _ in rows])
        best, place = (gained + before[:, None]).flatten().topk(min(2 * self._beam, gained.numel()))
        for log_prob, where in zip(best.tolist(), place.tolist(), strict=True):
            row, word = divmod(where, gained.shape[-1])
            self.nodes[self._child(rows[row][0], word)].log_prob = log_prob

    def _words(self, node: int) -> list[int]:
        """What was written up to a node."""
        found = []
        while (word := self.nodes[node].word) is not None:
            found.append(word)
            node = self.nodes[node].parent or 0
        return found[::-1]

    def _child(self, parent: int, word: int) -> int:
        if (parent, word) not in self._children:
            self._children[parent, word] = len(self.nodes)
            above = self.nodes[parent]
            self.nodes.append(Node(parent, word, above.log_prob, above.step + 1))
        return self._children[parent, word]

    def _edit(self, edits: Mapping[str, Any]) -> AbstractContextManager[object]:
        """A scope for each step, since one for all would keep what every step looked at."""
        return record(self.model, edits=edits) if edits else nullcontext()


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """The state of the model, and the node of the tree that each row has come to."""

    inner: Any
    nodes: list[int] | None  # before the first step, there are none

    def select(self, rows: Int[Tensor, " r"]) -> "_State":
        nodes = None if self.nodes is None else [self.nodes[row] for row in rows.tolist()]
        return _State(self.inner.select(rows), nodes)
