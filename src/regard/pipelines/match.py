"""Match: a picture and some texts in, how well each goes with the picture out (CLIP, SigLIP).

match = regard.load("hub:openai/clip-vit-base-patch32")
match([("photo.jpg", ["a photo of a dog", "a photo of a cat"])])[0].scores
match.images(["photo.jpg"]) @ match.texts(["a dog", "a cat"]).T      # cosines
"""

import re
import string
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.analysis.confusion import Confusion
from regard.analysis.pictures import data_url, maps_over
from regard.analysis.reading import Map, Reading, read_layer
from regard.analysis.retrieval import recalls
from regard.analysis.scores import Score, accuracy
from regard.analysis.view import Grid, Kind
from regard.analysis.zero_shot import PHOTOS, WORLD, class_vectors
from regard.attention import record
from regard.data import SETS
from regard.data.captions import captioned
from regard.data.pictures import pictures
from regard.decode.batching import by_length
from regard.decode.forcing import evaluating
from regard.hub import Checkpoint
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.grouped import segmented
from regard.pipelines.pictured import TOGETHER, Pictured, Shown
from regard.pipelines.pipeline import Edits, Evaluation, TooLongError
from regard.pipelines.probed import probed
from regard.progress import Progress
from regard.text import Words

TOKENS = 2048  # of texts that are read at once
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class Match:
    """How well texts go with a picture: a probability for each, among these texts or, of a SigLIP, of it alone."""

    text: str  # the one that goes best
    scores: Mapping[str, float]
    cosines: Mapping[str, float]


class Matching(Pictured):
    """Pictures and texts as vectors of one space."""

    task, takes, gives = "match", "picture and texts", "score of each text"

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(checkpoint, limit=limit)
        self.limit = min(limit, self.model.config.context)
        # SigLIP was trained on texts of small letters without punctuation.
        self.plain = bool(self.card.get("plain"))

    @answer_familiar
    def __call__(
        self, inputs: Sequence[tuple[Shown, Sequence[str]]], *, cut: bool = False, progress: Progress | None = None
    ) -> list[Match]:
        """How well each text goes with its picture; texts that are too long are refused, or `cut`."""
        texts = list(dict.fromkeys(text for _, some in inputs for text in some))
        if not inputs or any(not some for _, some in inputs):
            raise ValueError("there is nothing to compare; give each picture one text or more")
        seen, read = self.images([shown for shown, _ in inputs], progress=progress), self.texts(texts, cut=cut)
        place = {text: i for i, text in enumerate(texts)}
        found = []
        for vector, (_, some) in zip(seen, inputs, strict=True):
            logits, cosines = self._compare(vector[None], read[[place[text] for text in some]])
            found.append(_match(some, self._chances(logits)[0], cosines[0]))
        return found

    @answer_familiar
    def images(self, inputs: Shown | Sequence[Shown], *, progress: Progress | None = None) -> Float[Tensor, "n j"]:
        """The vectors of pictures, of length 1."""
        given, found = self.listed(inputs), list[Tensor]()
        with evaluating(self.model), torch.inference_mode():
            for start in range(0, len(given), TOGETHER):
                opened = [self.open(each) for each in given[start : start + TOGETHER]]
                found += self.model.encode_image(self.tensors(opened)).float()
                if progress is not None:
                    progress(len(found) / len(given))
        return torch.stack(found)

    @answer_familiar
    def texts(
        self, inputs: Sequence[str], *, cut: bool = False, progress: Progress | None = None
    ) -> Float[Tensor, "n j"]:
        """The vectors of texts, of length 1; what is too long is refused, or `cut`."""
        rows, found = self.rows(inputs, cut=cut), dict[int, Tensor]()
        with evaluating(self.model), torch.inference_mode():
            for group in by_length([len(row) for row in rows], tokens=TOKENS):
                vectors = self.model.encode_text(*self.padded([rows[i] for i in group])).float()
                found |= dict(zip(group, vectors, strict=True))
                if progress is not None:
                    progress(len(found) / len(rows))
        return torch.stack([found[i] for i in range(len(rows))])

    @answer_familiar
    def evaluate(
        self,
        data: str,
        *,
        split: str = "test",
        limit: int = 0,
        probe: bool = False,
        progress: Progress | None = None,
    ) -> Evaluation:
        """On pictures with captions, how well both find each other; on pictures with classes, zero-shot accuracy.

        With `probe`, a linear probe learns the classes from what the picture tower gives, before it is projected.

        `world/novel` has pairs of colour and kind that were never seen together, `world/sketch` and others are shifts;
        `world/1-2` are scenes with captions, which a GroupViT also segments, scored against their masks (mIoU).
        """
        if probe:
            return self._probe(data, split or "test", limit, progress)
        if has_captions(data):
            return self._retrieve(data, split or "test", limit, progress)
        return self._name(data, split or "test", limit, progress)

    def classify(
        self,
        inputs: Sequence[Shown],
        labels: Sequence[str],
        *,
        templates: Sequence[str] = PHOTOS,
        progress: Progress | None = None,
    ) -> list[Match]:
        """Zero-shot: the class of each picture among some, by the mean of what `templates` say of each class."""
        seen, read = self.images(inputs, progress=progress), class_vectors(self.texts, labels, templates)
        logits, cosines = self._compare(seen, read)
        return [_match(labels, row, near) for row, near in zip(self._chances(logits), cosines, strict=True)]

    @answer_familiar
    @torch.no_grad()
    def attend(self, given: tuple[Shown, str | Sequence[str]], *, edits: Edits | None = None) -> Reading:
        """Where on the picture each place looks, and which words each word of the first text looks at."""
        shown, texts = given
        some = [texts] if isinstance(texts, str) else list(texts)
        (row, *_), picture = self.rows(some), self.open(shown)
        image, (ids, lengths) = self.tensors([picture]), self.padded([row])
        with evaluating(self.model), record(self.model, edits=edits) as trace:
            self.model(image, ids, lengths=lengths)
        seen = data_url(self.seen(picture))
        tower = getattr(self.model, "image", self.model)  # a GroupViT has no tower of its own
        grid = tower.grid(*image.shape[-2:])
        leading = getattr(tower, "leading", ())
        names = [name for name in trace if not name.startswith(("text.", "pool."))]
        axes, maps = maps_over(trace, grid, leading=leading, image=seen, names=names)
        if getattr(self.model, "pool", None) is not None:
            cells = self.model.pool.position
            axes |= {"mean": Words.whole(["mean"]), "pooled": Grid(cells.rows, cells.columns, seen, ("mean",))}
            asked = trace["pool.attn"][0].q.shape[1]
            maps = (*maps, Map("pool.attn", "cross", 0, asked, "mean", "pooled", "the mean looks at places"))
        if not axes:  # a tower without attention: what it was shown can be seen all the same
            axes = {"picture": Grid(grid[0], grid[1], seen, leading)}
        axes |= {"words": self.tokenizer.words(ids[0].tolist())}
        read = tuple(self._read(name, trace[name][0].q.shape[1]) for name in trace if name.startswith("text."))
        (output,) = self([(picture, some)])
        best = f"“{output.text}” {output.scores[output.text]:.0%}"
        return Reading(self.name, axes, (*maps, *read), trace, output, best)

    def rows(self, texts: Sequence[str], *, cut: bool = False) -> list[list[int]]:
        """The ids of each text as the model was trained on them, between what begins and ends it."""
        if self.tokenizer is None:
            raise ValueError(f"{self.name} has no tokenizer to read a text with; give one by tokenizer=")
        given = [texts] if isinstance(texts, str) else list(texts)
        if not given:
            raise ValueError("no texts are given; give one or more")
        for index, text in enumerate(given):
            if not text.strip():
                raise ValueError(f"text {index} is empty, which goes with everything; give a word")
        if self.plain:
            given = [" ".join(text.translate(_PUNCTUATION).lower().split()) for text in given]
        found = encode(self.tokenizer, given, limit=self.limit if cut else None)
        for index, row in enumerate(found):
            if len(row) > self.limit:
                raise TooLongError(index, len(row), self.limit)
        return found

    def padded(self, rows: Sequence[Sequence[int]]) -> tuple[Int[Tensor, "t n"], Int[Tensor, " t"] | None]:
        """Rows side by side, and how long each is; of a model that reads padding too, all fill its context."""
        ids, lengths = fill(self.model.config, rows, self.tokenizer.pad or 0)
        return ids.to(self.device), None if lengths is None else lengths.to(self.device)

    def _read(self, name: str, heads: int) -> Map:
        kind: Kind = "causal" if getattr(self.model.config.text, "causal", False) else "self"
        return Map(name, kind, read_layer(name), heads, "words", "words", "words look at words")

    def compare(self, seen: Float[Tensor, "n j"], read: Float[Tensor, "t j"]) -> tuple[Tensor, Tensor]:
        """Of vectors of pictures and texts, the probability of each text for each picture, and their cosines."""
        logits, cosines = self._compare(seen, read)
        return self._chances(logits), cosines

    def _compare(self, seen: Tensor, read: Tensor) -> tuple[Tensor, Tensor]:
        with torch.inference_mode():
            matched = self.model.match(seen, read)
            return matched.logits.float(), seen @ read.T

    def _chances(self, logits: Float[Tensor, "n t"]) -> Float[Tensor, "n t"]:
        return logits.softmax(dim=-1) if self.model.bias is None else logits.sigmoid()

    def _retrieve(self, data: str, split: str, limit: int, progress: Progress | None) -> Evaluation:
        known, began = captioned(data, split, limit=limit), time.perf_counter()
        seen = self.images([known.picture(i) for i in range(len(known))], progress=progress)
        pairs = known.pairs()
        read = self.texts([known.captions[i][j] for i, j in pairs], cut=True)
        owners = np.asarray([i for i, _ in pairs])
        named = recalls((seen @ read.T).cpu().numpy(), owners)
        # The masks of val are those on which a threshold is chosen.
        if known.truth is not None and hasattr(self.model, "segment") and split != "val":
            named |= segmented(self, data, known)
        seconds = time.perf_counter() - began
        settings = {"texts": len(pairs), "compared by": "cosine"}
        return Evaluation(self.name, data, split, len(known), seconds, named, settings)

    def _probe(self, data: str, split: str, limit: int, progress: Progress | None) -> Evaluation:
        from regard.pipelines.features import Features

        if not hasattr(self.model, "image"):
            return probed(self, lambda some: self.images(some).cpu().numpy(), data, split, limit, progress)
        tower = replace(self.checkpoint, model=self.model.image)
        return Features(tower).evaluate(data, split=split, limit=limit, probe=True, progress=progress)

    def _name(self, data: str, split: str, limit: int, progress: Progress | None) -> Evaluation:
        known, began = pictures(data, split), time.perf_counter()
        count = min(limit or len(known), len(known))
        templates = tuple(self.card.get("templates") or (WORLD if data.startswith("world") else PHOTOS))
        labels = [label.replace("_", " ") for label in known.labels]
        shown = [known.picture(i) for i in range(count)]
        said = [each.text for each in self.classify(shown, labels, templates=templates, progress=progress)]
        right = [labels[i] for i in known.targets[:count].tolist()]
        named: dict[str, Score] = {"accuracy": accuracy([a == b for a, b in zip(said, right, strict=True)])}
        seconds, settings = time.perf_counter() - began, {"templates": list(templates), "zero-shot": True}
        confusion = Confusion.of(said, right, labels)
        return Evaluation(self.name, data, split, count, seconds, named, settings, said, confusion)


def has_captions(data: str) -> bool:
    """Whether data are pictures with captions; of the world, those that say how many things there are."""
    if data.startswith("world"):
        return re.fullmatch(r"world/\d(-\d)?", data) is not None
    return not (data in SETS and SETS[data].kind == "images") and _reads(data)


def _reads(data: str) -> bool:
    from pathlib import Path

    from regard.data.captions import TABLES
    from regard.data.places import ALSO

    folder = Path(data)
    homes = [folder, *(folder / name for names in ALSO.values() for name in names)]
    return not folder.is_dir() or any((home / name).is_file() for home in homes for name in TABLES)


def encode(tokenizer: Any, texts: Sequence[str], *, limit: int | None = None) -> list[list[int]]:
    """Texts as CLIP reads them: by the tokenizer's own template where it has one; else with a stop behind."""
    found: list[list[int]] = [row.ids for (row,) in tokenizer.windows([(text,) for text in texts], limit=limit)]
    return found


def fill(config: Any, rows: Sequence[Sequence[int]], pad: int) -> tuple[Int[Tensor, "t n"], Int[Tensor, " t"] | None]:
    """Rows side by side, and how long each is; of a model that reads padding too, all fill its context."""
    filled = getattr(config.text, "filled", False)
    longest = config.context if filled else max(map(len, rows))
    ids = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows])
    return ids, None if filled else torch.tensor([len(row) for row in rows])


def _match(texts: Sequence[str], chances: Tensor, cosines: Tensor) -> Match:
    scores = dict(zip(texts, chances.tolist(), strict=True))
    return Match(max(scores, key=lambda text: scores[text]), scores, dict(zip(texts, cosines.tolist(), strict=True)))


PIPELINE = Matching
