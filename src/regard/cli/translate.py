"""Translate texts, or lines that come in.

Every text is an argument; without any, lines are read from standard input and answered as they come, an empty line by
an empty line. A line that cannot be translated leaves an empty line too, and a message.

    regard translate "Ein Hund läuft durch den Schnee."          with the first model of the zoo
    regard translate --model runs/mine --to it --count 3 "..."   the three best into Italian
    regard translate --json < lines.txt                          for programs
"""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.models import Opened, Precision, opened

if TYPE_CHECKING:
    from regard.decode import Translation

GROUP = "Train and run"

TOGETHER = 32  # lines that are translated at once


@dataclass(frozen=True, slots=True)
class Flags:
    texts: Annotated[Positional[tuple[str, ...]], arg(metavar="TEXT")] = ()
    """What to translate; without it, standard input line by line."""
    model: str = ""
    """A name that `regard list zoo` shows, or a folder; the first of the zoo if left out."""
    to: str = ""
    """The language to write, for a model that writes several."""
    beam: int = 5
    """How many beginnings are followed; 1 is greedy."""
    count: int = 1
    """How many translations of each text."""
    length_penalty: float = 1.0
    """How much length is forgiven (Wu 2016); 0 likes translations short."""
    coverage: float = 0.0
    """How much words of the source that were not looked at count against a translation (Wu 2016)."""
    temperature: float | None = None
    """Draw words by chance; below 1 the likely become likelier."""
    top_k: int | None = None
    """Draw words by chance, among so many likeliest."""
    top_p: float | None = None
    """Draw words by chance, among the fewest that hold this share of it."""
    seed: int = 0
    """Another number, other draws."""
    precision: Precision = "float32"
    """The numbers to compute with."""
    json: bool = False
    """Print JSON, one text a line."""


def main(flags: Flags) -> None:
    """Translate what is given, or what comes in."""
    one = opened(flags.model, precision=flags.precision)
    wishes = _wishes(flags, one)
    texts: Iterator[str] = iter(flags.texts) if flags.texts else incoming(sys.stdin.buffer)
    typed = not flags.texts and sys.stdin.isatty()
    if typed:
        print("type a line to translate it; Ctrl-D ends", file=sys.stderr)
    failed = number = 0
    # Who types wants an answer to each line; a pipe is answered faster in groups.
    for some in grouped(texts, 1 if typed else TOGETHER):
        for text, found in zip(some, _each(one, some, wishes), strict=True):
            number += 1
            if isinstance(found, str):
                failed += 1
                print(f"regard: text {number} {found}", file=sys.stderr)
            print(_json(text, found) if flags.json else _plain(found, numbered=flags.count > 1), flush=True)
    if failed:
        raise SystemExit(f"{failed} of {number} texts could not be translated; the others were")


def incoming(stream: Iterable[bytes]) -> Iterator[str]:
    """Lines of UTF-8, one by one."""
    for number, raw in enumerate(stream, start=1):
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise SystemExit(
                f"line {number} of the input is not UTF-8: byte 0x{raw[error.start]:02x} at place {error.start}; all "
                f"before it is translated; mend the line, or convert the input"
            ) from None
        yield line.removesuffix("\n").removesuffix("\r")


def grouped(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Texts in groups; what came before a failure is given before the failure."""
    some: list[str] = []
    try:
        for text in texts:
            some.append(text)
            if len(some) == size:
                yield some
                some = []
    except SystemExit:
        if some:
            yield some
        raise
    if some:
        yield some


def _wishes(flags: Flags, one: Opened) -> dict[str, Any]:
    """How to translate, tried once on nothing so that a wrong wish is told before anything is read."""
    from torch import Generator

    from regard.decode import sampler

    drawn = {name: value for name in ("temperature", "top_k", "top_p") if (value := getattr(flags, name)) is not None}
    try:
        wishes: dict[str, Any] = {
            "to": one.told(flags.to),
            "beam": flags.beam,
            "count": flags.count,
            "length_penalty": flags.length_penalty,
            "coverage": flags.coverage,
            "choose": sampler(**drawn, generator=Generator().manual_seed(flags.seed)) if drawn else None,
        }
        one.translator.translate([], **wishes)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return wishes


def _each(one: Opened, texts: list[str], wishes: dict[str, Any]) -> list["list[Translation] | str"]:
    """The translations of each text, or why there are none."""
    try:
        return list(one.translator.translate(texts, **wishes))
    except ValueError as error:
        if len(texts) > 1:  # only the texts that are at fault go without
            return [found for text in texts for found in _each(one, [text], wishes)]
        return [str(error).removeprefix("text 0 ")]


def _plain(found: "list[Translation] | str", *, numbered: bool) -> str:
    if isinstance(found, str):
        return ""
    texts = [" ".join(each.text.split("\n")) for each in found]
    if not numbered:
        return texts[0]
    return "\n".join(f"{each.written.score:8.3f}  {text}" for each, text in zip(found, texts, strict=True))


def _json(text: str, found: "list[Translation] | str") -> str:
    said: dict[str, object] = {"source": text}
    if isinstance(found, str):
        said["error"] = found
    else:
        said["translations"] = [
            {
                "text": each.text,
                "score": each.written.score,
                "log_prob": each.written.log_prob,
                "finished": each.written.finished,
            }
            for each in found
        ]
    return json.dumps(said, ensure_ascii=False)
