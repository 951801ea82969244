"""Pictures from words: a denoiser that looks at them, a Transformer that writes tokens, or by the vectors of a CLIP.

Pictures are of the world, one big thing or two, and a phrase says what they show. The card tells how often kind and
colour are as asked for, judged by the world's own detector, beside what it says of true pictures.

regard train paint
regard train vqvae --out runs/vqvae
regard train paint --model dalle-world --coder runs/vqvae/model
regard train match --out runs/clip
regard train paint --model unclip-world --clip runs/clip/model
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, cast

from regard.train.plan import Plan

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor, nn

    from regard.data import Batches
    from regard.data.phrased import Phrased
    from regard.models.family import Family
    from regard.text import Tokenizer
    from regard.train.task import Task
    from regard.vision import Processor

Lose = Callable[["nn.Module", "Asked"], "Tensor"]

WATCHED = 400  # pictures that are scored on the way


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    model: str = "diffusion-world"
    """The model, by the name of a preset: diffusion-world; dalle-world, with a --coder; unclip-world, with a --clip."""
    set: tuple[str, ...] = ()
    """Fields of the preset to change, such as width=192 depth=8 of a diffusion."""
    coder: str = ""
    """For a dalle, the trained VQ-VAE whose tokens it writes: the folder that `regard train vqvae` leaves."""
    clip: str = ""
    """For an unclip, the trained CLIP whose vectors it goes by: the folder that `regard train match` leaves."""
    init: Literal["normal", "mimetic"] = "mimetic"
    """First weights of the attentions: drawn at random, or to look near (mimetic, Trockman 2023)."""
    pictures: int = 40_000
    """How many pictures of the world to learn from."""
    batch_size: int = 32
    """Pictures in a batch."""
    tokens: int = 0
    """Of no use for pictures, which are counted by --batch-size."""
    unasked: float = 0.1
    """How often a picture comes without its words in training, which classifier-free guidance needs (Ho 2022)."""
    judged: int = 300
    """How many pictures are painted and judged at the end."""
    steps: int = 10000
    """Optimizer steps: how many times the weights change."""
    optimizer: Literal["adamw", "muon", "sgd"] = "muon"
    """Muon (Jordan 2024), which needs fewer steps from scratch; AdamW (Loshchilov 2019), with an lr of 5e-4 or so; or
    SGD: plain gradient descent with momentum."""
    lr: float = 3e-3
    """Peak learning rate (the optimizer's step size)."""
    warmup: int = 100
    """Warm-up: steps in which the learning rate rises from zero to its peak."""
    schedule: Literal["cosine", "linear", "inverse_sqrt", "constant"] = "linear"
    """Learning rate schedule: falls to zero along a cosine or a line, with the inverse root of the step, or not."""
    ema: float = 0.999
    """Exponential moving average of the weights, scored and kept in their place: its decay; 0 has none."""
    evaluate: int = 500
    """Steps between two evaluations on held-out data."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "pictures": (1, 10**7),
        "tokens": (0, 0),
        "batch_size": (1, 10**6),
        "unasked": (0, 1),
        "judged": (1, 10**6),
    }


class Asked(NamedTuple):
    """A batch of phrases, and the pictures that they ask for."""

    ids: "Tensor"
    lengths: "Tensor"
    asked: "Tensor"  # whether a picture comes with its words
    image: "Tensor"
    noise: "Tensor"
    time: "Tensor"
    kept: "Tensor"  # what was made of each picture before: its tokens, or its vector
    rows: "np.ndarray"


def build(recipe: Recipe) -> "Task":
    """A model that paints, scored by its loss on held-out pictures; the card says what a judge says."""
    from regard.attention import Attention
    from regard.data.phrased import world_phrases
    from regard.layers.mimetic import mimetic
    from regard.pipelines.paint import MEAN, STD, Paint
    from regard.train.task import Task
    from regard.vision import Processor, Size

    train, held = world_phrases("train", recipe.pictures), world_phrases("val", WATCHED)
    family, model, tokenizer, seen_by = begin(recipe)
    if recipe.init == "mimetic":
        # Words are no neighbours of places, and what is trained already stays as it is.
        spared = (*model.cross_attentions, *family.frozen)
        for name, part in model.named_modules():
            if isinstance(part, Attention) and not name.startswith(spared):
                mimetic(part)
    writes = family.name == "dalle"
    side = Paint.of(model, tokenizer).size
    own = Processor(size=Size(height=side, width=side), image_mean=MEAN, image_std=STD)
    learnt, watched = (batches(recipe, tokenizer, model, known, side, own, seen_by or own) for known in (train, held))
    lose: Lose = {"dalle": write_loss, "diffusion": denoise_loss, "unclip": vector_loss}[family.name]
    each = model.length if writes else 1

    def measure(model: "nn.Module") -> dict[str, Any]:
        found = Paint.of(model, tokenizer).evaluate("world", limit=recipe.judged)
        return found.measured() | {"signature": next(iter(found.scores.values())).signature}

    return Task(
        model=model,
        family=family,
        tokenizer=tokenizer,
        processor=own,
        batches=learnt,
        size=lambda batch: len(batch.rows) * each,
        loss=lose,
        score=lambda model: {"val_loss": score(model, watched, lose, each)},
        metric="val_loss",
        unit="tokens" if writes else "pictures",
        task="paint",
        card={"title": f"Pictures from words: {family.name}, world", "data": "world"},
        measure=measure,
    )


def begin(recipe: Recipe) -> tuple["Family", Any, "Tokenizer", "Processor | None"]:
    """A fresh model and its tokenizer; what it needs that is trained already is put into it.

    A CLIP in it is shown pictures by a processor of its own.
    """
    import torch

    from regard.data import DataError
    from regard.recipes import choose
    from regard.text import Tokenizer

    torch.manual_seed(recipe.seed)
    family = choose.family_of(recipe.model)
    needs = {"diffusion": "", "dalle": "coder", "unclip": "clip"}
    if family.name not in needs:
        raise ValueError(f"{recipe.model} is a {family.name}, which paints nothing; choose one of {', '.join(needs)}")
    for name in ("coder", "clip"):
        if (given := getattr(recipe, name)) and needs[family.name] != name:
            raise ValueError(f"--{name} {given} is of no use to {recipe.model}; leave it out")
    if family.name == "unclip":
        seer = load_part(recipe.clip, "clip")
        if seer.processor is None:
            raise DataError(
                f"--clip {recipe.clip} does not say how it is shown pictures; add a preprocessor_config.json"
            )
        _, model = choose.build(recipe.model, recipe.set, {"clip": seer.model.config})
        _put(model, "clip", seer.model)
        return family, model, seer.tokenizer, seer.processor
    tokenizer = Tokenizer.train(phrases_of(), vocab=1000, kind="words", lower=True)
    if family.name == "diffusion":
        return *choose.build(recipe.model, recipe.set, {"vocab": tokenizer.vocab}), tokenizer, None
    coder = load_part(recipe.coder, "vqvae").model
    writer = replace(family.presets[recipe.model].writer, vocab=tokenizer.vocab + coder.config.codes + 1)
    decided = {"vocab": tokenizer.vocab, "coder": coder.config, "writer": writer}
    _, model = choose.build(recipe.model, recipe.set, decided)
    _put(model, "coder", coder)
    return family, model, tokenizer, None


def _put(model: Any, name: str, part: Any) -> None:
    """Give a part of a model weights that are trained."""
    getattr(model, name).load_state_dict(part.state_dict())


def load_part(wanted: str, kind: str) -> Any:
    """The checkpoint of a trained model that is to be part of another."""
    from regard.data import DataError
    from regard.hub import CheckpointError, load

    flag, verb = {"vqvae": ("coder", "vqvae"), "clip": ("clip", "match")}[kind]
    way = f"make one by `regard train {verb} --out runs/{kind}`, and say --{flag} runs/{kind}/model"
    if not wanted:
        raise ValueError(f"this model goes by a trained {kind}; {way}")
    try:
        found = load(wanted)
    except (CheckpointError, FileNotFoundError) as error:
        raise DataError(f"--{flag} {wanted} cannot be used: {error}") from None
    if found.family is None or found.family.name != kind:
        raise DataError(f"--{flag} {wanted} is no {kind}; {way}")
    return found


def phrases_of() -> list[str]:
    """A text of every word that a phrase may have."""
    from regard.data.phrased import WAYS
    from regard.world import COLOURS, FILLS, KINDS

    fills = [fill for fill in FILLS if fill != "plain"]  # which is never said
    return ["a an and " + " ".join((*COLOURS, *fills, *KINDS, *WAYS))]


def batches(
    recipe: Recipe,
    tokenizer: "Tokenizer",
    model: Any,
    known: "Phrased",
    side: int,
    own: "Processor",
    seen_by: "Processor",
) -> "Batches[Asked]":
    """Pictures with their phrases in any order; noise and times are the batch's own, and in a measurement always those.

    In training, phrases vary and are now and then left out. The model has pictures by its `own` processor, and what
    sees them before it, as a CLIP does, by that of `seen_by`.
    """
    from zlib import crc32

    import torch

    from regard.chance import Chance
    from regard.data import Batches, Order
    from regard.data.padded import put_side_by_side
    from regard.pipelines.paint import encode, in_its_words

    pixels, readable = known.at(side), in_its_words(model, tokenizer)
    kept = keep(model, known, pixels, seen_by)

    def collate(rows: Any, chance: Chance | None) -> Asked:
        said = [str(readable(known.phrase(row, chance))) for row in rows.tolist()]
        asked = [chance is None or not chance.happens(recipe.unasked) for _ in said]
        told = encode(model, tokenizer, [text if wanted else "" for text, wanted in zip(said, asked, strict=True)])
        ids, lengths = (torch.from_numpy(each) for each in put_side_by_side(told, tokenizer.pad or 0))
        image = own.numbers(pixels[rows])
        dice = torch.Generator().manual_seed((chance or Chance(0, "held", int(rows[0]))).bits() >> 1)
        # Times spread evenly over the batch, so that its loss depends less on luck (Kingma 2021).
        time = (torch.rand(1, generator=dice) + torch.arange(len(rows)) / len(rows)) % 1
        noise = torch.randn(image.shape, generator=dice)
        return Asked(ids, lengths, torch.tensor(asked), image, noise, time, kept[rows], rows)

    room = min(recipe.batch_size, len(known))
    return Batches(Order([1] * len(known), room=room, seed=recipe.seed, data=crc32(pixels.tobytes())), collate)


def keep(model: Any, known: "Phrased", pixels: "np.ndarray", processor: "Processor") -> "Tensor":
    """What is made of all pictures once: tokens for a writer, vectors where a CLIP sees them, else nothing."""
    import torch

    make = getattr(model, "encode", None) or getattr(model, "see", None)
    if make is None:
        return torch.empty(len(pixels), 0)
    if hasattr(model, "see"):
        pixels = known.at(model.config.clip.size)
    with torch.no_grad():
        parts = (pixels[start : start + 256] for start in range(0, len(pixels), 256))
        return torch.cat([make(processor.numbers(part)) for part in parts])


def denoise_loss(model: "nn.Module", batch: Asked) -> "Tensor":
    """The mean square of what a picture's velocity is off, summed over pictures."""
    from regard.decode.denoise import blend

    device = next(iter(model.parameters())).device
    noised, velocity = blend(batch.image.to(device), batch.noise.to(device), batch.time.to(device))
    said = model(noised, batch.time.to(device), batch.ids.to(device), lengths=batch.lengths.to(device))
    lost: Tensor = (said.float() - velocity).square().mean(dim=(1, 2, 3)).sum()
    return lost


def write_loss(model: "nn.Module", batch: Asked) -> "Tensor":
    """The cross entropy of every token of the pictures."""
    import torch.nn.functional as F

    from regard.train.loss import cross_entropy

    device, inner = next(iter(model.parameters())).device, cast(Any, getattr(model, "module", model))
    tokens = batch.kept.to(device)
    read = F.pad(tokens, (1, -1), value=inner.opening)
    return cross_entropy(model(batch.ids.to(device), read, lengths=batch.lengths.to(device)), tokens)


def vector_loss(model: "nn.Module", batch: Asked) -> "Tensor":
    """The mean squares of what velocity and vector are off, summed over pictures."""
    from regard.decode.denoise import blend, cosine

    device = next(iter(model.parameters())).device
    time, noise, seen = (each.to(device) for each in (batch.time, batch.noise, batch.kept))
    noised, velocity = blend(batch.image.to(device), noise, time)
    alpha, sigma = (each[:, None] for each in cosine(time))
    # The two halves of the model do not meet, so that they may share their noise.
    hazy = alpha * seen + sigma * noise.flatten(1)[:, : seen.shape[1]]
    said = model(
        noised,
        hazy,
        time,
        ids=batch.ids.to(device),
        lengths=batch.lengths.to(device),
        seen=seen * batch.asked.to(seen)[:, None],
    )
    off = (said.velocity.float() - velocity).square().mean(dim=(1, 2, 3))
    lost: Tensor = (off + (said.vector.float() - seen).square().mean(dim=1)).sum()
    return lost


def score(model: "nn.Module", watched: "Batches[Asked]", lose: Lose, each: int) -> float:
    """The mean loss of held-out pictures, or of their tokens."""
    lost = [(float(lose(model, batch)), len(batch.rows)) for batch in watched.once()]
    return sum(some for some, _ in lost) / (each * sum(count for _, count in lost))
