"""The three measurements of the tour. Nothing here is printed, and no number is written down beforehand."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from statistics import median

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import causal, multihead, record
from regard.claims.timing import rounds
from regard.claims.translation import Lexicon, attend, batch, batches, train, translate
from regard.cli.tour import phrases
from regard.cli.tour.translator import Translator
from regard.layers.position import Sinusoidal
from regard.threads import threads

SENTENCE = "the red house sees a big dog ."
STEPS, SENTENCES, TESTS = 600, 4000, 200


@dataclass(frozen=True, slots=True)
class Progress:
    """How far training is; the accuracy is that of free translation on pairs that training never shows."""

    step: int
    loss: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Alignment:
    """How well the attention knows which word comes from which, on pairs that training never shows."""

    accuracy: float  # share of words right in free translation
    found: float  # share of words whose strongest look falls on an origin
    error: float  # share of attention that misses the origins
    error_uniform: float  # the same for a look that favours nobody


class Trainer:
    """A translator and the sentence pairs it learns from, which do not say which word comes from which."""

    def __init__(self, seed: int) -> None:
        torch.manual_seed(seed)
        self.seed = seed
        self.lexicon = Lexicon(phrases.ENGLISH, phrases.ITALIAN)
        self.model = Translator(len(self.lexicon)).eval()
        self.pair = phrases.translate(SENTENCE)
        self.pairs = list(islice(phrases.phrases(seed, held_out=False), SENTENCES))
        self.tests = list(islice(phrases.phrases(seed, held_out=True), TESTS))

    def train(self) -> Iterator[Progress]:
        """Train, and report the progress now and then."""
        some = batches(self.pairs, self.lexicon, 256)
        losses = train(self.model, some, steps=STEPS, lr=5e-3, weight_decay=0.3, seed=self.seed)
        with threads(1):  # tensors this small cost more to share than to multiply
            for step, loss in enumerate(losses, 1):
                if step % (STEPS // 50) == 0:
                    yield Progress(step, loss, self.accuracy())

    def translate(self) -> tuple[str, ...]:
        """The sentence of the tour, as the model translates it."""
        (words,) = translate(self.model, batch([self.pair], self.lexicon), self.lexicon)
        return words

    def attend(self, italian: tuple[str, ...]) -> Float[Tensor, "m n"]:
        """What each word of an Italian sentence looks at in the English one."""
        return attend(self.model, [self.pair._replace(target=italian)], self.lexicon)[0]

    def accuracy(self) -> float:
        """The share of words that free translation gets right, place by place."""
        written = translate(self.model, batch(self.tests, self.lexicon), self.lexicon)
        references = [pair.target for pair in self.tests]
        right = [sum(map(str.__eq__, said, words)) for said, words in zip(written, references, strict=True)]
        return sum(right) / sum(map(len, references))

    def align(self) -> Alignment:
        """Compare all looks on the tests with the true origins."""
        weights = torch.stack(attend(self.model, self.tests, self.lexicon))  # all tests have eight words
        origins = torch.zeros_like(weights)
        for row, pair in zip(origins, self.tests, strict=True):
            for source, target in pair.alignment:
                row[target, source] = 1
        return Alignment(
            accuracy=self.accuracy(),
            found=origins.gather(-1, weights.argmax(dim=-1, keepdim=True)).mean().item(),
            error=1 - (weights * origins).sum(dim=-1).mean().item(),
            error_uniform=1 - origins.mean(dim=-1).mean().item(),
        )


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
    embed, place, attn = nn.Embedding(len(phrases.ENGLISH), 64), Sinusoidal(64), multihead(64, heads=1)
    x, changed = (
        place(embed(torch.tensor([[phrases.ENGLISH.index(word) for word in (*words[:-1], last)]])))
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

    def watched() -> None:
        with record(attn):
            attn(x)

    seconds = rounds({"plain": partial(attn, x), "watched": watched}, repeats)
    with record(attn) as trace:
        seen = attn(x)
    return Watching(
        tokens=tokens,
        heads=heads,
        plain=(min(seconds["plain"]), median(seconds["plain"])),
        watched=(min(seconds["watched"]), median(seconds["watched"])),
        equal=seen.equal(attn(x)),
        kept=trace.nbytes,
        avoided=heads * tokens * tokens * x.element_size(),
    )
