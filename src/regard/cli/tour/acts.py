"""The three measurements of the tour. Nothing here is printed, and no number is written down beforehand."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from statistics import median

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention import causal, multihead, record
from regard.cli.tour.phrases import ENGLISH, Pair, training, translated, unseen
from regard.cli.tour.translator import Batch, Translator, batch, decode, learn, spelled
from regard.layers.position import Sinusoidal

SENTENCE = "the red house sees a big dog ."
STEPS, SENTENCES, TESTS = 1000, 4000, 200


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the lesson is: words right are counted on pairs that training never shows."""

    step: int
    steps: int
    loss: float
    right: float


@dataclass(frozen=True, slots=True)
class Alignment:
    """How well one attention knows which word comes from which, on pairs that training never shows."""

    right: float  # share of words right in free translation
    found: float  # share of words whose strongest look falls on an origin
    error: float  # share of attention that misses the origins
    error_uniform: float  # the same for a look that favours nobody


class Student:
    """A translator and its lessons: sentence pairs, and no word of which word comes from which."""

    def __init__(self, seed: int) -> None:
        torch.manual_seed(seed)
        self.model = Translator()
        self.pair = translated(SENTENCE)
        self.lessons = batch(list(islice(training(seed), SENTENCES)))
        tests = list(islice(unseen(seed), TESTS))
        self.tests, self.origins = batch(tests), _origins(tests)

    def learn(self) -> Iterator[Progress]:
        """Take the lessons, and tell now and then how it goes."""
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # tensors this small cost more to share than to multiply
        try:
            for step, loss in enumerate(learn(self.model, self.lessons, steps=STEPS), 1):
                if step % (STEPS // 50) == 0:
                    yield Progress(step, STEPS, loss, self._right())
        finally:
            torch.set_num_threads(threads)

    def translation(self) -> tuple[str, ...]:
        """The sentence of the tour in the student's own words."""
        return spelled(decode(self.model, batch([self.pair]))[0])

    def looks(self, italian: tuple[str, ...]) -> Float[Tensor, "m n"]:
        """What each word of an Italian sentence looks at in the English one."""
        return looks(self.model, batch([replace(self.pair, italian=italian)]))[0, : len(italian)]

    def alignment(self) -> Alignment:
        """Compare all looks on the tests with the origins that the world knows and the student does not."""
        weights = looks(self.model, self.tests)
        return Alignment(
            right=self._right(),
            found=self.origins.gather(-1, weights.argmax(dim=-1, keepdim=True)).float().mean().item(),
            error=_missed(weights, self.origins),
            error_uniform=_missed(torch.full_like(weights, 1 / weights.shape[-1]), self.origins),
        )

    def _right(self) -> float:
        return (decode(self.model, self.tests) == self.tests.target)[self.tests.real].float().mean().item()


@torch.no_grad()
def looks(model: Translator, questions: Batch) -> Float[Tensor, "b m n"]:
    """What each target word looks at in its source."""
    with record(model) as trace:
        model(questions.source, questions.previous, questions.lengths)
    return trace.weights("attn")[:, 0]


def _origins(pairs: list[Pair]) -> Bool[Tensor, "b m n"]:
    """True where a target word comes from a source word. New pairs all have eight words, so nothing is padded."""
    return torch.tensor([[[k in origin for k in range(len(p.english))] for origin in p.origins] for p in pairs])


def _missed(weights: Float[Tensor, "b m n"], origins: Bool[Tensor, "b m n"]) -> float:
    return 1 - (weights * origins).sum(dim=-1).mean().item()


@dataclass(frozen=True, slots=True)
class Hiding:
    """One self-attention with and without a causal mask, and what a changed last word changes before it."""

    words: tuple[str, ...]
    instead: str
    everyone: Float[Tensor, "n n"]
    past: Float[Tensor, "n n"]
    leak_everyone: float
    leak_past: float


@torch.no_grad()
def hide(seed: int) -> Hiding:
    """Look at one sentence twice, freely and causally, and then change its last word."""
    torch.manual_seed(seed)
    words, instead = tuple(SENTENCE.split()[:-1]), "cat"
    embed, place, attn = nn.Embedding(len(ENGLISH), 64), Sinusoidal(64), multihead(64, heads=1)
    x, changed = (
        place(embed(torch.tensor([[ENGLISH.index(word) for word in (*words[:-1], last)]])))
        for last in (words[-1], instead)
    )
    mask = causal(len(words))
    with record(attn) as trace:
        everyone, past = attn(x), attn(x, visible=mask)
    return Hiding(
        words=words,
        instead=instead,
        everyone=trace.weights("", look=0)[0, 0],
        past=trace.weights("", look=1)[0, 0],
        leak_everyone=_change(attn(changed), everyone),
        leak_past=_change(attn(changed, visible=mask), past),
    )


def _change(y: Float[Tensor, "1 n w"], before: Float[Tensor, "1 n w"]) -> float:
    """The largest change of an output before the last place."""
    return (y - before)[:, :-1].abs().max().item()


@dataclass(frozen=True, slots=True)
class Watching:
    """A self-attention with and without somebody watching."""

    tokens: int
    heads: int
    plain: tuple[float, float]  # best and median, in seconds
    watched: tuple[float, float]
    equal: bool  # to the last bit
    kept: int  # bytes
    avoided: int  # bytes of the weights that were not computed


@torch.no_grad()
def watch(seed: int, *, tokens: int = 2048, width: int = 256, heads: int = 4, repeats: int = 12) -> Watching:
    """Time a self-attention with and without `record`, by turns, so that a busy machine disturbs both alike."""
    torch.manual_seed(seed)
    attn, x = multihead(width, heads), torch.randn(1, tokens, width)
    attn(x)  # the first call pays for warming up
    plain, watched = [], []
    for _ in range(repeats):
        started = time.perf_counter()
        alone = attn(x)
        plain.append(time.perf_counter() - started)
        started = time.perf_counter()
        with record(attn) as trace:
            seen = attn(x)
        watched.append(time.perf_counter() - started)
    return Watching(
        tokens=tokens,
        heads=heads,
        plain=(min(plain), median(plain)),
        watched=(min(watched), median(watched)),
        equal=seen.equal(alone),
        kept=trace.nbytes,
        avoided=heads * tokens * tokens * x.element_size(),
    )
