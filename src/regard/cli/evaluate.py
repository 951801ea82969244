"""Measure how well a model translates, on a named set or on your own files.

BLEU and chrF come with the signatures to cite them by, cased and lower-cased; intervals hold 95 of 100 resamples of the
sentences. In the world, where it is known which word comes from which, every attention head is compared with the truth.

    regard evaluate NAME multi30k                         1,000 captions of photographs
    regard evaluate NAME world --limit 200 --json         with the alignment errors of all heads, for programs
    regard evaluate runs/mine my-folder --split test      your own test.de beside test.en
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.ink import BOLD, DIM, ink
from regard.cli.models import Opened, Precision, opened

if TYPE_CHECKING:
    from regard.world.language import Pair

GROUP = "Train and run"

SPLITS = {"multi30k": "test_2016_flickr"}  # elsewhere it is called test
ENDLESS = 1000  # pairs of the world, which has no last one
SCORES = {"bleu": "BLEU", "bleu_lower": "BLEU, lower case", "chrf": "chrF", "chrf_lower": "chrF, lower case"}


@dataclass(frozen=True, slots=True)
class Flags:
    model: Annotated[Positional[str], arg(metavar="MODEL")]
    """A name that `regard list zoo` shows, or a folder."""
    data: Annotated[Positional[str], arg(metavar="DATA")]
    """A named set, a folder with test.de beside test.en, or a table with tabs."""
    split: str = ""
    """The part of the data; test_2016_flickr of multi30k and test elsewhere, if left out."""
    source: str = ""
    """The language to read; what the model's card says, if left out."""
    target: str = ""
    """The language to write; what the model's card says, if left out."""
    limit: int = 0
    """Only the first so many pairs; 0 takes all, of the world 1,000."""
    beam: int = 5
    """How many beginnings are followed; 1 is greedy."""
    length_penalty: float = 1.0
    """How much length is forgiven (Wu 2016)."""
    coverage: float = 0.0
    """How much words of the source that were not looked at count against a translation (Wu 2016)."""
    precision: Precision = "float32"
    """The numbers to compute with."""
    out: Path | None = None
    """Write the translations here, one a line."""
    card: bool = False
    """Write what was measured into the model's card too."""
    json: bool = False
    """Print JSON instead of text."""


def main(flags: Flags) -> None:
    """Translate, score, and print."""
    if flags.limit < 0:
        raise UsageError(f"a limit of {flags.limit} pairs leaves nothing to measure; give 1 or more, or 0 for all")
    if flags.out is not None and not flags.out.absolute().parent.is_dir():
        raise UsageError(
            f"there is no folder {flags.out.absolute().parent}; make it first, or write elsewhere by --out"
        )
    one = opened(flags.model, precision=flags.precision)
    found = measured(flags, one)
    if flags.card:
        _noted(one.folder / "card.json", found)
    print(json.dumps(found, indent=2, ensure_ascii=False) if flags.json else "\n".join(_drawn(found)))


def measured(flags: Flags, one: Opened) -> dict[str, Any]:
    """All the numbers."""
    from regard.analysis import scores

    source, target = (_language(flags, one, side) for side in ("source", "target"))
    to = one.told(target)
    split = flags.split or SPLITS.get(flags.data, "test")
    texts, aligned = _pairs(flags, source, target, split)
    read, wanted = [first for first, _ in texts], [second for _, second in texts]
    said, seconds = _translated(flags, one, read, to)
    if flags.out is not None:
        flags.out.write_text("".join(f"{' '.join(line.split())}\n" for line in said), encoding="utf-8")
    tag, tokenizer, limit = one.translator.tag(to), one.translator.tokenizer, one.translator.limit
    found: dict[str, Any] = {
        "model": one.name,
        "data": flags.data,
        "split": split,
        "source": source,
        "target": target,
        "sentences": len(texts),
        "beam": flags.beam,
        "length_penalty": flags.length_penalty,
        "coverage": flags.coverage,
        "precision": flags.precision,
        "seconds": seconds,
        "bleu": asdict(scores.bleu(said, wanted)),
        "bleu_lower": asdict(scores.bleu(said, wanted, lower=True)),
        "chrf": asdict(scores.chrf(said, wanted)),
        "chrf_lower": asdict(scores.chrf(said, wanted, lower=True)),
        "exact": scores.exact(said, wanted),
        "perplexity": scores.perplexity(
            one.translator.model,
            tokenizer.encode([tag + text for text in read], stop=True, limit=limit),
            tokenizer.encode(wanted, start=True, stop=True, limit=limit),
        ),
        # A model that writes small letters only is not to be blamed for each capital.
        "lengths": [asdict(each) for each in scores.by_length(read, said, wanted, lower=tokenizer.lower)],
    }
    if aligned:
        found |= {"settled": _settled(aligned, said, wanted), "alignment": _alignment(one, aligned, tag)}
    return found


def _language(flags: Flags, one: Opened, side: str) -> str:
    given = getattr(flags, side) or str(one.card.get(side, ""))
    if given in ("", "any"):
        raise UsageError(f"{one.name} does not say one language as its {side}; name it by --{side}")
    return given


def _pairs(flags: Flags, source: str, target: str, split: str) -> tuple[list[tuple[str, str]], list["Pair"]]:
    """The texts, and of the world also which word comes from which."""
    from regard.data import DataError, pairs
    from regard.world import language

    try:
        if flags.data == "world":
            aligned = list(language.pairs(source, target, split=split)[: flags.limit or ENDLESS])
            return [(language.text(pair.source), language.text(pair.target)) for pair in aligned], aligned
        texts = list(islice(pairs(flags.data, source, target, split), flags.limit or None))
    except ValueError as error:
        raise UsageError(str(error)) from None
    except DataError as error:
        raise SystemExit(str(error)) from None
    if not texts:
        raise SystemExit(f"{flags.data} has no pairs in {split}; choose another by --split")
    return texts, []


def _translated(flags: Flags, one: Opened, texts: list[str], to: str | None) -> tuple[list[str], float]:
    wishes: dict[str, Any] = {
        "to": to,
        "beam": flags.beam,
        "length_penalty": flags.length_penalty,
        "coverage": flags.coverage,
    }
    try:
        one.translator.translate([], **wishes)  # a wrong wish is told apart from a wrong text
    except ValueError as error:
        raise UsageError(str(error)) from None
    start = time.perf_counter()
    try:
        with _bar(f"{one.name} reads {flags.data}", len(texts)) as progress:
            found = one.translator.translate(texts, **wishes, progress=progress)
    except ValueError as error:
        raise SystemExit(str(error)) from None
    return [each[0].text for each in found], time.perf_counter() - start


def _settled(aligned: Sequence["Pair"], said: Sequence[str], wanted: Sequence[str]) -> dict[str, Any]:
    """Exact match where the source says all that the translation needs, which a pronoun does not."""
    from regard.analysis.scores import exact
    from regard.world.language import refers

    clear = [i for i, pair in enumerate(aligned) if not refers(pair.meaning)]
    match = exact([said[i] for i in clear], [wanted[i] for i in clear]) if clear else None
    return {"count": len(clear), "exact": match}


def _noted(path: Path, found: dict[str, Any]) -> None:
    """Put what was measured into a card, in place of what was measured before."""
    card = json.loads(path.read_text(encoding="utf-8"))
    numbers = {name: round(found[name]["value"], 2) for name in SCORES}
    numbers |= {"perplexity": round(found["perplexity"], 3), "exact": round(found["exact"], 4)}
    if "alignment" in found:
        numbers["settled"] = round(found["settled"]["exact"] or 0.0, 4)
        if found["alignment"]["best"]:
            numbers["alignment_error"] = round(found["alignment"]["best"]["error"], 4)
    card["measured"] = numbers
    card["measured_on"] = {
        "data": f"{found['data']} {found['split']}, {found['source']} to {found['target']}",
        "sentences": found["sentences"],
        "beam": found["beam"],
        "signature": found["bleu"]["signature"],
    }
    beside = path.with_suffix(".partial")
    beside.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    beside.replace(path)


def _alignment(one: Opened, aligned: Sequence["Pair"], tag: str) -> dict[str, Any]:
    """How far each head looks past the truth, and which one does the least."""
    from regard.analysis.alignment import best, errors, floor

    found = errors(one.translator.model, one.translator.tokenizer, aligned, tag=tag)
    heads = [{"name": name, "head": head, "error": error} for (name, head), error in found.items()]
    if not heads:
        return {"heads": [], "best": None, "floor": floor(aligned)}
    name, head = best(found)
    return {
        "heads": heads,
        "best": {"name": name, "head": head, "error": found[name, head]},
        "floor": floor(aligned),
    }


def _drawn(found: dict[str, Any]) -> Iterator[str]:
    pair = f"{found['source']} to {found['target']}"
    yield ink(f"{found['model']} on {found['data']}, {found['split']}, {pair}", BOLD)
    speed = found["sentences"] / found["seconds"]
    yield f"{found['sentences']:,} sentences in {found['seconds']:.1f} s, {speed:.0f} a second, beam {found['beam']}"
    for key, name in SCORES.items():
        yield f"{name:<17} {_score(found[key])}  {ink(found[key]['signature'], DIM)}"
    yield f"{'exact match':<17} {found['exact']:6.1%}"
    if found.get("settled", {}).get("exact") is not None:
        clear = f"of {found['settled']['count']:,} sentences without a pronoun"
        yield f"{'':<17} {found['settled']['exact']:6.1%}  {ink(clear, DIM)}"
    yield f"{'perplexity':<17} {found['perplexity']:6.2f}  {ink('of the references, per token', DIM)}"
    signature = found["lengths"][0]["bleu"]["signature"]
    yield f"BLEU by words of the source  {ink(signature, DIM)}"
    for each in found["lengths"]:
        words = f"{each['fewest'] or 'up'} to {each['most']}" if each["most"] else f"{each['fewest']} and more"
        count = f"{each['count']:,} sentences"
        yield f"  {words:<15} {_score(each['bleu'])}  {ink(count, DIM)}"
    if "alignment" in found:
        yield from _heads(found["alignment"])


def _heads(alignment: dict[str, Any]) -> Iterator[str]:
    if not alignment["heads"]:
        yield "no attention looks at the source, so there is no alignment to measure"
        return
    least = f"at least {alignment['floor']:.1%} with one link a word"
    yield f"alignment error  {ink(least, DIM)}"
    width = max(len(each["name"]) for each in alignment["heads"])
    for each in alignment["heads"]:
        mark = "  best" if each == alignment["best"] else ""
        yield f"  {each['name']:<{width}} head {each['head']:<3} {each['error']:6.1%}{ink(mark, BOLD)}"


def _score(score: dict[str, Any]) -> str:
    between = "" if score["interval"] is None else "{:.1f} to {:.1f}".format(*score["interval"])
    return f"{score['value']:6.1f}  {between:<14}"


@contextmanager
def _bar(name: str, total: int) -> Iterator[Callable[[int, int], None]]:
    """A progress bar where somebody watches."""
    if not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(name, total=total)
        yield lambda done, _all: bars.update(task, completed=done)
