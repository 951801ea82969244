"""Search a folder of pictures by words: those that a text describes best.

The pictures are read once; their vectors are kept in a file beside the folder, and at the next search only what is new
or has changed is read. Folders within are searched too. Pictures that cannot be read are left out and said.

    regard search photos "two dogs in snow" --model hub:openai/clip-vit-base-patch32
    regard search photos "a red car" --top 3 --json
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.lines import refusal
from regard.cli.load import load_model
from regard.names import Dtype

SHOWN = 3  # pictures that cannot be read, of which the reason is told
GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class Flags:
    folder: Annotated[Positional[Path], arg(metavar="FOLDER")]
    """The folder with pictures."""
    query: Annotated[Positional[str], arg(metavar="TEXT")]
    """What the pictures should show."""
    model: str = ""
    """A name that `regard list zoo` shows, a folder, or hub:owner/name; the default model of match if left out."""
    top: int = 10
    """How many pictures to print, the nearest first; 0 prints all."""
    index: Path | None = None
    """Where vectors are kept; without it, beside the folder, in FOLDER.regard-index."""
    cut: bool = False
    """Read the beginning of a text that is too long, instead of refusing it."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one picture a line: its path and the cosine of both vectors."""


def main(flags: Flags) -> None:
    """Print the pictures that a text describes best."""
    if flags.top < 0:
        raise UsageError(f"--top {flags.top} is no number of pictures; give 1 or more, or 0 for all")
    if not flags.query.strip():
        raise UsageError("nothing is looked for; say what the pictures should show")
    if broken := refusal(flags.query):
        raise SystemExit(f"the text {broken.reason}")
    if not flags.folder.is_dir():
        raise UsageError(f"{flags.folder} is no folder; give one with pictures")
    match: Any = load_model(flags.model, task="match", dtype=flags.dtype)
    from regard.pipelines import TooLongError
    from regard.pipelines.index import fingerprint, update
    from regard.progress import bar

    try:
        (query,) = match.texts([flags.query], cut=flags.cut)
        with bar(f"reading {flags.folder}") as progress:
            model = fingerprint(match.model)
            found = update(flags.folder, match.images, model, path=flags.index, progress=progress)
    except TooLongError as error:
        raise SystemExit(f"the text {error.reason}, or say --cut") from None
    except ValueError as error:
        raise SystemExit(str(error)) from None
    _tell(found)
    for hit in found.search(query, flags.top):
        path = str(flags.folder / hit.name)
        if flags.json:
            print(json.dumps({"picture": path, "score": hit.score}, ensure_ascii=False))
        else:
            print(f"{hit.score:.4f}  {path}")


def _tell(found: Any) -> None:
    """What somebody should know who looks for a picture that is not among the found ones."""
    for name, (_, why) in list(found.broken.items())[:SHOWN]:
        print(f"regard: {name} {why}", file=sys.stderr)
    if len(found.broken) > SHOWN:
        print(f"regard: and {len(found.broken) - SHOWN} other pictures cannot be read", file=sys.stderr)
    if found.unkept:
        print(f"regard: {found.unkept}; the pictures are read anew next time, or say --index", file=sys.stderr)
