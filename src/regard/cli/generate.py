"""Go on with texts, or with lines that come in.

A text that is given as an argument is gone on with before your eyes, word by word. Without any, lines are read from
standard input and answered by a line each, in which line breaks are spaces; --json keeps them.

    regard generate "ROMEO:"                                 by a small GPT that has read Shakespeare
    regard generate --temperature 0.8 --top-p 0.9 --seed 7 --max-new-tokens 200 "Once upon a time"
    regard generate --model hub:HuggingFaceTB/SmolLM2-135M-Instruct --chat "What is the capital of France?"
    regard generate --json --stop "." < beginnings.txt           for programs
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, UseAppendAction, arg

from regard.cli.errors import UsageError
from regard.cli.lines import Failure, print_answers, refusal
from regard.cli.load import load_model
from regard.names import Dtype

if TYPE_CHECKING:
    from regard.pipelines.writer import Generated

GROUP = "Train and run"

# What may be wished of a text, as the pipeline calls it too.
WISHES = ("max_new_tokens", "temperature", "top_k", "top_p", "min_p", "repetition_penalty", "stop", "seed")


@dataclass(frozen=True, slots=True)
class Flags:
    texts: Annotated[Positional[tuple[str, ...]], arg(metavar="TEXT")] = ()
    """What to go on with; without it, standard input line by line."""
    model: str = ""
    """A name that `regard list zoo` shows, a folder, or hub:owner/name; the default language model if left out."""
    max_new_tokens: int = 64
    """How many tokens to write at most."""
    temperature: float | None = None
    """Sample with this temperature instead of taking the likeliest words; below 1 the likely become likelier."""
    top_k: int | None = None
    """Top-k sampling: draw among so many likeliest words."""
    top_p: float | None = None
    """Nucleus (top-p) sampling: draw among the fewest words that hold this much probability."""
    min_p: float | None = None
    """Min-p sampling: draw among words with at least this share of the likeliest word's probability."""
    repetition_penalty: float = 1.0
    """Repetition penalty (Keskar 2019): how much less likely words become that were read or written before."""
    stop: UseAppendAction[tuple[str, ...]] = ()
    """A string that ends the text, and is not shown; may be given several times."""
    seed: int = 0
    """Random seed of sampling; the same text is drawn the same words, whatever else is asked for."""
    count: int = 1
    """How many texts to draw for each, or of the beam."""
    beam: int = 1
    """Beam size: how many hypotheses are followed; 1 is greedy."""
    length_penalty: float = 1.0
    """Length penalty of the beam (Wu 2016): 0 ranks by probability alone, which likes texts short."""
    chat: bool = False
    """Ask as in a chat: texts are put into the model's chat template."""
    system: str = ""
    """System prompt of a chat."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one text a line."""


def main(flags: Flags) -> None:
    """Go on with what is given, or with what comes in."""
    generate: Any = load_model(flags.model, task="generate", dtype=flags.dtype)
    wishes = _check(flags, generate)
    talk = {"chat": flags.chat, "system": flags.system}
    ranks = {"count": flags.count, "beam": flags.beam, "length_penalty": flags.length_penalty}
    if flags.texts and not flags.json and flags.count == flags.beam == 1:
        _show(flags.texts, lambda text: generate.stream(text, **wishes, **talk))
        return
    print_answers(
        flags.texts,
        lambda texts: generate(texts, **wishes, **talk, **ranks),
        lambda text, found: _json(text, found) if flags.json else _plain(found, one_line=not flags.texts),
    )


def _check(flags: Flags, generate: Any) -> dict[str, Any]:
    """The wishes as the pipeline takes them; a wrong one is told before anything is read."""
    from regard.decode.wishes import Wishes

    wishes = {name: getattr(flags, name) for name in WISHES}
    try:
        Wishes(**wishes, count=flags.count, beam=flags.beam, length_penalty=flags.length_penalty)
        if flags.chat:
            generate.prompts.template()
        elif flags.system:
            raise UsageError("--system is part of a chat; say --chat too, or put it into the text")
    except ValueError as error:
        raise UsageError(str(error)) from None
    return wishes


def _show(texts: tuple[str, ...], stream: Any) -> None:
    """Print each text while it is written; one that cannot be read is told, and the others follow."""
    from regard.pipelines import TooLongError

    failed = 0
    for number, text in enumerate(texts, start=1):
        reason = getattr(refusal(text), "reason", "")
        try:
            pieces: Iterator[str] = iter(()) if reason else stream(text)
        except ValueError as error:
            reason = error.reason if isinstance(error, TooLongError) else f"cannot be answered: {error}"
            pieces = iter(())
        for piece in pieces:
            sys.stdout.write(piece)
            sys.stdout.flush()
        print(flush=True)
        if reason:
            failed += 1
            print(f"regard: text {number} {reason}", file=sys.stderr)
    if failed:
        others = "; the others were" if failed < len(texts) else ""
        raise SystemExit(f"{failed} of {len(texts)} texts could not be answered{others}")


def _plain(found: "Generated | Failure", *, one_line: bool) -> str:
    if isinstance(found, Failure):
        return ""
    every = [each.text for each in (found, *found.alternatives)]
    return "\n".join(" ".join(text.split("\n")) if one_line else text for text in every)


def _json(text: str, found: "Generated | Failure") -> str:
    if isinstance(found, Failure):
        return json.dumps({"prompt": text, "error": found.reason}, ensure_ascii=False)
    facts = [
        {"text": each.text, "log_prob": each.log_prob, "tokens": len(each.ids), "finished": each.finished}
        for each in (found, *found.alternatives)
    ]
    others = {"alternatives": facts[1:]} if len(facts) > 1 else {}
    return json.dumps({"prompt": text, **facts[0], **others}, ensure_ascii=False)
