"""From rows of ids to the rows that a model writes for them: batches, then beam search, greedy decoding or sampling."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import record
from regard.decode.batching import by_length, pad_rows
from regard.decode.beam import beam as beam_search
from regard.decode.forcing import evaluating
from regard.decode.generate import Choice, argmax, generate
from regard.decode.hypothesis import Hypothesis, Step
from regard.progress import Progress


@torch.no_grad()
def search(
    model: Any,
    sources: Sequence[Sequence[int]],
    *,
    start: int,
    stop: int,
    pad: int = 0,
    limit: Callable[[int], int] = lambda length: 2 * length + 10,
    beam: int = 1,
    count: int = 1,
    length_penalty: float = 1.0,
    coverage: float = 0.0,
    sampler: Choice | None = None,
    forbidden: Sequence[int] = (),
    batch: int = 32,
    progress: Progress | None = None,
) -> list[list[Hypothesis]]:
    """The `count` best hypotheses for each source, best first; a `beam` of 1 is greedy, and a `sampler` draws instead.

    `limit` gives the most ids to write for a source of some length. What is not drawn is written as if each source
    were alone. An empty source has one empty hypothesis, and the model is not run. `forbidden` ids are never written.
    """
    check(model, beam=beam, count=count, batch=batch, coverage=coverage, drawn=sampler is not None)
    found: list[list[Hypothesis]] = [[Hypothesis((), 0.0, 0.0, True, ())] for _ in sources]
    real = [row for row, source in enumerate(sources) if source]
    done = len(sources) - len(real)
    step = _forbid(model.step, forbidden) if forbidden else model.step
    with evaluating(model):
        for group in by_length([len(sources[row]) for row in real], rows=batch):
            rows = [real[place] for place in group]
            each = 1 if sampler is None else count
            some = [sources[row] for row in rows for _ in range(each)]
            ids, lengths = pad_rows(some, pad, next(model.parameters()).device)
            state, first = model.start(ids, lengths=lengths), torch.full_like(lengths, start)
            limits = [limit(len(source)) for source in some]
            if sampler is None and beam > 1:
                seen = _Coverage(model, step) if coverage > 0.0 else None
                written = beam_search(
                    step if seen is None else seen.step,
                    state,
                    first,
                    stop=stop,
                    limit=limits,
                    size=beam,
                    length_penalty=length_penalty,
                    count=count,
                    coverage=coverage,
                    seen=None if seen is None else seen.last,
                )
            else:
                drawn = generate(step, state, first, stop=stop, limit=limits, choose=sampler or argmax)
                written = [drawn[i : i + each] for i in range(0, len(drawn), each)]
            for row, hypotheses in zip(rows, written, strict=True):
                found[row] = hypotheses
            done += len(rows)
            if progress is not None:
                progress(done / len(sources))
    return found


def check(model: Any, *, beam: int, count: int, batch: int = 1, coverage: float = 0.0, drawn: bool = False) -> None:
    """Refuse a search that cannot be made."""
    if beam < 1:
        raise ValueError(f"a beam of {beam} finds nothing; give 1 for the likeliest word each time, or more")
    if count < 1 or (count > beam and not drawn):
        raise ValueError(f"a beam of {beam} cannot give {count} translations; ask for 1 to {beam}, or widen the beam")
    if batch < 1:
        raise ValueError(f"batches of {batch} texts hold nothing; give 1 or more")
    if coverage < 0.0 or (coverage > 0.0 and drawn):
        raise ValueError(f"coverage {coverage} ranks what a beam finds; give 0 or more, and 0 where words are drawn")
    if coverage > 0.0 and not model.cross_attentions:
        raise ValueError(
            f"coverage {coverage} counts what was looked at, and this model does not look at its source; leave it "
            f"out, or take a model with attention"
        )


def _forbid(step: Step, forbidden: Sequence[int]) -> Step:
    """A step whose forbidden ids have no probability."""

    def forbidding(words: Int[Tensor, "b n"], state: Any) -> tuple[Float[Tensor, "b n v"], Any]:
        logits, state = step(words, state)
        return logits.index_fill(-1, torch.tensor(list(forbidden), device=logits.device), -torch.inf), state

    return forbidding


class _Coverage:
    """A model whose steps leave behind how much they looked at each word of the source."""

    def __init__(self, model: Any, step: Step) -> None:
        self.inner = step
        self.watched = nn.ModuleList(model.get_submodule(name) for name in model.cross_attentions)
        self.weights: Tensor | None = None

    def step(self, words: Int[Tensor, "b n"], state: Any) -> tuple[Float[Tensor, "b n v"], Any]:
        with record(self.watched) as trace:
            logits, state = self.inner(words, state)
        heads = torch.stack([trace.weights(name)[:, :, 0].mean(dim=1) for name in trace])
        real = cast(Tensor | None, trace[next(iter(trace))][0].visible)  # padding counts as seen
        self.weights = heads.mean(dim=0) if real is None else heads.mean(dim=0).masked_fill(~real[:, 0, 0], 1.0)
        return logits, state

    def last(self) -> Float[Tensor, "r k"]:
        """Of the last step, all heads and layers alike."""
        assert self.weights is not None
        return self.weights
