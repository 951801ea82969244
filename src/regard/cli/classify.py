"""Classify texts, pictures, sounds or clouds of points: the label of each, and how likely it is.

Texts, or the names of files, are arguments, or lines on standard input. With --pair texts come two by two, or with a
tab between.

    regard classify photo.jpg world:7                     a file, and scene 7 of the little world's test
    regard classify --model runs/perceive-0 seven.wav     a sound, or a cloud of points: chair.npz
    regard classify --model runs/classify-0 "What a wonderful film."
    regard classify --model runs/classify-0 --json < reviews.txt
    regard classify --model my-mrpc --pair "It rains." "Rain is falling."
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.lines import Failure, print_answers
from regard.cli.load import load_model
from regard.cli.pairs import join_pairs, split_pair
from regard.names import NUMBERED, Dtype

GROUP = "Train and run"

PICTURES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm"}  # names of files of pictures
PERCEIVED = {".wav", ".npy", ".npz", ".xyz"}  # of sounds and of points


@dataclass(frozen=True, slots=True)
class Flags:
    texts: Annotated[Positional[tuple[str, ...]], arg(metavar="TEXT")] = ()
    """What to classify: texts, or files of pictures, sounds or points; without it, standard input line by line."""
    model: str = ""
    """A name that `regard list zoo` shows, a folder, or hub:owner/name; a default for what is given if left out."""
    pair: bool = False
    """Classify pairs of texts: two arguments each, or lines with a tab."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one text or file a line: label and scores."""


def main(flags: Flags) -> None:
    """Print the label of each text or file."""
    texts = join_pairs(flags.texts) if flags.pair else flags.texts
    if not texts and not flags.model:
        raise UsageError(
            "nothing says which model should read standard input; name one by --model, or give what to classify, as in "
            "regard classify world:7"
        )
    classify: Any = load_model(flags.model, task=_tasks(texts), dtype=flags.dtype)
    if flags.pair and classify.task != "classify":
        what = "pictures" if classify.task == "recognize" else "files"
        raise UsageError(f"{classify.name} classifies {what} one by one; leave --pair out")

    def answer(lines: Sequence[str]) -> Any:
        return classify([split_pair(line) for line in lines] if flags.pair else lines)

    def show(text: str, found: Any) -> str:
        if flags.json:
            failed = isinstance(found, Failure)
            facts = {"error": found.reason} if failed else {"label": found.label, "scores": found.scores}
            facts |= {"notes": found.notes} if getattr(found, "notes", ()) else {}
            return json.dumps({"text": text, **facts}, ensure_ascii=False)
        for note in getattr(found, "notes", ()):
            print(f"{text}: {note}", file=sys.stderr)
        return "" if isinstance(found, Failure) else f"{found.label}  {found.scores[found.label]:.1%}"

    what = {"recognize": "picture", "perceive": "file"}.get(classify.task, "text")
    print_answers(texts, answer, show, what=what)


def _tasks(texts: Sequence[str]) -> tuple[str, ...]:
    """The tasks that classify, the one first that what is given looks like."""
    ends = {Path(text).suffix.lower() for text in texts if not NUMBERED.fullmatch(text)}
    if ends and ends <= PERCEIVED:
        return "perceive", "classify", "recognize"
    if texts and ends <= PICTURES:
        return "recognize", "classify", "perceive"
    return "classify", "recognize", "perceive"
