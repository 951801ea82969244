"""Embed texts or pictures: one vector for what each of them means, for search, comparison and clustering.

Texts are arguments, or lines on standard input. Pictures are files, or `cifar10:7` for one of a named set; any model of
pictures serves, also one that names classes. A vector is printed as numbers with spaces between.

    regard embed --model hub:sentence-transformers/all-MiniLM-L6-v2 "A dog runs."
    regard embed --model my-folder --json < lines.txt
    regard embed photo.jpg world:7 --model world-vit
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.lines import Failure, print_answers
from regard.cli.load import load_model
from regard.names import NUMBERED, Dtype

GROUP = "Train and run"
SEEING = ("features", "recognize")  # tasks of models that give a vector for a picture
SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}


@dataclass(frozen=True, slots=True)
class Flags:
    texts: Annotated[Positional[tuple[str, ...]], arg(metavar="TEXT")] = ()
    """What to embed, texts or pictures; without it, standard input line by line."""
    model: str = ""
    """A name that `regard list zoo` shows, a folder, or hub:owner/name; the default model if left out."""
    prompt: str = ""
    """The name of a prompt that is read in front of each text, such as query; what the card says if left out."""
    cut: bool = False
    """Read the beginning of what is too long, instead of refusing it."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one text or picture a line: the vector."""


def main(flags: Flags) -> None:
    """Print the vector of each text, or of each picture."""
    pictures = bool(flags.texts) and all(map(_is_picture, flags.texts))
    tasks = SEEING if pictures and not flags.model else ("embed", *SEEING)
    embed: Any = load_model(flags.model, task=tasks, dtype=flags.dtype)
    sees = embed.task in SEEING
    if sees and (flags.prompt or flags.cut):
        raise UsageError(f"--{'prompt' if flags.prompt else 'cut'} is for texts, and {embed.name} reads pictures")
    if pictures and not sees:
        raise UsageError(f"{embed.name} reads texts, and {flags.texts[0]} is a picture; name a model of pictures")

    def answer(given: list[str]) -> list[Any]:
        if sees:
            from regard.pipelines.features import Features

            # What names classes gives the vector that its classifier reads.
            return [vector.tolist() for vector in Features(embed.checkpoint)(given)]
        return [found.vector for found in embed(given, prompt=flags.prompt or None, cut=flags.cut)]

    def show(given: str, found: Any) -> str:
        if flags.json:
            facts = {"error": found.reason} if isinstance(found, Failure) else {"vector": found}
            return json.dumps({"picture" if sees else "text": given, **facts}, ensure_ascii=False)
        return "" if isinstance(found, Failure) else " ".join(f"{number:.6g}" for number in found)

    print_answers(flags.texts, answer, show, what="picture" if sees else "text")


def _is_picture(given: str) -> bool:
    path = Path(given)
    return bool(NUMBERED.fullmatch(given)) or (path.suffix.lower() in SUFFIXES and path.is_file())
