"""Caption pictures: say in a sentence what each shows, and where was looked for every word.

Pictures are files, as arguments or as lines on standard input; `world:7` is scene 7 of the little world's test. With
--look, a figure shows one small map for each word, as in "Show, Attend and Tell".

    regard caption world:7 --look words.svg
    regard caption photo.jpg --model runs/flickr8k --beam 5
    regard caption *.jpg --json
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.lines import Failure, print_answers
from regard.cli.load import load_model
from regard.names import Dtype

GROUP = "Train and run"
ENDS = (".svg", ".html")


@dataclass(frozen=True, slots=True)
class Flags:
    pictures: Annotated[Positional[tuple[str, ...]], arg(metavar="PICTURE")] = ()
    """Files of pictures; without them, standard input line by line."""
    model: str = ""
    """A name that `regard list zoo` shows, or the folder that regard train leaves; the default captioner if left
    out."""
    beam: int = 3
    """Beam size: how many beginnings are followed at once; 1 is greedy."""
    length_penalty: float = 1.0
    """Length penalty (Wu 2016): above 0 likes longer captions, 0 ranks by probability alone."""
    count: int = 1
    """How many captions to give of each picture, the best first."""
    look: Path | None = None
    """Write where was looked for each word: a name that ends in .svg or .html; for one picture alone."""
    attention: str = ""
    """The attention to draw by --look, by its name; the last one, if left out."""
    head: int | None = None
    """The head of it to draw, from 0 on; the mean of all, if left out."""
    target: str = ""
    """With --look, a caption to write instead of the model's own."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one picture a line: the caption, its log probability, and the next best."""


def main(flags: Flags) -> None:
    """Print a caption of each picture."""
    if flags.beam < 1 or not 1 <= flags.count <= flags.beam:
        raise UsageError(f"a beam of {flags.beam} cannot give {flags.count} captions; ask for 1 to --beam")
    if flags.look is not None and (len(flags.pictures) != 1 or flags.look.suffix not in ENDS):
        raise UsageError(f"--look {flags.look} is for one picture, and ends in .svg or .html")
    if flags.look is not None and not flags.look.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {flags.look.absolute().parent}; make it, or write elsewhere by --look")
    if flags.look is None and (flags.attention or flags.head is not None or flags.target):
        raise UsageError("--attention, --head and --target are for a figure; name its file by --look")
    caption: Any = load_model(flags.model, task="caption", dtype=flags.dtype)

    def answer(paths: Sequence[str]) -> Any:
        found = caption(paths, beam=flags.beam, length_penalty=flags.length_penalty, count=flags.count)
        if flags.look is not None:
            draw(caption, paths[0], flags)
        return found

    def show(path: str, found: Any) -> str:
        if isinstance(found, Failure):
            return json.dumps({"picture": path, "error": found.reason}) if flags.json else ""
        every = (found, *found.alternatives)
        if flags.json:
            said = [{"caption": one.text, "log_prob": one.hypothesis.log_prob} for one in every]
            more = {"alternatives": said[1:]} if len(said) > 1 else {}
            return json.dumps({"picture": path, **said[0], **more}, ensure_ascii=False)
        return "\n".join(one.text for one in every)

    print_answers(flags.pictures, answer, show, what="picture")


def draw(caption: Any, path: str, flags: Flags) -> None:
    """Write the figure of one picture: a small map for each word."""
    from regard.analysis.seeing.figure import html, svg
    from regard.analysis.seeing.words import word_sheets

    assert flags.look is not None
    reading = caption.attend(path, target=flags.target or None, beam=flags.beam, length_penalty=flags.length_penalty)
    try:
        sheets = word_sheets(reading, flags.attention, head=flags.head)
    except ValueError as error:
        raise UsageError(str(error)) from None
    made = (html if flags.look.suffix == ".html" else svg)(sheets, title=reading.caption)
    flags.look.write_text(made, encoding="utf-8")
