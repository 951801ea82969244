"""Translate texts, or lines that come in.

Every text is an argument; without any, lines are read from standard input and answered as they come, an empty line by
an empty line. A line that cannot be translated leaves an empty line too, and a message.

    regard translate "Ein Hund läuft durch den Schnee."          with the default model
    regard translate --model runs/mine --to it --count 3 "..."   the three best into Italian
    regard translate --json < lines.txt                          for programs
"""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.lines import Failure, print_answers
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
    options = _options(flags, translate)
    print_answers(
        flags.texts,
        lambda texts: translate(texts, **options),
        lambda text, found: _json(text, found) if flags.json else _plain(found, flags.count),
    )


def _options(flags: Flags, translate: Any) -> dict[str, Any]:
    """The options as the pipeline takes them; a wrong one is told before anything is read."""
    from torch import Generator

    from regard.decode import sampler
    from regard.decode.search import check

    if not 0 <= flags.seed < 2**63:
        raise UsageError(f"seed is {flags.seed}; give 0 to {2**63 - 1}")
    drawn = {name: value for name in ("temperature", "top_k", "top_p") if (value := getattr(flags, name)) is not None}
    to = flags.to or None
    try:
        choose = sampler(**drawn, generator=Generator().manual_seed(flags.seed)) if drawn else None
        check(translate.model, beam=flags.beam, count=flags.count, coverage=flags.coverage, drawn=bool(drawn))
        translate.prefix(to)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return {
        "to": to,
        "beam": flags.beam,
        "count": flags.count,
        "length_penalty": flags.length_penalty,
        "coverage": flags.coverage,
        "sampler": choose,
    }


def _plain(found: "Written | Failure", count: int) -> str:
    if isinstance(found, Failure):
        return ""
    if count == 1:
        return " ".join(found.text.split("\n"))
    every = (found, *found.alternatives)
    return "\n".join(f"{each.hypothesis.score:8.3f}  {' '.join(each.text.split(chr(10)))}" for each in every)


def _json(text: str, found: "Written | Failure") -> str:
    if isinstance(found, Failure):
        return json.dumps({"source": text, "error": found.reason}, ensure_ascii=False)
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
