"""Embed: a text in, one vector for what it means out.

embed = regard.load("hub:sentence-transformers/all-MiniLM-L6-v2")
embed(["A dog runs."])[0].vector
embed.vectors(["A dog runs.", "A cat sleeps."])     # a tensor, a row for each text
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.analysis.reading import Reading
from regard.analysis.scores import pearson, spearman
from regard.attention import Packed
from regard.data import labelled
from regard.hub import Checkpoint, sentence
from regard.pipelines.encoder import Encoder
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pipeline import Edits, Evaluation
from regard.progress import Progress
from regard.text.template import Window


@dataclass(frozen=True, slots=True)
class Embedding:
    """The vector of a text."""

    vector: tuple[float, ...]


class Embed(Encoder):
    """Texts as vectors. The card says how: `pooling`, `after_pooling`, `prompts`, and the most tokens of a text.

    Without a card it is the mean over all tokens, of length 1.
    """

    task, takes, gives = "embed", "text", "vector"

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(checkpoint, limit=limit)
        if not hasattr(self.model, "read"):
            raise ValueError(f"{self.name} is a {type(self.model).__name__}, which has no states of tokens to pool")
        self.limit = min(self.limit, int(self.card.get("limit") or self.limit))
        self.pooling = [str(each) for each in self.card.get("pooling") or ["mean"]]
        if strange := [each for each in self.pooling if each not in POOLINGS]:
            raise ValueError(f"{self.name} pools by {strange[0]!r}; known are {', '.join(POOLINGS)}")
        self.prompts: dict[str, str] = dict(self.card.get("prompts") or {})
        home = sentence.home(checkpoint.folder) or checkpoint.folder
        self._steps = [
            Normalize() if step == sentence.NORMALIZE else sentence.dense(home, str(step))
            for step in self.card.get("after_pooling", [sentence.NORMALIZE])
        ]

    @answer_familiar
    def __call__(
        self, inputs: Sequence[str], *, prompt: str | None = None, cut: bool = False, progress: Progress | None = None
    ) -> list[Embedding]:
        """The vector of each text; see `vectors`."""
        found = self.vectors(inputs, prompt=prompt, cut=cut, progress=progress)
        return [Embedding(tuple(row)) for row in found.tolist()]

    @answer_familiar
    def vectors(
        self, inputs: Sequence[str], *, prompt: str | None = None, cut: bool = False, progress: Progress | None = None
    ) -> Float[Tensor, "t w"]:
        """The vectors of texts, a row for each; what is too long is refused, or `cut`.

        `prompt` names one of the model's `prompts`, which is read in front of each text; the one that its card names if
        left out.
        """
        given = [inputs] if isinstance(inputs, str) else list(inputs)
        if not given:
            raise ValueError("no texts are given; give one or more")
        return torch.stack(self.ask(self._rows(given, prompt, cut), self._take, progress=progress))

    @answer_familiar
    def evaluate(
        self, data: str, *, split: str = "test", limit: int = 0, progress: Progress | None = None
    ) -> Evaluation:
        """How well the cosine of two texts ranks pairs as people do, as in the set stsb or a table of two texts."""
        split = split or "test"
        rows = labelled(data, split)[: limit or None]
        try:
            right = [float(label) for _, label in rows]
        except ValueError:
            raise ValueError(
                f"{data} has labels that are no numbers, so that nothing can be ranked; take stsb"
            ) from None
        if len(rows) < 2 or any(len(texts) != 2 for texts, _ in rows):
            raise ValueError(f"{data}, {split}, does not have pairs of texts and how alike they are; take stsb")
        began = time.perf_counter()
        # A text that stands in several pairs is read once.
        texts = list(dict.fromkeys(text for pair, _ in rows for text in pair))
        found = F.normalize(self.vectors(texts, cut=True, progress=progress), dim=-1)
        place = {text: i for i, text in enumerate(texts)}
        first, second = ([place[pair[side]] for pair, _ in rows] for side in (0, 1))
        cosines = (found[first] * found[second]).sum(dim=-1).tolist()
        seconds = time.perf_counter() - began
        named = {"spearman": spearman(cosines, right), "pearson": pearson(cosines, right)}
        lines = [f"{cosine:.6f}" for cosine in cosines]
        return Evaluation(self.name, data, split, len(rows), seconds, named, {"compared by": "cosine"}, lines)

    @answer_familiar
    def attend(self, given: str, *, edits: Edits | None = None) -> Reading:
        """Which words each word looks at."""
        (row,) = self._rows([given], None, False)

        def then(ids: Tensor, segments: Tensor) -> Embedding:
            return Embedding(tuple(self._take(ids, segments, None)[0].tolist()))

        output, axes, maps, trace = self.watch(row, then, edits)
        return Reading(self.name, axes, maps, trace, output, f"“{given}” → {len(output.vector)} numbers")

    def _rows(self, texts: Sequence[str], prompt: str | None, cut: bool) -> list[Window]:
        name = prompt if prompt is not None else self.card.get("prompt")
        if name is not None and name not in self.prompts:
            known = ", ".join(self.prompts) or "none"
            raise ValueError(f"{self.name} has no prompt {name!r}; it has {known}")
        before = "" if name is None else self.prompts[name]
        if before or self.card.get("lower"):
            texts = [before + text for text in texts]
            texts = [text.lower() for text in texts] if self.card.get("lower") else texts
        return self.rows(texts, cut=cut)

    def _take(
        self, ids: Int[Tensor, "1 n"], segments: Int[Tensor, "1 n"], texts: Packed | None
    ) -> Sequence[Float[Tensor, " w"]]:
        hidden = self.read(ids, segments, texts).float()
        parts = hidden.split([len(hidden)] if texts is None else list(texts.lengths))
        found = torch.cat([torch.stack([POOLINGS[each](part) for part in parts]) for each in self.pooling], dim=-1)
        for step in self._steps:
            found = step.to(found.device)(found)
        return list(found)


class Normalize(nn.Module):
    """Vectors of length 1."""

    def forward(self, x: Float[Tensor, "t w"]) -> Float[Tensor, "t w"]:
        return F.normalize(x, dim=-1)


def _weighted(states: Float[Tensor, "n w"]) -> Float[Tensor, " w"]:
    """Later tokens, which a decoder has seen more before, weigh more (Muennighoff 2022)."""
    weights = torch.arange(1, len(states) + 1, device=states.device, dtype=states.dtype)
    return weights @ states / weights.sum()


# By the names that sentence-transformers gives them; each makes one vector of the states of a text.
POOLINGS: dict[str, Callable[[Tensor], Tensor]] = {
    "cls": lambda states: states[0],
    "max": lambda states: states.amax(dim=0),
    "mean": lambda states: states.mean(dim=0),
    "mean_sqrt_len_tokens": lambda states: states.sum(dim=0) / len(states) ** 0.5,
    "weightedmean": _weighted,
    "lasttoken": lambda states: states[-1],
}

PIPELINE = Embed
