"""Paint (text to image): words in, a picture of them out, by taking the noise out of noise or by writing tokens.

paint = regard.load("runs/paint/model")
paint(["a red disc left of a blue star"])[0].pictures[0].save("disc.png")
paint.evaluate("world").scores["kind and colour"]
regard.show(paint.attend("a red disc"))
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from PIL import Image
from torch import Tensor

from regard.analysis.painted import Detector, as_asked, judge, look, score_words, swap
from regard.analysis.pictures import data_url
from regard.analysis.reading import Map, Reading, read_layer
from regard.analysis.scores import Score
from regard.analysis.steps import Averaged
from regard.analysis.view import Axis, Grid, Kind, Latents
from regard.attention import record
from regard.data.phrased import WAYS, Phrase, Phrased, world_phrases
from regard.decode.batching import pad_rows
from regard.decode.denoise import Moment, Step, blend, cosine, denoise, draw_noise, guided
from regard.decode.forcing import evaluating, force
from regard.decode.generate import generate
from regard.decode.sampling import sampler, seeded
from regard.hub import Checkpoint
from regard.models.dalle import DALLE
from regard.models.diffusion import Diffusion
from regard.models.unclip import UnCLIP
from regard.pipelines import match
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pipeline import Edits, Evaluation, Pipeline, TooLongError
from regard.progress import Progress
from regard.vision import Processor, Size, from_array

MEAN = STD = (0.5, 0.5, 0.5)  # pictures as numbers from -1 to 1
STEPS, GUIDANCE = 30, 3.0  # of a denoiser, where nobody says otherwise
IMAGINED = 10  # steps in which CLIP's vector of a picture is guessed
TOGETHER = 32  # pictures that are painted at once
JUDGE, SURE = "world-detr", 0.5  # the detector that says what is in a picture of the world
POINTED = 100  # pictures whose words are asked where they look

Shown = Image.Image | UInt8[np.ndarray, "h w 3"]
Seen = tuple[float, Image.Image, Image.Image]


@dataclass(frozen=True, slots=True, eq=False)
class Painted:
    """What was painted for one text: one picture, or as many as were asked for.

    Of a painting that was watched also its `moments`: the time, the noised picture, and what was taken for clean.
    """

    text: str
    pictures: tuple[Image.Image, ...]
    moments: tuple["Seen", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How to paint; what is left out is as usual, and what a model cannot mind is refused."""

    steps: int | None = None
    guidance: float | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.steps is not None and not 1 <= self.steps <= 1000:
            raise ValueError(f"steps is {self.steps}; give 1 to 1000, say {STEPS}")
        if self.guidance is not None and not 0.0 <= self.guidance <= 100.0:
            raise ValueError(f"guidance is {self.guidance}; give 1 for the words as they are, or more")
        sampler(temperature=self._warm, top_k=self.top_k, top_p=self.top_p)
        seeded(self.seed, 1)

    @property
    def _warm(self) -> float:
        return 1.0 if self.temperature is None else self.temperature

    def refuse(self, names: Sequence[str], what: str) -> None:
        """Refuse wishes that a kind of model does not know."""
        if useless := [name for name in names if getattr(self, name) is not None]:
            raise ValueError(f"{useless[0]} does nothing for a model that {what}; leave it out")


class Paint(Pipeline):
    """A painter: a denoiser that looks at words, or a writer of the tokens of pictures."""

    task, takes, gives = "paint", "text", "picture"

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(checkpoint, limit=limit)
        if not isinstance(self.model, Diffusion | DALLE | UnCLIP) or self.tokenizer is None:
            raise ValueError(
                f"{self.name} is a {type(self.model).__name__}, which paints nothing from words; choose another model"
            )
        config: Any = self.model.config
        self.limit = min(limit, config.clip.context if isinstance(self.model, UnCLIP) else config.words)
        sized = {DALLE: "coder", UnCLIP: "decoder"}.get(type(self.model))
        size: int = (getattr(config, sized) if sized else config).size
        usual = Processor(size=Size(height=size, width=size), image_mean=MEAN, image_std=STD)
        self.processor, self.size = checkpoint.processor or usual, size

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of the places that look at words."""
        if isinstance(self.model, DALLE):
            return self.model.config.coder.grid
        denoiser = self.model.decoder if isinstance(self.model, UnCLIP) else self.model
        found: tuple[int, int] = denoiser.grid(self.size, self.size)
        return found

    @answer_familiar
    def __call__(
        self,
        inputs: str | Sequence[str],
        *,
        count: int = 1,
        steps: int | None = None,
        guidance: float | None = None,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> list[Painted]:
        """`count` pictures of each text, which depend on the `seed` and on nothing else that is asked for.

        A denoiser takes `steps`, and the more `guidance`, the more it minds the words; a writer of tokens draws them by
        `temperature`, `top_k` and `top_p`.
        """
        manner = Manner(steps=steps, guidance=guidance, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed)
        if count < 1:
            raise ValueError(f"{count} pictures of a text are none; give 1 or more")
        texts = [inputs] if isinstance(inputs, str) else list(inputs)
        rows = [ids for ids in self.encode(texts) for _ in range(count)]
        pixels = self.paint(rows, manner, [dice for _ in texts for dice in seeded(seed, count)], progress)
        pictures = [from_array(each) for each in pixels]
        return [Painted(text, tuple(pictures[i * count : (i + 1) * count])) for i, text in enumerate(texts)]

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text with their stop; what cannot be painted is refused."""
        found, unknown = encode(self.model, self.tokenizer, texts), self.tokenizer.unknown
        (nothing,) = encode(self.model, self.tokenizer, [""])
        for index, (text, ids) in enumerate(zip(texts, found, strict=True)):
            if not text.strip() or len(ids) <= len(nothing):
                raise ValueError(f"text {index} is empty, so that there is nothing to paint; say what you want to see")
            if len(ids) > self.limit:
                raise TooLongError(index, len(ids), self.limit)
            if unknown is not None and unknown in ids and unknown not in nothing:
                strange = [word for word in text.split() if unknown in encode(self.model, self.tokenizer, [word])[0]]
                known = [word for word in self.tokenizer.words(range(self.tokenizer.vocab)).labels if word.isalpha()]
                raise ValueError(
                    f"text {index} says {', '.join(map(repr, strange)) or repr(text)}, which is not learnt; "
                    f"it knows {', '.join(sorted(known))}"
                )
        return found

    def paint(
        self,
        rows: Sequence[Sequence[int]],
        manner: Manner,
        dice: Sequence[torch.Generator],
        progress: Progress | None = None,
    ) -> list[UInt8[np.ndarray, "h w 3"]]:
        """One picture for each row of ids, from dice of its own."""
        found: list[np.ndarray] = []
        with evaluating(self.model), torch.inference_mode():
            for start in range(0, len(rows), TOGETHER):
                some = slice(start, start + TOGETHER)
                if isinstance(self.model, DALLE):
                    images = self.model.paint(self._write(rows[some], manner, list(dice[some])))
                else:
                    *_, last = self._denoise(rows[some], manner, list(dice[some]))
                    images = last.clean
                found += list(self.pixels(images))
                if progress is not None:
                    progress(len(found) / len(rows))
        return found

    @torch.inference_mode()
    def moments(self, text: str, **wishes: Any) -> Iterator[tuple[float, Image.Image, Image.Image]]:
        """A denoising step by step: the time, the noised picture, and what the model takes the clean one to be."""
        if isinstance(self.model, DALLE):
            raise ValueError(f"{self.name} writes its pictures token by token and denoises nothing; call it instead")
        manner = Manner(**wishes)
        with evaluating(self.model):
            for moment in self._denoise(self.encode([text]), manner, seeded(manner.seed, 1)):
                yield self._seen(moment)

    def _seen(self, moment: Moment) -> Seen:
        noised, clean = (from_array(self.pixels(each)[0]) for each in (moment.noised, moment.clean))
        return moment.time, noised, clean

    def pixels(self, images: Float[Tensor, "b c h w"]) -> UInt8[np.ndarray, "b h w 3"]:
        """Pictures as a model has them, as everybody else has."""
        mean, std = (torch.tensor(each).view(3, 1, 1) for each in (self.processor.image_mean, self.processor.image_std))
        shown = ((images.cpu().float() * std + mean) * 255).round().clamp(0, 255).byte()
        return shown.permute(0, 2, 3, 1).numpy()

    def tensors(self, pixels: UInt8[np.ndarray, "b h w 3"]) -> Float[Tensor, "b c h w"]:
        """Pixels as a model has them."""
        return self.processor([from_array(each) for each in pixels]).to(self.device)

    @answer_familiar
    def evaluate(
        self,
        data: str = "world",
        *,
        split: str = "test",
        limit: int = 0,
        steps: int | None = None,
        guidance: float | None = None,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> Evaluation:
        """How often things are as asked for, judged by the world's own detector, beside its word on true pictures.

        By `swapped phrases`, those of other pictures, the same pictures are right by luck alone; `true tokens` are true
        pictures as a VQ-VAE paints them again, which is the most that a writer of its tokens can reach.
        Words are asked where they look on true pictures: `words point` says how often it is at what they name.
        """
        if data != "world":
            raise ValueError(f"{data!r} cannot be judged: only of the world is it known what things are; give world")
        manner = Manner(steps=steps, guidance=guidance, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed)
        known, split = world_phrases(split or "test", limit), split or "test"
        readable = in_its_words(self.model, self.tokenizer)
        phrases, detect = [readable(known.phrase(i)) for i in range(len(known))], detector()
        rows = self.encode([str(phrase) for phrase in phrases])
        began = time.perf_counter()
        pictures = self.paint(rows, manner, seeded(seed, len(rows)), progress)
        seconds = time.perf_counter() - began
        seen, true = look(pictures, detect), known.at(self.size)
        found = as_asked(judge(phrases, seen))
        beside = {
            "swapped phrases": judge(swap(phrases), seen),
            "true pictures": judge(phrases, look(list(true), detect)),
        }
        if isinstance(self.model, DALLE):  # nothing that is written can be better than what its tokens hold
            beside["true tokens"] = judge(phrases, look(self._coded(true), detect))
        for what, verdicts in beside.items():
            found |= {f"{what}: {name}": score for name, score in as_asked(verdicts).items()}
        if not isinstance(self.model, UnCLIP):  # whose places look at a vector and at no word
            found |= self._point(known, min(len(known), POINTED))
        told = f"{JUDGE} from {SURE}|{self._told(manner)}|seed {seed}"
        signed = {name: replace(score, signature=told) for name, score in found.items()}
        return Evaluation(self.name, data, split, len(rows), seconds, signed, {}, [str(each) for each in phrases])

    @answer_familiar
    @torch.no_grad()
    def attend(
        self,
        given: str,
        *,
        edits: Edits | None = None,
        target: Shown | None = None,
        steps: int | None = None,
        guidance: float | None = None,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int = 0,
        tell: Callable[[Seen], None] | None = None,
    ) -> Reading:
        """Paint once, watched: at which words each place looks, the mean of all steps; one by `trace.map(name, look)`.

        A picture that is given as `target` is looked at as if it were being painted: noised, or by its tokens. `tell`
        is given each moment of a denoising while it goes on.
        """
        manner = Manner(steps=steps, guidance=guidance, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed)
        (ids,) = self.encode([given])
        wanted = None if target is None else self.tensors(np.asarray(target)[None])
        moments: list[Seen] = []
        with evaluating(self.model):
            if isinstance(self.model, DALLE):
                image, trace = self._watch_writing(ids, manner, edits, wanted)
            else:
                image, trace = self._watch_denoising(ids, manner, edits, wanted, moments, tell)
        picture = from_array(self.pixels(image)[0])
        axes: dict[str, Axis] = {"words": self.tokenizer.words(ids), "picture": Grid(*self.grid, data_url(picture))}
        if isinstance(self.model, UnCLIP):
            axes["vector"] = Latents(self.model.config.tokens)
        maps = tuple(self._map(name, trace[name][0].q.shape[1]) for name in trace)
        return Reading(self.name, axes, maps, trace, Painted(given, (picture,), tuple(moments)), f"“{given}”")

    def word_maps(self, reading: Reading) -> Float[np.ndarray, "w i j"]:
        """Where each piece of a text was looked at from: the mean over layers, heads and steps, on the picture."""
        cross = np.stack([reading.weights(name).mean(axis=0) for name in self.model.cross_attentions])
        mean: np.ndarray = cross.mean(axis=0).T.reshape(-1, *self.grid)
        return mean

    @torch.no_grad()
    def _coded(self, pixels: UInt8[np.ndarray, "b h w 3"]) -> list[UInt8[np.ndarray, "h w 3"]]:
        """True pictures as they are painted from their own tokens."""
        parts = (self.tensors(pixels[i : i + TOGETHER]) for i in range(0, len(pixels), TOGETHER))
        with evaluating(self.model):
            return [each for part in parts for each in self.pixels(self.model.paint(self.model.encode(part)))]

    def _point(self, known: Phrased, count: int) -> dict[str, Score]:
        """How well words find what they name on true pictures, which are looked at as if they were being painted."""
        maps, masks = list[np.ndarray](), list[np.ndarray]()
        pictures, marked = known.at(self.size)[:count], known.masks(range(count), self.size)
        for i in range(count):
            phrase = known.phrase(i)
            looked = self.word_maps(self.attend(str(phrase), target=pictures[i]))
            for (word, thing), each in zip(phrase.words, looked, strict=False):
                if thing >= 0 and word not in ("a", "an"):
                    maps.append(each)
                    masks.append(marked[i][thing])
        return score_words(maps, masks)

    def _denoise(self, rows: Sequence[Sequence[int]], manner: Manner, dice: list[torch.Generator]) -> Iterator[Moment]:
        manner.refuse(("temperature", "top_k", "top_p"), "takes out noise")
        step = self._step(rows, GUIDANCE if manner.guidance is None else manner.guidance, dice)
        noise = draw_noise(self.model.shape, dice).to(self.device)
        yield from denoise(step, noise, steps=manner.steps or STEPS)

    def _step(self, rows: Sequence[Sequence[int]], guidance: float, dice: Sequence[torch.Generator]) -> Step:
        """One step of denoising pictures of some rows of ids."""
        alone = guidance == 1.0
        if isinstance(self.model, UnCLIP):
            vectors = self._imagine(rows, dice)
            state = self.model.start(vectors if alone else torch.cat((vectors, torch.zeros_like(vectors))))
        else:
            empty = [] if alone else encode(self.model, self.tokenizer, [""]) * len(rows)
            ids, lengths = pad_rows([*rows, *empty], self.tokenizer.pad, self.device)
            state = self.model.start(ids, lengths=lengths)

        def step(noised: Tensor, time: Tensor) -> Tensor:
            said: Tensor = self.model.step(noised, time, state)
            return said

        return step if alone else guided(step, guidance)

    def _imagine(self, rows: Sequence[Sequence[int]], dice: Sequence[torch.Generator]) -> Float[Tensor, "b j"]:
        """CLIP's vectors of pictures that do not exist yet, guessed from those of the texts."""
        model = self.model
        ids, lengths = pad_rows(rows, self.tokenizer.pad or 0, self.device)
        told = model.read(ids, lengths=lengths)

        def step(noised: Tensor, time: Tensor) -> Tensor:
            alpha, sigma = (each[:, None] for each in cosine(time))
            hazy = noised[:, :, 0, 0]
            velocity: Tensor = (alpha * hazy - model.prior(hazy, time, told)) / sigma
            return velocity[:, :, None, None]

        noise = draw_noise((told.shape[1], 1, 1), list(dice)).to(self.device)
        *_, last = denoise(step, noise, steps=IMAGINED, clip=None)
        imagined: Tensor = model.lengthen(last.clean[:, :, 0, 0])
        return imagined

    def _write(self, rows: Sequence[Sequence[int]], manner: Manner, dice: list[torch.Generator]) -> Int[Tensor, "b n"]:
        manner.refuse(("steps", "guidance"), "writes tokens")
        model = self.model
        ids, lengths = pad_rows(rows, self.tokenizer.pad, self.device)
        first = torch.full((len(rows),), model.opening, device=self.device)
        choose = sampler(temperature=manner._warm, top_k=manner.top_k, top_p=manner.top_p, generator=dice)
        state = model.start(ids, lengths=lengths)
        written = generate(model.step, state, first, stop=None, limit=model.length, choose=choose)
        return torch.tensor([each.words for each in written], device=self.device)

    def _watch_denoising(
        self,
        ids: list[int],
        manner: Manner,
        edits: Edits | None,
        wanted: Tensor | None,
        moments: list[Seen],
        tell: Callable[[Seen], None] | None,
    ) -> tuple[Float[Tensor, "1 c h w"], Averaged]:
        with record(self.model, edits=edits) as trace:
            if wanted is None:
                for last in self._denoise([ids], manner, seeded(manner.seed, 1)):
                    moments.append(self._seen(last))
                    if tell is not None:
                        tell(moments[-1])
                return last.clean, Averaged(trace)
            step, steps = self._step([ids], 1.0, seeded(manner.seed, 1)), manner.steps or STEPS // 3
            times = (torch.arange(steps, device=self.device) + 0.5) / steps
            noise = draw_noise(self.model.shape, seeded(manner.seed, 1)).to(self.device)
            for each in times.flip(0):
                noised, _ = blend(wanted, noise, each[None])
                step(noised, each[None])
        return wanted, Averaged(trace)

    def _watch_writing(
        self, ids: list[int], manner: Manner, edits: Edits | None, wanted: Tensor | None
    ) -> tuple[Float[Tensor, "1 c h w"], Averaged]:
        tokens = self._write([ids], manner, seeded(manner.seed, 1)) if wanted is None else self.model.encode(wanted)
        with record(self.model, edits=edits) as trace:
            force(self.model, [ids], tokens.tolist(), start=self.model.opening, pad=self.tokenizer.pad)
        return self.model.paint(tokens), Averaged(trace)

    def _map(self, name: str, heads: int) -> Map:
        layer = read_layer(name)
        if name in self.model.cross_attentions and isinstance(self.model, UnCLIP):
            return Map(name, "cross", layer, heads, "picture", "vector", "places look at CLIP's vector")
        if name in self.model.cross_attentions:
            return Map(name, "cross", layer, heads, "picture", "words", "places look at words")
        if "encoder" in name:
            return Map(name, "self", layer, heads, "words", "words", "words look at words")
        kind: Kind = "causal" if isinstance(self.model, DALLE) else "self"
        return Map(name, kind, layer, heads, "picture", "picture", "places look at places")

    def _told(self, manner: Manner) -> str:
        if isinstance(self.model, DALLE):
            return f"temperature {manner._warm}|top-k {manner.top_k}|top-p {manner.top_p}"
        guidance = GUIDANCE if manner.guidance is None else manner.guidance
        return f"DDIM {manner.steps or STEPS}|guidance {guidance}"


def encode(model: Any, tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Texts as painters read them, with a stop behind; as CLIP reads them, where it does."""
    found: list[list[int]] = (
        match.encode(tokenizer, texts) if isinstance(model, UnCLIP) else tokenizer.encode(texts, stop=True)
    )
    return found


def in_its_words(model: Any, tokenizer: Any) -> Callable[[Phrase], Phrase]:
    """What makes of a phrase one that a model can read: without its relation, if the words of that are not learnt.

    They are not by a CLIP whose captions tell of things alone.
    """
    (nothing, *ways), unknown = encode(model, tokenizer, ["", *WAYS]), tokenizer.unknown
    lost = {way for way, ids in zip(WAYS, ways, strict=True) if unknown in ids and unknown not in nothing}
    return lambda phrase: replace(phrase, relation="") if phrase.relation in lost else phrase


def detector() -> Detector:
    """The world's own detector, as a judge of pictures."""
    from regard.pipelines.door import load

    found: Callable[..., Any] = load(JUDGE)
    return lambda pictures: [[(one.label, one.box) for one in things] for things in found(pictures, threshold=SURE)]


PIPELINE = Paint
