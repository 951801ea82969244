"""A translation with all that happened on the way: the beam as a tree, and every attention of the winner."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Trace, off, only, record, then, uniform
from regard.attention.core import Edit
from regard.decode import Translation, Translator
from regard.text import START, STOP, Tokenizer
from regard.web.looks import Attended, Cut

CANDIDATES = 4000  # nodes of a tree beyond which only those are written down that were followed


def attentions(model: Any) -> tuple[Attended, ...]:
    """Every attention of a translator, found by letting it read and write one token."""
    token = torch.tensor([[STOP]])
    with torch.no_grad():
        with record(model) as reading:
            state = model.start(token)
        with record(model) as writing:
            model.step(torch.tensor([[START]]), state)
    found = [
        *(_attended(reading, name, "self") for name in reading),
        *(_attended(writing, name, "causal") for name in writing if name not in model.cross_attentions),
        *(_attended(writing, name, "cross") for name in writing if name in model.cross_attentions),
    ]
    return tuple(found)


def _attended(trace: Trace, name: str, kind: Any) -> Attended:
    number = re.search(r"\.(\d+)\.", name)
    rows: Any = "source" if kind == "self" else "target"
    columns: Any = "read" if kind == "causal" else "source"
    return Attended(name, kind, int(number[1]) if number else 0, trace[name][0].q.shape[1], rows, columns)


def edited(wishes: Iterable[tuple[str, int | None, str]], known: Sequence[Attended]) -> dict[str, Edit]:
    """The edits of each attention, from its name, a head or all, and what to do with it."""
    heads = {each.name: each.heads for each in known}
    found: dict[str, list[Edit]] = {}
    for name, head, kind in dict.fromkeys(wishes):
        edit = off if kind == "off" else uniform
        found.setdefault(name, []).append(only(edit, *(range(heads[name]) if head is None else (head,))))
    return {name: then(*edits) for name, edits in found.items()}


@dataclass(slots=True)
class Node:
    """A word that the search thought of: `kept` if it went on from there, `final` if a translation ends there."""

    parent: int | None
    word: int | None
    log_prob: float
    step: int
    kept: bool = False
    final: int | None = None


class Followed(nn.Module):
    """A model whose search over one sentence is written down, step by step, and may be edited and stopped."""

    def __init__(
        self,
        model: nn.Module,
        known: Sequence[Attended],
        edits: Mapping[str, Edit],
        beam: int,
        show: Callable[[], None],
    ) -> None:
        super().__init__()
        self.model: Any = model
        self.config, self.cross_attentions = self.model.config, ()
        self.nodes = [Node(None, None, 0.0, 0, kept=True)]
        self._children: dict[tuple[int, int], int] = {}
        self._beam, self._show = beam, show
        reading = {each.name for each in known if each.kind == "self"}
        self._reading = {name: edit for name, edit in edits.items() if name in reading}
        self._writing = {name: edit for name, edit in edits.items() if name not in reading}

    def start(self, source: Int[Tensor, "b n"], *, lengths: Int[Tensor, " b"] | None = None) -> "_State":
        with self._edited(self._reading):
            return _State(self.model.start(source, lengths=lengths), None)

    def step(self, words: Int[Tensor, "b n"], state: "_State") -> tuple[Float[Tensor, "b n v"], "_State"]:
        self._show()
        with self._edited(self._writing):
            logits, inner = self.model.step(words, state.inner)
        newest = words[:, -1].tolist()
        here = [0] if state.nodes is None else [self._child(*each) for each in zip(state.nodes, newest, strict=True)]
        for node in here:
            self.nodes[node].kept = True
        self._consider(here, logits)
        return logits, _State(inner, here)

    def end(self, written: Sequence[Any]) -> None:
        """Mark where the translations end, best first."""
        for rank, each in enumerate(written):
            node = 0
            for word in (*each.words, *([STOP] if each.finished else [])):
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

    def _child(self, parent: int, word: int) -> int:
        if (parent, word) not in self._children:
            self._children[parent, word] = len(self.nodes)
            above = self.nodes[parent]
            self.nodes.append(Node(parent, word, above.log_prob, above.step + 1))
        return self._children[parent, word]

    def _edited(self, edits: Mapping[str, Edit]) -> AbstractContextManager[object]:
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


@dataclass(frozen=True, slots=True, eq=False)
class Forced:
    """A source and a target, read once with everything watched."""

    source: tuple[int, ...]
    target: tuple[int, ...]  # with its stop, where it came to it
    log_prob: float
    trace: Trace

    @property
    def read(self) -> tuple[int, ...]:
        """What had been read when each piece of the target was written."""
        return (START, *self.target[:-1])


@torch.no_grad()
def forced(model: Any, source: Sequence[int], target: Sequence[int], edits: Mapping[str, Edit]) -> Forced:
    """Make a model write a target, and watch all its attentions."""
    lengths = torch.tensor([len(source)])
    read, wanted = torch.tensor([[START, *target[:-1]]]), torch.tensor([list(target)])
    with record(model, edits=edits) as trace:
        logits = model(torch.tensor([list(source)]), read, lengths=lengths)
    gained = logits.float().log_softmax(dim=-1).gather(-1, wanted[..., None])
    return Forced(tuple(source), tuple(target), float(gained.sum()), trace)


def searched(
    translator: Translator,
    text: str,
    known: Sequence[Attended],
    edits: Mapping[str, Edit],
    show: Callable[[], None],
    *,
    to: str | None,
    beam: int,
    length_penalty: float,
) -> tuple[list[Translation], list[Node]]:
    """The translations that a beam finds, best first, and the tree of all that it thought of."""
    followed = Followed(translator.model, known, edits, beam, show)
    watched = Translator(followed, translator.tokenizer, limit=translator.limit, multilingual=translator.multilingual)
    (found,) = watched.translate([text], to=to, beam=beam, length_penalty=length_penalty, count=beam)
    followed.end([each.written for each in found])
    return found, followed.nodes


def cut(tokenizer: Tokenizer, ids: Sequence[int]) -> Cut:
    """Ids as pieces, and the words they make."""
    pieces = tokenizer.pieces(ids)
    spans: list[tuple[int, int]] = []
    for place, word in enumerate(pieces.word):
        if word == len(spans):
            spans.append((place, place))
        else:
            spans[word] = (spans[word][0], place)
    return Cut(pieces.texts, tuple(spans), pieces.words)
