"""Measure how good a model is at its task, on a named set or on your own files.

Scores come with the signatures to cite them by; intervals hold 95 of 100 resamples of the items. A translator is
scored by BLEU and chrF, cased and lower-cased, and by length; in the world, where it is known which word comes from
which, every attention head is compared with the truth.

    regard evaluate de-en multi30k                        1,000 captions of photographs
    regard evaluate world world --source it --target en --limit 200 --json
    regard evaluate runs/mine my-folder --split test      your own test.de beside test.en
    regard evaluate runs/my-gpt book.txt --stride 64      perplexity, with 64 new tokens a window
    regard evaluate world-clip cifar10 --probe            a linear probe of its features
    regard evaluate runs/dino pets --masks                how well its attention outlines the pet
    regard evaluate glove.6B.50d.txt analogies            word vectors; wordsim and simlex too
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.ink import BOLD, DIM, ink
from regard.cli.load import load_model, refuse_useless
from regard.names import Dtype

if TYPE_CHECKING:
    from collections.abc import Iterator

    from regard.pipelines import Evaluation, Pipeline

GROUP = "Train and run"
TABLED = 12  # classes whose mistakes fit a table in a terminal


@dataclass(frozen=True, slots=True)
class Flags:
    model: Annotated[Positional[str], arg(metavar="MODEL")]
    """A name that `regard list zoo` shows, a folder, hub:owner/name, or a file of word vectors."""
    data: Annotated[Positional[str], arg(metavar="DATA")]
    """A named set (`regard data list`), or files of your own as its task reads them."""
    split: str = ""
    """The part of the data; test_2016_flickr of multi30k and test elsewhere, if left out."""
    limit: int = 0
    """Only the first so many items, of features evenly spread ones; 0 takes all, of the world at most 1,000."""
    source: str = ""
    """Source language of a translator; what its card says, if left out."""
    target: str = ""
    """Target language of a translator; what its card says, if left out."""
    beam: int | None = None
    """Beam size of a model that writes; 1 is greedy."""
    length_penalty: float | None = None
    """Length penalty of a translator (Wu 2016)."""
    coverage: float | None = None
    """Coverage penalty of a translator (Wu 2016)."""
    text: str = ""
    """Of a classifier, the column of the text, or of two texts with a comma between; usual names are found."""
    label: str = ""
    """Of a classifier, the column of the label; usual names are found."""
    context: int | None = None
    """Context length of a language model, in tokens; its own, up to 2,048, if left out."""
    stride: int | None = None
    """How many tokens further a language model's next window begins; half of the context, if left out."""
    restrict_vocab: int | None = None
    """Of word vectors, the most frequent so many words alone; 30,000 for analogies, and all for pairs, if left out."""
    tta: Literal["", "mirror", "moved"] = ""
    """Test-time augmentation of a picture's classifier: also its mirror image, or also moved by a pixel."""
    probe: bool = False
    """Of a CLIP, or a model of features, how much a linear probe reads from them, which learns from train."""
    masks: bool = False
    """Of a model of pictures, how well its attention outlines the thing in pets, world or world/big, by true masks."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    pickle: bool = False
    """Read a pickle such as mobile_sam.pt, of which only tensors and plain values are taken."""
    out: Path | None = None
    """Write the outputs here, one a line."""
    card: bool = False
    """Write what was measured into the model's card too."""
    json: bool = False
    """Print JSON instead of text."""


def main(flags: Flags) -> None:
    """Evaluate and print a table of scores."""
    if flags.limit < 0:
        raise UsageError(f"a limit of {flags.limit} items leaves nothing to measure; give 1 or more, or 0 for all")
    if flags.out is not None and not flags.out.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {flags.out.absolute().parent}; make it, or write elsewhere by --out")
    if flags.card and flags.limit:
        raise UsageError(
            f"a card says what all items gave, and not the first {flags.limit}; leave --limit or --card out"
        )
    pipeline = load_model(flags.model, dtype=flags.dtype, pickle=flags.pickle)
    card = pipeline.checkpoint.folder / "card.json"
    if flags.card and (pipeline.checkpoint.family is None or not card.is_file()):
        raise UsageError(f"{pipeline.name} has no card of regard's to write into; leave --card out")
    found = _evaluate(pipeline, flags)
    if flags.out is not None:
        flags.out.write_text("".join(f"{' '.join(line.split())}\n" for line in found.outputs), encoding="utf-8")
    if flags.card:
        note(card, found)
    if flags.json:
        facts = asdict(found)
        facts.pop("outputs")
        print(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        print("\n".join(_table(found)))


def _evaluate(pipeline: "Pipeline", flags: Flags) -> "Evaluation":
    from regard.data import DataError
    from regard.progress import bar

    names = (
        "source",
        "target",
        "beam",
        "length_penalty",
        "coverage",
        "text",
        "label",
        "context",
        "stride",
        "restrict_vocab",
        "tta",
        "probe",
        "masks",
    )
    given = {name: getattr(flags, name) for name in names}
    options: dict[str, Any] = {
        name: value for name, value in given.items() if value not in (None, "") and value is not False
    }
    refuse_useless(options, pipeline.evaluate, pipeline.task)
    try:
        with bar(f"{pipeline.name} reads {flags.data}") as progress:
            return pipeline.evaluate(flags.data, split=flags.split, limit=flags.limit, progress=progress, **options)
    except ValueError as error:
        raise UsageError(str(error)) from None
    except DataError as error:
        raise SystemExit(str(error)) from None


def note(path: Path, found: "Evaluation") -> None:
    """Put what was measured into a card, in place of what was measured before."""
    from regard.files import read_json, write_json

    signatures = [score.signature for score in found.scores.values() if score.signature]
    facts = {"data": found.data, "split": found.split, "count": found.count, **found.settings}
    facts |= {"signature": signatures[0]} if signatures else {}
    write_json(path, read_json(path) | {"measured": found.measured(), "measured_on": facts})


def _table(found: "Evaluation") -> "Iterator[str]":
    how = ", ".join(f"{name} {value}" for name, value in found.settings.items())
    yield ink(f"{found.model} on {found.data}, {found.split}", BOLD) + (f"  {ink(how, DIM)}" if how else "")
    yield f"{found.count:,} items in {found.seconds:.1f} s, {found.count / max(found.seconds, 1e-9):.0f} a second"
    width = max(len(name.partition("/")[2] or name) for name in found.scores) + 2
    for name, score in found.scores.items():
        group, _, part = name.partition("/")
        digits = 3 if abs(score.value) < 10 else 2  # losses and bits differ in the third
        between = "" if score.interval is None else " to ".join(f"{edge:.{digits - 1}f}" for edge in score.interval)
        facts = [score.signature] if score.signature and not part else []
        facts += [f"of {score.count:,}"] if score.count is not None and score.count != found.count else []
        facts += [] if score.higher_is_better or part else ["lower is better"]
        label = f"  {part}" if part else group
        yield f"{label:<{width}} {score.value:7.{digits}f}  {between:<14} {ink(', '.join(facts), DIM)}".rstrip()
    if found.confusion is not None and len(found.confusion.labels) <= TABLED:
        yield ""
        yield "what has a label (row), and what it was taken for:"
        yield from found.confusion.table()
    elif found.confusion is not None and (wrong := found.confusion.mistakes()):
        yield ""
        yield "the most frequent mistakes:"
        yield from wrong
