"""From text to text: a model that writes, beside the tokenizer it learnt with."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from regard.attention import record
from regard.decode.beam import beam as search
from regard.decode.generate import Choice, argmax, generate
from regard.decode.hypothesis import Hypothesis, followed
from regard.decode.precision import Precision, quantize
from regard.hub import load
from regard.text import Tokenizer

Progress = Callable[[int, int], None]  # how many texts are done, and how many there are


@dataclass(frozen=True, slots=True, eq=False)
class Translation:
    """One way to say a text."""

    text: str
    source: tuple[int, ...]  # the ids that were read, with the stop
    written: Hypothesis
    weights: Mapping[str, Float[Tensor, "h n k"]]  # where asked for: what each word, and the stop, looked at


class Translator:
    """A model that writes, and the tokenizer it learnt with.

    A `multilingual` model writes several languages, and reads the code of the wanted one in front of the text.
    """

    def __init__(self, model: nn.Module, tokenizer: Tokenizer, *, limit: int = 512, multilingual: bool = False) -> None:
        """Texts of more than `limit` tokens are refused, since what a model has not learnt to hold it garbles."""
        self.model: Any = model
        self.tokenizer, self.limit, self.multilingual = tokenizer, limit, multilingual
        config: Any = model.config
        for vocab in (config.vocab, getattr(config, "target", None)):
            if vocab not in (None, tokenizer.vocab):
                raise ValueError(
                    f"a tokenizer of {tokenizer.vocab} entries is that of another model, since this one has {vocab}; "
                    f"give the tokenizer it learnt with"
                )

    @staticmethod
    def load(wanted: str | Path, *, precision: Precision = "float32") -> "Translator":
        """A translator by the name of a model that comes along, or from the folder of one."""
        stored = load(wanted)
        if not hasattr(stored.model, "cross_attentions"):
            raise ValueError(f"{stored.folder} is a model of the family {stored.family.name}, which does not translate")
        if stored.tokenizer is None:
            raise ValueError(f"{stored.folder} has no tokenizer, so it reads no text; give a folder that has one")
        model = stored.model if precision == "float32" else quantize(stored.model, precision)
        return Translator(model, stored.tokenizer, multilingual=bool(stored.card.get("multilingual")))

    def tag(self, to: str | None) -> str:
        """What is read in front of a text to be written in a language, by a model that writes several."""
        return f"[{to}] " if self.multilingual else ""

    @torch.no_grad()
    def translate(
        self,
        texts: Iterable[str],
        *,
        to: str | None = None,
        beam: int = 5,
        length_penalty: float = 1.0,
        coverage: float = 0.0,
        count: int = 1,
        choose: Choice | None = None,
        batch: int = 32,
        watch: bool = False,
        progress: Progress | None = None,
    ) -> list[list[Translation]]:
        """The `count` best translations of each text, best first; a `beam` of 1 is greedy, and `choose` draws instead.

        `length_penalty` and `coverage` rank what a beam finds (see `beam`); what was looked at is the mean of all heads
        that look at the source. With `watch`, each translation says what it looked at. Where there is nothing to read,
        nothing is run: a blank text has one empty translation. What is not drawn is written as if each text were alone.
        """
        sources = self._read(texts, to)
        _check(beam, count, batch, drawn=choose is not None)
        self._check_coverage(coverage, drawn=choose is not None)
        found = [[Translation("", (), Hypothesis((), 0.0, 0.0, True, ()), {})] for _ in sources]
        # Long ones first: texts of one length share a batch, and one too large for the machine fails at once.
        order = sorted((i for i, source in enumerate(sources) if source), key=lambda i: -len(sources[i]))
        done = len(sources) - len(order)
        with _evaluating(self.model):
            for start in range(0, len(order), batch):
                some = order[start : start + batch]
                written, looked = self._write(
                    [sources[i] for i in some],
                    beam=beam,
                    length_penalty=length_penalty,
                    coverage=coverage,
                    count=count,
                    choose=choose,
                    watch=watch,
                )
                for i, each in zip(some, written, strict=True):
                    found[i] = [self._translation(sources[i], one, looked) for one in each]
                done += len(some)
                if progress is not None:
                    progress(done, len(sources))
        return found

    def _read(self, texts: Iterable[str], to: str | None) -> list[list[int]]:
        """The ids of each text with their stop, or none where there is nothing to read."""
        if self.multilingual and not to:
            raise ValueError("this model writes several languages; say which one, as by to='de'")
        if not self.multilingual and to is not None:
            raise ValueError(f"this model writes one language and cannot be asked for {to!r}; leave `to` out")
        texts = texts if isinstance(texts, str) else list(texts)
        said = self.tokenizer.encode(texts)  # which refuses what is no text
        read = self.tokenizer.encode([f"{self.tag(to)}{text}" for text in texts], stop=True)
        sources = [source if ids and text.strip() else [] for text, ids, source in zip(texts, said, read, strict=True)]
        for number, source in enumerate(sources):
            if len(source) > self.limit:
                raise ValueError(
                    f"text {number} has {len(source)} tokens, and at most {self.limit} are read; "
                    f"translate it sentence by sentence, or give the Translator a higher limit"
                )
        return sources

    def _check_coverage(self, coverage: float, *, drawn: bool) -> None:
        if coverage < 0.0 or (coverage > 0.0 and drawn):
            raise ValueError(f"coverage {coverage} ranks what a beam finds; give 0 or more, and 0 where `choose` draws")
        if coverage > 0.0 and not self.model.cross_attentions:
            raise ValueError(
                f"coverage {coverage} counts what was looked at, and this model does not look at its source; leave it "
                f"out, or take a model with attention"
            )

    def _write(
        self,
        sources: list[list[int]],
        *,
        beam: int,
        length_penalty: float,
        coverage: float,
        count: int,
        choose: Choice | None,
        watch: bool,
    ) -> tuple[list[list[Hypothesis]], Mapping[str, list[Tensor]]]:
        """What is written for each source, and what each row looked at in each step."""
        drawn = 1 if choose is None else count
        sources = [source for source in sources for _ in range(drawn)]
        device = next(self.model.parameters()).device
        lengths = torch.tensor([len(source) for source in sources], device=device)
        pad, first_id, stop = (self.tokenizer.special(role) for role in ("pad", "start", "stop"))
        padded = pad_sequence([torch.tensor(source) for source in sources], batch_first=True, padding_value=pad)
        state, first = self.model.start(padded.to(device), lengths=lengths), torch.full_like(lengths, first_id)
        limit = [2 * len(source) + 10 for source in sources]
        watched = _Watched(self.model) if watch or coverage > 0.0 else None
        step = self.model.step if watched is None else watched.step
        if choose is None and beam > 1:
            written = search(
                step,
                state,
                first,
                stop=stop,
                limit=limit,
                size=beam,
                length_penalty=length_penalty,
                count=count,
                coverage=coverage,
                seen=None if watched is None else watched.seen,
            )
        else:
            each = generate(step, state, first, stop=stop, limit=limit, choose=choose or argmax)
            written = [each[i : i + drawn] for i in range(0, len(each), drawn)]
        return written, watched.weights if watch and watched is not None else {}

    def _translation(self, source: list[int], written: Hypothesis, looked: Mapping[str, list[Tensor]]) -> Translation:
        weights = {name: followed(steps, written)[..., : len(source)] for name, steps in looked.items()}
        return Translation(self.tokenizer.decode(written.words), tuple(source), written, weights)


class _Watched:
    """A model whose steps leave behind what they looked at in the source.

    Weights are read after each step, since they are smaller than the keys they come from.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.cross_attentions = nn.ModuleList(model.get_submodule(name) for name in model.cross_attentions)
        self.weights: dict[str, list[Tensor]] = {name: [] for name in model.cross_attentions}
        self.real: Tensor | None = None  # where each row has words to look at, and not padding

    def step(self, words: Int[Tensor, "b n"], state: Any) -> tuple[Float[Tensor, "b n v"], Any]:
        with record(self.cross_attentions) as trace:
            logits, state = self.model.step(words, state)
        for name, steps in zip(trace, self.weights.values(), strict=True):
            steps.append(trace.weights(name))
            self.real = cast(Tensor, trace[name][0].visible)[:, 0, 0]
        return logits, state

    def seen(self) -> Float[Tensor, "r k"]:
        """How much the last step looked at each word of the source, all heads and layers alike."""
        last = torch.stack([steps[-1][:, :, 0].mean(dim=1) for steps in self.weights.values()]).mean(dim=0)
        return last if self.real is None else last.masked_fill(~self.real, 1.0)


def _check(beam: int, count: int, batch: int, *, drawn: bool) -> None:
    if beam < 1:
        raise ValueError(f"a beam of {beam} finds nothing; give 1 for the likeliest word each time, or more")
    if count < 1 or (count > beam and not drawn):
        raise ValueError(f"a beam of {beam} cannot give {count} translations; ask for 1 to {beam}, or widen the beam")
    if batch < 1:
        raise ValueError(f"batches of {batch} texts hold nothing; give 1 or more")


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    """Without dropout while the scope lasts; the parts that were learning go on afterwards, and no others."""
    learning = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in learning:
            module.training = True
