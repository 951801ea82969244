"""Generate: a text in, and how it goes on out.

generate = regard.load("runs/language-0")
generate(["To be, or not"], max_new_tokens=40, temperature=0.8, top_p=0.9, seed=1)[0].text
for piece in generate.stream("To be, or not"):
    print(piece, end="", flush=True)
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from regard.analysis.reading import Map, Reading, read_layer
from regard.attention import record
from regard.data.text import text as read_text
from regard.decode.forcing import evaluating
from regard.decode.wishes import Wishes
from regard.hub import Checkpoint
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.perplexity import read_lines, read_stream
from regard.pipelines.pipeline import Edits, Evaluation, Pipeline
from regard.pipelines.prompts import Prompt, Prompts
from regard.pipelines.writer import Generated, Writer
from regard.progress import Progress
from regard.text import Words

LONGEST = 2048  # tokens of a window in which a text is measured, unless another context is asked for


@dataclass(frozen=True, slots=True)
class Guess:
    """A word that may come next."""

    text: str
    id: int
    probability: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a model wrote behind a text, and for every place of both its likeliest next words."""

    text: str
    guesses: tuple[tuple[Guess, ...], ...]


class Generate(Pipeline):
    """A language model: it reads a prompt and goes on with it, word by word."""

    task, takes, gives = "generate", "text", "text"

    def __init__(self, checkpoint: Checkpoint, *, limit: int | None = None) -> None:
        """A text may be as long as the context of the model, 512 where it states none, and no longer than `limit`."""
        super().__init__(checkpoint, limit=limit or 512)
        if not hasattr(self.model, "advance"):
            kind = type(self.model).__name__
            raise ValueError(f"{self.name} is a {kind}, which does not go on with a text; load it as another task")
        context = getattr(self.model.config, "context", None) or self.limit
        self.limit = context if limit is None else min(context, limit)
        self.prompts = Prompts(checkpoint, self.limit)
        vocab = self.model.config.vocab
        if self.tokenizer is not None and self.tokenizer.vocab > vocab:
            raise ValueError(
                f"a tokenizer of {self.tokenizer.vocab} entries is that of another model, since this one has "
                f"{vocab}; give the tokenizer it was trained with"
            )
        self.vocab: int = vocab if self.tokenizer is None else self.tokenizer.vocab
        self.writer = Writer(self.model, self.prompts, vocab=self.vocab, context=self.limit)

    @answer_familiar
    def __call__(
        self,
        inputs: Sequence[Prompt],
        *,
        max_new_tokens: int = 64,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        min_p: float | None = None,
        repetition_penalty: float = 1.0,
        stop: str | Sequence[str] = (),
        seed: int = 0,
        count: int = 1,
        beam: int = 1,
        length_penalty: float = 1.0,
        chat: bool = False,
        system: str = "",
        batch: int = 16,
        progress: Progress | None = None,
    ) -> list[Generated]:
        """How each prompt goes on: by the likeliest words, or by words that are drawn where anything says how.

        A prompt is a text or a list of ids; with `chat` it is what the user says, or a list of messages. A row ends by
        the model's stop, by a `stop` string, after `max_new_tokens`, or where the context is full. The same `seed`
        draws the same words for a prompt, whatever else is in the batch; `count` draws several, which are the
        `alternatives` of the first.
        """
        wishes = Wishes(
            max_new_tokens=max_new_tokens,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            min_p=min_p,
            repetition_penalty=repetition_penalty,
            stop=stop,
            seed=seed,
            count=count,
            beam=beam,
            length_penalty=length_penalty,
        )
        ids = self.prompts.encode([inputs] if isinstance(inputs, str) else inputs, talk=chat, system=system)
        return self.writer.write(ids, wishes, batch=batch, progress=progress)

    @answer_familiar
    def stream(
        self,
        prompt: Prompt,
        *,
        max_new_tokens: int = 64,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        min_p: float | None = None,
        repetition_penalty: float = 1.0,
        stop: str | Sequence[str] = (),
        seed: int = 0,
        chat: bool = False,
        system: str = "",
    ) -> Iterator[str]:
        """How one prompt goes on, piece by piece while it is written; a piece is one or more whole characters."""
        wishes = Wishes(
            max_new_tokens=max_new_tokens,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            min_p=min_p,
            repetition_penalty=repetition_penalty,
            stop=stop,
            seed=seed,
        )
        (ids,) = self.prompts.encode([prompt], talk=chat, system=system)
        return self.writer.stream(ids, wishes)

    @answer_familiar
    def evaluate(
        self,
        data: str,
        *,
        split: str = "",
        limit: int = 0,
        context: int = 0,
        stride: int = 0,
        progress: Progress | None = None,
    ) -> Evaluation:
        """Perplexity, bits per byte and per character, with intervals, on a named set of text or on your own.

        A text is read as one stream, in windows of `context` tokens (the model's, up to 2048) that begin `stride`
        tokens apart (half of them), or line by line by a model that was trained so. `limit` takes its first characters,
        or lines.
        """
        if self.tokenizer is None:
            raise ValueError(f"{self.name} has no tokenizer to read a text with; give one by tokenizer=")
        split, context = split or "test", context or min(self.limit, LONGEST)
        if not 1 <= context <= self.limit:
            raise ValueError(f"a context of {context} tokens is not the model's; give 1 to {self.limit}")
        stride = stride or max(1, context // 2)
        text, began = read_text(data, split), time.perf_counter()
        with evaluating(self.model):
            if self.prompts.lines:
                lines = [line for line in text.split("\n") if line.strip()][: limit or None]
                settings = {"context": context, "rows": "lines"}
                count, named = read_lines(self.model, self.tokenizer, lines, context=context, progress=progress)
            else:
                settings = {"context": context, "stride": stride}
                count, named = read_stream(
                    self.model,
                    self.tokenizer,
                    text[: limit or None],
                    context=context,
                    stride=stride,
                    progress=progress,
                )
        return Evaluation(self.name, data, split, count, time.perf_counter() - began, named, settings)

    @answer_familiar
    @torch.no_grad()
    def attend(
        self,
        given: Prompt,
        *,
        edits: Edits | None = None,
        max_new_tokens: int = 0,
        guesses: int = 5,
        chat: bool = False,
        system: str = "",
    ) -> Reading:
        """What each word looks at, in a text and in what is written behind it, and what is guessed at every place."""
        (ids,), text = self.prompts.encode([given], talk=chat, system=system), ""
        with evaluating(self.model):
            if max_new_tokens:
                with record(self.model, edits=edits):
                    (written,) = self.writer.write([ids], Wishes(max_new_tokens=max_new_tokens))
                ids, text = [*ids, *written.ids][: self.limit], written.text
            with record(self.model, edits=edits) as trace:
                logits = self.model(torch.tensor([ids], device=self.device))[0, :, : self.vocab]
        found = logits.float().softmax(dim=-1).topk(min(guesses, self.vocab), dim=-1)
        best = tuple(
            tuple(Guess(self._label(i), i, chance) for i, chance in zip(row, chances, strict=True))
            for row, chances in zip(found.indices.tolist(), found.values.tolist(), strict=True)
        )
        words = Words.whole(list(map(str, ids))) if self.tokenizer is None else self.tokenizer.words(ids)
        maps = tuple(
            Map(name, "causal", read_layer(name), trace[name][0].q.shape[1], "words", "words", "decoder")
            for name in trace
        )
        caption = f"“{given}”" + (f" → “{text}”" if text else "")
        return Reading(self.name, {"words": words}, maps, trace, Forecast(text, best), caption)

    def _label(self, i: int) -> str:
        return str(i) if self.tokenizer is None else self.tokenizer.words([i]).pieces[0]


PIPELINE = Generate
