"""One word, two senses: what a vector of a word knows of them, and what a vector of a word in its sentence does."""

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor

from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.understanding import FIRST, START, STOP, encoder, lexicon, passages, pretrain
from regard.data import Documents
from regard.models.bert import BERT
from regard.models.word2vec import Config, Word2Vec
from regard.progress import Progress
from regard.train.small import learn
from regard.world.language import stories

CLAIM = Claim(
    name="senses",
    deck="Najdenkoska & Asano, BERT for feature extraction",
    sentence="These models produce the same representation for a given word independent of the context. Pre-trained "
    "BERT can create contextualized word embeddings.",
    experiment="In the world's English stories, eight pairs of words are written alike: a book is called dog too, a "
    "garden painter, so that each of these words has two senses and it is known which is meant. word2vec (skip-gram "
    "with a whole softmax) and a BERT of two blocks read them. Whether the vector of an occurrence tells its sense "
    "is asked by its nearest centre: the mean vectors of both senses come from half of the unseen occurrences, the "
    "other half is named. Rare and frequent senses count alike, so that a guess is right in half of the cases.",
    control="The mean of word2vec's vectors of the neighbours, two either side, which has the context without a "
    "Transformer; what goes into BERT's first block; and a BERT that has read nothing.",
    criterion="The number is how many more occurrences are named right by BERT's vectors than by word2vec's, seed by "
    "seed. Supported if its interval lies above zero, word2vec is at a guess within 0.02, and BERT is above the "
    "BERT that has read nothing on average. Refuted if the interval lies below zero, otherwise not at this scale.",
    measures="more occurrences of words with two senses are named right by BERT's vectors than by word2vec's",
    seeds=3,
)

# The second is written as the first: an animal or a person, and a text or a place, that stories name about as often.
PAIRS = (
    ("dog", "book"),
    ("cat", "letter"),
    ("horse", "magazine"),
    ("painter", "garden"),
    ("cook", "school"),
    ("king", "forest"),
    ("brother", "park"),
    ("mother", "castle"),
)
ONE, AROUND, ENTERING, FRESH, BERT_SAYS = "word2vec", "neighbours", "BERT's input", "BERT, untrained", "BERT"
WAYS = (ONE, AROUND, ENTERING, FRESH, BERT_SAYS)
WIDTH, WINDOW, NEAR = 64, 2, 0.02
STEPS, ROWS = 1500, 512  # of both, and pairs of words in a batch of word2vec


class Told(NamedTuple):
    """A story as ids, the place of each word with two senses, and which it is."""

    sentences: list[list[int]]
    places: list[tuple[int, int, int]]  # place in the whole story, pair, sense


def tell(count: int, *, seed: int = 0, split: str = "train") -> list[Told]:
    """Stories in which the words of each pair are written alike."""
    known, senses = lexicon(), {word: (i, j) for i, pair in enumerate(PAIRS) for j, word in enumerate(pair)}
    told = []
    for story in stories(seed=seed, split=split)[:count]:
        words = [word for sentence in story.sentences for word in sentence]
        places = [(place, *senses[word]) for place, word in enumerate(words) if word in senses]
        written = [[known[PAIRS[senses[w][0]][0] if w in senses else w] for w in each] for each in story.sentences]
        told.append(Told(written, places))
    return told


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many occurrences are named right by the vectors of each way, by seed."""
    count, asked, steps = (40, 400, 2) if quick else (3000, 1500, STEPS)
    tests, runs = tell(asked, split="test"), []
    for seed, whole in parts(progress, seeds):
        told = tell(count, seed=seed)
        torch.manual_seed(seed)
        word2vec, bert = Word2Vec(Config(FIRST + len(lexicon()), WIDTH, loss="softmax")), encoder(width=WIDTH).eval()
        before = _vectors(bert, tests)
        (_, first), (_, second) = parts(whole, (word2vec, bert))
        track(read_words(word2vec, [one.sentences for one in told], steps=steps, seed=seed), steps, first)
        texts = Documents.of([one.sentences for one in told])
        track(pretrain(bert, passages(texts, seed=seed), ("words",), steps=steps), steps, second)
        table = word2vec.embed.weight.detach()
        found = {
            ONE: [table[_words(one)] for one in tests],
            AROUND: [_around(table[_words(one)]) for one in tests],
            ENTERING: _vectors(bert, tests, entering=True),
            FRESH: before,
            BERT_SAYS: _vectors(bert, tests),
        }
        runs.append({"seed": seed, "right": {way: named(found[way], tests) for way in WAYS}})
    return {"runs": runs, "asked": sum(len(one.places) for one in tests) // 2, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    rates = {way: [run["right"][way] for run in numbers["runs"]] for way in WAYS}
    number, low, high = student([a - b for a, b in zip(rates[BERT_SAYS], rates[ONE], strict=True)])
    means = {way: fmean(rates[way]) for way in WAYS}
    blind = abs(means[ONE] - 0.5) <= NEAR
    return Finding(
        verdict(supported=low > 0 and blind and means[BERT_SAYS] > means[FRESH], refuted=high < 0),
        number,
        (low, high),
        f"Senses named right: {', '.join(f'{way} {means[way]:.1%}' for way in WAYS)}. BERT's vectors name "
        f"{100 * number:+.1f} points more than the one vector of word2vec ({100 * low:+.1f} to {100 * high:+.1f}).",
    )


def draw(numbers: Numbers) -> str:
    found = [student([100 * run["right"][way] for run in numbers["runs"]]) for way in WAYS]
    names = [way.replace(", ", ",\n").replace("'s ", "'s\n") for way in WAYS]
    bars = Bars("", *zip(*found, strict=True))
    return figure(
        "Which of two senses a word has",
        [Panel("", "", "occurrences named right, %", [bars], names, rule=(50, "a guess"))],
        f"{len(PAIRS)} words with two senses in unseen stories of the world, after {numbers['steps']} steps. Whiskers "
        "are 95 % intervals over seeds.",
    )


def named(vectors: Sequence[Float[Tensor, "_ w"]], told: Sequence[Told]) -> float:
    """How many occurrences are nearer to the centre of their sense, mean over senses and words."""
    rates = []
    for pair in range(len(PAIRS)):
        kept = [
            (rows[place], sense)
            for rows, one in zip(vectors, told, strict=True)
            for place, which, sense in one.places
            if which == pair
        ]
        by_sense = [torch.stack([row for row, is_of in kept if is_of == sense]) for sense in (0, 1)]
        centres = torch.stack([rows[::2].mean(dim=0) for rows in by_sense])
        for sense, rows in enumerate(by_sense):
            away = (rows[1::2, None] - centres).norm(dim=-1)
            # One vector is as near to both centres: a guess, which is right in half of the cases.
            nearer = away[:, sense] - away[:, 1 - sense]
            rates.append(float(((nearer < -1e-6).float() + 0.5 * (nearer.abs() <= 1e-6).float()).mean()))
    return fmean(rates)


def _words(one: Told) -> Int64[Tensor, " n"]:
    return torch.tensor([word for sentence in one.sentences for word in sentence])


def _around(rows: Float[Tensor, "n w"]) -> Float[Tensor, "n w"]:
    """The mean of the neighbours of each word, without the word itself."""
    place = torch.arange(len(rows))
    away = (place[:, None] - place).abs()
    near = ((away > 0) & (away <= WINDOW)).float()
    return near @ rows / near.sum(dim=1, keepdim=True)


@torch.no_grad()
def _vectors(model: BERT, told: Sequence[Told], *, entering: bool = False) -> list[Float[Tensor, "_ w"]]:
    """What BERT makes of each word, or what goes into its first block."""
    found = []
    for one in told:
        ids = torch.cat([torch.tensor([START]), _words(one), torch.tensor([STOP])])[None]
        states = model.embed_words(ids, None, 0) if entering else model.read(ids)
        found.append(states[0, 1:-1])
    return found


def read_words(model: Word2Vec, told: Sequence[Sequence[Sequence[int]]], *, steps: int, seed: int) -> Iterator[float]:
    """Skip-gram on the sentences of stories: from a word, which words stand near it."""
    near = [
        (sentence[i], sentence[j])
        for story in told
        for sentence in story
        for i in range(len(sentence))
        for j in range(max(0, i - WINDOW), min(len(sentence), i + WINDOW + 1))
        if i != j
    ]
    pairs, draw = torch.from_numpy(np.array(near)), torch.Generator().manual_seed(seed)

    def loss() -> Tensor:
        centre, other = pairs[torch.randint(len(pairs), (ROWS,), generator=draw)].unbind(dim=1)
        return F.cross_entropy(model(centre[:, None]), other)

    return learn(model, loss, steps=steps, lr=1e-2)
