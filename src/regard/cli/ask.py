"""Ask about a picture, and show by a few examples what is wanted.

A picture is a file, or `world:7`, scene 7 of the little world's test. A file of shots has one of them a line, as JSON:
the picture, which may lie beside that file, and the text that belongs to it.

    regard ask world:7 "What colour is the disc?"
    regard ask photo.jpg "This is a" --shots task.jsonl
    regard ask world:7 "What is there?" --json

where task.jsonl holds

    {"picture": "one.jpg", "text": "This is a dax."}
    {"picture": "two.jpg", "text": "This is a wug."}
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.lines import refusal
from regard.cli.load import load_model
from regard.names import NUMBERED, Dtype

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUP = "Train and run"
SIZE = 16 * 2**20  # bytes of a file of shots


@dataclass(frozen=True, slots=True)
class Flags:
    picture: Annotated[Positional[str], arg(metavar="PICTURE")]
    """A file, or world:7."""
    text: Annotated[Positional[str], arg(metavar="TEXT")]
    """What is asked about it, or how a sentence about it begins."""
    shots: Path | None = None
    """Examples to show before: a file of JSON lines, {"picture": …, "text": …}."""
    model: str = ""
    """A name that `regard list zoo` shows, or a folder; the default one if left out."""
    max_new_tokens: int = 32
    """How many tokens the answer may have."""
    beam: int = 1
    """Beam width: how many beginnings are kept; 1 always takes the likeliest word."""
    count: int = 1
    """Show so many answers, best first; no more than the beam is wide."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON: the answer, its log probability, and the alternatives."""


def main(flags: Flags) -> None:
    """Print what is said about the picture."""
    if not flags.text.strip():
        raise UsageError('there is no text to answer; ask something, such as "What is there?"')
    if (broken := refusal(flags.text)) is not None:
        raise UsageError(f"the text {broken.reason}")
    if flags.max_new_tokens < 1 or not 1 <= flags.count <= flags.beam:
        raise UsageError(
            f"--max-new-tokens {flags.max_new_tokens}, --beam {flags.beam} and --count {flags.count} leave nothing to "
            f"say; give 1 or more, and a --beam as wide as the --count"
        )
    shots = [] if flags.shots is None else list(read_shots(flags.shots))
    ask: Any = load_model(flags.model, task="ask", dtype=flags.dtype)
    from regard.pipelines import TooLongError

    prompt = [*shots, (flags.picture, flags.text)]
    try:
        (found,) = ask([prompt], max_new_tokens=flags.max_new_tokens, beam=flags.beam, count=flags.count)
    except TooLongError as error:
        way = "show fewer shots, or ask in fewer words" if shots else "ask in fewer words"
        raise UsageError(
            f"the prompt has {error.tokens} tokens, and {ask.name} reads at most {error.limit}; {way}"
        ) from None
    except (ValueError, OSError) as error:
        raise UsageError(str(error)) from None
    answers = [found, *found.alternatives]
    if flags.json:
        facts = {"picture": flags.picture, "text": flags.text, "shots": len(shots), **_facts(found)}
        print(json.dumps(facts | {"alternatives": [_facts(each) for each in answers[1:]]}, ensure_ascii=False))
        return
    for each in answers:
        print(each.text)


def _facts(answer: Any) -> dict[str, Any]:
    return {"answer": answer.text, "log_prob": answer.log_prob, "finished": answer.finished}


def read_shots(path: Path) -> "Iterator[tuple[str, str]]":
    """The pictures and texts of a file of shots; a picture that lies beside the file is found there."""
    from regard import files

    if not path.is_file():
        raise UsageError(f"there is no file of shots {path}; give one that is there, with a line of JSON for each shot")
    try:
        lines = files.read(path, SIZE).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no UTF-8 at byte {error.start}; save it as UTF-8") from None
    found = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            shot = json.loads(line)
        except ValueError:
            raise UsageError(f'line {number} of {path} is no JSON; write {{"picture": …, "text": …}}') from None
        if not isinstance(shot, dict) or not all(isinstance(shot.get(name), str) for name in ("picture", "text")):
            raise UsageError(f'line {number} of {path} is no shot; write {{"picture": …, "text": …}}, both texts')
        if not shot["text"].strip():
            raise UsageError(f"the text of line {number} of {path} is empty; say what belongs to its picture")
        found += 1
        yield _beside(path, shot["picture"]), shot["text"]
    if not found:
        raise UsageError(f"{path} holds no shot; give one or more, or leave --shots out")


def _beside(path: Path, picture: str) -> str:
    beside = path.parent / picture
    return picture if NUMBERED.fullmatch(picture) or not beside.is_file() else str(beside)
