"""Tag: a text in, a tag for each of its words out, and the spans that tags such as B-PER and I-PER make."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor

from regard.analysis.reading import Reading
from regard.analysis.scores import accuracy
from regard.analysis.spans import prefixed, span_f1, spans
from regard.attention import Packed
from regard.data.tagged import tagged
from regard.hub import Checkpoint
from regard.pipelines.encoder import Encoder, Given
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pipeline import Edits, Evaluation
from regard.progress import Progress
from regard.text.template import Window


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, where it stands in it, and its tag; `score` is how likely that tag is."""

    text: str
    start: int
    end: int
    tag: str
    score: float


@dataclass(frozen=True, slots=True)
class Entity:
    """Words that belong together, and what they are; `score` is the mean of their tags'."""

    text: str
    start: int
    end: int
    label: str
    score: float


@dataclass(frozen=True, slots=True)
class Tagged:
    """The words of a text with their tags, and the spans that these mark, if they mark any."""

    words: tuple[Word, ...]
    spans: tuple[Entity, ...]


class Tag(Encoder):
    """A model that tags words; the first piece of a word decides. The tags are the labels of its card."""

    task, takes, gives = "tag", "text", "tags"
    needs = ("tokens",)

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        classes = getattr(checkpoint.model.config, "classes", None)
        self.labels = tuple(map(str, checkpoint.card.get("labels") or ()))
        if len(self.labels) != classes:
            raise ValueError(
                f"the card of {checkpoint.name} names {len(self.labels)} labels, and the model has {classes}"
            )
        super().__init__(checkpoint, limit=limit)

    @answer_familiar
    def __call__(self, inputs: Sequence[Given], *, progress: Progress | None = None) -> list[Tagged]:
        """The tags of each text, which is one string, or the list of its words."""
        given = [inputs] if isinstance(inputs, str) else list(inputs)
        rows = self.rows([_whole(each) for each in given])
        chances = self.ask(rows, self._take, progress=progress)
        return [self._tag(*each) for each in zip(given, rows, chances, strict=True)]

    @answer_familiar
    def evaluate(
        self, data: str, *, split: str = "test", limit: int = 0, progress: Progress | None = None
    ) -> Evaluation:
        """How many words are tagged right, and the F1 of whole spans; `data` has a word and its tag on each line."""
        split = split or "test"
        given = tagged(data, split)[: limit or None]
        strange = sorted({tag for _, tags in given for tag in tags} - set(self.labels))
        if strange or not given:
            why = f"the tag {strange[0]!r} of {data} is none of {', '.join(self.labels)}" if strange else "no sentence"
            raise ValueError(f"{self.name} cannot be evaluated on {data}, {split}: {why}; choose other data")
        began = time.perf_counter()
        rows = self.rows([_whole(words) for words, _ in given], cut=True)
        chances = self.ask(rows, self._take, progress=progress)
        answers = [self._tag(*each) for each in zip([words for words, _ in given], rows, chances, strict=True)]
        # What was cut off is outside of every span.
        found = [[word.tag for word in each.words] for each in answers]
        found = [some + ["O"] * (len(words) - len(some)) for some, (words, _) in zip(found, given, strict=True)]
        right = [list(tags) for _, tags in given]
        hits = [a == b for some, wanted in zip(found, right, strict=True) for a, b in zip(some, wanted, strict=True)]
        seconds = time.perf_counter() - began
        named = {"accuracy": accuracy(hits)} | ({"f1": span_f1(found, right)} if prefixed(self.labels) else {})
        return Evaluation(self.name, data, split, len(given), seconds, named, {}, [" ".join(some) for some in found])

    @answer_familiar
    def attend(self, given: Given, *, edits: Edits | None = None) -> Reading:
        """Which words each word looks at."""
        (row,) = self.rows([_whole(given)])

        def then(ids: Tensor, segments: Tensor) -> Tagged:
            return self._tag(given, row, self._take(ids, segments, None)[0])

        output, axes, maps, trace = self.watch(row, then, edits)
        told = [f"{each.text} {each.label}" for each in output.spans] or [f"{w.text} {w.tag}" for w in output.words]
        return Reading(self.name, axes, maps, trace, output, f"“{_whole(given)}”: {', '.join(told)}")

    def _take(
        self, ids: Int[Tensor, "1 n"], segments: Int[Tensor, "1 n"], texts: Packed | None
    ) -> list[Float[Tensor, "_ c"]]:
        """The probability of each tag at each piece, text by text."""
        chances = self.run(ids, segments, texts).logits[0].float().softmax(-1)
        return list(chances.split([ids.shape[1]] if texts is None else list(texts.lengths)))

    def _tag(self, given: Given, row: Window, chances: Float[Tensor, "n c"]) -> Tagged:
        text = _whole(given)
        places = self._places(text, row) if isinstance(given, str) else _given(given, row)
        best = chances.max(dim=-1)
        words = tuple(
            Word(text[start:end], start, end, self.labels[int(best.indices[piece])], float(best.values[piece]))
            for piece, start, end in places
        )
        if not prefixed(self.labels):
            return Tagged(words, ())
        found = []
        for span in spans([word.tag for word in words]):
            some = words[span.first : span.last + 1]
            start, end = some[0].start, some[-1].end
            found.append(Entity(text[start:end], start, end, span.label, sum(w.score for w in some) / len(some)))
        return Tagged(words, tuple(found))

    def _places(self, text: str, row: Window) -> list[tuple[int, int, int]]:
        """The first piece of each word that the tokenizer makes, and where the word begins and ends."""
        found = []
        for first, last in self.tokenizer.words(row.ids).spans:
            begin, end = row.places[first], row.places[last]
            if begin is None or end is None:
                continue
            word = text[begin[0] : end[1]]
            if word.strip():
                start = begin[0] + len(word) - len(word.lstrip())
                found.append((first, start, start + len(word.strip())))
        return found


def _whole(given: Given) -> str:
    return given if isinstance(given, str) else " ".join(given)


def _given(words: Sequence[str], row: Window) -> list[tuple[int, int, int]]:
    """The first piece of each word that was given, as far as they are read."""
    found, start = [], 0
    pieces = iter([(i, place) for i, place in enumerate(row.places) if place is not None])
    piece = next(pieces, None)
    for word in words:
        end = start + len(word)
        while piece is not None and piece[1][1] <= start:
            piece = next(pieces, None)
        if piece is None:
            break
        found.append((piece[0], start, end))
        start = end + 1
    return found


PIPELINE = Tag
