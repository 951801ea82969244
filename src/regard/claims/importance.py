"""Whether the words that are looked at are those that count: attention beside occlusion and gradients, by rank."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from statistics import fmean
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import bootstrap
from regard.claims.plot import Bars, Panel, figure
from regard.data import pairs
from regard.hub import load
from regard.pipelines.translate import SPLITS, Translate
from regard.progress import Progress

CLAIM = Claim(
    name="importance",
    deck="Najdenkoska & Asano, Multi-head self-attention; also “reflects the importance of the annotation”, Formal "
    "definition of Attention",
    sentence="Self-attention can yield more interpretable models. Because attention values can be seen as importance "
    "weights.",
    experiment="Three bundled translators, a Transformer and two recurrent ones, translate unseen sentences of their "
    "own data. For each word they write, the words of the source are ranked by the attention they got, and by what "
    "they were worth: how far the word's log probability moves when the source word is blotted out of the embeddings "
    "(occlusion), and its gradient there. Spearman's correlation of the ranks is taken word by word, for the mean of "
    "all heads in each layer and in all of them.",
    control="The same attention dealt out among the source words by chance; and the attention of another word of the "
    "same translation, which knows which source words matter in general but not for this one. How well occlusion and "
    "gradients agree with each other says how much could be hoped for.",
    criterion="The number is the correlation of attention with occlusion, mean over sentences of all models. Supported "
    "if its interval lies above 0.5 and in every model above the attention of another word. Refuted if it lies below "
    "0.2, or if the attention of another word does as well in every model. Otherwise not at this scale.",
    measures="is the rank correlation of attention with occlusion",
    seeds=1,
)

MODELS = ("it-en", "de-en-additive", "world-it-en-additive")
WAYS = ("attention", "attention of another word", "shuffled attention", "gradients")  # each beside occlusion


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """The correlations of each sentence with occlusion and, of attention, with gradients; and the means by layer."""
    chance, models = torch.Generator().manual_seed(seeds[0]), []
    for name, inner in parts(progress, MODELS):
        translate = Translate(load(name))
        texts = _texts(translate, 1 if quick else 80, quick)
        found = track((_correlate(translate, text, chance) for text in texts), len(texts), inner)
        layers = zip(*(one.pop("layers") for one in found), strict=True)
        by_layer = [
            {"occlusion": fmean(o), "gradients": fmean(g)} for o, g in (zip(*one, strict=True) for one in layers)
        ]
        ways = {way: [round(one[way], 3) for one in found] for way in found[0]}
        models.append({"model": name, "ways": ways, "layers": by_layer})
    return {"models": models}


def judge(numbers: Numbers) -> Finding:
    number, low, high = bootstrap([each for one in numbers["models"] for each in one["ways"]["attention"]])
    above = [
        bootstrap([own - other for own, other in zip(*(one["ways"][way] for way in WAYS[:2]), strict=True)])[1]
        for one in numbers["models"]
    ]
    told = "; ".join(
        f"{one['model']} {fmean(one['ways']['attention']):.2f} with occlusion (another word's "
        f"{fmean(one['ways'][WAYS[1]]):.2f}) and {fmean(one['ways']['with gradients']):.2f} with gradients"
        for one in numbers["models"]
    )
    layers = ", ".join(f"{each['occlusion']:.2f}" for each in numbers["models"][0]["layers"])
    agree = fmean(each for one in numbers["models"] for each in one["ways"]["gradients"])
    return Finding(
        verdict(
            supported=low > 0.5 and all(least > 0 for least in above),
            refuted=high < 0.2 or all(least <= 0 for least in above),
        ),
        number,
        (low, high),
        f"Rank correlation of attention: {told}. By layer of {MODELS[0]}, with occlusion: {layers}. Occlusion and "
        f"gradients agree with each other by {agree:.2f}.",
    )


def draw(numbers: Numbers) -> str:
    models, first = numbers["models"], numbers["models"][0]
    marks = [Bars(way, *zip(*(bootstrap(one["ways"][way], rounds=500) for one in models), strict=True)) for way in WAYS]
    layers = Bars("attention", [each["occlusion"] for each in first["layers"]])
    names = [one["model"].replace("-en-additive", "-en\nadditive") for one in models]
    return figure(
        "Are the words that are looked at those that count?",
        [
            Panel("by model", "", "rank correlation with occlusion", marks, names),
            Panel(f"by layer of {first['model']}", "layer", "mean over heads", [layers], [*map(str, range(1, 9))]),
        ],
        f"{len(first['ways']['attention'])} sentences a model; whiskers are 95 % intervals over sentences.",
    )


def _texts(translate: Translate, count: int, quick: bool) -> list[str]:
    """Unseen sentences of the model's own data; a trial takes the world's, which need not be fetched."""
    (source,), (target,), data = translate.sources, translate.targets, "world" if quick else translate.card["data"]
    texts = (text for text, _ in pairs(data, source, target, SPLITS.get(data, "test")))
    return list(islice((text for text in texts if 5 <= len(text.split()) <= 16), count))


def _correlate(translate: Translate, text: str, chance: torch.Generator) -> dict[str, Any]:
    """Rank correlations over the words of a source, mean over the words that the model writes for it."""
    reading = translate.attend(text, beam=1)
    axes: Any = reading.axes  # of words, since it is a translation
    source, target, model = axes["source"], axes["target"], translate.model
    read, written = reading.output.outputs[0].source, reading.output.outputs[0].hypothesis.words
    layers = [torch.from_numpy(reading.weights(name, words=True)).mean(0) for name in model.cross_attentions]
    ids = [*written, translate.stop][: len(target)]
    score = _Score(model, torch.tensor(read), torch.tensor([translate.start, *ids]), source.spans, target.spans)
    occlusion, gradients = score.occlude(), score.slope()
    attention = torch.stack(layers).mean(0)
    words, places = attention.shape
    shuffled = attention.gather(1, torch.rand(words, places, generator=chance).argsort(1))
    ways = (attention, attention.roll(1 + words // 3, 0), shuffled, gradients)
    found: dict[str, Any] = {way: _ranked(each, occlusion) for way, each in zip(WAYS, ways, strict=True)}
    found["with gradients"] = _ranked(attention, gradients)
    return found | {"layers": [(_ranked(each, occlusion), _ranked(each, gradients)) for each in layers]}


Spans = tuple[tuple[int, int], ...]


class _Score:
    """How likely a model finds each word of a translation, where the words of the source are there, or partly so."""

    def __init__(
        self, model: Any, source: Int[Tensor, " n"], target: Int[Tensor, " m"], words: Spans, written: Spans
    ) -> None:
        self.model, self.source, self.target, self.written = model, source, target, written
        self.piece_of = torch.tensor([word for word, (first, last) in enumerate(words) for _ in range(first, last + 1)])
        self.words = len(words)

    def __call__(self, presence: Float[Tensor, "b w"]) -> Float[Tensor, "b t"]:
        """Log probabilities of the written words; the embeddings of a source word are multiplied by its presence."""
        count = len(presence)
        with _scaled(self.model.embed, presence[:, self.piece_of, None]):
            logits = self.model(self.source.expand(count, -1), self.target[:-1].expand(count, -1))
        gained = logits.log_softmax(-1).gather(-1, self.target[1:].expand(count, -1)[..., None])[..., 0]
        return torch.stack([gained[:, first : last + 1].sum(1) for first, last in self.written], 1)

    @torch.no_grad()
    def occlude(self) -> Float[Tensor, "t w"]:
        """How far each written word moves when a source word is not there at all."""
        whole, *without = self(torch.cat((torch.ones(1, self.words), 1 - torch.eye(self.words))))
        moved: Tensor = (whole - torch.stack(without)).abs().T
        return moved

    def slope(self) -> Float[Tensor, "t w"]:
        """How fast each written word moves when a source word begins to fade: its gradient times its embedding."""
        presence = torch.ones(len(self.written), self.words, requires_grad=True)
        (gradients,) = torch.autograd.grad(self(presence).diagonal().sum(), presence)
        return gradients.abs()


@contextmanager
def _scaled(embed: torch.nn.Module, factors: Float[Tensor, "b n 1"]) -> Iterator[None]:
    """What an embedding gives the first time it is asked, which is for the source, multiplied."""
    once = iter((factors,))
    hook = embed.register_forward_hook(lambda _, __, y: y * next(once, 1.0))
    try:
        yield
    finally:
        hook.remove()


def _ranked(one: Float[Tensor, "t w"], other: Float[Tensor, "t w"]) -> float:
    """Spearman's correlation in each row, mean over rows."""
    a, b = (each.argsort(1).argsort(1).double() for each in (one, other))
    a, b = (each - each.mean(1, keepdim=True) for each in (a, b))
    return float(((a * b).sum(1) / (a.norm(dim=1) * b.norm(dim=1))).mean())
