"""Caption: a picture in, a sentence about it out.

caption = regard.load("runs/caption")
caption("photo.jpg")[0].text
caption.evaluate("flickr8k").scores["bleu4"]
regard.show(caption.attend("photo.jpg"))
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count as counting
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from regard.analysis import captioning, described
from regard.analysis.pictures import data_url, maps_over
from regard.analysis.reading import Map, Reading, read_layer
from regard.analysis.scores import Score, accuracy, mean
from regard.analysis.view import Axis, Grid
from regard.attention import Trace, record
from regard.data.captioned import Captioned, Truth
from regard.data.captions import captioned
from regard.decode.batching import pad_rows
from regard.decode.beam import beam as beam_search
from regard.decode.forcing import evaluating
from regard.decode.generate import Choice, argmax, generate
from regard.decode.hypothesis import Hypothesis
from regard.hub import Checkpoint
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pictured import TOGETHER, Pictured, Shown
from regard.pipelines.pipeline import Edits, Evaluation
from regard.progress import Progress
from regard.world import language

LONGEST = 60  # tokens of a caption
POINTED = "highest cell has a part of the named thing in it; the true caption is forced; mean of heads"


@dataclass(frozen=True, slots=True)
class Written:
    """What a model says of a picture: the best hypothesis, and the next best where more were asked for."""

    text: str
    hypothesis: Hypothesis
    alternatives: tuple["Written", ...] = ()


class Caption(Pictured):
    """A captioner and the tokenizer it was trained with."""

    task, takes, gives = "caption", "picture", "text"

    def __init__(self, checkpoint: Checkpoint, *, limit: int = LONGEST) -> None:
        """No caption has more than `limit` tokens."""
        super().__init__(checkpoint, limit=min(limit, LONGEST))
        if self.tokenizer is None or not hasattr(self.model, "see"):
            raise ValueError(f"{self.name} is a {type(self.model).__name__}, which says nothing of pictures")
        if self.model.config.vocab < self.tokenizer.vocab:
            raise ValueError(
                f"a tokenizer of {self.tokenizer.vocab} entries is that of another model, since this one has "
                f"{self.model.config.vocab}; give the tokenizer it was trained with"
            )
        self.pad: int = self.tokenizer.pad or 0
        self.start, self.stop = self.tokenizer.special("start"), self.tokenizer.special("stop")

    @answer_familiar
    def __call__(
        self,
        inputs: Shown | Sequence[Shown],
        *,
        beam: int = 3,
        length_penalty: float = 1.0,
        count: int = 1,
        sampler: Choice | None = None,
        progress: Progress | None = None,
    ) -> list[Written]:
        """What each picture shows, with the next best as `alternatives` where `count` asks for more.

        A `beam` of 1 is greedy, and a `sampler` draws instead.
        """
        given, found = self.listed(inputs), list[Written]()
        for start in range(0, len(given), TOGETHER):
            opened = [self.open(each) for each in given[start : start + TOGETHER]]
            found += self.write(
                self.tensors(opened), beam=beam, length_penalty=length_penalty, count=count, sampler=sampler
            )
            if progress is not None:
                progress(len(found) / len(given))
        return found

    @torch.no_grad()
    def write(
        self,
        image: Float[Tensor, "b c h w"] | None,
        *,
        features: Float[Tensor, "b i j o"] | None = None,
        beam: int = 3,
        length_penalty: float = 1.0,
        count: int = 1,
        sampler: Choice | None = None,
        tell: Callable[[int], None] | None = None,
    ) -> list[Written]:
        """What the model writes of pictures as it reads them, or of what its tower saw in them.

        `tell` is given how many tokens there are, step by step.
        """
        if beam < 1 or count < 1 or (sampler is None and count > beam):
            raise ValueError(f"a beam of {beam} cannot give {count} captions; ask for 1 to {max(beam, 1)}")
        image, features = (None if each is None else each.to(self.device) for each in (image, features))
        with evaluating(self.model):
            state = self.model.start(image, features=features)
            rows = len(image if image is not None else features)  # type: ignore[arg-type] # one of them is there
            first = torch.full((rows,), self.start, device=self.device)
            step = self.model.step if tell is None else _counted(self.model.step, tell)
            if sampler is None and beam > 1:
                written = beam_search(
                    step,
                    state,
                    first,
                    stop=self.stop,
                    limit=self.limit,
                    size=beam,
                    length_penalty=length_penalty,
                    count=count,
                )
            else:
                each = count if sampler is not None else 1
                copies = torch.arange(rows, device=self.device).repeat_interleave(each)
                drawn = generate(
                    step,
                    state if each == 1 else state.select(copies),
                    first[copies],
                    stop=self.stop,
                    limit=self.limit,
                    choose=sampler or argmax,
                )
                written = [drawn[i : i + each] for i in range(0, len(drawn), each)]
        return [self._gather(hypotheses) for hypotheses in written]

    @answer_familiar
    def evaluate(
        self,
        data: str,
        *,
        split: str = "test",
        limit: int = 0,
        beam: int = 3,
        length_penalty: float = 1.0,
        progress: Progress | None = None,
    ) -> Evaluation:
        """BLEU-1 to 4, CIDEr-D and a METEOR with intervals.

        In the world also how many sentences are right as a whole, how many attributes of things, and whether the looks
        of words fall on what they name. `world/3-4` has pictures of three or four things.
        """
        split = split or "test"
        known = captioned(data, split, limit=limit)
        began, said = time.perf_counter(), list[str]()
        for start in range(0, len(known), TOGETHER):
            some = [known.picture(i) for i in range(start, min(start + TOGETHER, len(known)))]
            said += [each.text for each in self.write(self.tensors(some), beam=beam, length_penalty=length_penalty)]
            if progress is not None:
                progress(len(said) / len(known))
        seconds = time.perf_counter() - began
        found = self._of_the_world(known, said) if known.truth is not None else {}
        found |= captioning.score(said, known.captions)
        settings = {"beam": beam, "length_penalty": length_penalty}
        return Evaluation(self.name, data, split, len(known), seconds, found, settings, said)

    def _of_the_world(self, known: Captioned, said: Sequence[str]) -> dict[str, Score]:
        """What can be told where the truth is known."""
        assert known.truth is not None
        truths = [known.truth(i) for i in range(len(known))]
        scenes = [truth.picture.scene for truth in truths]
        found = {"exact": accuracy([described.is_exact(*each) for each in zip(said, scenes, strict=True)])}
        counts = sorted({len(scene.things) for scene in scenes})
        for count in counts if len(counts) > 1 else ():
            some = [i for i, scene in enumerate(scenes) if len(scene.things) == count]
            found[f"exact/{count} things"] = accuracy([described.is_exact(said[i], scenes[i]) for i in some])
        right = [described.attributes(*each) for each in zip(said, scenes, strict=True)]
        share = [[hit for hits in each.values() for hit in hits] for each in right]
        found["attributes"] = mean([sum(hits) / len(hits) for hits in share])
        for name in described.ATTRIBUTES:
            found[f"attributes/{name}"] = accuracy([hit for each in right for hit in each[name]])
        return found | self.pointing(truths)

    @torch.no_grad()
    def pointing(self, truths: Sequence[Truth]) -> dict[str, Score]:
        """Whether the looks of content words fall on the things they name, attention by attention; and by chance.

        The true captions are forced. Of several attentions, the one that points best stands for the model.
        """
        if not self.model.cross_attentions:
            return {}
        hits: dict[str, list[bool]] = {name: [] for name in self.model.cross_attentions}
        mass: dict[str, list[float]] = {name: [] for name in self.model.cross_attentions}
        chance: list[float] = []
        for begin in range(0, len(truths), TOGETHER):
            some = truths[begin : begin + TOGETHER]
            for name, row, weights in self._looks(some):
                picture, things = some[row].picture, some[row].things
                for place, (word, thing) in enumerate(zip(some[row].words, things, strict=True)):
                    if thing < 0 or word not in described.CONTENT or not picture.visible[thing].any():
                        continue
                    hits[name].append(described.points_into(weights[place], picture.visible[thing]))
                    mass[name].append(described.mass_on(weights[place], picture.visible[thing]))
                    if name == self.model.cross_attentions[0]:
                        chance.append(described.by_chance(weights[place].shape, picture.visible[thing]))
        each = {name: accuracy(some) for name, some in hits.items()}
        best = max(each, key=lambda name: each[name].value)
        found = {"pointing": Score(each[best].value, POINTED, each[best].interval, count=each[best].count)}
        found |= {f"pointing/{name}": score for name, score in each.items()}
        return found | {"pointing/weight on the thing": mean(mass[best]), "pointing/chance": mean(chance)}

    def _looks(self, truths: Sequence[Truth]) -> list[tuple[str, int, Float[np.ndarray, "w i j"]]]:
        """Where the model looks for each word of true captions: by attention and row, a map for every word."""
        texts = [language.text(truth.words) for truth in truths]
        image = self.tensors([self.open(truth.picture.rgb) for truth in truths])
        ids = self.tokenizer.encode(texts, stop=True)
        read, _ = pad_rows([[self.start, *row[:-1]] for row in ids], self.pad, self.device)
        with evaluating(self.model), record(self.model) as trace:
            self.model(image, read)
        grid, found = self.model.grid(*image.shape[-2:]), []
        for name in self.model.cross_attentions:
            weights = trace.weights(name).mean(dim=1).float().cpu().numpy()
            for row, truth in enumerate(truths):
                spans = self.tokenizer.words(ids[row][:-1]).spans
                if len(spans) != len(truth.words):
                    continue  # a tokenizer of another world, which cuts words otherwise
                rows = [list(range(first, last + 1)) for first, last in spans]
                merged = np.stack([weights[row][some].mean(axis=0) for some in rows])
                found.append((name, row, merged.reshape(-1, *grid)))
        return found

    def known(self, name: str) -> Any:
        """The test pictures of a named set with captions; of the world, its scenes as every task numbers them."""
        return super().known(name) if name == "world" else captioned(name, "test")

    @answer_familiar
    @torch.no_grad()
    def attend(
        self,
        given: Shown,
        *,
        edits: Edits | None = None,
        target: str | None = None,
        beam: int = 3,
        length_penalty: float = 1.0,
        tell: Callable[[int], None] | None = None,
    ) -> Reading:
        """Search for what to say, or take a given `target`, then write it once with every attention watched."""
        picture = self.open(given)
        image = self.tensors([picture])
        if target is None:
            with record(self.model, edits=edits):
                (written,) = self.write(image, beam=beam, length_penalty=length_penalty, count=beam, tell=tell)
            hypothesis = written.hypothesis
            ids = [*hypothesis.words, *([self.stop] if hypothesis.finished or not hypothesis.words else [])]
        else:
            ids = self._target(target)
        read = torch.tensor([[self.start, *ids[:-1]]], device=self.device)
        with evaluating(self.model), record(self.model, edits=edits) as trace:
            logits = self.model(image, read)
        if target is not None:
            gained = logits[0].float().log_softmax(dim=-1).gather(-1, torch.tensor(ids, device=self.device)[:, None])
            total = float(gained.sum())
            written = Written(target, Hypothesis(tuple(ids[:-1]), total, total, True, ()))
        axes, maps = self._maps(trace, image, picture)
        words = self.tokenizer.words
        axes |= {"target": words(ids), "read": words([self.start, *ids[:-1]])}
        return Reading(self.name, axes, maps, trace, written, written.text)

    def _maps(self, trace: Trace, image: Tensor, picture: Image.Image) -> tuple[dict[str, Axis], tuple[Map, ...]]:
        """A row of `target` is the look that wrote that piece; tower and encoder look from place to place."""
        sides, shown = image.shape[-2:], data_url(self.seen(picture))
        tower = self.model.tower
        axes, maps = maps_over(trace, tower.grid(*sides), leading=tower.leading, image=shown)
        # The cells that are looked at have no leading token, and of a CNN are fewer than those its first block sees.
        rows, columns = self.model.grid(*sides)
        axes["picture"] = Grid(rows, columns, shown)
        found = []
        for each in maps:
            layer, heads = read_layer(each.name), each.heads
            if each.name in self.model.cross_attentions:
                found.append(Map(each.name, "cross", layer, heads, "target", "picture", "words look at the picture"))
            elif each.name.startswith("decoder."):
                found.append(Map(each.name, "causal", layer, heads, "target", "read", "words look at words"))
            elif each.name.startswith("encoder."):
                found.append(Map(each.name, "self", layer, heads, "picture", "picture", "places look at places"))
            else:
                found.append(each)
        used = {side for each in found for side in (each.rows, each.columns)} | {"picture"}
        return {key: axis for key, axis in axes.items() if key in used}, tuple(found)

    def _target(self, text: str) -> list[int]:
        """The ids of a text that the model is made to write."""
        if not text.strip():
            raise ValueError("an empty target leaves nothing to write; give a sentence, or leave it out")
        (ids,) = self.tokenizer.encode([text], stop=True)
        if len(ids) > self.limit:
            raise ValueError(f"a target of {len(ids)} tokens is too long; at most {self.limit} are written")
        return list(ids)

    def _gather(self, hypotheses: Sequence[Hypothesis]) -> Written:
        first, *others = (Written(self.tokenizer.decode(each.words), each) for each in hypotheses)
        return Written(first.text, first.hypothesis, tuple(others))


def _counted(step: Any, tell: Callable[[int], None]) -> Any:
    """A step of writing that tells which one it is."""
    number = counting(1)

    def told(words: Tensor, state: Any) -> Any:
        tell(next(number))
        return step(words, state)

    return told


PIPELINE = Caption
