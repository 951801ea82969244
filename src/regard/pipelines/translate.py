"""Translate: a text in one language in, a text in another out.

translate = regard.load("de-en")
translate(["Ein Hund läuft."])[0].text
translate.evaluate("multi30k").scores["bleu"]
regard.show(translate.attend("Ein Hund läuft."))
"""

import time
from collections.abc import Sequence
from itertools import islice
from typing import Any

from regard.analysis import scores
from regard.analysis.alignment import best, errors, floor
from regard.analysis.scores import Score
from regard.data import pairs
from regard.decode.generate import Choice
from regard.decode.search import check
from regard.hub import Checkpoint
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pipeline import Evaluation
from regard.pipelines.sequence import SequenceToSequence, Written
from regard.progress import Progress
from regard.world import language
from regard.world.language import Pair

SPLITS = {"multi30k": "test_2016_flickr"}  # elsewhere it is called test
ENDLESS = 1000  # pairs of the world, which has no last one


class Translate(SequenceToSequence):
    """A translator. One of several target languages reads the code of the wanted one in front of the text."""

    task, takes, gives = "translate", "text", "text"

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(checkpoint, limit=limit)
        languages = self.card.get("languages") or {}
        self.sources: tuple[str, ...] = tuple(map(str, languages.get("source", ())))
        self.targets: tuple[str, ...] = tuple(map(str, languages.get("target", ())))

    @property
    def multilingual(self) -> bool:
        """Whether it writes several languages and must be told which."""
        return len(self.targets) > 1

    def prefix(self, to: str | None) -> str:
        """The tag that a multilingual model reads; a language that it does not write is refused."""
        if to is not None and self.targets and to not in self.targets:
            raise ValueError(f"{self.name} does not write {to!r}; it writes {', '.join(self.targets)}")
        if self.multilingual and to is None:
            raise ValueError(f"{self.name} writes several languages; say which by `to`: {', '.join(self.targets)}")
        return f"[{to}] " if self.multilingual else ""

    @answer_familiar
    def __call__(
        self,
        inputs: Sequence[str],
        *,
        to: str | None = None,
        beam: int = 5,
        length_penalty: float = 1.0,
        coverage: float = 0.0,
        count: int = 1,
        sampler: Choice | None = None,
        batch: int = 32,
        progress: Progress | None = None,
    ) -> list[Written]:
        """The best translation of each text, with the next best as its `alternatives` where `count` asks for more.

        A `beam` of 1 is greedy, and a `sampler` draws instead. `length_penalty` and `coverage` rank what a beam finds
        (Wu 2016). A blank text has an empty translation.
        """
        check(self.model, beam=beam, count=count, batch=batch, coverage=coverage, drawn=sampler is not None)
        return self.write(
            self.encode(inputs, to=to),
            beam=beam,
            length_penalty=length_penalty,
            coverage=coverage,
            count=count,
            sampler=sampler,
            batch=batch,
            progress=progress,
        )

    @answer_familiar
    def evaluate(
        self,
        data: str,
        *,
        split: str = "",
        limit: int = 0,
        source: str = "",
        target: str = "",
        beam: int = 5,
        length_penalty: float = 1.0,
        coverage: float = 0.0,
        progress: Progress | None = None,
    ) -> Evaluation:
        """BLEU and chrF with intervals and signatures, by length; in the world also the alignment error of all heads.

        `data` is a named set, a folder with test.de beside test.en, or a table; what is too long is cut.
        """
        source, target = self._language(source, self.sources, "source"), self._language(target, self.targets, "target")
        split = split or SPLITS.get(data, "test")
        check(self.model, beam=beam, count=1, coverage=coverage)
        to = target if self.multilingual else None
        texts, aligned = _pairs(data, source, target, split, limit)
        read, wanted = [first for first, _ in texts], [second for _, second in texts]
        sources = self.encode(read, to=to, cut=True)
        references = self.tokenizer.encode(wanted, stop=True, limit=self.limit)
        real = [i for i, ids in enumerate(sources) if ids]  # a blank line has nothing to be surprised by
        began = time.perf_counter()
        written = self.write(
            sources,
            beam=beam,
            length_penalty=length_penalty,
            coverage=coverage,
            progress=progress,
        )
        seconds = time.perf_counter() - began
        said = [each.text for each in written]
        lower = self.tokenizer.lower
        found = {
            "bleu": scores.bleu(said, wanted),
            "bleu_lower": scores.bleu(said, wanted, lower=True),
            "chrf": scores.chrf(said, wanted),
            "chrf_lower": scores.chrf(said, wanted, lower=True),
            "exact": scores.exact(said, wanted),
            "perplexity": scores.perplexity(
                self.model,
                [sources[i] for i in real],
                [references[i] for i in real],
                start=self.start,
                pad=self.pad,
            ),
        }
        # A model that writes small letters only is not to be blamed for each capital.
        by_length = scores.bleu_by_length(read, said, wanted, lower=lower)
        found |= {f"{'bleu_lower' if lower else 'bleu'}/{words}": score for words, score in by_length.items()}
        if aligned:
            found |= self._known_world(aligned, said, wanted, to)
        settings = {
            "source": source,
            "target": target,
            "beam": beam,
            "length_penalty": length_penalty,
            "coverage": coverage,
        }
        return Evaluation(self.name, data, split, len(texts), seconds, found, settings, said)

    def _language(self, given: str, known: tuple[str, ...], side: str) -> str:
        if not given and len(known) != 1:
            raise ValueError(f"{self.name} does not say one language as its {side}; name it by `{side}`")
        return given or known[0]

    def _known_world(
        self, aligned: Sequence[Pair], said: Sequence[str], wanted: Sequence[str], to: str | None
    ) -> dict[str, Score]:
        """What can be told where the truth is known: the sentences without a pronoun, and the heads."""
        clear = [i for i, pair in enumerate(aligned) if not language.refers(pair.meaning)]
        found: dict[str, Score] = {}
        if clear:  # elsewhere the source does not say all that the translation needs
            found["exact_without_pronouns"] = scores.exact([said[i] for i in clear], [wanted[i] for i in clear])
        heads = errors(self.model, self.tokenizer, aligned, tag=self.prefix(to))
        if heads:
            least = Score(100 * floor(aligned), higher_is_better=False)
            found["alignment_error"] = Score(100 * heads[best(heads)], higher_is_better=False)
            found["alignment_error/least with one link a word"] = least
            for (name, head), error in heads.items():
                found[f"alignment_error/{name} head {head}"] = Score(100 * error, higher_is_better=False)
        return found


def _pairs(data: str, source: str, target: str, split: str, limit: int) -> tuple[list[tuple[str, str]], list[Pair]]:
    """The texts, and of the world also which word comes from which."""
    if data == "world":
        aligned = list(language.pairs(source, target, split=split)[: limit or ENDLESS])
        return [(language.text(pair.source), language.text(pair.target)) for pair in aligned], aligned
    texts: list[Any] = list(islice(pairs(data, source, target, split), limit or None))
    if not texts:
        raise ValueError(f"{data} has no pairs in {split}; choose another split")
    return texts, []


PIPELINE = Translate
