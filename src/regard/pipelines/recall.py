"""Recall: keys with their values, then noise, then a key in, and its value out; how far back does a model remember?"""

import time
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.analysis.reading import Reading, maps_of
from regard.analysis.scores import Score, accuracy
from regard.attention import record
from regard.decode.batching import by_length, pad_rows
from regard.decode.forcing import evaluating
from regard.hub import Checkpoint
from regard.models.memnet import MemoryNetwork
from regard.models.tcn import TCN
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pipeline import Edits, Evaluation, Pipeline
from regard.progress import Progress
from regard.text import Words
from regard.world.recall import Recall as Item
from regard.world.recall import recalls

ENDLESS = 250  # items at each distance


class Recall(Pipeline):
    """A model that reads pairs and noise and is asked for the value of one key; whatever the model."""

    task, takes, gives = "recall", "ids", "id"

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(checkpoint, limit=limit)
        missing = [name for name in ("pairs", "words", "distance") if not isinstance(self.card.get(name), int)]
        if missing:
            raise ValueError(
                f"the card of {self.name} does not say {', '.join(missing)} as whole numbers, so that nothing can be "
                f"asked; train it again, or write them into card.json"
            )
        self.pairs, self.words, self.distance = (int(self.card[name]) for name in ("pairs", "words", "distance"))

    @answer_familiar
    def __call__(
        self, inputs: Sequence[Sequence[int]], *, batch: int = 256, progress: Progress | None = None
    ) -> list[int]:
        """The answer to each row of ids, the last of which is the question."""
        inputs = [self._check(row) for row in ([inputs] if isinstance(inputs, str) else inputs)]
        found: dict[int, int] = {}
        with evaluating(self.model), torch.no_grad():
            for group in by_length([len(row) for row in inputs], rows=batch):
                ids, lengths = pad_rows([inputs[i] for i in group], 0, self.device)
                answers = ask(self.model, ids, lengths, self.pairs).argmax(dim=-1).tolist()
                found |= dict(zip(group, answers, strict=True))
                if progress is not None:
                    progress(len(found) / len(inputs))
        return [found[i] for i in range(len(inputs))]

    @answer_familiar
    def evaluate(
        self,
        data: str = "world",
        *,
        split: str = "test",
        limit: int = 0,
        distances: Sequence[int] = (),
        progress: Progress | None = None,
    ) -> Evaluation:
        """Accuracy by distance, and the mean of all; `distances` are those of the card, and twice the farthest."""
        split = split or "test"
        if data != "world":
            raise ValueError(f"recall is a task of the world, and {data!r} is not it; say world")
        farthest = self.distance
        trained = sorted({*(2**i for i in range(farthest.bit_length())), farthest})
        chosen = list(distances) or [*trained, 2 * farthest]
        began, hits = time.perf_counter(), dict[int, list[bool]]()
        for number, distance in enumerate(chosen, start=1):
            items = self._items(split, distance, limit or ENDLESS)
            answers = self([item.ids for item in items])
            hits[distance] = [answer == item.answer for answer, item in zip(answers, items, strict=True)]
            if progress is not None:
                progress(number / len(chosen))
        within = [hit for distance, some in hits.items() if distance <= farthest for hit in some]
        named: dict[str, Score] = {"accuracy": accuracy(within)} if within else {}
        named |= {f"accuracy/at {distance}": accuracy(some) for distance, some in hits.items()}
        count = sum(map(len, hits.values()))
        return Evaluation(self.name, data, split, count, time.perf_counter() - began, named)

    @answer_familiar
    @torch.no_grad()
    def attend(self, given: Sequence[int], *, edits: Edits | None = None) -> Reading:
        """What the question looks at, and whatever else is looked at on the way."""
        ids, lengths = pad_rows([self._check(given)], 0, self.device)
        with evaluating(self.model), record(self.model, edits=edits) as trace:
            answer = int(ask(self.model, ids, lengths, self.pairs).argmax())
        words = [str(each) for each in given]
        # What is asked is read apart from what came before.
        axes, maps = maps_of(trace, {len(part): Words.whole(part) for part in (words[-1:], words[:-1], words)})
        return Reading(self.name, axes, maps, trace, answer, f"{given[-1]} → {answer}")

    def _items(self, split: str, distance: int, count: int) -> list[Item]:
        words = self.words
        view = recalls(split=split, distance=distance, pairs=self.pairs, keys=words, values=words, noise=words)
        return list(view[:count])

    def _check(self, row: object) -> Sequence[int]:
        """A row that the model can read."""
        if not isinstance(row, Sequence) or not all(type(each) is int for each in row):
            raise ValueError(f"{row!r:.80} is no list of ids; write [3, 1, 4]")
        if len(row) < (least := 2 * self.pairs + 1):
            raise ValueError(f"{list(row)} is too short; {self.pairs} pairs and a question are {least} ids at least")
        vocab = self.model.config.vocab
        if wrong := [each for each in row if not 0 <= each < vocab]:
            raise ValueError(f"{self.name} does not know the id {wrong[0]}; its ids go from 0 to {vocab - 1}")
        return row


def ask(model: nn.Module, ids: Int[Tensor, "b n"], lengths: Int[Tensor, " b"], pairs: int) -> Float[Tensor, "b v"]:
    """What a model says to the last word of each row, once it has read the words before."""
    inner = getattr(model, "module", model)  # of DDP
    answer: Tensor
    if isinstance(inner, TCN):
        answer = model(ids, lengths=lengths)
        return answer
    rows = torch.arange(len(ids), device=ids.device)
    question = ids[rows, lengths - 1, None]
    story = ids.index_put((rows, lengths - 1), ids.new_zeros(()))[:, :-1]
    if isinstance(inner, MemoryNetwork):
        # Each pair is a sentence, and so is each word of noise.
        pair, noise = story[:, : 2 * pairs].unflatten(1, (pairs, 2)), story[:, 2 * pairs :, None]
        answer = model(torch.cat((pair, F.pad(noise, (0, 1))), dim=1), question)
    else:
        # A model that writes begins with the question, and its first word is the answer.
        answer = model(story, question, lengths=lengths - 1)[:, 0]
    return answer


PIPELINE = Recall
