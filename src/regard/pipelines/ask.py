"""Ask: pictures and texts by turns in, and what is to be said behind the last text out.

ask = regard.load("world-flamingo")
ask([("photo.jpg", "What colour is the disc?")])[0].text
ask([[("a.jpg", "This is a dax."), ("b.jpg", "This is a wug."), ("c.jpg", "This is a")]])[0].text
"""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from regard.analysis.pictures import data_url
from regard.analysis.reading import Map, Reading, read_layer
from regard.analysis.scores import Score, accuracy
from regard.analysis.view import Axis, Grid, Latents
from regard.attention import Edit, Look, padding, record
from regard.data.interleaved import Part, Row, lay_out, talk_parts
from regard.data.talked import END, SHOTS, Talk, world_talk
from regard.decode.batching import by_length, pad_rows
from regard.decode.beam import beam as beam_search
from regard.decode.forcing import evaluating
from regard.decode.generate import argmax, generate
from regard.decode.hypothesis import Hypothesis
from regard.hub import Checkpoint
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pictured import Pictured, Shown
from regard.pipelines.pipeline import Edits, Evaluation, TooLongError
from regard.progress import Progress
from regard.vision import from_array
from regard.world import Scene, render_batch

# A text and the picture that stands before it, if any.
Told = tuple[Shown | None, str]
# One of them, or several by turns: shots, and then what is asked; or a text alone.
Prompt = str | Told | Sequence[Told]

TOGETHER = 16  # prompts that are answered at once
ENDLESS = 300  # episodes, scenes and dialogues of the world, which has no last one, that are asked about
KINDS = {"questions": "questions", "dialogues": "dialogue"}


@dataclass(frozen=True, slots=True)
class Answered:
    """What was said behind a prompt."""

    text: str
    ids: tuple[int, ...]
    log_prob: float
    finished: bool  # by a full stop or the end of the text, and not cut off
    alternatives: tuple["Answered", ...] = ()


@dataclass(frozen=True, slots=True)
class Insight:
    """What was said, and how far each gated block is open: its look, and its MLP."""

    answer: Answered
    gates: tuple[tuple[float, float], ...]


class Ask(Pictured):
    """A model that is shown pictures between words, and goes on with the words."""

    task, takes, gives = "ask", "pictures and text", "text"

    def __init__(self, checkpoint: Checkpoint, *, limit: int | None = None) -> None:
        """A prompt may be as long as the context of the language model, and no longer than `limit`."""
        super().__init__(checkpoint, limit=limit or 512)
        if not hasattr(self.model, "gated"):
            kind = type(self.model).__name__
            raise ValueError(f"{self.name} is a {kind}, which sees no pictures between words; load it as another task")
        if self.tokenizer is None:
            raise ValueError(f"{self.name} has no tokenizer to read a text with; give one by tokenizer=")
        config = self.model.config
        if checkpoint.processor is None:
            size = config.tower.size
            self.processor = type(self.processor)(size=type(self.processor.size)(height=size, width=size))
        self.channels = config.tower.channels
        context: int = config.language.context
        self.limit = context if limit is None else min(context, limit)
        (end,) = self.tokenizer.encode([END], start=False, stop=False)
        self.stops = {i for i in (self.tokenizer.stop, end[0] if len(end) == 1 else None) if i is not None}

    def tensors(self, pictures: Sequence[Image.Image]) -> Float[Tensor, "b c h w"]:
        """Pictures as the model reads them; a text may do without any."""
        if pictures:
            return super().tensors(pictures)
        size: int = self.model.config.tower.size
        return torch.zeros(0, self.channels, size, size, device=self.device)

    @answer_familiar
    def __call__(
        self,
        inputs: Prompt | Sequence[Prompt],
        *,
        max_new_tokens: int = 32,
        beam: int = 1,
        count: int = 1,
        progress: Progress | None = None,
    ) -> list[Answered]:
        """What is said behind each prompt: by the likeliest words, or by a `beam`, which also gives the next best.

        A prompt is a picture and a text, or several of them one behind another; all but the last are shots, which say
        by example what is wanted.
        """
        if max_new_tokens < 1 or not 1 <= count <= beam:
            raise ValueError(
                f"max_new_tokens={max_new_tokens}, beam={beam} and count={count} leave nothing to say; give 1 or more, "
                f"and no more answers than the beam is wide"
            )
        rows, shown = [], list[list[Image.Image]]()
        for index, given in enumerate(self.prompts(inputs)):
            rows.append(self.lay_out(given, index))
            shown.append([self.open(picture) for picture, _ in given if picture is not None])
        tensors = [self.tensors(each) for each in shown]
        return self.write(rows, tensors, max_new_tokens=max_new_tokens, beam=beam, count=count, progress=progress)

    def prompts(self, inputs: Any) -> list[list[Told]]:
        """One prompt or several, each as a list of pictures and texts."""
        if isinstance(inputs, str) or _is_told(inputs):
            inputs = [inputs]
        texts = ((None, each) if isinstance(each, str) else each for each in inputs)
        found = [[each] if _is_told(each) else list(each) for each in texts]
        for each in found:
            if not each or not all(_is_told(told) for told in each):
                raise ValueError(
                    'a prompt is a picture and a text, ("photo.jpg", "What is there?"), or a list of them; where there '
                    "is no picture, it is None"
                )
        return found

    def lay_out(self, given: Sequence[Told], index: int = 0) -> Row:
        """A prompt as the model reads it; what is too long is refused."""
        if not given[-1][1].strip():
            raise ValueError("nothing is asked behind the last picture; give it a text, such as What is there?")
        parts = [
            Part(text.strip() if last or text.rstrip().endswith(END) else f"{text.strip()}{END}", picture is not None)
            for last, (picture, text) in zip((*([False] * (len(given) - 1)), True), given, strict=True)
        ]
        row = lay_out(self.tokenizer, parts)
        if len(row.ids) > self.limit:
            raise TooLongError(index, len(row.ids), self.limit)
        return row

    @torch.inference_mode()
    def write(
        self,
        rows: Sequence[Row],
        images: Sequence[Float[Tensor, "_ c h w"]],
        *,
        max_new_tokens: int = 32,
        beam: int = 1,
        count: int = 1,
        progress: Progress | None = None,
    ) -> list[Answered]:
        """What is said behind rows of ids, each with its pictures."""
        found: dict[int, Answered] = {}
        with evaluating(self.model):
            for group in by_length([len(row.ids) for row in rows], rows=TOGETHER):
                some = [rows[i] for i in group]
                state, first = self._begin(some, torch.cat([images[i] for i in group]))
                # What follows a full context is the last word that can be said.
                most = [min(max_new_tokens, self.limit - len(row.ids) + 1) for row in some]
                step, stop = self.model.step, self.stops
                if beam > 1:
                    said = beam_search(step, state, first, stop=stop, limit=most, size=beam, count=count)
                else:
                    said = [[one] for one in generate(step, state, first, stop=stop, limit=most, choose=argmax)]
                for i, (best, *others) in zip(group, said, strict=True):
                    found[i] = self._tell(best, others)
                if progress is not None:
                    progress(len(found) / len(rows))
        return [found[i] for i in range(len(rows))]

    def _begin(self, rows: Sequence[Row], images: Float[Tensor, "p c h w"]) -> tuple[Any, Tensor]:
        """The state behind all of each row but its last word, and that word; short rows are padded in front."""
        longest = max(len(row.ids) for row in rows)
        lengths = torch.tensor([len(row.ids) for row in rows])
        visible = padding(lengths, longest)[:, 0, 0].flip(1).to(self.device)
        padded = ([*[0] * (longest - len(row.ids)), *row.ids] for row in rows)
        ids, _ = pad_rows(list(padded), 0, self.device)
        marks = ([*[0] * (longest - len(row.ids)), *map(int, row.shown)] for row in rows)
        shown = pad_rows(list(marks), 0, self.device)[0].bool()
        state = self.model.start(images, shown.sum(dim=1))
        if longest > 1:
            seen = None if bool(visible.all()) else visible[:, :-1]
            _, state = self.model.advance(ids[:, :-1], state, shown=shown[:, :-1], visible=seen)
        return state.reveal(shown[:, -1]), ids[:, -1]

    def _tell(self, found: Hypothesis, others: Iterable[Hypothesis] = ()) -> Answered:
        text = self.tokenizer.decode(found.words).strip()
        return Answered(text, found.words, found.log_prob, found.finished, tuple(self._tell(each) for each in others))

    @answer_familiar
    def evaluate(
        self, data: str, *, split: str = "test", limit: int = 0, progress: Progress | None = None
    ) -> Evaluation:
        """How many answers are right: of episodes after 0 to 8 shots, of questions and of dialogues by their topic.

        Beside each stands the control in which all pictures are those of another item; what is right then was not
        seen. A guess is the commonest answer to a question of the topic.
        """
        if data != "world":
            raise ValueError(f"{data!r} has no questions with answers about pictures; the world has, so say world")
        split, items = split or "test", limit or ENDLESS
        began, named, outputs = time.perf_counter(), dict[str, Score](), list[str]()
        total = len(SHOTS) + len(KINDS)
        for number, shots in enumerate(SHOTS):
            talks = [world_talk(split, i, "episode", shots=shots) for i in range(items)]
            real, swapped = self._score(talks, last=True), self._score(talks, swapped=True, last=True)
            if shots == SHOTS[-1]:
                named = {"episodes": _right(real), "episodes swapped": _right(swapped)} | named
            named[f"episodes/{shots} shots"] = _right(real)
            named[f"episodes/{shots} shots, swapped"] = _right(swapped)
            outputs += [answer.said for answer in real]
            if progress is not None:
                progress((number + 1) / total)
        for number, (name, kind) in enumerate(KINDS.items(), start=len(SHOTS) + 1):
            talks = [world_talk(split, i, kind) for i in range(items)]
            real, swapped = self._score(talks), self._score(talks, swapped=True)
            named |= {name: _right(real), f"{name} swapped": _right(swapped), f"{name} guessed": _guess(real)}
            for topic in sorted({answer.topic for answer in real}):
                some = [[answer for answer in answers if answer.topic == topic] for answers in (real, swapped)]
                named[f"{name}/{topic}"] = _right(some[0])
                named[f"{name}/{topic}, swapped"] = _right(some[1])
            outputs += [answer.said for answer in real]
            if progress is not None:
                progress(number / total)
        return Evaluation(self.name, data, split, items, time.perf_counter() - began, named, {}, outputs)

    def _score(self, talks: Sequence[Talk], *, swapped: bool = False, last: bool = False) -> list["_Scored"]:
        """Each answer of each talk, or the last alone, said behind the true answers before it."""
        rows, wanted, images = list[Row](), list[tuple[str, str]](), list[Tensor]()
        for number, talk in enumerate(talks):
            other = talks[(number + 1) % len(talks)] if swapped else talk
            seen = self.draw([other.scenes[i % len(other.scenes)] for i in range(len(talk.scenes))])
            for count in range(len(talk.pieces) if last else 1, len(talk.pieces) + 1):
                part = Talk(talk.kind, talk.pieces[:count])
                rows.append(lay_out(self.tokenizer, talk_parts(part, asking=True)))
                wanted.append((talk.pieces[count - 1].answer, talk.pieces[count - 1].topic))
                images.append(seen[: rows[-1].pictures])
        said = self.write(rows, images, max_new_tokens=8)
        return [_Scored(one.text, answer, topic) for one, (answer, topic) in zip(said, wanted, strict=True)]

    def draw(self, scenes: Sequence[Scene]) -> Float[Tensor, "m c h w"]:
        """Scenes of the world as the model sees them."""
        pixels = render_batch(scenes, self.processor.size.height or self.model.config.tower.size)["rgb"]
        return self.tensors([from_array(each) for each in pixels])

    @answer_familiar
    @torch.no_grad()
    def attend(self, given: Prompt, *, edits: Edits | None = None, max_new_tokens: int = 32) -> Reading:
        """What is looked at: words at the latents of their picture, latents at each picture, and words at words.

        The output says how far each gate is open; of an attention that looks at pictures one by one, `picture 2` and so
        on is part of its name, and an edit by that name is one of that picture alone.
        """
        (told,) = self.prompts([given])
        row = self.lay_out(told)
        opened = [self.open(picture) for picture, _ in told if picture is not None]
        images, count = self.tensors(opened), len(opened)
        own = _edits_by_row(edits or {}, count)
        with evaluating(self.model):
            with record(self.model, edits=own):
                (answer,) = self.write([row], [images], max_new_tokens=max_new_tokens)
            ids = [*row.ids, *answer.ids][: self.limit]
            marks = [*row.shown, *[False] * len(answer.ids)][: self.limit]
            with record(self.model, edits=own) as trace:
                self.model(torch.tensor([ids], device=self.device), images, torch.tensor([marks], device=self.device))
        maps = list[Map]()
        axes: dict[str, Axis] = {"words": self.tokenizer.words(ids)}
        latents: int = self.model.config.latents
        high, wide = self.model.grid(*images.shape[-2:]) if count else (1, 1)
        for i, picture in enumerate(opened, start=1):
            shown = data_url(self.seen(picture))
            axes[f"latents of picture {i}"] = Latents(latents)
            axes[f"cells of picture {i}"] = Grid(high, wide, shown, self.model.tower.leading)
            leading = tuple(f"latent {j}" for j in range(latents))
            axes[f"picture {i}"] = Grid(high, wide, shown, leading)
        axes["latents"] = Latents(latents * max(1, count))
        for name in list(trace):
            heads, layer = trace[name][0].q.shape[1], read_layer(name)
            if name.startswith("gated."):
                maps.append(Map(name, "cross", layer, heads, "words", "latents", "words look at latents"))
            elif name.startswith("language."):
                maps.append(Map(name, "causal", layer, heads, "words", "words", "words look at words"))
            else:
                names = [f"{name}{_OF}{i}" for i in range(1, count + 1)]
                trace.part(name, names)
                for i, part in enumerate(names, start=1):
                    sides = (f"cells of picture {i}",) * 2
                    if name.startswith("resampler."):
                        sides = f"latents of picture {i}", f"picture {i}"
                    group = "latents look at places" if name.startswith("resampler.") else "places look at places"
                    maps.append(Map(part, "self" if sides[0] == sides[1] else "cross", layer, heads, *sides, group))
        output = Insight(answer, tuple(self.model.gates))
        caption = f"“{' '.join(text for _, text in told)}” → “{answer.text}”"
        return Reading(self.name, axes, tuple(maps), trace, output, caption)


_OF = " of picture "


@dataclass(frozen=True, slots=True)
class _Scored:
    said: str
    wanted: str
    topic: str


def _right(answers: Sequence[_Scored]) -> Score:
    return accuracy([answer.said == answer.wanted for answer in answers])


def _guess(answers: Sequence[_Scored]) -> Score:
    """What the commonest answer of each topic would score, which knows more of the test than any text tells."""
    known: Mapping[str, Counter[str]] = {
        topic: Counter(answer.wanted for answer in answers if answer.topic == topic)
        for topic in {answer.topic for answer in answers}
    }
    return accuracy([answer.wanted == known[answer.topic].most_common(1)[0][0] for answer in answers])


def _is_told(given: Any) -> bool:
    """Whether it is a picture, or None, and a text."""
    two = isinstance(given, tuple) and len(given) == 2
    return two and isinstance(given[1], str) and not isinstance(given[0], tuple)


def _edits_by_row(edits: Edits, count: int) -> dict[str, Edit]:
    """Edits by the names of a reading as those of the model's attentions, whose rows are pictures."""
    found: dict[str, Edit] = {}
    for name, edit in edits.items():
        whole, _, number = name.partition(_OF)
        if not number:
            found[name] = edit
            continue
        if not number.isdigit() or not 1 <= int(number) <= count:
            raise KeyError(f"there is no picture {number} among the {count} of this prompt; count them from 1")
        found[whole] = _of_row(edit, int(number) - 1, found.get(whole))
    return found


def _of_row(edit: Edit, row: int, before: Edit | None) -> Edit:
    """An edit of one row of a batch, behind that of others."""

    def changed(look: Look) -> Float[Tensor, "b h q k"]:
        weights = (look.weights() if before is None else before(look)).clone()
        weights[row] = edit(look)[row]
        return weights

    return changed


PIPELINE = Ask
