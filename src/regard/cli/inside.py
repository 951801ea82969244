"""What `regard look` shows beside attention: a logit lens, activation patching, and heads that have a name."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

from regard.cli.errors import UsageError

if TYPE_CHECKING:
    from regard.analysis.cells import Cells
    from regard.pipelines import Pipeline

TOKENS = ("target", "decoder_input_ids", "ids", "input_ids")  # the places that an answer is about, the first found

Part = Literal["stream", "attention", "mlp", "heads"]
Shown = tuple[dict[str, Any], "list[Cells]", str]  # for JSON, for a picture, and what it is about


def show_lens(pipeline: "Pipeline", text: str, options: dict[str, Any]) -> Shown:
    """What the model would say after each of its layers."""
    from regard.analysis.cells import lens_cells
    from regard.analysis.lens import lens

    words, inputs = _Words(pipeline), read_inputs(pipeline, text, options)
    with _usage():
        found = lens(pipeline.model, inputs)
    places = words.pieces(_ids(inputs))
    guesses = [words.pieces(line) for line in found.guesses.tolist()]
    numbers = ("chances", "answers", "entropies")
    facts = {"layers": found.layers, "places": places, "guesses": guesses}
    facts |= {name: getattr(found, name).round(5).tolist() for name in numbers}
    caption = f"“{text}” · each cell is what the model would say next if it ended after that layer; darker is likelier"
    return facts, lens_cells(found, places, guesses), caption


def show_patch(pipeline: "Pipeline", clean: str, corrupt: str, answers: tuple[str, str], part: Part) -> Shown:
    """Which states of the clean prompt bring its answer back in the corrupted one."""
    from regard.analysis.cells import patch_cells
    from regard.analysis.patching import patch

    words = _Words(pipeline)
    good, bad = (read_inputs(pipeline, text, {}) for text in (clean, corrupt))
    ids = _ids(good)
    place = ids.index(words.mask) if words.mask in ids else -1
    with _usage():
        answer, wrong = (words.find(each) for each in answers)
        found = patch(pipeline.model, good, bad, answer=answer, wrong=wrong, part=part, place=place)
    places = words.pieces(ids)
    columns = list(range(found.restored.shape[1])) if part == "heads" else places
    facts = {"part": part, "layers": found.layers, "columns": columns, "restored": found.restored.round(5).tolist()}
    facts |= {"clean": round(found.clean, 5), "corrupt": round(found.corrupt, 5)}
    caption = (
        f"“{clean}” into “{corrupt}”: percent of the logit of {answers[0]!r} over {answers[1]!r} that comes back, "
        f"{found.corrupt:.2f} to {found.clean:.2f}"
    )
    return facts, patch_cells(found, places), caption


def show_heads(pipeline: "Pipeline") -> Shown:
    """Previous-token, duplicate-token and induction heads."""
    import numpy as np
    import torch

    from regard.analysis.anatomy import vocab_of
    from regard.analysis.cells import head_cells
    from regard.analysis.detectors import KINDS, detect

    words = _Words(pipeline)
    vocab = vocab_of(pipeline.model) or len(words)
    known = torch.tensor([i for i in range(vocab) if i not in words.specials])
    context = getattr(getattr(pipeline.model, "config", None), "context", None) or 64
    with _usage():
        found = detect(pipeline.model, words=known, start=words.start, length=max(3, min(25, (context - 1) // 2)))

    def plain(numbers: Any) -> Any:
        found = numbers.astype(float).round(5).astype(object)
        found[np.isnan(numbers)] = None  # JSON has no NaN
        return found.tolist()

    facts: dict[str, Any] = {"attentions": found.attentions}
    facts["scores"] = {kind: plain(found.scores[kind]) for kind in KINDS}
    facts["chance"] = {kind: plain(found.chance[kind]) for kind in KINDS}
    facts["found"] = {kind: [list(one[:2]) for one in found.found(kind)] for kind in KINDS}
    caption = "percent of each head's attention at the place that the name says, on random words said twice"
    return facts, head_cells(found), caption


def read_inputs(pipeline: "Pipeline", text: str, options: dict[str, Any]) -> dict[str, Any]:
    """The arguments that the model is given for a text, caught while its pipeline looks at it."""
    import torch

    from regard.analysis.anatomy import feed
    from regard.cli.run import read_input
    from regard.pipelines import TooLongError

    model: Any = pipeline.model
    if pipeline.task == "generate":  # what it would write is not what is looked at
        prompts: Any = getattr(pipeline, "prompts")  # noqa: B009 - no other task has them
        with _usage():
            return dict(feed(model, torch.tensor(prompts.encode([text]), device=pipeline.device)))
    caught, read = list[dict[str, Any]](), list[Any]()

    def catch(_: object, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        given = signature(model.forward).bind(*args, **named).arguments
        caught.append({name: value for name, value in given.items() if value is not None})

    handles = [model.register_forward_pre_hook(catch, with_kwargs=True)]
    if hasattr(model, "embed"):  # a pipeline that needs the states alone does not call the model itself
        handles.append(model.embed.register_forward_pre_hook(lambda _, args: read.append(args[0])))
    try:
        pipeline.attend(read_input(pipeline, text), **options)
    except TooLongError as error:
        raise SystemExit(f"the text {error.reason}") from None
    except ValueError as error:
        raise SystemExit(str(error)) from None
    finally:
        for handle in handles:
            handle.remove()
    if not caught and not read:
        raise UsageError(f"{pipeline.name} was not seen to read a text, so that there is no run to look into")
    return caught[-1] if caught else dict(feed(model, read[-1]))


def draw(tables: "Sequence[Cells]", caption: str) -> None:
    """Tables of words in the terminal, coloured, and cut into as many columns as it is wide."""
    from rich.console import Console
    from rich.style import Style
    from rich.text import Text

    from regard.analysis.paint import NIGHT, colour, short

    console = Console(highlight=False)
    for table in tables:
        if table.name:
            console.print(table.name, markup=False)
        label = max(map(len, table.rows)) + 1
        lines = [[short(word, 10) for word in line] for line in (table.columns, *table.words)]
        wide = max(len(word) for line in lines for word in line) + 1
        fit = max(1, (console.width - label) // wide)
        for first in range(0, len(table.columns), fit):
            some = slice(first, first + fit)
            drawn = Text(" " * label + "".join(f"{word:>{wide}}" for word in lines[0][some]), "dim", no_wrap=True)
            for row, words, values in zip(table.rows, lines[1:], table.values, strict=True):
                drawn.append(f"\n{row:>{label - 1}} ", Style(dim=False))
                for word, value in zip(words[some], values[some].tolist(), strict=True):
                    share = min(max(value, 0.0), 1.0) ** 0.7 if word else 0.0
                    ink = Style(color="#1b1f32" if share > 0.6 else "#dfe5ee", bgcolor=colour(NIGHT, share), dim=False)
                    drawn.append(f"{word:>{wide}}", ink)
            console.print(drawn, soft_wrap=True)
    console.print(caption, markup=False)


class _Words:
    """The words of a model's tokenizer, ours or that of `transformers`."""

    def __init__(self, pipeline: "Pipeline") -> None:
        self.inner = tokenizer = pipeline.tokenizer
        self.theirs = hasattr(tokenizer, "convert_ids_to_tokens")
        if tokenizer is None:
            self.mask, self.start, self.specials = None, None, frozenset[int]()
        elif self.theirs:
            self.mask, self.start = tokenizer.mask_token_id, tokenizer.bos_token_id or tokenizer.cls_token_id
            self.specials = frozenset(tokenizer.all_special_ids)
        else:
            # A start is put in front where the tokenizer itself does so.
            (blank,) = tokenizer.encode(["a"])
            self.mask, self.specials = tokenizer.mask, tokenizer.specials
            self.start = blank[0] if blank and blank[0] in self.specials else None

    def __len__(self) -> int:
        return 0 if self.inner is None else len(self.inner) if self.theirs else int(self.inner.vocab)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """What each id says by itself; ids that no word has are numbered."""
        return [self._piece(i) if i < len(self) else f"[{i}]" for i in ids]

    def _piece(self, i: int) -> str:
        found = str(self.inner.convert_ids_to_tokens([i])[0]) if self.theirs else self.inner.words([i]).pieces[0]
        return found.replace("\n", "⏎").replace("Ġ", " ").replace("▁", " ").strip() or "␣"

    def find(self, text: str) -> int:
        """The id of a word that is a single token."""
        if self.inner is None:
            raise ValueError("the model has no tokenizer to find an answer by; look at one that reads texts")
        if self.theirs:
            ids = list(self.inner(text, add_special_tokens=False).input_ids)
        else:
            (ids,) = self.inner.encode([text], start=False, stop=False)
        if len(ids) != 1:
            raise ValueError(
                f"the answer {text!r} is {len(ids)} tokens ({', '.join(self.pieces(ids))}); give a word that is one, "
                f"with its space in front where the model reads words so"
            )
        return int(ids[0])


def _ids(inputs: dict[str, Any]) -> list[int]:
    found: list[int] = next(inputs[name] for name in TOKENS if name in inputs)[0].tolist()
    return found


@contextmanager
def _usage() -> Iterator[None]:
    """What analysis refuses is the command's fault."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from None
