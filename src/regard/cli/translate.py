"""Translate texts, or lines that come in.

Every text is an argument; without any, lines are read from standard input and answered as they come, an empty line by
an empty line. A line that cannot be translated leaves an empty line too, and a message.

    regard translate "Ein Hund läuft durch den Schnee."          with the default model
    regard translate --model runs/mine --to it --count 3 "..."   the three best into Italian
    regard translate --json < lines.txt                          for programs
"""

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.lines import answer_lines
from regard.cli.load import load_model
from regard.names import Dtype

if TYPE_CHECKING:
    from regard.pipelines.sequence import Written

GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class Flags:
    texts: Annotated[Positional[tuple[str, ...]], arg(metavar="TEXT")] = ()
    """What to translate; without it, standard input line by line."""
    model: str = ""
    """A name that `regard list zoo` shows, a folder, or hub:owner/name; the default translator if left out."""
    to: str = ""
    """Target language, for a model that writes several."""
    beam: int = 5
    """Beam size: how many hypotheses are followed; 1 is greedy."""
    count: int = 1
    """How many translations of each text (n-best)."""
    length_penalty: float = 1.0
    """Length penalty (Wu 2016): 0 ranks by probability alone, which likes translations short."""
    coverage: float = 0.0
    """Coverage penalty (Wu 2016): how much source words that were not looked at count against a translation."""
    temperature: float | None = None
    """Sample with this temperature instead of searching; below 1 the likely become likelier."""
    top_k: int | None = None
    """Top-k sampling: draw among so many likeliest words."""
    top_p: float | None = None
    """Nucleus (top-p) sampling: draw among the fewest words that hold this much probability."""
    seed: int = 0
    """Random seed of sampling."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one text a line."""


def main(flags: Flags) -> None:
    """Translate what is given, or what comes in."""
    translate: Any = load_model(flags.model, task="translate", dtype=flags.dtype)
    options = _options(flags)
    try:
        translate([], **options)  # a wrong option is told before anything is read
        translate.prefix(options["to"])
    except ValueError as error:
        raise UsageError(str(error)) from None
    failed, number = 0, 0
    for text, found in answer_lines(flags.texts, lambda texts: translate(texts, **options)):
        number += 1
        if isinstance(found, str):
            failed += 1
            print(f"regard: text {number} {found}", file=sys.stderr)
        print(_json(text, found) if flags.json else _plain(found, flags.count), flush=True)
    if failed:
        raise SystemExit(f"{failed} of {number} texts could not be translated; the others were")


def _options(flags: Flags) -> dict[str, Any]:
    from torch import Generator

    from regard.decode import sampler

    drawn = {name: value for name in ("temperature", "top_k", "top_p") if (value := getattr(flags, name)) is not None}
    try:
        choose = sampler(**drawn, generator=Generator().manual_seed(flags.seed)) if drawn else None
    except ValueError as error:
        raise UsageError(str(error)) from None
    return {
        "to": flags.to or None,
        "beam": flags.beam,
        "count": flags.count,
        "length_penalty": flags.length_penalty,
        "coverage": flags.coverage,
        "sampler": choose,
    }


def _plain(found: "Written | str", count: int) -> str:
    if isinstance(found, str):
        return ""
    if count == 1:
        return " ".join(found.text.split("\n"))
    every = (found, *found.alternatives)
    return "\n".join(f"{each.hypothesis.score:8.3f}  {' '.join(each.text.split(chr(10)))}" for each in every)


def _json(text: str, found: "Written | str") -> str:
    if isinstance(found, str):
        return json.dumps({"source": text, "error": found}, ensure_ascii=False)
    facts = [
        {
            "text": each.text,
            "score": each.hypothesis.score,
            "log_prob": each.hypothesis.log_prob,
            "finished": each.hypothesis.finished,
        }
        for each in (found, *found.alternatives)
    ]
    return json.dumps({"source": text, "translations": facts}, ensure_ascii=False)
