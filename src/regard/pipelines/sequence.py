"""Text to text: what translation, parsing and every other task of reading one line and writing another share."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from regard.analysis.reading import Map, Reading, read_layer
from regard.attention import record
from regard.decode.forcing import evaluating, force
from regard.decode.generate import Choice
from regard.decode.hypothesis import Hypothesis
from regard.decode.search import search
from regard.decode.tree import BeamTree, Node
from regard.hub import Checkpoint
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pipeline import Edits, Pipeline, TooLongError
from regard.progress import Progress


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote for one text: the best hypothesis, and the next best where more were asked for."""

    text: str
    hypothesis: Hypothesis
    source: tuple[int, ...]  # the ids that were read, with the stop
    alternatives: tuple["Written", ...] = ()


@dataclass(frozen=True, slots=True)
class Search:
    """All that a search found, best first, and the tree of what it considered."""

    outputs: tuple[Written, ...]
    nodes: tuple[Node, ...]


class SequenceToSequence(Pipeline):
    """A model that reads ids and writes ids, and the tokenizer it was trained with."""

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        """Texts of more than `limit` tokens are refused, since a model garbles what it has not learnt to hold."""
        super().__init__(checkpoint, limit=limit)
        if not hasattr(self.model, "start") or self.tokenizer is None:
            missing = "reads and writes no text" if hasattr(self.model, "start") else "does not write"
            raise ValueError(f"{self.name} is a {type(self.model).__name__}, which {missing}; load it as another task")
        for vocab in {self.model.config.vocab, getattr(self.model.config, "target", None)} - {None}:
            if vocab < self.tokenizer.vocab:
                raise ValueError(
                    f"a tokenizer of {self.tokenizer.vocab} entries is that of another model, since this one has "
                    f"{vocab}; give the tokenizer it was trained with"
                )
        pad: int | None = self.tokenizer.pad
        start: int | None = self.tokenizer.start
        self.pad = 0 if pad is None else pad
        self.start = self.pad if start is None else start  # as Marian begins
        self.stop: int = self.tokenizer.stop
        self.forbidden = (self.pad,) if self.start == self.pad else ()  # what begins a text is never written in it

    def prefix(self, to: str | None) -> str:  # noqa: ARG002 - a multilingual translator answers
        """What is read in front of a text."""
        return ""

    def encode(self, texts: Iterable[str], *, to: str | None = None, cut: bool = False) -> list[list[int]]:
        """The ids of each text with their stop, or none where there is nothing to read; what is too long is `cut`."""
        listed = [texts] if isinstance(texts, str) else list(texts)
        prefix = self.prefix(to)
        tagged = [prefix + text if isinstance(text, str) else text for text in listed]  # what is no text is refused
        (blank,) = self.tokenizer.encode([prefix.rstrip()], stop=True)
        found = self.tokenizer.encode(tagged, stop=True, limit=self.limit if cut else None)
        real = [text.strip() and len(ids) > len(blank) for text, ids in zip(listed, found, strict=True)]
        sources = [ids if said else [] for said, ids in zip(real, found, strict=True)]
        for index, ids in enumerate(sources):
            if len(ids) > self.limit:
                raise TooLongError(index, len(ids), self.limit)
        return sources

    def write(
        self,
        sources: Sequence[Sequence[int]],
        *,
        beam: int = 5,
        length_penalty: float = 1.0,
        coverage: float = 0.0,
        count: int = 1,
        sampler: Choice | None = None,
        batch: int = 32,
        progress: Progress | None = None,
    ) -> list[Written]:
        """What the model writes for ids that `encode` made."""
        found = search(
            self.model,
            sources,
            start=self.start,
            stop=self.stop,
            pad=self.pad,
            limit=self.longest,
            beam=beam,
            count=count,
            length_penalty=length_penalty,
            coverage=coverage,
            sampler=sampler,
            forbidden=self.forbidden,
            batch=batch,
            progress=progress,
        )
        return [self._gather(source, hypotheses) for source, hypotheses in zip(sources, found, strict=True)]

    def longest(self, length: int) -> int:
        """The most ids to write for a source of some length."""
        return 2 * length + 10

    @answer_familiar
    def attend(
        self,
        given: str,
        *,
        edits: Edits | None = None,
        target: str | None = None,
        to: str | None = None,
        beam: int = 5,
        length_penalty: float = 1.0,
        tell: Callable[[Sequence[int]], None] | None = None,
    ) -> Reading:
        """Search for what to write, or take a given `target`, then write it once with every attention watched.

        `tell` is given the ids of the likeliest beginning while the search goes on.
        """
        (source,) = self.encode([given], to=to)
        if not source:
            raise ValueError("an empty text leaves nothing to look at; give a sentence")
        with evaluating(self.model):
            if target is None:
                found = self._search(source, beam, length_penalty, edits or {}, tell)
                ids = self._with_stop(found.outputs[0].hypothesis)
            else:
                ids = self._target(target)
            with record(self.model, edits=edits) as trace:
                (gained,) = force(self.model, [source], [ids], start=self.start, pad=self.pad)
        if target is not None:
            forced = Hypothesis(tuple(ids[:-1]), float(gained.sum()), float(gained.sum()), True, ())
            found = Search((Written(target, forced, tuple(source)),), ())
        words = self.tokenizer.words
        axes = {"source": words(source), "target": words(ids), "read": words([self.start, *ids[:-1]])}
        maps = sorted((self._map(name, trace[name][0].q.shape[1]) for name in trace), key=_order)
        return Reading(self.name, axes, tuple(maps), trace, found, f"“{given}” → “{found.outputs[0].text}”")

    def _search(
        self,
        source: list[int],
        beam: int,
        length_penalty: float,
        edits: Edits,
        tell: Callable[[Sequence[int]], None] | None,
    ) -> Search:
        """All that a beam finds for one source, and the tree of what it considered."""
        tree = BeamTree(self.model, beam, self.stop, edits=edits, tell=tell)
        (found,) = search(
            tree,
            [source],
            start=self.start,
            stop=self.stop,
            pad=self.pad,
            limit=self.longest,
            beam=beam,
            count=beam,
            length_penalty=length_penalty,
            forbidden=self.forbidden,
        )
        tree.finish(found)
        return Search(tuple(self._gather(source, [each]) for each in found), tuple(tree.nodes))

    def _target(self, text: str) -> list[int]:
        """The ids of a text that the model is made to write."""
        if not text.strip():
            raise ValueError("an empty target leaves nothing to write; give a sentence, or leave it out")
        (ids,) = self.tokenizer.encode([text], stop=True)
        if len(ids) > self.limit:
            raise TooLongError(0, len(ids), self.limit)
        return list(ids)

    def _map(self, name: str, heads: int) -> Map:
        """A row of `target` is the look that wrote that piece; `read` is what had been read by then."""
        layer = read_layer(name)
        if name in self.model.cross_attentions:
            return Map(name, "cross", layer, heads, "target", "source", "decoder looks at source")
        if name.startswith("encoder"):
            return Map(name, "self", layer, heads, "source", "source", "encoder")
        return Map(name, "causal", layer, heads, "target", "read", "decoder")

    def _with_stop(self, hypothesis: Hypothesis) -> list[int]:
        ends = hypothesis.finished or not hypothesis.words
        return [*hypothesis.words, *([self.stop] if ends else [])]

    def _gather(self, source: Sequence[int], hypotheses: Sequence[Hypothesis]) -> Written:
        first, *others = (Written(self.tokenizer.decode(each.words), each, tuple(source)) for each in hypotheses)
        return Written(first.text, first.hypothesis, first.source, tuple(others))


def _order(one: Map) -> int:
    return ("self", "causal", "cross").index(one.kind)
