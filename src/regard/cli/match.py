"""Match a picture with texts: which of them says what it shows, and how surely.

The first argument is the picture, the others are texts; without any, they are the lines of standard input. `world:7` is
scene 7 of the little world. With --classes, texts are names of classes, put into several sentences each, whose mean
is compared (zero-shot classification). A model of films takes a moving picture (.gif, .webp), or a folder of frames.

    regard match photo.jpg "a dog" "a cat" --model hub:openai/clip-vit-base-patch32
    regard match world:7 "There is a red disc." "There is a blue star."
    regard match photo.jpg dog cat horse --classes --json
    regard match clip.gif "The disc moves left." "The disc moves right." --model runs/film
"""

import json
import sys
from dataclasses import dataclass
from typing import Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.lines import read_lines, refusal
from regard.cli.load import load_model
from regard.names import Dtype

GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class Flags:
    picture: Annotated[Positional[str], arg(metavar="PICTURE")]
    """The file of a picture; of a film, also a folder of its frames."""
    texts: Annotated[Positional[tuple[str, ...]], arg(metavar="TEXT")] = ()
    """Texts that may go with it; without them, the lines of standard input."""
    model: str = ""
    """A name that `regard list zoo` shows, a folder, or hub:owner/name; the default model of match if left out."""
    classes: bool = False
    """The texts are names of classes: put each into the sentences of --templates."""
    templates: tuple[str, ...] = ()
    """Sentences with {} in place of a class, or {a} for a class with its article; a few usual ones if left out."""
    cut: bool = False
    """Read the beginning of a text that is too long, instead of refusing it."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one text a line: its probability and the cosine of both vectors."""


def main(flags: Flags) -> None:
    """Print every text with how well it goes with the picture, the best first."""
    if flags.templates and not flags.classes:
        raise UsageError("--templates are for names of classes; say --classes too, or leave them out")
    typed = not flags.texts and sys.stdin.isatty()
    if typed:
        print("type a text a line; Ctrl-D ends", file=sys.stderr)
    texts = list(dict.fromkeys(text for text in flags.texts or read_lines(sys.stdin.buffer) if text.strip()))
    if not texts:
        raise UsageError('there is no text to match; give some, as in regard match photo.jpg "a dog" "a cat"')
    for number, text in enumerate(texts, start=1):
        if broken := refusal(text):
            raise SystemExit(f"text {number} {broken.reason}")
    match: Any = load_model(flags.model, task=("match", "film"), dtype=flags.dtype)
    if flags.classes and match.task == "film":
        raise UsageError(f"{match.name} reads sentences about films, and no names of classes; leave --classes out")
    from regard.pipelines import TooLongError

    try:
        if flags.classes:
            how = {"templates": flags.templates} if flags.templates else {}
            (found,) = match.classify([flags.picture], texts, **how)
        else:
            (found,) = match([(flags.picture, texts)], cut=flags.cut)
    except TooLongError as error:
        raise SystemExit(f"text {error.index + 1} {error.reason}, or say --cut") from None
    except ValueError as error:
        raise SystemExit(str(error)) from None
    for text, chance in sorted(found.scores.items(), key=lambda item: -item[1]):
        if flags.json:
            facts = {"text": text, "score": chance, "cosine": found.cosines.get(text)}
            print(json.dumps(facts, ensure_ascii=False))
        else:
            print(f"{chance:6.1%}  {text}")
