"""Similar: two texts in, how much they mean the same out; or a question and many texts, and the nearest of them out.

similar = regard.load("hub:sentence-transformers/all-MiniLM-L6-v2", task="similar")
similar([("A dog runs.", "A hound is running.")])[0].score
similar.rank("Who sleeps?", lines, top=3)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from regard.pipelines.embed import Embed
from regard.pipelines.encoder import Given
from regard.pipelines.familiar import answer_familiar
from regard.progress import Progress

# Prompts that a model may have for what is looked for, and for what is looked through; the first choice first.
QUERY, DOCUMENT = ("query",), ("document", "passage", "corpus")


@dataclass(frozen=True, slots=True)
class Similarity:
    """How much two texts mean the same: a cosine from -1 to 1, or a product where the model's card says so."""

    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A text that was found, its number among all, and how near it is."""

    text: str
    index: int
    score: float


class Similar(Embed):
    """Texts compared by their vectors. Its models are those of the task `embed`."""

    task, takes, gives = "similar", "text, tab, text", "similarity"

    @answer_familiar
    def __call__(  # type: ignore[override]
        self, inputs: Sequence[Given], *, cut: bool = False, progress: Progress | None = None
    ) -> list[Similarity]:
        """How similar the two texts of each pair are; a pair is a tuple, or one string with a tab between."""
        pairs = [_pair(each) for each in ([inputs] if isinstance(inputs, str) else inputs)]
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        found = self._comparable(self.vectors(texts, cut=cut, progress=progress))
        place = {text: i for i, text in enumerate(texts)}
        scores = [float(found[place[first]] @ found[place[second]]) for first, second in pairs]
        return [Similarity(score) for score in scores]

    @answer_familiar
    def rank(
        self,
        query: str,
        texts: Sequence[str],
        *,
        top: int | None = None,
        cut: bool = False,
        progress: Progress | None = None,
    ) -> list[Hit]:
        """The texts that are nearest to a query, the nearest first; all of them, or the `top` so many."""
        if top is not None and top < 1:
            raise ValueError(f"{top} texts cannot be found; ask for 1 or more")
        (asked,) = self._comparable(self.vectors([query], prompt=self._prompt(QUERY), cut=cut))
        found = self._comparable(self.vectors(texts, prompt=self._prompt(DOCUMENT), cut=cut, progress=progress))
        scores = (found @ asked).tolist()
        order = sorted(range(len(texts)), key=lambda i: -scores[i])[:top]
        return [Hit(texts[i], i, scores[i]) for i in order]

    def _comparable(self, vectors: Float[Tensor, "t w"]) -> Float[Tensor, "t w"]:
        return vectors if self.card.get("similarity") == "dot" else F.normalize(vectors, dim=-1)

    def _prompt(self, names: Sequence[str]) -> str | None:
        return next((name for name in names if name in self.prompts), None)


def _pair(given: Given) -> tuple[str, str]:
    first, tab, second = given.partition("\t") if isinstance(given, str) else (given[0], "\t", given[-1])
    if not tab:
        raise ValueError("it is one text, and two are compared; give both, with a tab between them")
    return first, second


PIPELINE = Similar
