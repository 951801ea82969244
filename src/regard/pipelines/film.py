"""Film: a film and some sentences in, how well each goes with the film out (CLIP4Clip).

film = regard.load("runs/film")
film([("world:7", ["The red disc moves left.", "The red disc moves right."])])[0].scores
film([("clip.gif", ["a dog runs", "a dog sleeps"])])
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, UInt8
from PIL import Image
from torch import Tensor

from regard.analysis.pictures import data_url, maps_over
from regard.analysis.reading import Map, Reading, read_layer
from regard.analysis.retrieval import recalls
from regard.analysis.scores import Score, accuracy
from regard.analysis.view import Grid
from regard.attention import record
from regard.data import DataError
from regard.data.filmed import COUNTS, Films, world_films
from regard.decode.forcing import evaluating
from regard.hub import Checkpoint
from regard.names import NUMBERED
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.match import Match, Matching
from regard.pipelines.pictured import Pictured, Shown
from regard.pipelines.pipeline import Edits, Evaluation
from regard.progress import Progress
from regard.text import Words
from regard.vision.picture import from_array, open_frames, open_picture

# `world:7`, a moving picture, a folder of its frames in the order of their names, its pixels, or pictures in a row.
Film = str | Path | bytes | UInt8[np.ndarray, "f h w 3"] | Sequence[Shown]
TOGETHER = 32  # films that are seen at once
STILLS = frozenset((".jpg", ".jpeg", ".png", ".webp", ".bmp", ".ppm"))  # the frames of a folder
MOST = 100_000  # frames of a film


class Filming(Pictured):
    """Films and texts, and how well they go together."""

    task, takes, gives = "film", "film and texts", "score of each text"

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(checkpoint, limit=limit)
        if not hasattr(self.model, "encode_film"):
            raise ValueError(f"{self.name} is a {type(self.model).__name__}, which sees no films; give a clip4clip")
        self.stills = Matching(replace(checkpoint, model=self.model.clip), limit=limit)
        self.limit, self.frames = self.stills.limit, self.model.config.frames
        # Of frames and text that are looked over together there are no vectors to compare.
        self.apart = self.model.config.similarity != "tight"

    @answer_familiar
    def __call__(
        self, inputs: Sequence[tuple[Film, Sequence[str]]], *, cut: bool = False, progress: Progress | None = None
    ) -> list[Match]:
        """How well each text goes with its film; texts that are too long are refused, or `cut`."""
        if not inputs or any(not some for _, some in inputs):
            raise ValueError("there is nothing to compare; give each film one text or more")
        texts = list(dict.fromkeys(text for _, some in inputs for text in some))
        read, place, found = self.stills.texts(texts, cut=cut), {text: i for i, text in enumerate(texts)}, []
        for film, some in inputs:
            told = read[[place[text] for text in some]]
            found.append(self._match(self.films([film]), told, some))
            if progress is not None:
                progress(len(found) / len(inputs))
        return found

    @answer_familiar
    def films(self, inputs: Sequence[Film]) -> Float[Tensor, "n seen j"]:
        """The vectors of the frames of films, of length 1."""
        with evaluating(self.model), torch.inference_mode():
            seen = [self.model.encode_film(self.tensors(self.shots(each))[None])[0].float() for each in inputs]
        return torch.stack(seen)

    def shots(self, given: Film) -> list[Image.Image]:
        """As many frames of a film as the model sees, evenly spread; those of a shorter film more than once."""
        if isinstance(given, np.ndarray):
            if given.ndim != 4 or not len(given):
                raise ValueError(f"the film has the shape {given.shape}; give bytes of (frames, height, width, 3)")
            return [from_array(given[i]) for i in self._spread(len(given))]
        if isinstance(given, str) and (named := NUMBERED.fullmatch(given)) and not Path(given).exists():
            return self._numbered(named[1], int(named[2]))
        if isinstance(given, bytes):
            return open_frames(given, self.frames)
        if isinstance(given, str | Path):
            return self._folder(Path(given)) if Path(given).is_dir() else open_frames(given, self.frames)
        if not len(given):
            raise ValueError("a film of no pictures shows nothing; give one or more")
        return [self.open(given[i]) for i in self._spread(len(given))]

    @answer_familiar
    def evaluate(
        self, data: str, *, split: str = "test", limit: int = 0, progress: Progress | None = None
    ) -> Evaluation:
        """How well films of the world and their sentences find each other, and how often the way they run is known."""
        if data != "world":
            raise DataError(f"no films with sentences are called {data!r}; say world")
        split = split or "test"
        most = COUNTS.get(split, 0)  # there are not endlessly many different sentences
        known, began = world_films(split, frames=self.frames, count=min(limit or most, most)), time.perf_counter()
        scores = self.score(known, progress=progress)
        seconds, settings = (
            time.perf_counter() - began,
            {"frames": self.frames, "similarity": self.model.config.similarity},
        )
        return Evaluation(self.name, data, split, len(known), seconds, scores, settings)

    def score(self, known: Films, *, progress: Progress | None = None) -> dict[str, Score]:
        """R@1 to R@10 both ways; and `ways`, how often the text of a film is preferred to that of it backwards."""
        pixels = known.pixels(self.processor.size.height or self.model.config.size)
        with evaluating(self.model), torch.inference_mode():
            seen = []
            for start in range(0, len(known), TOGETHER):
                part = np.array(pixels[start : start + TOGETHER])
                image = self.processor.numbers(part.reshape(-1, *part.shape[2:])).to(self.device)
                seen.append(self.model.encode_film(torch.unflatten(image, 0, part.shape[:2])).float())
                if progress is not None:
                    progress((start + len(part)) / len(known))
            told, turned = (self.stills.texts(texts, cut=True) for texts in (known.texts, known.backwards))
            frames = torch.cat(seen)
            alike = torch.cat([self.model.compare(part, told) for part in seen]).float()
            moving = [i for i, text in enumerate(known.texts) if text != known.backwards[i]]
            other = [float(self.model.compare(frames[i : i + 1], turned[i : i + 1])) for i in moving]
        found = recalls(alike.cpu().numpy(), np.arange(len(known)))
        ways = [float(alike[i, i]) > away for i, away in zip(moving, other, strict=True)]
        return found | ({"ways": accuracy(ways)} if ways else {})

    @answer_familiar
    @torch.no_grad()
    def attend(self, given: tuple[Film, str | Sequence[str]], *, edits: Edits | None = None) -> Reading:
        """Which frames each frame looks at, or with a text among them; where places of the first frame look; words."""
        if not isinstance(given, tuple):
            raise ValueError(
                f"{self.name} takes a film and a text; give both, as in ('world:7', 'the disc moves left')"
            )
        shown, texts = given
        some = [texts] if isinstance(texts, str) else list(texts)
        (row, *_), shots = self.stills.rows(some), self.shots(shown)
        image, (ids, lengths) = self.tensors(shots), self.stills.padded([row])
        with evaluating(self.model), record(self.model, edits=edits) as trace:
            self.model(image[None], ids, lengths=lengths)
        tower, first = self.model.clip.image, data_url(self.seen(shots[0]))
        grid, leading = tower.grid(*image.shape[-2:]), getattr(tower, "leading", ())
        names = [name for name in trace if name.startswith("clip.image.")]
        axes, maps = maps_over(trace, grid, leading=leading, image=first, names=names)
        maps = tuple(replace(each, group="places of the first frame look at places") for each in maps)
        if not axes:  # a tower without attention: what it was shown can be seen all the same
            axes = {"picture": Grid(grid[0], grid[1], first, leading)}
        frames = [f"frame {i + 1}" for i in range(self.frames)]
        axes |= {"frames": Words.whole(frames if self.apart else ["text", *frames])}
        axes |= {"words": self.tokenizer.words(ids[0].tolist())}
        said = "frames look at frames" if self.apart else "text and frames look at both"
        over = [self._map(trace, name, "frames", said) for name in trace if name.startswith("over.")]
        read = [
            self._map(trace, name, "words", "words look at words") for name in trace if name.startswith("clip.text.")
        ]
        (output,) = self([(shots, some)])
        best = f"“{output.text}” {output.scores[output.text]:.0%}"
        return Reading(self.name, axes, (*over, *maps, *read), trace, output, best)

    def _map(self, trace: Any, name: str, axis: str, group: str) -> Map:
        reads = axis == "words" and getattr(self.model.config.clip.text, "causal", False)
        return Map(name, "causal" if reads else "self", read_layer(name), trace[name][0].q.shape[1], axis, axis, group)

    def _match(self, frames: Tensor, told: Tensor, texts: Sequence[str]) -> Match:
        with evaluating(self.model), torch.inference_mode():
            (logits,) = self.model.compare(frames, told).float()
            chances = logits.softmax(dim=-1) if self.model.clip.bias is None else logits.sigmoid()
            (cosines,) = F.normalize(frames.mean(dim=1), dim=-1) @ told.T
        scores: Mapping[str, float] = dict(zip(texts, chances.tolist(), strict=True))
        near = dict(zip(texts, cosines.tolist(), strict=True)) if self.apart else {}
        return Match(max(scores, key=lambda text: scores[text]), scores, near)

    def _numbered(self, data: str, number: int) -> list[Image.Image]:
        if data != "world" or number >= COUNTS["test"]:
            raise ValueError(
                f"no film is called {data}:{number}; say world:0 to world:{COUNTS['test'] - 1}, or give one of your own"
            )
        known = world_films("test", frames=self.frames, count=number + 1)
        return [from_array(each) for each in known.draw([number], self.model.config.size)[0]]

    def _folder(self, folder: Path) -> list[Image.Image]:
        found = sorted(path for path in folder.iterdir() if path.suffix.lower() in STILLS and path.is_file())
        if not 1 <= len(found) <= MOST:
            raise ValueError(
                f"{folder} has {len(found)} pictures; give a folder with 1 to {MOST:,} frames of one film "
                f"({', '.join(sorted(STILLS))})"
            )
        return [open_picture(found[i]) for i in self._spread(len(found))]

    def _spread(self, count: int) -> list[int]:
        found: list[int] = np.linspace(0, count - 1, self.frames).round().astype(int).tolist()
        return found


PIPELINE = Filming
